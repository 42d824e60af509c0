//! Replies, resolutions and comments.

use referee_core::model::{CommentId, NoteId, ThreadId};
use referee_core::plan::CommentTarget;
use referee_forge::{CreatedIds, ForgeError, PerformOutcome};

use super::{ActionContext, check_own};
use crate::world::comments::target_issue;
use crate::world::effect::EffectKind;
use crate::world::quirks::ReplyMode;
use crate::world::rows::not_found;
use crate::world::state::WorldState;

impl WorldState {
    pub(super) fn reply(
        &mut self,
        ctx: &ActionContext<'_>,
        thread: &ThreadId,
        text: &str,
    ) -> Result<PerformOutcome, ForgeError> {
        let replies = self.repo.quirks.replies;
        if replies == ReplyMode::Unsupported {
            return Err(ForgeError::Unsupported("reply in a thread".to_owned()));
        }
        let row = self.readable_repo().pull(ctx.pull)?.thread(thread)?;
        if row.notes.iter().any(|note| note.author == *ctx.by && note.text.body_or_empty() == text) {
            return Ok(PerformOutcome::AlreadySo);
        }
        let note = self.change(|repo| {
            if replies != ReplyMode::Native {
                repo.wrap_reply(ctx.pull, ctx.by)?;
            }
            repo.reply(ctx.pull, ctx.by, thread, text)
        })?;
        let effect = EffectKind::Replied { thread: thread.clone(), note, text: text.to_owned() };
        self.record_effect(ctx.by, ctx.pull, effect);
        Ok(PerformOutcome::Done(CreatedIds::default()))
    }

    /// Resolves a thread. Where the forge has no route for it or forbids it, edits our own root to say that it is settled.
    pub(super) fn resolve(
        &mut self,
        ctx: &ActionContext<'_>,
        thread: &ThreadId,
        mark: Option<&(NoteId, String)>,
    ) -> Result<PerformOutcome, ForgeError> {
        let row = self.readable_repo().pull(ctx.pull)?.thread(thread)?;
        if row.resolved.is_some() {
            return Ok(PerformOutcome::AlreadySo);
        }
        let permitted =
            !self.repo.quirks.no_resolve && self.change(|repo| repo.resolve(ctx.pull, ctx.by, thread)).is_ok();
        if permitted {
            self.record_effect(ctx.by, ctx.pull, EffectKind::Resolved { thread: thread.clone() });
            return Ok(PerformOutcome::Done(CreatedIds::default()));
        }
        let Some((note, text)) = mark else { return Ok(PerformOutcome::NotPermitted) };
        let row = self.readable_repo().pull(ctx.pull)?.thread(thread)?;
        let root = row.notes.first().filter(|root| root.id == *note).ok_or_else(|| not_found(note))?;
        check_own(ctx.by, &root.author)?;
        if root.text.body_or_empty() == text {
            return Ok(PerformOutcome::AlreadySo);
        }
        self.change(|repo| repo.edit_note(ctx.pull, ctx.by, note, text))?;
        self.record_effect(ctx.by, ctx.pull, EffectKind::ThreadMarked { thread: thread.clone(), text: text.clone() });
        Ok(PerformOutcome::MarkedInText)
    }

    pub(super) fn ensure_comment(
        &mut self,
        ctx: &ActionContext<'_>,
        existing: Option<&CommentId>,
        target: CommentTarget,
        text: &str,
    ) -> Result<PerformOutcome, ForgeError> {
        let issue = target_issue(target);
        let rows = self.readable_repo().comments(ctx.pull, target)?;
        let Some(id) = existing else {
            if rows.iter().any(|row| row.author == *ctx.by && row.text.body_or_empty() == text) {
                return Ok(PerformOutcome::AlreadySo);
            }
            let comment = self.change(|repo| repo.add_comment(ctx.pull, target, ctx.by, text))?;
            let effect = EffectKind::Commented { comment: comment.clone(), issue, text: text.to_owned() };
            self.record_effect(ctx.by, ctx.pull, effect);
            if self.repo.quirks.comment_answers_500 {
                return Err(ForgeError::OutcomeUnknown);
            }
            return Ok(PerformOutcome::Done(CreatedIds { comment: Some(comment), ..CreatedIds::default() }));
        };
        let row = rows.iter().find(|row| row.id == *id).ok_or_else(|| not_found(id))?;
        check_own(ctx.by, &row.author)?;
        if row.text.body_or_empty() == text {
            return Ok(PerformOutcome::AlreadySo);
        }
        self.change(|repo| repo.edit_comment(ctx.pull, target, ctx.by, id, text))?;
        self.record_effect(
            ctx.by,
            ctx.pull,
            EffectKind::CommentEdited { comment: id.clone(), issue, text: text.to_owned() },
        );
        Ok(PerformOutcome::Done(CreatedIds { comment: Some(id.clone()), ..CreatedIds::default() }))
    }
}
