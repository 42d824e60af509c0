//! What a Mark, Tag or Block can carry: longer lists are cut, longer names get a short form.
//!
//! `read(seal(x))` is `x.fitted()`. Texts are made from what will be read back, so whoever hashes a Mark's
//! evaluation, or says how much was evicted, fits it first.

use super::data::{Evaluation, Mark, Tag, TagKind, Topic};
use super::field::{count_fitting_numbers, encoded_len, shorten};
use crate::hash::Hash;
use crate::model::{FindingId, NoteId, ReviewId, RoleName, Sha};
use crate::track::{Fingerprint, PatchId};

/// The longest role name that is kept as it is, written out. A policy refuses longer ones.
pub const MAX_ROLE_BYTES: usize = 40;

/// The longest cause of a job that is kept as it is; [`fitted_cause`] makes longer ones fit.
pub const MAX_CAUSE_BYTES: usize = 30;

/// The longest id of a note, comment or review that is kept as it is.
pub const MAX_ID_BYTES: usize = 96;

/// A commit or patch of 64 hex characters, packed.
const MAX_COMMIT_BYTES: usize = 44;
/// A hash of 32 hex characters, packed.
const MAX_HASH_BYTES: usize = 24;
const MAX_REVIEW_ID_BYTES: usize = 48;
const MAX_RESTORED_BYTES: usize = 48;
const MAX_ROUNDS_BYTES: usize = 290;
const MAX_BLOCKING_BYTES: usize = 160;
const MAX_CHANGED_IDS_BYTES: usize = 90;
const MAX_SKIPPED_BYTES: usize = 200;
const MAX_FAILURE_BYTES: usize = 150;
/// More rounds than this were not written by us.
pub(super) const MAX_ROUNDS: usize = 10_000;

/// A cause as a Tag remembers it: name and compare causes in this form, or a long one is not known again.
pub fn shorten_cause(cause: &str) -> String {
    shorten(cause, MAX_CAUSE_BYTES).into_owned()
}

impl Mark {
    /// What will be read back once this is sealed and sent; `words` apart, which the seal fills in.
    #[must_use]
    pub fn truncate_to_limits(mut self) -> Self {
        shorten_role(&mut self.role);
        for sha in [Some(&mut self.head), self.base.as_mut(), self.reviewed.as_mut()].into_iter().flatten() {
            shorten_sha(sha);
        }
        shorten_in_place(&mut self.patch.0, MAX_COMMIT_BYTES);
        for patch in &mut self.rounds {
            shorten_in_place(&mut patch.0, MAX_COMMIT_BYTES);
        }
        self.forget_rounds();
        if let Some(ReviewId(id)) = &mut self.superseded {
            shorten_in_place(id, MAX_REVIEW_ID_BYTES);
        }
        truncate_ids(&mut self.blocking, MAX_BLOCKING_BYTES);
        if let Some(restored) = &mut self.restored {
            truncate_prose(restored, MAX_RESTORED_BYTES);
        }
        let hashes = [Some(&mut self.inputs), Some(&mut self.words), self.rewrote.as_mut(), self.report.as_mut()];
        for Hash(hash) in hashes.into_iter().flatten() {
            shorten_in_place(hash, MAX_HASH_BYTES);
        }
        self.evaluation = self.evaluation.truncate_to_limits();
        self
    }

    /// Rounds that find no room keep their number and lose their name: the cap holds, and a push back to so old a
    /// change counts as one more round.
    fn forget_rounds(&mut self) {
        let excess = self.rounds.len().saturating_sub(MAX_ROUNDS);
        self.rounds.drain(..excess);
        let forgotten = count_forgotten_rounds(&self.rounds);
        for (patch, number) in self.rounds.iter_mut().zip(1..=forgotten) {
            *patch = placeholder_round(number);
        }
    }
}

