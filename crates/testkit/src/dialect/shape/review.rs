//! Reviews and their inline comments.

use referee_core::model::{ReviewId, ReviewRequest, Row, Sha, Verdict};
use referee_core::track::Side;
use serde_json::{Value, json};

use super::{Shape, at, number};
use crate::dialect::Dialect;
use crate::world::{StoredNote, StoredPull, StoredReview, StoredThread, nth};

impl Shape<'_> {
    /// A review as lists and answers have it: with its first text.
    pub(in crate::dialect) fn review(&self, pull: &StoredPull, review: &StoredReview) -> Value {
        let verdict = matches!(review.row, Row::Verdict(Verdict::Approve | Verdict::RequestChanges));
        let page = self.pull_page(pull);
        json!({
            "id": number(review.id.as_str()),
            "user": self.user(&review.author),
            "team": null,
            "state": state(review.row),
            "body": if self.repo.quirks.original_text_in_lists { &review.original } else { review.text.words() },
            "commit_id": review.commit.as_str(),
            "stale": review.stale.is_some(),
            "official": verdict && review.official && !review.replaced && !review.requested,
            "dismissed": review.dismissed.is_some() || review.struck,
            "comments_count": notes_of(pull, &review.id).count(),
            "submitted_at": at(review.at),
            "updated_at": at(review.at),
            "html_url": match (review.row, self.dialect()) {
                (Row::Draft, _) => String::new(),
                (_, Dialect::Gitea127) => format!("{page}#pullrequestreview-{}", review.id),
                _ => format!("{page}#issuecomment-{}", review.edit),
            },
            "pull_request_url": page,
        })
    }

    /// A request for somebody's review: a row among the reviews.
    pub(in crate::dialect) fn request(&self, pull: &StoredPull, id: &ReviewId, request: &ReviewRequest) -> Value {
        json!({
            "id": number(id.as_str()),
            "user": self.user(&request.of),
            "team": null,
            "state": "REQUEST_REVIEW",
            "body": "",
            "commit_id": "",
            "stale": false,
            "official": true,
            "dismissed": false,
            "comments_count": 0,
            "submitted_at": at(request.at),
            "updated_at": at(request.at),
            "html_url": "",
            "pull_request_url": self.pull_page(pull),
        })
    }

    /// The inline comments of a review. Threads come in no order that means anything: the last one first.
    pub(in crate::dialect) fn review_comments(&self, pull: &StoredPull, review: &ReviewId) -> Value {
        let threads: Vec<_> = pull.threads.iter().filter(|thread| thread.review.as_ref() == Some(review)).collect();
        let notes = threads.iter().rev().flat_map(|thread| thread.notes.iter().map(|note| (*thread, note)));
        notes.map(|(thread, note)| self.note(pull, thread, note)).collect()
    }

    /// An inline comment.
    pub(in crate::dialect) fn note(&self, pull: &StoredPull, thread: &StoredThread, note: &StoredNote) -> Value {
        let page = self.pull_page(pull);
        let root = thread.notes.first().is_some_and(|root| root.id == note.id);
        let resolver = thread.resolved.as_ref().filter(|_| root).map(|(login, _)| self.user(login));
        let (line, blamed) = (thread.line.unwrap_or_default(), self.blamed(thread));
        let (position, original) = if thread.side == Side::New { (line, 0) } else { (0, line) };
        json!({
            "id": number(note.id.as_str()),
            "body": note.text.words(),
            "user": self.user(&note.author),
            "resolver": resolver,
            "pull_request_review_id": thread.review.as_ref().map_or(0, |id| number(id.as_str())),
            "created_at": at(note.at),
            "updated_at": at(note.updated),
            "path": thread.path,
            "commit_id": blamed.as_str(),
            "original_commit_id": "",
            "diff_hunk": self.hunk(pull, thread),
            "position": position,
            "original_position": original,
            "html_url": format!("{page}#issuecomment-{}", note.id),
            "pull_request_url": page,
        })
    }

    /// The commit that the line comes from, which need not be one of the pull's.
    fn blamed(&self, thread: &StoredThread) -> Sha {
        let line_at = |sha: &Sha| nth(&self.repo.text_at(sha, &thread.path)?, thread.line?);
        let (Side::New, Some(words)) = (thread.side, line_at(&thread.commit)) else { return thread.commit.clone() };
        let has = |sha: &&Sha| {
            self.repo.text_at(sha, &thread.path).is_some_and(|text| text.lines().any(|line| line == words))
        };
        let history = self.repo.ancestry(&thread.commit);
        history.iter().take_while(has).last().unwrap_or(&thread.commit).clone()
    }

    /// Empty where the anchor is bad: the only sign of it.
    fn hunk(&self, pull: &StoredPull, thread: &StoredThread) -> String {
        let StoredThread { path, line: Some(line), side, commit, .. } = thread else { return String::new() };
        if !self.repo.commentable(pull, commit, path, Some(*line), *side) {
            return String::new();
        }
        let sign = if *side == Side::New { '+' } else { '-' };
        let words = self.repo.text_at(commit, path).and_then(|text| nth(&text, *line)).unwrap_or_default();
        format!("@@ -{line},1 +{line},1 @@\n{sign}{words}")
    }
}

/// The inline comments of a review, replies of whoever it is included.
pub(in crate::dialect) fn notes_of<'a>(
    pull: &'a StoredPull,
    review: &'a ReviewId,
) -> impl Iterator<Item = &'a StoredNote> {
    pull.threads.iter().filter(move |thread| thread.review.as_ref() == Some(review)).flat_map(|thread| &thread.notes)
}

fn state(row: Row) -> &'static str {
    match row {
        Row::Verdict(Verdict::Approve) => "APPROVED",
        Row::Verdict(Verdict::RequestChanges) => "REQUEST_CHANGES",
        Row::Verdict(Verdict::Comment) | Row::Wrapper => "COMMENT",
        Row::Draft => "PENDING",
    }
}
