//! Pushes, labels, requests, dismissals and statuses, by the rules of the forge.

use std::sync::Arc;

use referee_core::model::{
    CheckState, Label, Login, PullNumber, PullState, Push, ReviewId, ReviewKind, ReviewRequest, Sha, ThreadId, Time,
    Verdict,
};
use referee_core::plan::CommentTarget;
use referee_forge::ForgeError;

use super::commits::{FileTree, TreePatch};
use super::rows::{StoredPull, StoredRepo, StoredStatus, not_found};
use super::timeline::EventKind;

/// A pull to open.
pub(crate) struct NewPull<'a> {
    pub(crate) by: &'a Login,
    pub(crate) branch: &'a str,
    pub(crate) title: &'a str,
    pub(crate) from_fork: bool,
}

/// Whether a push keeps the history.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PushKind {
    Forward,
    Forced,
}

impl StoredRepo {
    /// Opens a pull from a branch into the default branch.
    pub(crate) fn open_pull(&mut self, new: &NewPull<'_>) -> Result<PullNumber, ForgeError> {
        let head = self.branch(new.branch).cloned().ok_or_else(|| not_found(&new.branch))?;
        let number = PullNumber(self.next_number());
        let now = self.now;
        let row = StoredPull {
            number,
            title: new.title.to_owned(),
            author: new.by.clone(),
            branch: new.branch.to_owned(),
            base: self.default_branch.clone(),
            head: head.clone(),
            head_since: now,
            state: PullState::Open,
            draft: false,
            from_fork: new.from_fork,
            labels: Vec::new(),
            assignees: Vec::new(),
            requests: Vec::new(),
            reviews: Vec::new(),
            threads: Vec::new(),
            comments: Vec::new(),
            opened_at: now,
            reopens: Vec::new(),
            pushes: vec![Push { head, by: Some(new.by.clone()), at: now }],
            events: Vec::new(),
            unpaired_posts: Vec::new(),
        };
        self.pulls.insert(number, Arc::new(row));
        Ok(number)
    }

    /// Stores a commit and moves a branch to it, with every open pull of that branch.
    pub(crate) fn push(&mut self, by: &Login, branch: &str, tree: FileTree, parents: Vec<Sha>, kind: PushKind) -> Sha {
        let sha = self.store_commit(tree, parents);
        self.advance_branch(by, branch, &sha, kind);
        sha
    }

    /// Moves a branch to an existing commit, with every open pull of that branch.
    pub(crate) fn advance_branch(&mut self, by: &Login, branch: &str, sha: &Sha, kind: PushKind) {
        let before: Vec<(PullNumber, TreePatch)> = self
            .pulls
            .values()
            .filter(|pull| pull.branch == branch && pull.state == PullState::Open)
            .map(|pull| (pull.number, self.diff_of_pull(pull)))
            .collect();
        self.branches.insert(branch.to_owned(), sha.clone());
        for (number, patch) in before {
            self.advance_pull(number, by, sha, &patch, kind);
        }
    }

    fn advance_pull(&mut self, number: PullNumber, by: &Login, head: &Sha, patch: &TreePatch, kind: PushKind) {
        let now = self.now;
        let Ok(pull) = self.pull_mut(number) else { return };
        let old = std::mem::replace(&mut pull.head, head.clone());
        pull.head_since = now;
        pull.pushes.push(Push { head: head.clone(), by: Some(by.clone()), at: now });
        self.record_push(number, by, &old, kind);
        let same_patch = self.pull(number).is_ok_and(|pull| self.diff_of_pull(pull) == *patch);
        let (dismisses, flags) =
            (self.quirks.dismiss_on_push, self.quirks.stale_flags || self.quirks.stale_rows_ignored);
        let rolls = self.quirks.commit_rolls_forward && kind == PushKind::Forced;
        let Ok(pull) = self.pull_mut(number) else { return };
        for review in pull.reviews.iter_mut().filter(|review| review.row != ReviewKind::Draft) {
            if same_patch {
                if rolls && review.commit == old {
                    review.commit = head.clone();
                }
                continue;
            }
            if flags {
                review.stale.get_or_insert(now);
            }
            if dismisses && review.row == ReviewKind::Verdict(Verdict::Approve) {
                review.dismissed.get_or_insert((None, now));
            }
        }
        self.touch_outdated(number);
    }

    /// Updates the notes of outdated threads. Real forges update the rows of comments whose line vanished.
    fn touch_outdated(&mut self, number: PullNumber) {
        let now = self.now;
        let Ok(pull) = self.pull(number) else { return };
        let outdated: Vec<bool> = pull.threads.iter().map(|thread| self.is_outdated(pull, thread)).collect();
        let Ok(pull) = self.pull_mut(number) else { return };
        for (thread, _) in pull.threads.iter_mut().zip(outdated).filter(|(_, outdated)| *outdated) {
            thread.notes.iter_mut().for_each(|note| note.updated = now);
        }
    }

    pub(crate) fn set_state(&mut self, number: PullNumber, by: &Login, state: PullState) -> Result<(), ForgeError> {
        let now = self.now;
        let event = if state == PullState::Open { EventKind::Reopened } else { EventKind::Closed };
        self.record_event(number, by, event)?;
        let pull = self.pull_mut(number)?;
        if state == PullState::Open && pull.state == PullState::Closed {
            pull.reopens.push(now);
        }
        pull.state = state;
        Ok(())
    }

