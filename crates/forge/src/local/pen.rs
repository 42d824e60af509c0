//! Writing words down: who writes, when, and that nobody else's words are touched.

use referee_core::model::{Login, PullNumber, Sha, Time, Verdict};
use referee_core::plan::Place;
use rusqlite::{OptionalExtension, Transaction, params};

use super::LocalError;
use super::pulls::key;
use super::words::Word;

/// Somebody who writes, within one transaction.
pub(super) struct Pen<'a> {
    pub(super) tx: &'a Transaction<'a>,
    pub(super) pull: PullNumber,
    pub(super) by: &'a Login,
    pub(super) kind: Writer,
    pub(super) at: Time,
}

/// What writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// referee itself, under one of its names.
    Bot,
    /// A person's hands.
    Person,
}

impl Pen<'_> {
    pub(super) fn review(&self, verdict: Verdict, commit: &Sha, body: &str) -> Result<i64, LocalError> {
        let text = self.text(body)?;
        self.tx.execute(
            "INSERT INTO reviews (pull, text, verdict, commit_sha) VALUES (?1, ?2, ?3, ?4)",
            params![key(self.pull), text, verdict.word(), commit.as_str()],
        )?;
        Ok(self.tx.last_insert_rowid())
    }

    pub(super) fn thread(
        &self,
        review: Option<i64>,
        place: &Place,
        commit: &Sha,
        body: &str,
    ) -> Result<i64, LocalError> {
        let Place { path, line, start_line, side } = place;
        self.tx.execute(
            "INSERT INTO threads (pull, review, path, line, start_line, side, commit_sha)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![key(self.pull), review, path, line, start_line, side.word(), commit.as_str()],
        )?;
        let thread = self.tx.last_insert_rowid();
        self.note(thread, body)?;
        Ok(thread)
    }

    pub(super) fn note(&self, thread: i64, body: &str) -> Result<i64, LocalError> {
        let text = self.text(body)?;
        self.tx.execute("INSERT INTO notes (text, thread) VALUES (?1, ?2)", [text, thread])?;
        Ok(text)
    }

    pub(super) fn comment(&self, body: &str) -> Result<i64, LocalError> {
        let text = self.text(body)?;
        self.tx.execute("INSERT INTO comments (text, pull) VALUES (?1, ?2)", [text, key(self.pull)])?;
        Ok(text)
    }

    /// Changes an own text and keeps the old one; nothing where it says so already.
    pub(super) fn edit(&self, text: i64, body: &str) -> Result<Edited, LocalError> {
        let (author, old): (String, String) =
            self.tx.query_row("SELECT author, body FROM texts WHERE id = ?1", [text], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        if Login(author) != *self.by {
            return Err(LocalError::NotTheAuthor);
        }
        if old == body {
            return Ok(Edited::AlreadySo);
        }
        self.tx.execute(
            "INSERT INTO edits (text, body, by, at) VALUES (?1, ?2, ?3, ?4)",
            params![text, old, self.by.as_str(), self.at.0],
        )?;
        self.tx.execute("UPDATE texts SET body = ?2, edited_at = ?3 WHERE id = ?1", params![text, body, self.at.0])?;
        Ok(Edited::Done)
    }

    /// Resolves a thread; nothing where it is resolved already.
    pub(super) fn resolve(&self, thread: i64) -> Result<Edited, LocalError> {
        if self.resolution(thread)?.is_some() {
            return Ok(Edited::AlreadySo);
        }
        self.tx.execute(
            "INSERT INTO resolutions (thread, by, bot, at) VALUES (?1, ?2, ?3, ?4)",
            params![thread, self.by.as_str(), self.kind == Writer::Bot, self.at.0],
        )?;
        Ok(Edited::Done)
    }

    /// Opens a resolved thread again; nothing where it is open.
    pub(super) fn reopen_thread(&self, thread: i64) -> Result<Edited, LocalError> {
        let Some(resolution) = self.resolution(thread)? else { return Ok(Edited::AlreadySo) };
        self.tx.execute(
            "UPDATE resolutions SET undone_by = ?2, undone_at = ?3 WHERE id = ?1",
            params![resolution, self.by.as_str(), self.at.0],
        )?;
        Ok(Edited::Done)
    }

    fn resolution(&self, thread: i64) -> Result<Option<i64>, LocalError> {
        let sql = "SELECT id FROM resolutions WHERE thread = ?1 AND undone_at IS NULL";
        Ok(self.tx.query_row(sql, [thread], |row| row.get(0)).optional()?)
    }

    fn text(&self, body: &str) -> Result<i64, LocalError> {
        self.tx.execute(
            "INSERT INTO texts (author, bot, at, body) VALUES (?1, ?2, ?3, ?4)",
            params![self.by.as_str(), self.kind == Writer::Bot, self.at.0, body],
        )?;
        Ok(self.tx.last_insert_rowid())
    }
}

/// Whether something had to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edited {
    /// It was written.
    Done,
    /// It was so already.
    AlreadySo,
}
