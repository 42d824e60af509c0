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
        doing: &ActionContext<'_>,
        thread: &ThreadId,
        text: &str,
    ) -> Result<PerformOutcome, ForgeError> {
        let replies = self.repo.quirks.replies;
        if replies == ReplyMode::Unsupported {
            return Err(ForgeError::Unsupported("reply in a thread".to_owned()));
        }
        let row = self.readable_repo().pull(doing.pull)?.thread(thread)?;
        if row.notes.iter().any(|note| note.author == *doing.by && note.text.body_or_empty() == text) {
            return Ok(PerformOutcome::AlreadySo);
        }
        let note = self.change(|repo| {
            if replies != ReplyMode::Native {
                repo.wrap_reply(doing.pull, doing.by)?;
            }
            repo.reply(doing.pull, doing.by, thread, text)
        })?;
        let what = EffectKind::Replied { thread: thread.clone(), note, text: text.to_owned() };
        self.record_effect(doing.by, doing.pull, what);
        Ok(PerformOutcome::Done(CreatedIds::default()))
    }

    /// Resolves, or says in the own root that it is settled where the forge has no resolve or forbids it.
    pub(super) fn resolve(
        &mut self,
        doing: &ActionContext<'_>,
        thread: &ThreadId,
        mark: Option<&(NoteId, String)>,
    ) -> Result<PerformOutcome, ForgeError> {
        let row = self.readable_repo().pull(doing.pull)?.thread(thread)?;
        if row.resolved.is_some() {
            return Ok(PerformOutcome::AlreadySo);
        }
        let permitted =
            !self.repo.quirks.no_resolve && self.change(|repo| repo.resolve(doing.pull, doing.by, thread)).is_ok();
        if permitted {
            self.record_effect(doing.by, doing.pull, EffectKind::Resolved { thread: thread.clone() });
            return Ok(PerformOutcome::Done(CreatedIds::default()));
        }
        let Some((note, text)) = mark else { return Ok(PerformOutcome::NotPermitted) };
        let row = self.readable_repo().pull(doing.pull)?.thread(thread)?;
        let root = row.notes.first().filter(|root| root.id == *note).ok_or_else(|| not_found(note))?;
        check_own(doing.by, &root.author)?;
        if root.text.body_or_empty() == text {
            return Ok(PerformOutcome::AlreadySo);
        }
        self.change(|repo| repo.edit_note(doing.pull, doing.by, note, text))?;
        self.record_effect(
            doing.by,
            doing.pull,
            EffectKind::ThreadMarked { thread: thread.clone(), text: text.clone() },
        );
        Ok(PerformOutcome::MarkedInText)
    }

    pub(super) fn ensure_comment(
        &mut self,
        doing: &ActionContext<'_>,
        existing: Option<&CommentId>,
        target: CommentTarget,
        text: &str,
    ) -> Result<PerformOutcome, ForgeError> {
        let on = target_issue(target);
        let rows = self.readable_repo().comments(doing.pull, target)?;
        let Some(id) = existing else {
            if rows.iter().any(|row| row.author == *doing.by && row.text.body_or_empty() == text) {
                return Ok(PerformOutcome::AlreadySo);
            }
            let comment = self.change(|repo| repo.add_comment(doing.pull, target, doing.by, text))?;
            let what = EffectKind::Commented { comment: comment.clone(), issue: on, text: text.to_owned() };
            self.record_effect(doing.by, doing.pull, what);
            if self.repo.quirks.comment_answers_500 {
                return Err(ForgeError::OutcomeUnknown);
            }
            return Ok(PerformOutcome::Done(CreatedIds { comment: Some(comment), ..CreatedIds::default() }));
        };
        let row = rows.iter().find(|row| row.id == *id).ok_or_else(|| not_found(id))?;
        check_own(doing.by, &row.author)?;
        if row.text.body_or_empty() == text {
            return Ok(PerformOutcome::AlreadySo);
        }
        self.change(|repo| repo.edit_comment(doing.pull, target, doing.by, id, text))?;
        self.record_effect(
            doing.by,
            doing.pull,
            EffectKind::CommentEdited { comment: id.clone(), issue: on, text: text.to_owned() },
        );
        Ok(PerformOutcome::Done(CreatedIds { comment: Some(id.clone()), ..CreatedIds::default() }))
    }
}
