//! What a Mark, Tag or Block can carry: longer lists are cut, longer names get a short form.
//!
//! `read(seal(x))` is `x.fitted()`. Texts are made from what will be read back, so whoever hashes a Mark's
//! evaluation, or says how much was evicted, fits it first.

use super::data::{Evaluation, Mark, Tag, TagKind, Topic};
use super::field::{runs_that_fit, short, width};
use crate::hash::Hash;
use crate::model::{FindingId, NoteId, ReviewId, RoleName, Sha};
use crate::track::{Fingerprint, PatchId};

/// The longest role name that is kept as it is, written out. A policy refuses longer ones.
pub const ROLE_BYTES: usize = 40;

/// The longest cause of a job that is kept as it is; [`fitted_cause`] makes longer ones fit.
pub const CAUSE_BYTES: usize = 30;

/// The longest id of a note, comment or review that is kept as it is.
pub const ID_BYTES: usize = 96;

/// A commit or patch of 64 hex characters, packed.
const COMMIT_BYTES: usize = 44;
/// A hash of 32 hex characters, packed.
const HASH_BYTES: usize = 24;
const REVIEW_BYTES: usize = 48;
const RESTORED_BYTES: usize = 48;
const ROUNDS_BYTES: usize = 290;
const BLOCKING_BYTES: usize = 160;
const MOVED_BYTES: usize = 90;
const SKIPPED_BYTES: usize = 200;
const FAILURE_BYTES: usize = 150;
/// More rounds than this were not written by us.
pub(super) const ROUNDS_MAX: usize = 10_000;

/// A cause as a Tag remembers it: name and compare causes in this form, or a long one is not known again.
pub fn fitted_cause(cause: &str) -> String {
    short(cause, CAUSE_BYTES).into_owned()
}

impl Mark {
    /// What will be read back once this is sealed and sent; `words` apart, which the seal fills in.
    #[must_use]
    pub fn fitted(mut self) -> Self {
        fit_role(&mut self.role);
        for sha in [Some(&mut self.head), self.base.as_mut(), self.reviewed.as_mut()].into_iter().flatten() {
            fit_sha(sha);
        }
        fit(&mut self.patch.0, COMMIT_BYTES);
        for patch in &mut self.rounds {
            fit(&mut patch.0, COMMIT_BYTES);
        }
        self.forget_rounds();
        if let Some(ReviewId(id)) = &mut self.superseded {
            fit(id, REVIEW_BYTES);
        }
        cut_ids(&mut self.blocking, BLOCKING_BYTES);
        if let Some(restored) = &mut self.restored {
            cut(restored, RESTORED_BYTES);
        }
        let hashes = [Some(&mut self.inputs), Some(&mut self.words), self.rewrote.as_mut(), self.report.as_mut()];
        for Hash(hash) in hashes.into_iter().flatten() {
            fit(hash, HASH_BYTES);
        }
        self.evaluation = self.evaluation.fitted();
        self
    }

    /// Rounds that find no room keep their number and lose their name: the cap holds, and a push back to so old a
    /// change counts as one more round.
    fn forget_rounds(&mut self) {
        let excess = self.rounds.len().saturating_sub(ROUNDS_MAX);
        self.rounds.drain(..excess);
        let forgotten = forgotten(&self.rounds);
        for (patch, number) in self.rounds.iter_mut().zip(1..=forgotten) {
            *patch = lost_round(number);
        }
    }
}

/// How many of the oldest rounds find no room.
pub(super) fn forgotten(rounds: &[PatchId]) -> usize {
    let mut room = ROUNDS_BYTES;
    for (number, patch) in rounds.iter().enumerate().rev() {
        let Some(left) = room.checked_sub(width(&patch.0) + 1) else { return number + 1 };
        room = left;
    }
    0
}

/// What stands for a round that lost its name.
pub(super) fn lost_round(number: usize) -> PatchId {
    PatchId(format!("lost-{number}"))
}

impl Evaluation {
    /// What will be read back once this is sealed and sent.
    #[must_use]
    pub fn fitted(mut self) -> Self {
        cut_ids(&mut self.new, MOVED_BYTES);
        cut_ids(&mut self.fixed, MOVED_BYTES);
        cut_ids(&mut self.claimed, MOVED_BYTES);
        cut_ids(&mut self.back, MOVED_BYTES);
        let mut room = SKIPPED_BYTES;
        let fit_in = self.skipped.iter().take_while(|path| match room.checked_sub(width(path) + 1) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        });
        let count = fit_in.count();
        self.skipped.truncate(count);
        if let Some(sha) = &mut self.since {
            fit_sha(sha);
        }
        if let Some(failure) = &mut self.failure {
            cut(failure, FAILURE_BYTES);
        }
        self
    }
}

impl Tag {
    /// What will be read back once this is sealed and sent.
    #[must_use]
    pub fn fitted(mut self) -> Self {
        fit_sha(&mut self.head);
        match &mut self.kind {
            TagKind::Root { role, fingerprint: Fingerprint(fingerprint), finding: _, severity: _, settled: _ } => {
                fit_role(role);
                fit(fingerprint, HASH_BYTES);
            }
            TagKind::Reply { answers: NoteId(note), what: _ } => fit(note, ID_BYTES),
            TagKind::Topic(topic) => match topic {
                Topic::Job { cause, patch: PatchId(patch), kind: _, epoch: _, outcome: _, retried: _ } => {
                    fit(cause, CAUSE_BYTES);
                    fit(patch, COMMIT_BYTES);
                }
                Topic::Notice { patch: PatchId(patch) }
                | Topic::Ready { patch: PatchId(patch) }
                | Topic::Glass { patch: PatchId(patch) } => fit(patch, COMMIT_BYTES),
                Topic::Said { to } => fit(to, ID_BYTES),
                Topic::Operator { epoch: _ } | Topic::SelfReview { clean: _ } | Topic::FixPlan => {}
            },
        }
        self
    }
}

pub(super) fn fit_role(RoleName(role): &mut RoleName) {
    fit(role, ROLE_BYTES);
}

pub(super) fn fit_sha(Sha(sha): &mut Sha) {
    fit(sha, COMMIT_BYTES);
}

pub(super) fn fit_fingerprint(Fingerprint(fingerprint): &mut Fingerprint) {
    fit(fingerprint, HASH_BYTES);
}

pub(super) fn fit(name: &mut String, max: usize) {
    if let std::borrow::Cow::Owned(fitting) = short(name, max) {
        *name = fitting;
    }
}

/// For prose, where a hash would say nothing.
pub(super) fn cut(text: &mut String, max: usize) {
    if width(text) <= max {
        return;
    }
    text.truncate(text.floor_char_boundary(2 * max));
    while width(text) + width("…") > max && text.pop().is_some() {}
    text.push('…');
}

fn cut_ids(ids: &mut Vec<FindingId>, max: usize) {
    let numbers: Vec<u64> = ids.iter().map(|id| id.0).collect();
    ids.truncate(runs_that_fit(&numbers, max));
}
