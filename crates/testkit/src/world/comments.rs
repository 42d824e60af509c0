//! Replies, comments and edits as the forge stores them.

use referee_core::model::{CommentId, IssueNumber, Login, NoteId, PullNumber, ReviewId, ReviewKind, Text, ThreadId};
use referee_core::plan::CommentTarget;
use referee_forge::ForgeError;

use super::posts::NewReview;
use super::rows::{StoredComment, StoredNote, StoredRepo, not_found};

impl StoredRepo {
    pub(crate) fn reply(
        &mut self,
        number: PullNumber,
        by: &Login,
        thread: &ThreadId,
        text: &str,
    ) -> Result<NoteId, ForgeError> {
        let note = self.new_note(by, text);
        let id = note.id.clone();
        self.pull_mut(number)?.thread_mut(thread)?.notes.push(note);
        Ok(id)
    }

    /// Stores the empty review that some forges wrap around a reply.
    pub(crate) fn wrap_reply(&mut self, number: PullNumber, by: &Login) -> Result<(), ForgeError> {
        let head = self.pull(number)?.head.clone();
        let post = NewReview { by, row: ReviewKind::Wrapper, commit: &head, text: "", inline: &[], interrupted: false };
        self.store_review_row(number, &post, None, ReviewKind::Wrapper).map(drop)
    }

    pub(crate) fn add_comment(
        &mut self,
        number: PullNumber,
        target: CommentTarget,
        by: &Login,
        text: &str,
    ) -> Result<CommentId, ForgeError> {
        let (author, at) = (by.clone(), self.now);
        let id = CommentId(self.next_text_id());
        let row = StoredComment { id: id.clone(), author, at, updated: at, edited: false, text: Text::from_body(text) };
        match target {
            CommentTarget::Pull => self.pull_mut(number)?.comments.push(row),
            CommentTarget::Issue(issue) => self.issue_mut(issue)?.comments.push(row),
        }
        Ok(id)
    }

    pub(crate) fn comments(&self, number: PullNumber, target: CommentTarget) -> Result<&[StoredComment], ForgeError> {
        match target {
            CommentTarget::Pull => Ok(&self.pull(number)?.comments),
            CommentTarget::Issue(issue) => {
                self.issues.get(&issue).map(|row| &*row.comments).ok_or_else(|| not_found(&issue))
            }
        }
    }

    /// Checks the right to edit a text. Forges let everybody with write access edit any text.
    pub(crate) fn check_may_edit(&self, by: &Login, author: &Login) -> Result<(), ForgeError> {
        if by == author || self.may_write(by) {
            Ok(())
        } else {
            Err(ForgeError::Forbidden("edit that text".to_owned()))
        }
    }

    pub(crate) fn edit_review(
        &mut self,
        number: PullNumber,
        by: &Login,
        review: &ReviewId,
        text: &str,
    ) -> Result<(), ForgeError> {
        self.check_may_edit(by, &self.pull(number)?.review(review)?.author)?;
        let now = self.now;
        let row = self.pull_mut(number)?.review_mut(review)?;
        row.text = Text::from_body(text);
        row.updated = now;
        Ok(())
    }

    pub(crate) fn edit_note(
        &mut self,
        number: PullNumber,
        by: &Login,
        note: &NoteId,
        text: &str,
    ) -> Result<(), ForgeError> {
        let is_wanted = |note_row: &&StoredNote| note_row.id == *note;
        let existing = self.pull(number)?.threads.iter().flat_map(|thread| &thread.notes).find(is_wanted);
        self.check_may_edit(by, &existing.ok_or_else(|| not_found(note))?.author)?;
        let now = self.now;
        let mut notes = self.pull_mut(number)?.threads.iter_mut().flat_map(|thread| &mut thread.notes);
        if let Some(row) = notes.find(|row| row.id == *note) {
            row.text = Text::from_body(text);
            row.edited = true;
            row.updated = now;
        }
        Ok(())
    }

    pub(crate) fn edit_comment(
        &mut self,
        number: PullNumber,
        target: CommentTarget,
        by: &Login,
        comment: &CommentId,
        text: &str,
    ) -> Result<(), ForgeError> {
        let existing = self.comments(number, target)?.iter().find(|row| row.id == *comment);
        self.check_may_edit(by, &existing.ok_or_else(|| not_found(comment))?.author)?;
        let now = self.now;
        let rows = match target {
            CommentTarget::Pull => &mut self.pull_mut(number)?.comments,
            CommentTarget::Issue(issue) => &mut self.issue_mut(issue)?.comments,
        };
        if let Some(row) = rows.iter_mut().find(|row| row.id == *comment) {
            row.text = Text::from_body(text);
            row.edited = true;
            row.updated = now;
        }
        Ok(())
    }
}

/// Returns the issue, if the target is an issue.
pub(crate) fn target_issue(target: CommentTarget) -> Option<IssueNumber> {
    match target {
        CommentTarget::Pull => None,
        CommentTarget::Issue(issue) => Some(issue),
    }
}