/// How many of the oldest rounds find no room.
pub(super) fn count_forgotten_rounds(rounds: &[PatchId]) -> usize {
    let mut room = MAX_ROUNDS_BYTES;
    for (number, patch) in rounds.iter().enumerate().rev() {
        let Some(left) = room.checked_sub(encoded_len(&patch.0) + 1) else { return number + 1 };
        room = left;
    }
    0
}

/// What stands for a round that lost its name.
pub(super) fn placeholder_round(number: usize) -> PatchId {
    PatchId(format!("lost-{number}"))
}

impl Evaluation {
    /// What will be read back once this is sealed and sent.
    #[must_use]
    pub fn truncate_to_limits(mut self) -> Self {
        truncate_ids(&mut self.new, MAX_CHANGED_IDS_BYTES);
        truncate_ids(&mut self.fixed, MAX_CHANGED_IDS_BYTES);
        truncate_ids(&mut self.claimed, MAX_CHANGED_IDS_BYTES);
        truncate_ids(&mut self.back, MAX_CHANGED_IDS_BYTES);
        let mut room = MAX_SKIPPED_BYTES;
        let fit_in = self.skipped.iter().take_while(|path| match room.checked_sub(encoded_len(path) + 1) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        });
        let count = fit_in.count();
        self.skipped.truncate(count);
        if let Some(sha) = &mut self.since {
            shorten_sha(sha);
        }
        if let Some(failure) = &mut self.failure {
            truncate_prose(failure, MAX_FAILURE_BYTES);
        }
        self
    }
}

impl Tag {
    /// What will be read back once this is sealed and sent.
    #[must_use]
    pub fn truncate_to_limits(mut self) -> Self {
        shorten_sha(&mut self.head);
        match &mut self.kind {
            TagKind::Root { role, fingerprint: Fingerprint(fingerprint), finding: _, severity: _, settled: _ } => {
                shorten_role(role);
                shorten_in_place(fingerprint, MAX_HASH_BYTES);
            }
            TagKind::Reply { answers: NoteId(note), what: _ } => shorten_in_place(note, MAX_ID_BYTES),
            TagKind::Topic(topic) => match topic {
                Topic::Job { cause, patch: PatchId(patch), kind: _, epoch: _, outcome: _, retried: _ } => {
                    shorten_in_place(cause, MAX_CAUSE_BYTES);
                    shorten_in_place(patch, MAX_COMMIT_BYTES);
                }
                Topic::Notice { patch: PatchId(patch) }
                | Topic::Ready { patch: PatchId(patch) }
                | Topic::Glass { patch: PatchId(patch) } => shorten_in_place(patch, MAX_COMMIT_BYTES),
                Topic::Said { to } => shorten_in_place(to, MAX_ID_BYTES),
                Topic::Operator { epoch: _ } | Topic::SelfReview { clean: _ } | Topic::FixPlan => {}
            },
        }
        self
    }
}

pub(super) fn shorten_role(RoleName(role): &mut RoleName) {
    shorten_in_place(role, MAX_ROLE_BYTES);
}

pub(super) fn shorten_sha(Sha(sha): &mut Sha) {
    shorten_in_place(sha, MAX_COMMIT_BYTES);
}

pub(super) fn shorten_fingerprint(Fingerprint(fingerprint): &mut Fingerprint) {
    shorten_in_place(fingerprint, MAX_HASH_BYTES);
}

pub(super) fn shorten_in_place(name: &mut String, max: usize) {
    if let std::borrow::Cow::Owned(fitting) = shorten(name, max) {
        *name = fitting;
    }
}

/// For prose, where a hash would say nothing.
pub(super) fn truncate_prose(text: &mut String, max: usize) {
    if encoded_len(text) <= max {
        return;
    }
    text.truncate(text.floor_char_boundary(2 * max));
    while encoded_len(text) + encoded_len("…") > max && text.pop().is_some() {}
    text.push('…');
}

fn truncate_ids(ids: &mut Vec<FindingId>, max: usize) {
    let numbers: Vec<u64> = ids.iter().map(|id| id.0).collect();
    ids.truncate(count_fitting_numbers(&numbers, max));
}
