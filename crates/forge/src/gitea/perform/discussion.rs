//! Replies, resolutions and comments.
//!
//! | server | a reply is | resolving is |
//! |---|---|---|
//! | Gitea from 1.27 on | a reply | native |
//! | Gitea 1.26 | an empty review with one comment on the root's line | native |
//! | Forgejo | a comment added to the root's review, on its line | a note in referee's own root |

use referee_core::model::{CommentId, NoteId, Support, ThreadId};
use referee_core::plan::CommentTarget;
use serde_json::json;

use super::send::ReviewPost;
use super::thread::{LocatedThread, is_on_same_line};
use super::{GiteaWriter, done_without_ids, parse_id};
use crate::gitea::wire::{Comment, Inline};
use crate::gitea::{Flavour, routes};
use crate::{CreatedIds, ForgeError, PerformOutcome};

impl GiteaWriter<'_> {
    pub(super) async fn reply(&self, thread: &ThreadId, text: &str) -> Result<PerformOutcome, ForgeError> {
        if self.forge.server.capabilities.reply == Support::Unsupported {
            return Err(ForgeError::Unsupported("reply in a thread".to_owned()));
        }
        let found = self.find_thread(thread).await?;
        if self.has_reply(&found, text).await? {
            return Ok(PerformOutcome::AlreadySo);
        }
        match self.send_reply(&found, text).await {
            Ok(()) => Ok(done_without_ids()),
            Err(ForgeError::OutcomeUnknown) if self.has_reply(&self.find_thread(thread).await?, text).await? => {
                Ok(done_without_ids())
            }
            Err(error) => Err(error),
        }
    }

    /// Resolves a thread. Where the server cannot or forbids it, referee's own root says that it is settled (FIX-12).
    pub(super) async fn resolve_thread(
        &self,
        thread: &ThreadId,
        mark: Option<(&NoteId, &str)>,
    ) -> Result<PerformOutcome, ForgeError> {
        let found = self.find_thread(thread).await?;
        if found.root.resolver.is_some() {
            return Ok(PerformOutcome::AlreadySo);
        }
        if self.forge.server.capabilities.resolve == Support::Native {
            let call = self.forge.repo_request(&routes::RESOLVE, [thread]);
            match self.account.send(&call, &self.describe("a thread")).await {
                Err(ForgeError::Forbidden(_)) => {}
                resolved => return resolved.map(|_| done_without_ids()),
            }
        }
        let Some((note, text)) = mark else { return Ok(PerformOutcome::NotPermitted) };
        if parse_id(note.as_str())? != found.root.id {
            return Err(ForgeError::NotFound(format!("note {note}")));
        }
        self.check_author(found.root.user.as_ref())?;
        if found.root.body == text {
            return Ok(PerformOutcome::AlreadySo);
        }
        self.edit_text(found.root.id, text).await?;
        Ok(PerformOutcome::MarkedInText)
    }

    pub(super) async fn ensure_comment(
        &self,
        existing: Option<&CommentId>,
        target: CommentTarget,
        text: &str,
    ) -> Result<PerformOutcome, ForgeError> {
        let comments = self.read_comments(target).await?;
        let made = |comment: u64| {
            PerformOutcome::Done(CreatedIds { comment: Some(CommentId(comment.to_string())), ..CreatedIds::default() })
        };
        let Some(existing) = existing else {
            if self.find_own_comment(&comments, text).is_some() {
                return Ok(PerformOutcome::AlreadySo);
            }
            return match self.post_comment(target, text).await {
                // Forgejo 10 answers 500 although it stored the comment.
                Err(ForgeError::OutcomeUnknown) => self
                    .find_own_comment(&self.read_comments(target).await?, text)
                    .map(made)
                    .ok_or(ForgeError::OutcomeUnknown),
                posted => posted.map(|comment| made(comment.id)),
            };
        };
        let wanted = parse_id(existing.as_str())?;
        let comment = comments.iter().find(|comment| comment.id == wanted);
        let comment = comment.ok_or_else(|| ForgeError::NotFound(format!("comment {existing}")))?;
        self.check_author(comment.user.as_ref())?;
        if comment.body == text {
            return Ok(PerformOutcome::AlreadySo);
        }
        self.edit_text(comment.id, text).await?;
        Ok(made(comment.id))
    }

    /// Sends a reply the way this server supports.
    async fn send_reply(&self, found: &LocatedThread, text: &str) -> Result<(), ForgeError> {
        let Inline { id, path, position, original_position, .. } = &found.root;
        let comment =
            json!({ "body": text, "path": path, "new_position": position, "old_position": original_position });
        let call = match (self.forge.server.flavour, self.forge.server.capabilities.reply) {
            (Flavour::Gitea, Support::Native) => {
                self.forge.repo_request(&routes::REPLY, [&self.pull.0, id]).with_body(json!({ "body": text }))
            }
            (Flavour::Forgejo, _) => self
                .forge
                .repo_request(&routes::ADD_REVIEW_COMMENT, [&self.pull.0, &found.review.id])
                .with_body(comment),
            (Flavour::Gitea, _) => {
                let ReviewPost { event, body } = ReviewPost::WRAPPER;
                let commit = &found.review.commit_id;
                self.forge
                    .repo_request(&routes::POST_REVIEW, [&self.pull.0])
                    .with_body(json!({ "event": event, "body": body, "commit_id": commit, "comments": [comment] }))
            }
        };
        self.account.send(&call, &self.describe("a reply")).await.map(drop)
    }

    /// Returns whether this identity already replied with that text.
    async fn has_reply(&self, found: &LocatedThread, text: &str) -> Result<bool, ForgeError> {
        let says = |note: &Inline| note.body == text && self.is_own_account(note.user.as_ref());
        if found.notes.iter().any(says) {
            return Ok(true);
        }
        if self.forge.server.flavour == Flavour::Forgejo || self.forge.server.capabilities.reply == Support::Native {
            return Ok(false);
        }
        for row in &found.reviews {
            let wraps = row.state == ReviewPost::WRAPPER.event && row.body.is_empty() && row.comments_count > 0;
            let later = row.id > found.review.id && row.commit_id == found.review.commit_id;
            if wraps && later && self.is_own_account(row.user.as_ref()) {
                let notes = self.read_notes(row.id).await?;
                if notes.iter().any(|note| is_on_same_line(note, &found.root) && says(note)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    async fn read_comments(&self, target: CommentTarget) -> Result<Vec<Comment>, ForgeError> {
        let number = self.target_number(target);
        self.forge.read_comments(self.account, number).await
    }

    async fn post_comment(&self, target: CommentTarget, text: &str) -> Result<Comment, ForgeError> {
        let number = self.target_number(target);
        let call = self.forge.repo_request(&routes::POST_COMMENT, [&number]).with_body(json!({ "body": text }));
        self.account.send_and_parse(&call, &format!("a comment on #{number}")).await
    }

    /// Finds a comment of this identity with that text.
    fn find_own_comment(&self, comments: &[Comment], text: &str) -> Option<u64> {
        let own = |comment: &&Comment| comment.body == text && self.is_own_account(comment.user.as_ref());
        comments.iter().find(own).map(|comment| comment.id)
    }
}
