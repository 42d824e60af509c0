//! Converts rows to core's model, as a viewer may see them.

use std::collections::BTreeSet;

use referee_core::model::thread::Resolution;
use referee_core::model::{
    Board, Comment, Completeness, Issue, Login, Note, Pull, PullNumber, PullState, Review, ReviewKind, Sha, Text,
    Thread, Time, Verdict, Viewer,
};
use referee_forge::{FetchedPull, ForgeError};

use super::quirks::ReplyMode;
use super::rows::{StoredComment, StoredPull, StoredRepo, StoredReview, StoredThread};

/// A row of the forge's list of reviews, before an adapter interprets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawReview {
    pub id: referee_core::model::ReviewId,
    pub row: ReviewKind,
    /// `None` if the account was deleted.
    pub author: Option<Login>,
    /// The text in the list: the original one, where the forge has that quirk.
    pub body: String,
    pub commit: Sha,
    /// Whether the diff has changed since.
    pub stale: bool,
    /// Whether the review has weight.
    pub official: bool,
    /// Whether it was dismissed; on some forges a newer verdict sets this too.
    pub dismissed: bool,
}

impl StoredRepo {
    pub(crate) fn raw_reviews(&self, number: PullNumber, viewer: &Login) -> Result<Vec<RawReview>, ForgeError> {
        let pull = self.pull(number)?;
        let row = |review: &StoredReview| RawReview {
            id: review.id.clone(),
            row: review.row,
            author: self.author(&review.author).login,
            body: if self.quirks.original_text_in_lists { &review.original } else { review.text.body_or_empty() }
                .to_owned(),
            commit: review.commit.clone(),
            stale: self.quirks.stale_flags && review.stale.is_some(),
            official: review.official && !review.replaced && !review.requested,
            dismissed: review.dismissed.is_some() || review.replaced,
        };
        Ok(visible_reviews(pull, viewer).map(row).collect())
    }

    /// Returns a pull as `viewer` sees it.
    pub(crate) fn fetch_pull(
        &self,
        number: PullNumber,
        viewer: &Login,
        holds: &BTreeSet<Login>,
        now: Time,
    ) -> Result<FetchedPull, ForgeError> {
        let row = self.pull(number)?;
        let mut fetched = FetchedPull {
            taken_at: now,
            viewer: Viewer { login: viewer.clone(), holds: holds.clone() },
            capabilities: self.quirks.capabilities(),
            complete: Completeness::Complete,
            is_fresh: true,
            head_read_last: true,
            pull: self.build_pull(row, viewer),
            reviews: visible_reviews(row, viewer).map(|review| self.build_review(number, review)).collect(),
            threads: row
                .threads
                .iter()
                .filter(|thread| !row.is_in_draft(thread))
                .map(|thread| self.build_thread(row, thread, viewer))
                .collect(),
            comments: row.comments.iter().map(|comment| self.build_comment(comment)).collect(),
            checks: self.checks(&row.head),
            lease: self.lease(number.0),
            memento: None,
        };
        if let Some(limit) = self.quirks.page_limit {
            truncate_lists(&mut fetched, limit);
        }
        Ok(fetched)
    }

    pub(crate) fn build_board(&self, now: Time, viewer: Viewer) -> Board {
        Board {
            forge: self.quirks.forge.to_owned(),
            repo: self.id,
            viewer,
            taken_at: now,
            pulls: self.pulls.values().filter(|pull| pull.state == PullState::Open).map(|pull| pull.number).collect(),
            issues: self
                .issues
                .iter()
                .filter(|(_, issue)| issue.open)
                .map(|(number, issue)| Issue {
                    is_unread: false,
                    number: *number,
                    title: String::new(),
                    text: Text::default(),
                    labels: issue.labels.clone(),
                    assignees: issue.assignees.clone(),
                    comments: issue.comments.iter().map(|comment| self.build_comment(comment)).collect(),
                })
                .collect(),
            leases: self.issues.keys().filter_map(|number| Some((*number, self.lease(number.0)?))).collect(),
        }
    }

