//! Sending one review. Posting is not atomic: the server stores inline comments one by one in a draft and publishes it
//! last. A comment that it cannot store ends the post with a 500 and leaves the ones before it in the draft, which the next
//! post publishes. So the stored part is read back, and the rest is sent again.
//!
//! | response | stored, as read back | next |
//! |---|---|---|
//! | 2xx with as many inline comments as sent, and the plan's basis is current | | nothing: all are stored |
//! | any other 2xx | | its inline comments are read back |
//! | 500 | the review | as 2xx |
//! | 500 | a part of its comments, or none | the others are sent again |
//! | 500 | nothing more than after the last 500 | the first remaining comment is the cause: it is dropped |
//! | 500 | nothing, and there is no comment to drop | outcome unknown |
//! | 413 or 422, with comments | | sent again with half of them, the others in reviews of their own; a single one is dropped |
//! | other 5xx, none, or an unreadable 2xx | the review | as 2xx |
//! | other 5xx, none, or an unreadable 2xx | anything else | outcome unknown |

use referee_core::mark::SealedText;
use referee_core::model::Sha;
use referee_core::plan::NewThread;
use serde_json::json;

use super::GiteaWriter;
use super::own_posts::{DRAFT_STATE, OwnPosts, comment_line};
use crate::ForgeError;
use crate::gitea::account::{error_from_http, error_from_status, parse_response};
use crate::gitea::routes;
use crate::gitea::wire::{DRAFT_WRAPPER_BODY, Review};

/// The verdict and body of a review.
pub(super) struct ReviewPost<'a> {
    pub(super) event: &'static str,
    pub(super) body: &'a str,
}

impl ReviewPost<'_> {
    /// The review around threads that belong to no review.
    pub(super) const WRAPPER: Self = Self { event: "COMMENT", body: "" };
    /// The same to publish a draft: the server requires a body or a new thread, and does not count those in the draft.
    const DRAFT_WRAPPER: Self = Self { event: "COMMENT", body: DRAFT_WRAPPER_BODY };
}

/// Sends the reviews of one action, and tracks what is stored.
pub(super) struct ReviewSender<'a, 't> {
    pub(super) writer: &'a GiteaWriter<'a>,
    pub(super) commit: &'a Sha,
    pub(super) own_posts: OwnPosts,
    /// Threads that the server cannot store.
    pub(super) dropped: Vec<&'t NewThread<SealedText>>,
    /// Threads that are stored by the count in the server's answer; their ids are unknown.
    pub(super) counted: Vec<&'t NewThread<SealedText>>,
}

