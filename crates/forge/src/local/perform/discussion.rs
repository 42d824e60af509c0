//! Replies, resolutions and comments.

use referee_core::model::{CommentId, ThreadId};
use rusqlite::{OptionalExtension, params};

use crate::local::LocalError;
use crate::local::names::{comment_id, parse_row_id};
use crate::local::pulls::pull_row_id;
use crate::local::writer::{EditOutcome, LocalWriter};
use crate::{CreatedIds, PerformOutcome};

impl LocalWriter<'_> {
    pub(super) fn reply(&self, thread: &ThreadId, body: &str) -> Result<PerformOutcome, LocalError> {
        let thread = self.find_thread_row(thread.as_str())?;
        let sql = "SELECT count(*) > 0 FROM notes JOIN texts ON texts.id = notes.text
                   WHERE thread = ?1 AND author = ?2 AND body = ?3";
        if self.tx.query_row(sql, params![thread, self.by.as_str(), body], |row| row.get(0))? {
            return Ok(PerformOutcome::AlreadySo);
        }
        self.insert_note(thread, body)?;
        Ok(PerformOutcome::Done(CreatedIds::default()))
    }

    pub(super) fn resolve_thread(&self, thread: &ThreadId) -> Result<PerformOutcome, LocalError> {
        let thread = self.find_thread_row(thread.as_str())?;
        Ok(match self.insert_resolution(thread)? {
            EditOutcome::AlreadySo => PerformOutcome::AlreadySo,
            EditOutcome::Done => PerformOutcome::Done(CreatedIds::default()),
        })
    }

    pub(super) fn ensure_comment(
        &self,
        existing: Option<&CommentId>,
        body: &str,
    ) -> Result<PerformOutcome, LocalError> {
        let (text, edited) = match existing {
            Some(comment) => {
                let text = self.find_comment_row(comment)?;
                (text, self.edit_text(text, body)?)
            }
            None if self.has_comment(body)? => return Ok(PerformOutcome::AlreadySo),
            None => (self.insert_comment(body)?, EditOutcome::Done),
        };
        Ok(match edited {
            EditOutcome::AlreadySo => PerformOutcome::AlreadySo,
            EditOutcome::Done => {
                PerformOutcome::Done(CreatedIds { comment: Some(comment_id(text)), ..CreatedIds::default() })
            }
        })
    }

    fn find_comment_row(&self, comment: &CommentId) -> Result<i64, LocalError> {
        let sql = "SELECT text FROM comments WHERE text = ?1 AND pull = ?2";
        let ids = params![parse_row_id(comment.as_str(), 'c'), pull_row_id(self.pull)];
        let row = self.tx.query_row(sql, ids, |row| row.get(0)).optional()?;
        row.ok_or_else(|| LocalError::NotFound(comment.to_string()))
    }

    /// Returns whether this identity already wrote that comment.
    fn has_comment(&self, body: &str) -> Result<bool, LocalError> {
        let sql = "SELECT count(*) > 0 FROM comments JOIN texts ON texts.id = comments.text
                   WHERE pull = ?1 AND author = ?2 AND body = ?3";
        Ok(self.tx.query_row(sql, params![pull_row_id(self.pull), self.by.as_str(), body], |row| row.get(0))?)
    }
}
