//! One review on its way. Posting is not atomic: inline comments are stored one by one in a draft, which is published
//! last. A comment that the server cannot store ends the post with a 500 and leaves those before it in the draft; the
//! next post takes that draft over. So what is stored is read back, and the rest is sent again.
//!
//! | answer | stored, as read back | then |
//! |---|---|---|
//! | 2xx | | its inline comments are read back |
//! | 500 | the review | as 2xx |
//! | 500 | a part of its comments, or none | the others are sent again |
//! | 500 | nothing more than after the last 500 | the first one left is the reason: it is dropped |
//! | 500 | nothing, and no comment to drop | unknown |
//! | other 5xx, none, or a 2xx that nobody can read | the review | as 2xx |
//! | other 5xx, none, or a 2xx that nobody can read | anything else | unknown |

use referee_core::mark::Sealed;
use referee_core::model::Sha;
use referee_core::plan::NewThread;
use serde_json::json;

use super::Pen;
use super::own::{DRAFT, Own, spot};
use crate::ForgeError;
use crate::gitea::hand::{meaning, understand, unsent};
use crate::gitea::routes;
use crate::gitea::wire::{AROUND_DRAFT, Review};

/// What a review says as a whole.
pub(super) struct Post<'a> {
    pub(super) event: &'static str,
    pub(super) body: &'a str,
}

impl Post<'_> {
    /// What threads come in that are no part of a review.
    pub(super) const WRAPPER: Self = Self { event: "COMMENT", body: "" };
    /// The same around a draft: what comes without words must come with a thread, and those in the draft do not count.
    const AROUND_DRAFT: Self = Self { event: "COMMENT", body: AROUND_DRAFT };
}

/// Reviews on their way, and what is known to be there.
pub(super) struct Sending<'a, 't> {
    pub(super) pen: &'a Pen<'a>,
    pub(super) commit: &'a Sha,
    pub(super) own: Own,
    /// Threads that the server cannot store.
    pub(super) dropped: Vec<&'t NewThread<Sealed>>,
}

impl<'t> Sending<'_, 't> {
    /// Sends one review with its threads, no two on one line, and says which row it became.
    pub(super) async fn send(
        &mut self,
        post: &Post<'_>,
        mut threads: Vec<&'t NewThread<Sealed>>,
    ) -> Result<u64, ForgeError> {
        let mut suspect: Option<&NewThread<Sealed>> = None;
        loop {
            if threads.is_empty() && post.body.is_empty() {
                // All that was to be said lies in the draft, or cannot be said.
                return self.submit().await?.ok_or_else(|| self.nowhere());
            }
            match self.try_once(post, &threads).await? {
                Tried::Stored(row) => return self.stored(row, &threads).await,
                Tried::Failed => {}
            }
            threads = self.own.missing(&threads);
            match (threads.first().copied(), suspect) {
                (None, _) if post.body.is_empty() => {}
                (None, Some(_)) => suspect = None,
                (None, None) => return Err(ForgeError::Unknown),
                (Some(first), Some(last)) if std::ptr::eq(first, last) => {
                    self.dropped.push(threads.remove(0));
                }
                (Some(first), _) => suspect = Some(first),
            }
        }
    }

    /// Publishes what waits in the draft, if anything does.
    pub(super) async fn submit(&mut self) -> Result<Option<u64>, ForgeError> {
        if self.own.draft().is_none_or(|draft| draft.comments_count == 0) {
            return Ok(None);
        }
        match self.try_once(&Post::AROUND_DRAFT, &[]).await? {
            Tried::Stored(row) => self.stored(row, &[]).await.map(Some),
            Tried::Failed => Err(ForgeError::Unknown),
        }
    }

    /// What was asked for, is not there, and was not dropped.
    pub(super) fn missing(&self, threads: &[&'t NewThread<Sealed>]) -> Vec<&'t NewThread<Sealed>> {
        let dropped = |new: &&NewThread<Sealed>| self.dropped.iter().any(|dropped| std::ptr::eq(*dropped, *new));
        self.own.missing(threads).into_iter().filter(|new| !dropped(new)).collect()
    }

    async fn try_once(&mut self, post: &Post<'_>, threads: &[&NewThread<Sealed>]) -> Result<Tried, ForgeError> {
        let comments: Vec<_> = threads
            .iter()
            .map(|new| {
                let (path, line, old) = spot(&new.place);
                json!({ "path": path, "new_position": line, "old_position": old, "body": new.text.as_str() })
            })
            .collect();
        // The server neither completes a short commit id nor compares one with the head.
        let body = json!({
            "event": post.event, "body": post.body, "commit_id": self.commit.as_str(), "comments": comments,
        });
        let what = self.pen.what("a review");
        let call = self.pen.forge.call(&routes::POST_REVIEW, [&self.pen.pull.0]).sending(body);
        let error = match self.pen.hand.client.send(&call).await {
            Ok(answer) if answer.is_success() => match understand(&answer, &what) {
                Ok(row) => return Ok(Tried::Stored(row)),
                // It is stored: only the answer is not to be read.
                Err(_) => Some(ForgeError::Unknown),
            },
            Ok(answer) if answer.status == 500 => None,
            Ok(answer) => Some(meaning(&answer, &call, &what)),
            Err(error) => Some(unsent(error, &what)),
        };
        match error {
            None | Some(ForgeError::Unknown) => {}
            Some(error) => return Err(error),
        }
        let submitted = |own: &Own| own.rows.iter().filter(|row| row.state != DRAFT).map(|row| row.id).collect();
        let before: Vec<u64> = submitted(&self.own);
        self.own = self.pen.own(self.commit).await?;
        let same = |row: &&Review| {
            !before.contains(&row.id)
                && row.state == post.event
                && row.body == post.body
                && row.commit_id == self.commit.as_str()
        };
        match (self.own.rows.iter().find(same), error) {
            (Some(row), _) => Ok(Tried::Stored(row.clone())),
            (None, None) => Ok(Tried::Failed),
            (None, Some(error)) => Err(error),
        }
    }

    /// Notes down what a stored review holds.
    async fn stored(&mut self, row: Review, threads: &[&NewThread<Sealed>]) -> Result<u64, ForgeError> {
        let id = row.id;
        if !threads.is_empty() {
            let notes = self.pen.notes(id).await?;
            self.own.notes.retain(|note| note.pull_request_review_id != id);
            self.own.notes.extend(notes);
        }
        self.own.rows.retain(|known| known.id != id);
        self.own.rows.push(row);
        Ok(id)
    }

    fn nowhere(&self) -> ForgeError {
        let path = self.dropped.last().map_or("", |new| new.place.path.as_str());
        ForgeError::Refused(format!("`{path}` has no such line"))
    }
}

enum Tried {
    Stored(Review),
    Failed,
}
