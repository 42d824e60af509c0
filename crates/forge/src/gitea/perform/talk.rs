//! Replies, resolutions and comments.
//!
//! | server | a reply is | resolving is |
//! |---|---|---|
//! | Gitea from 1.27 on | a reply | resolving |
//! | Gitea 1.26 | a review without words, with one comment on the root's line | resolving |
//! | Forgejo | a comment added to the root's review, on its line | said in the own root |

use referee_core::model::{CommentId, NoteId, Support, ThreadId};
use referee_core::plan::Target;
use serde_json::json;

use super::send::Post;
use super::thread::{Found, is_beside};
use super::{Pen, done, id};
use crate::gitea::wire::{Comment, Inline};
use crate::gitea::{Flavour, routes};
use crate::{ForgeError, Made, Performed};

impl Pen<'_> {
    pub(super) async fn reply(&self, thread: &ThreadId, text: &str) -> Result<Performed, ForgeError> {
        if self.forge.server.capabilities.reply == Support::Unsupported {
            return Err(ForgeError::Unsupported("reply in a thread".to_owned()));
        }
        let found = self.thread(thread).await?;
        if self.said(&found, text).await? {
            return Ok(Performed::AlreadySo);
        }
        match self.answer(&found, text).await {
            Ok(()) => Ok(done()),
            Err(ForgeError::Unknown) if self.said(&self.thread(thread).await?, text).await? => Ok(done()),
            Err(error) => Err(error),
        }
    }

    /// Resolves, or says in the own root that it is settled where the server has no resolve or forbids it (FIX-12).
    pub(super) async fn resolve(
        &self,
        thread: &ThreadId,
        mark: Option<(&NoteId, &str)>,
    ) -> Result<Performed, ForgeError> {
        let found = self.thread(thread).await?;
        if found.root.resolver.is_some() {
            return Ok(Performed::AlreadySo);
        }
        if self.forge.server.capabilities.resolve == Support::Native {
            let call = self.forge.call(&routes::RESOLVE, [thread]);
            match self.hand.ask(&call, &self.what("a thread")).await {
                Err(ForgeError::Forbidden(_)) => {}
                resolved => return resolved.map(|_| done()),
            }
        }
        let Some((note, text)) = mark else { return Ok(Performed::NotPermitted) };
        if id(note.as_str())? != found.root.id {
            return Err(ForgeError::NotFound(format!("note {note}")));
        }
        self.wrote(found.root.user.as_ref())?;
        if found.root.body == text {
            return Ok(Performed::AlreadySo);
        }
        self.rewrite(found.root.id, text).await?;
        Ok(Performed::MarkedInText)
    }

    pub(super) async fn ensure_comment(
        &self,
        existing: Option<&CommentId>,
        target: Target,
        text: &str,
    ) -> Result<Performed, ForgeError> {
        let comments = self.comments(target).await?;
        let made =
            |comment: u64| Performed::Done(Made { comment: Some(CommentId(comment.to_string())), ..Made::default() });
        let Some(existing) = existing else {
            if self.says(&comments, text).is_some() {
                return Ok(Performed::AlreadySo);
            }
            return match self.comment(target, text).await {
                // Forgejo 10 answers 500 and has stored it.
                Err(ForgeError::Unknown) => {
                    self.says(&self.comments(target).await?, text).map(made).ok_or(ForgeError::Unknown)
                }
                posted => posted.map(|comment| made(comment.id)),
            };
        };
        let wanted = id(existing.as_str())?;
        let comment = comments.iter().find(|comment| comment.id == wanted);
        let comment = comment.ok_or_else(|| ForgeError::NotFound(format!("comment {existing}")))?;
        self.wrote(comment.user.as_ref())?;
        if comment.body == text {
            return Ok(Performed::AlreadySo);
        }
        self.rewrite(comment.id, text).await?;
        Ok(made(comment.id))
    }

    /// Sends a reply in the way this server has.
    async fn answer(&self, found: &Found, text: &str) -> Result<(), ForgeError> {
        let Inline { id, path, position, original_position, .. } = &found.root;
        let comment =
            json!({ "body": text, "path": path, "new_position": position, "old_position": original_position });
        let call = match (self.forge.server.flavour, self.forge.server.capabilities.reply) {
            (Flavour::Gitea, Support::Native) => {
                self.forge.call(&routes::REPLY, [&self.pull.0, id]).sending(json!({ "body": text }))
            }
            (Flavour::Forgejo, _) => {
                self.forge.call(&routes::ADD_REVIEW_COMMENT, [&self.pull.0, &found.review.id]).sending(comment)
            }
            (Flavour::Gitea, _) => {
                let Post { event, body } = Post::WRAPPER;
                let commit = &found.review.commit_id;
                self.forge
                    .call(&routes::POST_REVIEW, [&self.pull.0])
                    .sending(json!({ "event": event, "body": body, "commit_id": commit, "comments": [comment] }))
            }
        };
        self.hand.ask(&call, &self.what("a reply")).await.map(drop)
    }

    /// Whether an own note of the thread says that.
    async fn said(&self, found: &Found, text: &str) -> Result<bool, ForgeError> {
        let says = |note: &Inline| note.body == text && self.is_me(note.user.as_ref());
        if found.notes.iter().any(says) {
            return Ok(true);
        }
        if self.forge.server.flavour == Flavour::Forgejo || self.forge.server.capabilities.reply == Support::Native {
            return Ok(false);
        }
        for row in &found.rows {
            let wraps = row.state == Post::WRAPPER.event && row.body.is_empty() && row.comments_count > 0;
            let later = row.id > found.review.id && row.commit_id == found.review.commit_id;
            if wraps && later && self.is_me(row.user.as_ref()) {
                let notes = self.notes(row.id).await?;
                if notes.iter().any(|note| is_beside(note, &found.root) && says(note)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    async fn comments(&self, target: Target) -> Result<Vec<Comment>, ForgeError> {
        let number = self.number_of(target);
        self.hand.read(&self.forge.call(&routes::COMMENTS, [&number]), &format!("the comments of #{number}")).await
    }

    async fn comment(&self, target: Target, text: &str) -> Result<Comment, ForgeError> {
        let number = self.number_of(target);
        let call = self.forge.call(&routes::POST_COMMENT, [&number]).sending(json!({ "body": text }));
        self.hand.read(&call, &format!("a comment on #{number}")).await
    }

    /// The own comment that says that.
    fn says(&self, comments: &[Comment], text: &str) -> Option<u64> {
        let own = |comment: &&Comment| comment.body == text && self.is_me(comment.user.as_ref());
        comments.iter().find(own).map(|comment| comment.id)
    }
}