    /// Requests a review. The pull's author and everybody with write access may do that.
    pub(crate) fn request_review(
        &mut self,
        number: PullNumber,
        by: &Login,
        reviewer: &Login,
    ) -> Result<(), ForgeError> {
        self.check_participant(number, by, "request a review")?;
        let (at, clears) = (self.now, self.quirks.request_clears_verdict);
        self.record_event(number, by, EventKind::Requested { of: reviewer.clone() })?;
        let id = self.next_review_id();
        let pull = self.pull_mut(number)?;
        pull.requests.retain(|(_, request)| request.of != *reviewer);
        pull.requests.push((id, ReviewRequest { of: reviewer.clone(), by: Some(by.clone()), at }));
        if clears {
            pull.reviews.iter_mut().filter(|row| row.author == *reviewer).for_each(|row| row.requested = true);
        }
        Ok(())
    }

    /// Withdraws a request, which gives the user's verdicts their weight back.
    pub(crate) fn withdraw_request(&mut self, number: PullNumber, reviewer: &Login) -> Result<(), ForgeError> {
        let pull = self.pull_mut(number)?;
        pull.requests.retain(|(_, request)| request.of != *reviewer);
        pull.reviews.iter_mut().filter(|row| row.author == *reviewer).for_each(|row| row.requested = false);
        Ok(())
    }

    pub(crate) fn dismiss(&mut self, number: PullNumber, by: &Login, review: &ReviewId) -> Result<(), ForgeError> {
        if !self.may_write(by) {
            return Err(ForgeError::Forbidden("dismiss a review".to_owned()));
        }
        let now = self.now;
        self.record_event(number, by, EventKind::Dismissed { review: review.clone() })?;
        self.pull_mut(number)?.review_mut(review)?.dismissed = Some((Some(by.clone()), now));
        Ok(())
    }

    /// Resolves a thread. Forges allow that to the pull's author too, even without write access.
    pub(crate) fn resolve(&mut self, number: PullNumber, by: &Login, thread: &ThreadId) -> Result<(), ForgeError> {
        self.check_participant(number, by, "resolve threads")?;
        let resolved = Some((by.clone(), self.now));
        self.pull_mut(number)?.thread_mut(thread)?.resolved = resolved;
        Ok(())
    }

    pub(crate) fn unresolve(&mut self, number: PullNumber, by: &Login, thread: &ThreadId) -> Result<(), ForgeError> {
        self.check_participant(number, by, "reopen threads")?;
        self.pull_mut(number)?.thread_mut(thread)?.resolved = None;
        Ok(())
    }

    pub(crate) fn label(&mut self, number: PullNumber, by: &Login, name: &str) -> Result<(), ForgeError> {
        let at = self.now;
        self.create_label(name);
        if self.pull(number)?.labels.iter().all(|label| label.name != name) {
            self.record_event(number, by, EventKind::Labelled { name: name.to_owned() })?;
        }
        add_label(&mut self.pull_mut(number)?.labels, name, by, at);
        Ok(())
    }

    pub(crate) fn unlabel(&mut self, number: PullNumber, by: &Login, name: &str) -> Result<(), ForgeError> {
        if self.pull(number)?.labels.iter().any(|label| label.name == name) {
            self.record_event(number, by, EventKind::Unlabelled { name: name.to_owned() })?;
        }
        self.pull_mut(number)?.labels.retain(|label| label.name != name);
        Ok(())
    }

    pub(crate) fn assignees_mut(
        &mut self,
        number: PullNumber,
        target: CommentTarget,
    ) -> Result<&mut Vec<Login>, ForgeError> {
        match target {
            CommentTarget::Pull => Ok(&mut self.pull_mut(number)?.assignees),
            CommentTarget::Issue(issue) => Ok(&mut self.issue_mut(issue)?.assignees),
        }
    }

    /// Sets a status. Only the latest one of each context counts.
    pub(crate) fn set_status(&mut self, commit: &Sha, context: &str, state: CheckState, text: &str) {
        let id = self.statuses.len() + self.superseded_statuses.len() + 1;
        let same = |status: &mut StoredStatus| status.commit == *commit && status.context == context;
        self.superseded_statuses.extend(self.statuses.extract_if(.., same));
        let (commit, context) = (commit.clone(), context.to_owned());
        self.statuses.push(StoredStatus { id, commit, context, state, text: text.to_owned() });
    }

    /// Only the author may push to a fork.
    pub(crate) fn check_may_push(&self, by: &Login, number: PullNumber) -> Result<(), ForgeError> {
        let pull = self.pull(number)?;
        if pull.author == *by || (!pull.from_fork && self.may_write(by)) {
            Ok(())
        } else {
            Err(ForgeError::Forbidden("push to that branch".to_owned()))
        }
    }

    fn check_participant(&self, number: PullNumber, by: &Login, verb: &str) -> Result<(), ForgeError> {
        if self.may_write(by) || self.pull(number)?.author == *by {
            Ok(())
        } else {
            Err(ForgeError::Forbidden(verb.to_owned()))
        }
    }
}

pub(crate) fn add_label(labels: &mut Vec<Label>, name: &str, by: &Login, at: Time) {
    if labels.iter().all(|label| label.name != name) {
        labels.push(Label { name: name.to_owned(), by: Some(by.clone()), at: Some(at) });
    }
}
