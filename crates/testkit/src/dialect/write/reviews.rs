//! Reviews: posted, left as drafts, submitted.

use referee_core::model::{PullNumber, ReviewId, Row, Sha, Verdict};
use referee_core::plan::Place;
use referee_core::track::Side;
use referee_forge::ForgeError;
use serde_json::Value;

use super::Writer;
use crate::dialect::reply::{Reply, Said};
use crate::world::{Inline, Post, Torn, What};

impl Writer<'_> {
    pub(super) fn post_review(&mut self, number: PullNumber) -> Said {
        let comments = self.asked.body.get("comments").and_then(Value::as_array);
        let inline: Vec<Inline> = comments.into_iter().flatten().map(inline).collect();
        let head = self.repo().pull(number).map(|pull| pull.head.clone()).map_err(|_| self.not_found())?;
        let commit = match self.asked.text("commit_id") {
            "" => head,
            sha => Sha::from(sha),
        };
        let full = if inline.is_empty() { Fullness::Bare } else { Fullness::Full };
        let row = self.row(full)?;
        self.send(number, row, &commit, &inline)
    }

    /// Publishes an own draft, at the head as it is now.
    pub(super) fn submit(&mut self, number: PullNumber, id: &str) -> Said {
        let id = ReviewId::from(id);
        let pull = self.repo().pull(number).map_err(|_| self.not_found())?;
        let review = pull.review(&id).map_err(|_| self.not_found())?;
        if review.author != *self.me() {
            return Err(self.not_found());
        }
        if review.row != Row::Draft {
            return Err(Reply::error(422, "only a pending review can be submitted"));
        }
        let inline = pull.threads.iter().any(|thread| thread.review.as_ref() == Some(&id));
        let (head, full) = (pull.head.clone(), if inline { Fullness::Full } else { Fullness::Bare });
        match self.row(full)? {
            Row::Draft => Err(Reply::error(422, "review stay pending")),
            row => self.send(number, row, &head, &[]),
        }
    }

    fn send(&mut self, number: PullNumber, row: Row, commit: &Sha, inline: &[Inline]) -> Said {
        if !self.repo().commits.contains_key(commit) {
            return Err(Reply::broke());
        }
        let (text, torn) = (self.asked.text("body"), self.state.torn());
        let post = Post { by: self.caller.login, row, commit, text, inline, torn };
        let posted = match self.state.change(|repo| repo.post(number, &post)) {
            Ok(posted) => posted,
            Err(Torn { error, left }) => {
                if let Some(review) = left {
                    self.effect(number, What::Drafted { review });
                }
                return Err(self.refused(number, row, &error));
            }
        };
        let Some(review) = posted.review else { return Err(Reply::broke()) };
        let what = match row {
            Row::Draft => What::Drafted { review: review.clone() },
            Row::Wrapper => What::Opened { threads: posted.threads },
            Row::Verdict(verdict) => What::Posted {
                review: review.clone(),
                verdict,
                commit: commit.clone(),
                text: text.to_owned(),
                threads: posted.threads,
            },
        };
        self.effect(number, what);
        self.date(number, &review, commit);
        let pull = self.repo().pull(number).map_err(|_| self.not_found())?;
        let stored = pull.review(&review).map_err(|_| self.not_found())?;
        Ok(Reply::json(200, &self.shape().review(pull, stored)))
    }

    /// A verdict on an older commit is stale from the start.
    fn date(&mut self, number: PullNumber, review: &ReviewId, commit: &Sha) {
        let now = self.repo().now;
        let Ok(pull) = self.state.repo.pull_mut(number) else { return };
        let old = pull.head != *commit;
        if let Ok(row) = pull.review_mut(review)
            && old
            && matches!(row.row, Row::Verdict(Verdict::Approve | Verdict::RequestChanges))
        {
            row.stale = Some(now);
        }
    }

    /// What an event makes of a review: names are taken as they are, and what is no name makes a draft.
    fn row(&self, full: Fullness) -> Result<Row, Reply> {
        let (event, blank) = (self.asked.text("event"), self.asked.text("body").trim().is_empty());
        let bare = blank && full == Fullness::Bare;
        match event {
            "APPROVED" => Ok(Row::Verdict(Verdict::Approve)),
            "REQUEST_CHANGES" if !blank => Ok(Row::Verdict(Verdict::RequestChanges)),
            "COMMENT" if !blank => Ok(Row::Verdict(Verdict::Comment)),
            "COMMENT" if !bare => Ok(Row::Wrapper),
            "REQUEST_CHANGES" | "COMMENT" => {
                Err(Reply::error(422, &format!("review event {event} requires a body or a comment")))
            }
            _ if bare => Err(Reply::error(422, "review event PENDING requires a body or a comment")),
            _ => Ok(Row::Draft),
        }
    }

    fn refused(&self, number: PullNumber, row: Row, error: &ForgeError) -> Reply {
        let own = self.repo().pull(number).is_ok_and(|pull| pull.author == *self.me());
        match (error, row) {
            (ForgeError::Refused(_), Row::Verdict(Verdict::Approve)) if own => {
                Reply::error(422, "approve your own pull is not allowed")
            }
            (ForgeError::Refused(_), _) if own => Reply::error(422, "reject your own pull is not allowed"),
            (ForgeError::Refused(_), _) => Reply::error(422, "cannot submit review for a closed pull"),
            // A line that is not there, or half of it sent.
            _ => Reply::broke(),
        }
    }
}

/// Whether a review has inline comments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fullness {
    Bare,
    Full,
}

/// Both positions set: the old one wins. A negative new one is an old one.
pub(super) fn inline(comment: &Value) -> Inline {
    let position = |name: &str| comment.get(name).and_then(Value::as_i64).unwrap_or_default();
    let (old, new) = (position("old_position"), position("new_position"));
    let (side, line) = if old == 0 && new >= 0 { (Side::New, new) } else { (Side::Old, old.max(-new)) };
    let text = |name: &str| comment.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let line = Some(u32::try_from(line).unwrap_or_default());
    Inline { place: Place { path: text("path"), line, start_line: None, side }, text: text("body") }
}
