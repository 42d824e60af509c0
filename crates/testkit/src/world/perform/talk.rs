//! Replies, resolutions and comments.

use referee_core::model::{CommentId, NoteId, ThreadId};
use referee_core::plan::Target;
use referee_forge::{ForgeError, Made, Performed};

use super::{Doing, own};
use crate::world::effect::What;
use crate::world::quirks::Replies;
use crate::world::rows::missing;
use crate::world::state::State;
use crate::world::talk::issue_of;

impl State {
    pub(super) fn reply(&mut self, doing: &Doing<'_>, thread: &ThreadId, text: &str) -> Result<Performed, ForgeError> {
        let replies = self.repo.quirks.replies;
        if replies == Replies::No {
            return Err(ForgeError::Unsupported("reply in a thread".to_owned()));
        }
        let row = self.seen().pull(doing.pull)?.thread(thread)?;
        if row.notes.iter().any(|note| note.author == *doing.by && note.text.words() == text) {
            return Ok(Performed::AlreadySo);
        }
        let note = self.change(|repo| {
            if replies != Replies::Native {
                repo.wrap(doing.pull, doing.by)?;
            }
            repo.reply(doing.pull, doing.by, thread, text)
        })?;
        let what = What::Replied { thread: thread.clone(), note, text: text.to_owned() };
        self.effect(doing.by, doing.pull, what);
        Ok(Performed::Done(Made::default()))
    }

    /// Resolves, or says in the own root that it is settled where the forge has no resolve or forbids it.
    pub(super) fn resolve(
        &mut self,
        doing: &Doing<'_>,
        thread: &ThreadId,
        mark: Option<&(NoteId, String)>,
    ) -> Result<Performed, ForgeError> {
        let row = self.seen().pull(doing.pull)?.thread(thread)?;
        if row.resolved.is_some() {
            return Ok(Performed::AlreadySo);
        }
        let permitted =
            !self.repo.quirks.no_resolve && self.change(|repo| repo.resolve(doing.pull, doing.by, thread)).is_ok();
        if permitted {
            self.effect(doing.by, doing.pull, What::Resolved { thread: thread.clone() });
            return Ok(Performed::Done(Made::default()));
        }
        let Some((note, text)) = mark else { return Ok(Performed::NotPermitted) };
        let row = self.seen().pull(doing.pull)?.thread(thread)?;
        let root = row.notes.first().filter(|root| root.id == *note).ok_or_else(|| missing(note))?;
        own(doing.by, &root.author)?;
        if root.text.words() == text {
            return Ok(Performed::AlreadySo);
        }
        self.change(|repo| repo.edit_note(doing.pull, doing.by, note, text))?;
        self.effect(doing.by, doing.pull, What::Marked { thread: thread.clone(), text: text.clone() });
        Ok(Performed::MarkedInText)
    }

    pub(super) fn ensure_comment(
        &mut self,
        doing: &Doing<'_>,
        existing: Option<&CommentId>,
        target: Target,
        text: &str,
    ) -> Result<Performed, ForgeError> {
        let on = issue_of(target);
        let rows = self.seen().comments(doing.pull, target)?;
        let Some(id) = existing else {
            if rows.iter().any(|row| row.author == *doing.by && row.text.words() == text) {
                return Ok(Performed::AlreadySo);
            }
            let comment = self.change(|repo| repo.comment(doing.pull, target, doing.by, text))?;
            let what = What::Commented { comment: comment.clone(), on, text: text.to_owned() };
            self.effect(doing.by, doing.pull, what);
            if self.repo.quirks.comment_answers_500 {
                return Err(ForgeError::Unknown);
            }
            return Ok(Performed::Done(Made { comment: Some(comment), ..Made::default() }));
        };
        let row = rows.iter().find(|row| row.id == *id).ok_or_else(|| missing(id))?;
        own(doing.by, &row.author)?;
        if row.text.words() == text {
            return Ok(Performed::AlreadySo);
        }
        self.change(|repo| repo.edit_comment(doing.pull, target, doing.by, id, text))?;
        self.effect(doing.by, doing.pull, What::CommentEdited { comment: id.clone(), on, text: text.to_owned() });
        Ok(Performed::Done(Made { comment: Some(id.clone()), ..Made::default() }))
    }
}
