//! Writing texts, and checking that only their author edits them.

use referee_core::model::{Login, PullNumber, Sha, Time, Verdict};
use referee_core::plan::DiffLocation;
use rusqlite::{OptionalExtension, Transaction, params};

use super::LocalError;
use super::column::ColumnValue;
use super::pulls::pull_row_id;

/// A writer within one transaction.
pub(super) struct LocalWriter<'a> {
    pub(super) tx: &'a Transaction<'a>,
    pub(super) pull: PullNumber,
    pub(super) by: &'a Login,
    pub(super) kind: LocalWriterKind,
    pub(super) at: Time,
}

/// The kind of a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocalWriterKind {
    /// referee, as one of its identities.
    Bot,
    /// A person.
    Person,
}

impl LocalWriter<'_> {
    pub(super) fn insert_review(&self, verdict: Verdict, commit: &Sha, body: &str) -> Result<i64, LocalError> {
        let text = self.insert_text(body)?;
        self.tx.execute(
            "INSERT INTO reviews (pull, text, verdict, commit_sha) VALUES (?1, ?2, ?3, ?4)",
            params![pull_row_id(self.pull), text, verdict.column_text(), commit.as_str()],
        )?;
        Ok(self.tx.last_insert_rowid())
    }

    pub(super) fn insert_thread(
        &self,
        review: Option<i64>,
        place: &DiffLocation,
        commit: &Sha,
        body: &str,
    ) -> Result<i64, LocalError> {
        let DiffLocation { path, line, start_line, side } = place;
        self.tx.execute(
            "INSERT INTO threads (pull, review, path, line, start_line, side, commit_sha)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![pull_row_id(self.pull), review, path, line, start_line, side.column_text(), commit.as_str()],
        )?;
        let thread = self.tx.last_insert_rowid();
        self.insert_note(thread, body)?;
        Ok(thread)
    }

    pub(super) fn insert_note(&self, thread: i64, body: &str) -> Result<i64, LocalError> {
        let text = self.insert_text(body)?;
        self.tx.execute("INSERT INTO notes (text, thread) VALUES (?1, ?2)", [text, thread])?;
        Ok(text)
    }

    pub(super) fn insert_comment(&self, body: &str) -> Result<i64, LocalError> {
        let text = self.insert_text(body)?;
        self.tx.execute("INSERT INTO comments (text, pull) VALUES (?1, ?2)", [text, pull_row_id(self.pull)])?;
        Ok(text)
    }

    /// Replaces a text of this writer and keeps the old version; does nothing if it is equal.
    pub(super) fn edit_text(&self, text: i64, body: &str) -> Result<EditOutcome, LocalError> {
        let (author, old): (String, String) =
            self.tx.query_row("SELECT author, body FROM texts WHERE id = ?1", [text], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        if Login(author) != *self.by {
            return Err(LocalError::NotTheAuthor);
        }
        if old == body {
            return Ok(EditOutcome::AlreadySo);
        }
        self.tx.execute(
            "INSERT INTO edits (text, body, by, at) VALUES (?1, ?2, ?3, ?4)",
            params![text, old, self.by.as_str(), self.at.0],
        )?;
        self.tx.execute("UPDATE texts SET body = ?2, edited_at = ?3 WHERE id = ?1", params![text, body, self.at.0])?;
        Ok(EditOutcome::Done)
    }

    /// Resolves a thread, unless it is resolved already.
    pub(super) fn insert_resolution(&self, thread: i64) -> Result<EditOutcome, LocalError> {
        if self.find_resolution(thread)?.is_some() {
            return Ok(EditOutcome::AlreadySo);
        }
        self.tx.execute(
            "INSERT INTO resolutions (thread, by, bot, at) VALUES (?1, ?2, ?3, ?4)",
            params![thread, self.by.as_str(), self.kind == LocalWriterKind::Bot, self.at.0],
        )?;
        Ok(EditOutcome::Done)
    }

    /// Reopens a thread, unless it is open.
    pub(super) fn undo_resolution(&self, thread: i64) -> Result<EditOutcome, LocalError> {
        let Some(resolution) = self.find_resolution(thread)? else { return Ok(EditOutcome::AlreadySo) };
        self.tx.execute(
            "UPDATE resolutions SET undone_by = ?2, undone_at = ?3 WHERE id = ?1",
            params![resolution, self.by.as_str(), self.at.0],
        )?;
        Ok(EditOutcome::Done)
    }

    fn find_resolution(&self, thread: i64) -> Result<Option<i64>, LocalError> {
        let sql = "SELECT id FROM resolutions WHERE thread = ?1 AND undone_at IS NULL";
        Ok(self.tx.query_row(sql, [thread], |row| row.get(0)).optional()?)
    }

    fn insert_text(&self, body: &str) -> Result<i64, LocalError> {
        self.tx.execute(
            "INSERT INTO texts (author, bot, at, body) VALUES (?1, ?2, ?3, ?4)",
            params![self.by.as_str(), self.kind == LocalWriterKind::Bot, self.at.0, body],
        )?;
        Ok(self.tx.last_insert_rowid())
    }
}

/// Whether a write was needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditOutcome {
    Done,
    AlreadySo,
}
