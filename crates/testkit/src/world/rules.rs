//! The decisions of the forge: which reviews count, whether a pull is approved, and auto-merge.

use std::collections::BTreeMap;

use referee_core::model::{
    Check, CheckState, Checks, Login, Mergeable, PullNumber, PullState, ReviewKind, ReviewWeight, Sha, Verdict,
};

use super::rows::{StoredPull, StoredRepo, StoredReview};

/// The newest counting verdict of each user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalTally {
    pub approvers: Vec<Login>,
    pub blockers: Vec<Login>,
}

impl ApprovalTally {
    /// Returns whether at least one user approves and none blocks.
    pub fn is_approved(&self) -> bool {
        !self.approvers.is_empty() && self.blockers.is_empty()
    }

    /// Returns whether at least one user blocks.
    pub fn is_blocked(&self) -> bool {
        !self.blockers.is_empty()
    }
}

/// The prefix of referee's own statuses, which are not part of the checks (D15).
pub(crate) const OWN_STATUS_PREFIX: &str = "referee/";

impl StoredRepo {
    /// Returns whether a review counts.
    ///
    /// | review | counts |
    /// |---|---|
    /// | draft, wrapper, comment, or by a user without the right | no |
    /// | replaced by a newer verdict | replaced |
    /// | dismissed | dismissed |
    /// | its author was asked again | requested |
    /// | stale, where stale reviews are ignored | dismissed by the forge |
    /// | any other | yes |
    pub(crate) fn counts(&self, review: &StoredReview) -> ReviewWeight {
        let is_verdict = matches!(review.row, ReviewKind::Verdict(Verdict::Approve | Verdict::RequestChanges));
        if !is_verdict || !review.official {
            return ReviewWeight::No;
        }
        if review.replaced {
            return ReviewWeight::Replaced;
        }
        if let Some((by, at)) = &review.dismissed {
            return ReviewWeight::Dismissed { by: by.as_ref().map(|login| self.author(login)), at: *at };
        }
        if review.requested {
            return ReviewWeight::Requested;
        }
        match review.stale {
            Some(at) if self.quirks.stale_rows_ignored => ReviewWeight::Dismissed { by: None, at },
            _ => ReviewWeight::Yes,
        }
    }

    pub(crate) fn decision(&self, pull: &StoredPull) -> ApprovalTally {
        let mut newest: BTreeMap<&Login, Verdict> = BTreeMap::new();
        for review in &pull.reviews {
            if let (ReviewKind::Verdict(verdict), ReviewWeight::Yes) = (review.row, self.counts(review)) {
                newest.insert(&review.author, verdict);
            }
        }
        let logins_with = |wanted: Verdict| {
            newest.iter().filter(|(_, verdict)| **verdict == wanted).map(|(login, _)| (*login).clone()).collect()
        };
        ApprovalTally { approvers: logins_with(Verdict::Approve), blockers: logins_with(Verdict::RequestChanges) }
    }

    /// Returns the checks at a commit, with referee's own statuses listed separately.
    pub(crate) fn checks(&self, commit: &Sha) -> Checks {
        let mut checks = Checks::default();
        for status in self.statuses.iter().filter(|status| status.commit == *commit) {
            if status.context.starts_with(OWN_STATUS_PREFIX) {
                checks.own.push(referee_core::model::checks::OwnStatus {
                    context: status.context.clone(),
                    state: status.state,
                    text: status.text.clone(),
                });
            } else {
                checks.all.push(Check { name: status.context.clone(), state: status.state });
            }
        }
        checks
    }

    /// Merges approved pulls with passing checks, where the forge does so. Referee's own statuses are ignored on purpose: even
    /// a short-lived wrong approval must do visible harm.
    pub(crate) fn merge_approved(&mut self) -> Vec<PullNumber> {
        if !self.quirks.auto_merge {
            return Vec::new();
        }
        let mergeable: Vec<PullNumber> =
            self.pulls.values().filter(|pull| self.is_auto_mergeable(pull)).map(|pull| pull.number).collect();
        for number in &mergeable {
            self.merge(*number);
        }
        mergeable
    }

    fn is_auto_mergeable(&self, pull: &StoredPull) -> bool {
        pull.state == PullState::Open
            && !pull.draft
            && self.decision(pull).is_approved()
            && matches!(self.checks(&pull.head).combined_state(), CheckState::Pass | CheckState::None)
            && self.mergeable(pull) == Mergeable::Clean
    }

    /// Merges a pull into its base, without checking who asked.
    pub(crate) fn merge(&mut self, number: PullNumber) {
        let Ok(pull) = self.pull(number).cloned() else { return };
        let Some(base) = self.branch(&pull.base).cloned() else { return };
        let mut tree = self.tree(&base);
        for (path, (_, after)) in self.diff_of_pull(&pull) {
            match after {
                Some(text) => tree.insert(path, text),
                None => tree.remove(&path),
            };
        }
        let merged = self.store_commit(tree, vec![base, pull.head]);
        self.branches.insert(pull.base, merged);
        if let Ok(row) = self.pull_mut(number) {
            row.state = PullState::Merged;
        }
    }
}
