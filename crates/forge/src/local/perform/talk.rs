//! Replies, resolutions and comments.

use referee_core::model::{CommentId, ThreadId};
use rusqlite::{OptionalExtension, params};

use crate::local::LocalError;
use crate::local::names::{comment_id, row_of};
use crate::local::pen::{Edited, Pen};
use crate::local::pulls::key;
use crate::{Made, Performed};

impl Pen<'_> {
    pub(super) fn reply(&self, thread: &ThreadId, body: &str) -> Result<Performed, LocalError> {
        let thread = self.thread_row(thread.as_str())?;
        let sql = "SELECT count(*) > 0 FROM notes JOIN texts ON texts.id = notes.text
                   WHERE thread = ?1 AND author = ?2 AND body = ?3";
        if self.tx.query_row(sql, params![thread, self.by.as_str(), body], |row| row.get(0))? {
            return Ok(Performed::AlreadySo);
        }
        self.note(thread, body)?;
        Ok(Performed::Done(Made::default()))
    }

    pub(super) fn settle(&self, thread: &ThreadId) -> Result<Performed, LocalError> {
        let thread = self.thread_row(thread.as_str())?;
        Ok(match self.resolve(thread)? {
            Edited::AlreadySo => Performed::AlreadySo,
            Edited::Done => Performed::Done(Made::default()),
        })
    }

    pub(super) fn ensure_comment(&self, existing: Option<&CommentId>, body: &str) -> Result<Performed, LocalError> {
        let (text, edited) = match existing {
            Some(comment) => {
                let text = self.comment_row(comment)?;
                (text, self.edit(text, body)?)
            }
            None if self.says(body)? => return Ok(Performed::AlreadySo),
            None => (self.comment(body)?, Edited::Done),
        };
        Ok(match edited {
            Edited::AlreadySo => Performed::AlreadySo,
            Edited::Done => Performed::Done(Made { comment: Some(comment_id(text)), ..Made::default() }),
        })
    }

    fn comment_row(&self, comment: &CommentId) -> Result<i64, LocalError> {
        let sql = "SELECT text FROM comments WHERE text = ?1 AND pull = ?2";
        let ids = params![row_of(comment.as_str(), 'c'), key(self.pull)];
        let row = self.tx.query_row(sql, ids, |row| row.get(0)).optional()?;
        row.ok_or_else(|| LocalError::NotFound(comment.to_string()))
    }

    /// Whether an own comment says that already.
    fn says(&self, body: &str) -> Result<bool, LocalError> {
        let sql = "SELECT count(*) > 0 FROM comments JOIN texts ON texts.id = comments.text
                   WHERE pull = ?1 AND author = ?2 AND body = ?3";
        Ok(self.tx.query_row(sql, params![key(self.pull), self.by.as_str(), body], |row| row.get(0))?)
    }
}