    fn build_pull(&self, row: &StoredPull, viewer: &Login) -> Pull {
        Pull {
            forge: self.quirks.forge.to_owned(),
            repo: self.id,
            repo_name: self.name.clone(),
            number: row.number,
            title: row.title.clone(),
            author: self.author(&row.author),
            state: row.state,
            draft: row.draft,
            head: row.head.clone(),
            head_since: row.head_since,
            base: row.base.clone(),
            base_sha: self.branch(&row.base).cloned().unwrap_or_else(|| row.head.clone()),
            mergeable: self.mergeable(row),
            pushable: Some(!row.from_fork && self.may_write(viewer)),
            labels: row.labels.clone(),
            removed_labels: row.removed_labels(),
            assignees: row.assignees.clone(),
            requests: row.requests.iter().map(|(_, request)| request.clone()).collect(),
            opened_at: row.opened_at,
            reopens: row.reopens.clone(),
            pushes: row.pushes.clone(),
            url: format!("https://{}.test/{}/pulls/{}", self.quirks.forge, self.name, row.number.0),
        }
    }

    fn build_review(&self, number: PullNumber, row: &StoredReview) -> Review {
        Review {
            id: row.id.clone(),
            edit: (!self.quirks.no_edit && matches!(row.row, ReviewKind::Verdict(_))).then(|| row.edit.clone()),
            author: self.author(&row.author),
            row: effective_row(row),
            text: row.text.clone(),
            commit: Some(row.commit.clone()),
            at: row.at,
            counts: self.counts(row),
            url: format!("https://{}.test/{}/pulls/{}#review-{}", self.quirks.forge, self.name, number.0, row.id),
        }
    }

    fn build_thread(&self, pull: &StoredPull, row: &StoredThread, viewer: &Login) -> Thread {
        let note = |note: &super::rows::StoredNote| Note {
            id: note.id.clone(),
            author: self.author(&note.author),
            at: note.at,
            edited: note.edited,
            text: note.text.clone(),
        };
        let resolved = row.resolved.as_ref();
        Thread {
            id: row.id.clone(),
            review: row.review.clone(),
            path: Some(row.path.clone()),
            line: row.line,
            start_line: row.start_line,
            side: row.side,
            notes: row.notes.iter().map(note).collect(),
            resolved: resolved.map(|(login, at)| Resolution { by: self.author(login), at: Some(*at) }),
            outdated: self.is_outdated(pull, row),
            can_resolve: !self.quirks.no_resolve && (self.may_write(viewer) || pull.author == *viewer),
            can_reply: self.quirks.replies != ReplyMode::Unsupported,
            url: format!("https://{}.test/{}/pulls/{}#{}", self.quirks.forge, self.name, pull.number.0, row.id),
        }
    }

    fn build_comment(&self, row: &StoredComment) -> Comment {
        Comment {
            id: row.id.clone(),
            author: self.author(&row.author),
            at: row.at,
            edited: row.edited,
            text: row.text.clone(),
            url: format!("https://{}.test/{}/comments/{}", self.quirks.forge, self.name, row.id),
        }
    }
}

/// Keeps the first `limit` entries of each list and reports the lists that were cut.
pub(crate) fn truncate_lists(fetched: &mut FetchedPull, limit: usize) {
    let FetchedPull { reviews, threads, comments, .. } = fetched;
    let mut truncated = Vec::new();
    for (name, length) in [("reviews", reviews.len()), ("threads", threads.len()), ("comments", comments.len())] {
        if length > limit {
            truncated.push(name);
        }
    }
    reviews.truncate(limit);
    threads.truncate(limit);
    comments.truncate(limit);
    if !truncated.is_empty() {
        fetched.complete = Completeness::truncated(truncated.join(", "));
    }
}

/// Returns the reviews that `viewer` may see: all but the drafts of others.
fn visible_reviews<'a>(pull: &'a StoredPull, viewer: &'a Login) -> impl Iterator<Item = &'a StoredReview> {
    pull.reviews.iter().filter(move |review| review.row != ReviewKind::Draft || review.author == *viewer)
}

/// Treats a comment review without a body as the wrapper of its inline comments.
fn effective_row(row: &StoredReview) -> ReviewKind {
    if row.row == ReviewKind::Verdict(Verdict::Comment) && row.text.body_or_empty().is_empty() {
        ReviewKind::Wrapper
    } else {
        row.row
    }
}