impl<'t> ReviewSender<'_, 't> {
    /// Sends one review with its threads, at most one per line, and returns its id.
    pub(super) async fn send_review(
        &mut self,
        post: &ReviewPost<'_>,
        mut threads: Vec<&'t NewThread<SealedText>>,
    ) -> Result<u64, ForgeError> {
        let mut suspect: Option<&NewThread<SealedText>> = None;
        loop {
            if threads.is_empty() && post.body.is_empty() {
                // Everything is in the draft, or cannot be stored.
                return self.submit_draft().await?.ok_or_else(|| self.no_such_line_error());
            }
            match self.post_once(post, &threads).await? {
                PostAttempt::Stored(row) => return self.record_stored(row, &threads).await,
                PostAttempt::Refused(error) if threads.is_empty() => return Err(error),
                PostAttempt::Refused(_) => return self.send_halves(post, threads).await,
                PostAttempt::Failed => {}
            }
            threads = self.own_posts.find_missing(&threads);
            match (threads.first().copied(), suspect) {
                (None, _) if post.body.is_empty() => {}
                (None, Some(_)) => suspect = None,
                (None, None) => return Err(ForgeError::OutcomeUnknown),
                (Some(first), Some(last)) if std::ptr::eq(first, last) => {
                    self.dropped.push(threads.remove(0));
                }
                (Some(first), _) => suspect = Some(first),
            }
        }
    }

    /// Sends a refused review with the first half of its threads, and the others one half after the other (PUB-13).
    async fn send_halves(
        &mut self,
        post: &ReviewPost<'_>,
        mut threads: Vec<&'t NewThread<SealedText>>,
    ) -> Result<u64, ForgeError> {
        let mut rest = threads.split_off(threads.len() / 2);
        if threads.is_empty() && post.body.is_empty() {
            self.dropped.append(&mut rest);
            return Err(self.no_such_line_error());
        }
        let first = match Box::pin(self.send_review(post, threads)).await {
            Err(ForgeError::Refused(_)) if post.body.is_empty() => None,
            sent => Some(sent?),
        };
        match Box::pin(self.send_review(&ReviewPost::WRAPPER, rest)).await {
            Ok(second) => Ok(first.unwrap_or(second)),
            Err(error @ ForgeError::Refused(_)) => first.ok_or(error),
            Err(error) => Err(error),
        }
    }

    /// Sends threads in reviews without a body. Fails if the server refuses all of them.
    pub(super) async fn send_threads(&mut self, layers: Vec<Vec<&'t NewThread<SealedText>>>) -> Result<(), ForgeError> {
        let (mut is_any_stored, mut refusal) = (false, None);
        for layer in layers.into_iter().filter(|layer| !layer.is_empty()) {
            match self.send_review(&ReviewPost::WRAPPER, layer).await {
                Ok(_) => is_any_stored = true,
                Err(error @ ForgeError::Refused(_)) => refusal = Some(error),
                Err(error) => return Err(error),
            }
        }
        refusal.filter(|_| !is_any_stored).map_or(Ok(()), Err)
    }

    /// Publishes the draft, if it has comments.
    pub(super) async fn submit_draft(&mut self) -> Result<Option<u64>, ForgeError> {
        if self.own_posts.draft().is_none_or(|draft| draft.comments_count == 0) {
            return Ok(None);
        }
        match self.post_once(&ReviewPost::DRAFT_WRAPPER, &[]).await? {
            PostAttempt::Stored(row) => self.record_stored(row, &[]).await.map(Some),
            PostAttempt::Refused(error) => Err(error),
            PostAttempt::Failed => Err(ForgeError::OutcomeUnknown),
        }
    }

    /// Returns the threads that are neither stored nor dropped.
    pub(super) fn find_missing(&self, threads: &[&'t NewThread<SealedText>]) -> Vec<&'t NewThread<SealedText>> {
        let is_settled = |new: &&NewThread<SealedText>| {
            self.dropped.iter().chain(&self.counted).any(|settled| std::ptr::eq(*settled, *new))
        };
        self.own_posts.find_missing(threads).into_iter().filter(|new| !is_settled(new)).collect()
    }

    async fn post_once(
        &mut self,
        post: &ReviewPost<'_>,
        threads: &[&NewThread<SealedText>],
    ) -> Result<PostAttempt, ForgeError> {
        let comments: Vec<_> = threads
            .iter()
            .map(|new| {
                let (path, line, old) = comment_line(&new.place);
                json!({ "path": path, "new_position": line, "old_position": old, "body": new.text.as_str() })
            })
            .collect();
        // The server neither expands a short commit id nor compares it with the head.
        let body = json!({
            "event": post.event, "body": post.body, "commit_id": self.commit.as_str(), "comments": comments,
        });
        let what = self.writer.describe("a review");
        let call = self.writer.forge.repo_request(&routes::POST_REVIEW, [&self.writer.pull.0]).with_body(body);
        let error = match self.writer.account.client.send(&call).await {
            Ok(answer) if answer.is_success() => match parse_response(&answer, &what) {
                Ok(row) => return Ok(PostAttempt::Stored(row)),
                // The review is stored; only the response cannot be parsed.
                Err(_) => Some(ForgeError::OutcomeUnknown),
            },
            Ok(answer) if answer.status == 500 => None,
            Ok(answer) if matches!(answer.status, 413 | 422) => {
                return Ok(PostAttempt::Refused(error_from_status(&answer, &call, &what)));
            }
            Ok(answer) => Some(error_from_status(&answer, &call, &what)),
            Err(error) => Some(error_from_http(error, &what)),
        };
        match error {
            None | Some(ForgeError::OutcomeUnknown) => {}
            Some(error) => return Err(error),
        }
        let submitted =
            |own: &OwnPosts| own.reviews.iter().filter(|row| row.state != DRAFT_STATE).map(|row| row.id).collect();
        let before: Vec<u64> = submitted(&self.own_posts);
        self.own_posts = self.writer.read_own_posts(self.commit).await?;
        let same = |row: &&Review| {
            !before.contains(&row.id)
                && row.state == post.event
                && row.body == post.body
                && row.commit_id == self.commit.as_str()
                && !self.writer.is_known(row)
        };
        match (self.own_posts.reviews.iter().find(same), error) {
            (Some(row), _) => Ok(PostAttempt::Stored(row.clone())),
            (None, None) => Ok(PostAttempt::Failed),
            (None, Some(error)) => Err(error),
        }
    }

    /// Records a stored review and its inline comments.
    async fn record_stored(&mut self, row: Review, threads: &[&'t NewThread<SealedText>]) -> Result<u64, ForgeError> {
        let id = row.id;
        // Without a draft and without other writers of this identity, the new review holds what was sent and nothing else.
        let is_alone = self.own_posts.draft().is_none() && self.writer.basis.is_current_for(&self.writer.account.login);
        if is_alone && row.comments_count == threads.len() as u64 {
            self.counted.extend(threads);
        } else if !threads.is_empty() {
            let notes = self.writer.read_notes(id).await?;
            self.own_posts.notes.retain(|note| note.pull_request_review_id != id);
            self.own_posts.notes.extend(notes);
        }
        self.own_posts.reviews.retain(|known| known.id != id);
        self.own_posts.reviews.push(row);
        Ok(id)
    }

    fn no_such_line_error(&self) -> ForgeError {
        let path = self.dropped.last().map_or("", |new| new.place.path.as_str());
        ForgeError::Refused(format!("`{path}` has no such line"))
    }
}

enum PostAttempt {
    Stored(Review),
    /// The server refuses it as it is.
    Refused(ForgeError),
    Failed,
}
