//! Routes that write reviews: post, save as a draft, submit.

use referee_core::model::{PullNumber, ReviewId, ReviewKind, Sha, Verdict};
use referee_core::plan::DiffLocation;
use referee_core::track::Side;
use referee_forge::ForgeError;
use serde_json::Value;

use super::WriteHandler;
use crate::dialect::reply::{HttpReply, RouteResult};
use crate::world::{EffectKind, FailedPost, NewInlineComment, NewReview};

impl WriteHandler<'_> {
    pub(super) fn post_review(&mut self, number: PullNumber) -> RouteResult {
        let comments = self.request.body.get("comments").and_then(Value::as_array);
        let inline: Vec<NewInlineComment> = comments.into_iter().flatten().map(parse_inline_comment).collect();
        let head = self.repo().pull(number).map(|pull| pull.head.clone()).map_err(|_| self.not_found())?;
        let commit = match self.request.text("commit_id") {
            "" => head,
            sha => Sha::from(sha),
        };
        let presence = if inline.is_empty() { InlinePresence::Absent } else { InlinePresence::Present };
        let row = self.parse_event(presence)?;
        self.store_review(number, row, &commit, &inline)
    }

    /// Submits the caller's draft, at the current head.
    pub(super) fn submit_draft(&mut self, number: PullNumber, id: &str) -> RouteResult {
        let id = ReviewId::from(id);
        let pull = self.repo().pull(number).map_err(|_| self.not_found())?;
        let review = pull.review(&id).map_err(|_| self.not_found())?;
        if review.author != *self.login() {
            return Err(self.not_found());
        }
        if review.row != ReviewKind::Draft {
            return Err(HttpReply::error(422, "only a pending review can be submitted"));
        }
        let inline = pull.threads.iter().any(|thread| thread.review.as_ref() == Some(&id));
        let (head, presence) =
            (pull.head.clone(), if inline { InlinePresence::Present } else { InlinePresence::Absent });
        match self.parse_event(presence)? {
            ReviewKind::Draft => Err(HttpReply::error(422, "review stay pending")),
            row => self.store_review(number, row, &head, &[]),
        }
    }

    fn store_review(
        &mut self,
        number: PullNumber,
        row: ReviewKind,
        commit: &Sha,
        inline: &[NewInlineComment],
    ) -> RouteResult {
        if !self.repo().commits.contains_key(commit) {
            return Err(HttpReply::server_error());
        }
        let (text, interrupted) = (self.request.text("body"), self.state.is_interrupted());
        let post = NewReview { by: self.caller.login, row, commit, text, inline, interrupted };
        let posted = match self.state.change(|repo| repo.post_review(number, &post)) {
            Ok(posted) => posted,
            Err(FailedPost { error, leftover_draft }) => {
                if let Some(review) = leftover_draft {
                    self.record_effect(number, EffectKind::DraftLeft { review });
                }
                return Err(self.refusal_reply(number, row, &error));
            }
        };
        let Some(review) = posted.review else { return Err(HttpReply::server_error()) };
        let effect = match row {
            ReviewKind::Draft => EffectKind::DraftLeft { review: review.clone() },
            ReviewKind::Wrapper => EffectKind::ThreadsOpened { threads: posted.threads },
            ReviewKind::Verdict(verdict) => EffectKind::ReviewPosted {
                review: review.clone(),
                verdict,
                commit: commit.clone(),
                text: text.to_owned(),
                threads: posted.threads,
            },
        };
        self.record_effect(number, effect);
        self.flag_if_stale(number, &review, commit);
        let pull = self.repo().pull(number).map_err(|_| self.not_found())?;
        let stored = pull.review(&review).map_err(|_| self.not_found())?;
        Ok(HttpReply::json(200, &self.renderer().review(pull, stored)))
    }

    /// Marks a verdict on an older commit as stale.
    fn flag_if_stale(&mut self, number: PullNumber, review: &ReviewId, commit: &Sha) {
        let now = self.repo().now;
        let Ok(pull) = self.state.repo.pull_mut(number) else { return };
        let is_outdated = pull.head != *commit;
        if let Ok(row) = pull.review_mut(review)
            && is_outdated
            && matches!(row.row, ReviewKind::Verdict(Verdict::Approve | Verdict::RequestChanges))
        {
            row.stale = Some(now);
        }
    }

    /// Parses the event of a review. An unknown event makes a draft, as on real servers.
    fn parse_event(&self, presence: InlinePresence) -> Result<ReviewKind, HttpReply> {
        let (event, no_body) = (self.request.text("event"), self.request.text("body").trim().is_empty());
        let is_empty = no_body && presence == InlinePresence::Absent;
        match event {
            "APPROVED" => Ok(ReviewKind::Verdict(Verdict::Approve)),
            "REQUEST_CHANGES" if !no_body => Ok(ReviewKind::Verdict(Verdict::RequestChanges)),
            "COMMENT" if !no_body => Ok(ReviewKind::Verdict(Verdict::Comment)),
            "COMMENT" if !is_empty => Ok(ReviewKind::Wrapper),
            "REQUEST_CHANGES" | "COMMENT" => {
                Err(HttpReply::error(422, &format!("review event {event} requires a body or a comment")))
            }
            _ if is_empty => Err(HttpReply::error(422, "review event PENDING requires a body or a comment")),
            _ => Ok(ReviewKind::Draft),
        }
    }

    fn refusal_reply(&self, number: PullNumber, row: ReviewKind, error: &ForgeError) -> HttpReply {
        let is_own_pull = self.repo().pull(number).is_ok_and(|pull| pull.author == *self.login());
        match (error, row) {
            (ForgeError::Refused(_), ReviewKind::Verdict(Verdict::Approve)) if is_own_pull => {
                HttpReply::error(422, "approve your own pull is not allowed")
            }
            (ForgeError::Refused(_), _) if is_own_pull => HttpReply::error(422, "reject your own pull is not allowed"),
            (ForgeError::Refused(_), _) => HttpReply::error(422, "cannot submit review for a closed pull"),
            // A bad line, or a crash of the client after half of the comments.
            _ => HttpReply::server_error(),
        }
    }
}

/// Whether a review has inline comments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InlinePresence {
    Absent,
    Present,
}

/// Parses an inline comment. If both positions are set, the old one wins; a negative new one counts as an old one.
pub(super) fn parse_inline_comment(comment: &Value) -> NewInlineComment {
    let position = |name: &str| comment.get(name).and_then(Value::as_i64).unwrap_or_default();
    let (old, new) = (position("old_position"), position("new_position"));
    let (side, line) = if old == 0 && new >= 0 { (Side::New, new) } else { (Side::Old, old.max(-new)) };
    let text = |name: &str| comment.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let line = Some(u32::try_from(line).unwrap_or_default());
    NewInlineComment { place: DiffLocation { path: text("path"), line, start_line: None, side }, text: text("body") }
}
