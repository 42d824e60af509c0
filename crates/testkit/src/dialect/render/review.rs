//! JSON of reviews and their inline comments.

use referee_core::model::{ReviewId, ReviewKind, ReviewRequest, Sha, Verdict};
use referee_core::track::Side;
use serde_json::{Value, json};

use super::{JsonRenderer, format_time, numeric_id};
use crate::dialect::Dialect;
use crate::world::{StoredNote, StoredPull, StoredReview, StoredThread, nth_line};

impl JsonRenderer<'_> {
    /// Renders a review as lists and posts return it: with its original text where the forge has that quirk.
    pub(in crate::dialect) fn review(&self, pull: &StoredPull, review: &StoredReview) -> Value {
        let is_verdict = matches!(review.row, ReviewKind::Verdict(Verdict::Approve | Verdict::RequestChanges));
        let page = self.pull_page_url(pull);
        json!({
            "id": numeric_id(review.id.as_str()),
            "user": self.user(&review.author),
            "team": null,
            "state": review_state_name(review.row),
            "body": if self.repo.quirks.original_text_in_lists { &review.original } else { review.text.body_or_empty() },
            "commit_id": review.commit.as_str(),
            "stale": review.stale.is_some(),
            "official": is_verdict && review.official && !review.replaced && !review.requested,
            "dismissed": review.dismissed.is_some() || review.flagged_dismissed,
            "comments_count": review_notes(pull, &review.id).count(),
            "submitted_at": format_time(review.at),
            "updated_at": format_time(review.at),
            "html_url": match (review.row, self.dialect()) {
                (ReviewKind::Draft, _) => String::new(),
                (_, Dialect::Gitea127) => format!("{page}#pullrequestreview-{}", review.id),
                _ => format!("{page}#issuecomment-{}", review.edit),
            },
            "pull_request_url": page,
        })
    }

    /// Renders a review request, which is a row in the list of reviews.
    pub(in crate::dialect) fn request(&self, pull: &StoredPull, id: &ReviewId, request: &ReviewRequest) -> Value {
        json!({
            "id": numeric_id(id.as_str()),
            "user": self.user(&request.of),
            "team": null,
            "state": "REQUEST_REVIEW",
            "body": "",
            "commit_id": "",
            "stale": false,
            "official": true,
            "dismissed": false,
            "comments_count": 0,
            "submitted_at": format_time(request.at),
            "updated_at": format_time(request.at),
            "html_url": "",
            "pull_request_url": self.pull_page_url(pull),
        })
    }

    /// Renders the inline comments of a review. Real servers return threads in no particular order; here, last first.
    pub(in crate::dialect) fn review_comments(&self, pull: &StoredPull, review: &ReviewId) -> Value {
        let threads: Vec<_> = pull.threads.iter().filter(|thread| thread.review.as_ref() == Some(review)).collect();
        let notes = threads.iter().rev().flat_map(|thread| thread.notes.iter().map(|note| (*thread, note)));
        notes.map(|(thread, note)| self.note(pull, thread, note)).collect()
    }

    pub(in crate::dialect) fn note(&self, pull: &StoredPull, thread: &StoredThread, note: &StoredNote) -> Value {
        let page = self.pull_page_url(pull);
        let is_root = thread.notes.first().is_some_and(|root| root.id == note.id);
        let resolver = thread.resolved.as_ref().filter(|_| is_root).map(|(login, _)| self.user(login));
        let (line, blamed_commit) = (thread.line.unwrap_or_default(), self.find_blamed_commit(thread));
        let (position, original) = if thread.side == Side::New { (line, 0) } else { (0, line) };
        json!({
            "id": numeric_id(note.id.as_str()),
            "body": note.text.body_or_empty(),
            "user": self.user(&note.author),
            "resolver": resolver,
            "pull_request_review_id": thread.review.as_ref().map_or(0, |id| numeric_id(id.as_str())),
            "created_at": format_time(note.at),
            "updated_at": format_time(note.updated),
            "path": thread.path,
            "commit_id": blamed_commit.as_str(),
            "original_commit_id": "",
            "diff_hunk": self.render_hunk(pull, thread),
            "position": position,
            "original_position": original,
            "html_url": format!("{page}#issuecomment-{}", note.id),
            "pull_request_url": page,
        })
    }

    /// Returns the commit that introduced the line, which may be older than the pull.
    fn find_blamed_commit(&self, thread: &StoredThread) -> Sha {
        let line_at = |sha: &Sha| nth_line(&self.repo.text_at(sha, &thread.path)?, thread.line?);
        let (Side::New, Some(wanted)) = (thread.side, line_at(&thread.commit)) else { return thread.commit.clone() };
        let has_line = |sha: &&Sha| {
            self.repo.text_at(sha, &thread.path).is_some_and(|text| text.lines().any(|line| line == wanted))
        };
        let history = self.repo.ancestry(&thread.commit);
        history.iter().take_while(has_line).last().unwrap_or(&thread.commit).clone()
    }

    /// Renders the diff hunk; empty where the anchor is bad, which is the only sign of a bad anchor.
    fn render_hunk(&self, pull: &StoredPull, thread: &StoredThread) -> String {
        let StoredThread { path, line: Some(line), side, commit, .. } = thread else { return String::new() };
        if !self.repo.is_commentable(pull, commit, path, Some(*line), *side) {
            return String::new();
        }
        let sign = if *side == Side::New { '+' } else { '-' };
        let text = self.repo.text_at(commit, path).and_then(|text| nth_line(&text, *line)).unwrap_or_default();
        format!("@@ -{line},1 +{line},1 @@\n{sign}{text}")
    }
}

/// Returns the inline comments of a review, including replies by others.
pub(in crate::dialect) fn review_notes<'a>(
    pull: &'a StoredPull,
    review: &'a ReviewId,
) -> impl Iterator<Item = &'a StoredNote> {
    pull.threads.iter().filter(move |thread| thread.review.as_ref() == Some(review)).flat_map(|thread| &thread.notes)
}

fn review_state_name(row: ReviewKind) -> &'static str {
    match row {
        ReviewKind::Verdict(Verdict::Approve) => "APPROVED",
        ReviewKind::Verdict(Verdict::RequestChanges) => "REQUEST_CHANGES",
        ReviewKind::Verdict(Verdict::Comment) | ReviewKind::Wrapper => "COMMENT",
        ReviewKind::Draft => "PENDING",
    }
}
