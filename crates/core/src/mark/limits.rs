//! Size limits of Marks, Tags and Blocks. Lists that are too long are truncated, long names are shortened with a hash.
//!
//! Reading a sealed `x` returns `x.truncate_to_limits()`. Texts are rendered from what will be read back, so code that
//! hashes a Mark's evaluation, or reports evictions, truncates it first.

use super::block_codec::MAX_NAME_BYTES;
use super::data::{Evaluation, Mark, Tag, TagKind, Topic};
use super::field::{count_fitting_numbers, encoded_len, shorten};
use crate::hash::Hash;
use crate::model::{FindingId, NoteId, ReviewId, RoleName, Sha};
use crate::track::{Fingerprint, PatchId};

/// Maximum encoded length of a role name. A policy refuses longer ones.
pub const MAX_ROLE_BYTES: usize = 40;

/// Maximum encoded length of a job's cause. [`shorten_cause`] shortens longer ones.
pub const MAX_CAUSE_BYTES: usize = 30;

/// Maximum encoded length of the id of a note or comment.
pub const MAX_ID_BYTES: usize = 96;

/// A commit or patch id of 64 hex characters, packed.
const MAX_COMMIT_BYTES: usize = 44;
/// A hash of 32 hex characters, packed.
const MAX_HASH_BYTES: usize = 24;
const MAX_REVIEW_ID_BYTES: usize = 48;
const MAX_RESTORED_BYTES: usize = 48;
const MAX_ROUNDS_BYTES: usize = 290;
const MAX_BLOCKING_BYTES: usize = 120;
const MAX_CHANGED_IDS_BYTES: usize = 70;
const MAX_SKIPPED_BYTES: usize = 150;
const MAX_FAILURE_BYTES: usize = 130;
/// Sanity limit: referee never writes more rounds.
pub(super) const MAX_ROUNDS: usize = 10_000;

/// Returns the cause as a Tag stores it. Compare causes in this form only.
pub fn shorten_cause(cause: &str) -> String {
    shorten(cause, MAX_CAUSE_BYTES).into_owned()
}

/// Returns a rule's id as a Block stores it. Compare rules in this form only.
pub fn shorten_rule(rule: &str) -> String {
    shorten(rule, MAX_NAME_BYTES).into_owned()
}

impl Mark {
    /// Returns what will be read back after sealing, except `words`, which sealing sets.
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
        self.truncate_rounds();
        if let Some(ReviewId(id)) = &mut self.superseded {
            shorten_in_place(id, MAX_REVIEW_ID_BYTES);
        }
        truncate_ids(&mut self.blocking, MAX_BLOCKING_BYTES);
        if let Some(restored) = &mut self.restored {
            truncate_prose(restored, MAX_RESTORED_BYTES);
        }
        let hashes = [
            Some(&mut self.inputs),
            Some(&mut self.words),
            self.rewrote.as_mut(),
            self.report.as_mut(),
            self.configured.as_mut(),
            self.tool.as_mut(),
        ];
        for Hash(hash) in hashes.into_iter().flatten() {
            shorten_in_place(hash, MAX_HASH_BYTES);
        }
        self.evaluation = self.evaluation.truncate_to_limits();
        self
    }

    /// Adds placeholders for rounds that are known to have happened, but that this Mark does not list (LOOP-2).
    pub(crate) fn raise_round_count(&mut self, count: usize) {
        if count <= self.rounds.len() {
            return;
        }
        self.rounds.retain(|patch| !patch.0.starts_with(PLACEHOLDER_PREFIX));
        let unknown = count.saturating_sub(self.rounds.len());
        self.rounds.splice(..0, (1..=unknown).map(placeholder_round));
    }

    /// Replaces the oldest rounds that do not fit by placeholders. Their number, and so the round limit, is kept. A
    /// push back to such an old change counts as a new round.
    fn truncate_rounds(&mut self) {
        let excess = self.rounds.len().saturating_sub(MAX_ROUNDS);
        self.rounds.drain(..excess);
        let forgotten = count_forgotten_rounds(&self.rounds);
        for (patch, number) in self.rounds.iter_mut().zip(1..=forgotten) {
            *patch = placeholder_round(number);
        }
    }
}

/// Returns how many of the oldest rounds do not fit.
pub(super) fn count_forgotten_rounds(rounds: &[PatchId]) -> usize {
    let mut remaining = MAX_ROUNDS_BYTES;
    for (index, patch) in rounds.iter().enumerate().rev() {
        let Some(left) = remaining.checked_sub(encoded_len(&patch.0) + 1) else { return index + 1 };
        remaining = left;
    }
    0
}

/// Returns the placeholder of a round whose patch id did not fit, or is not known.
pub(super) fn placeholder_round(number: usize) -> PatchId {
    PatchId(format!("{PLACEHOLDER_PREFIX}{number}"))
}

const PLACEHOLDER_PREFIX: &str = "lost-";

impl Evaluation {
    /// Returns what will be read back after sealing.
    #[must_use]
    pub fn truncate_to_limits(mut self) -> Self {
        truncate_ids(&mut self.new, MAX_CHANGED_IDS_BYTES);
        truncate_ids(&mut self.fixed, MAX_CHANGED_IDS_BYTES);
        truncate_ids(&mut self.claimed, MAX_CHANGED_IDS_BYTES);
        truncate_ids(&mut self.back, MAX_CHANGED_IDS_BYTES);
        let mut remaining = MAX_SKIPPED_BYTES;
        let fitting = self.skipped.iter().take_while(|path| match remaining.checked_sub(encoded_len(path) + 1) {
            Some(left) => {
                remaining = left;
                true
            }
            None => false,
        });
        let count = fitting.count();
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
    /// Returns what will be read back after sealing.
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
                Topic::Said { to } | Topic::PauseSet { to, paused: _ } => shorten_in_place(to, MAX_ID_BYTES),
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

/// Cuts prose with `…`. A hash, as in shortened names, would not help people.
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
