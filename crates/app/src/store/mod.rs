//! What referee remembers beside the forge: finished reports, turns, triage, checks. A lost store costs time, never
//! correctness (LOOP-7).
//!
//! One SQLite file. For local pulls it lies beside the local forge in the git folder, for all others in the user's
//! state folder. Readers open it read-only and never make it.

mod inbox;
mod journal;
mod memory;
mod open;
mod turns;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use referee_core::model::Time;
use rusqlite::Connection;
use thiserror::Error;

pub(crate) use journal::TextRetention;
pub(crate) use memory::MemoryKind;
pub(crate) use turns::LatestTurn;

/// The store of one repository, or of all pulls on forges.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    /// None: there is nothing yet, and nothing is to be written.
    db: Option<Mutex<Connection>>,
    now: fn() -> Time,
    text_retention: TextRetention,
    warnings: Vec<String>,
}

/// What a run may do with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreAccess {
    /// Read what is there.
    Read,
    /// Make it, and write.
    Write,
}

/// Why the store cannot be used.
#[derive(Debug, Error)]
pub(crate) enum StoreError {
    /// A newer referee made it.
    #[error("`{path}` was written by a newer referee (format {found}, this one knows {known})")]
    NewerFormat { path: String, found: usize, known: usize },
    /// The file or its folder.
    #[error("`{path}` cannot be used: {source}")]
    File { path: String, source: std::io::Error },
    /// The database.
    #[error("`{path}` cannot be used: {source}")]
    Database { path: String, source: rusqlite::Error },
    /// A row that makes no sense.
    #[error("`{path}` holds something unreadable: {what}")]
    CorruptRow { path: String, what: String },
}

impl Store {
    /// Whether note texts are kept (`[journal] texts`).
    pub(crate) fn set_text_retention(&mut self, texts: TextRetention) {
        self.text_retention = texts;
    }

    /// What happened while it was opened that a person should know.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn query<T>(&self, empty: T, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        match &self.db {
            Some(db) => {
                ask(&db.lock().unwrap_or_else(PoisonError::into_inner)).map_err(|source| self.database_error(source))
            }
            None => Ok(empty),
        }
    }

    /// Writes in one transaction. Without a file nothing is written: that is a reader's run.
    fn write(&self, write: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<(), StoreError> {
        let Some(db) = &self.db else { return Ok(()) };
        let mut db = db.lock().unwrap_or_else(PoisonError::into_inner);
        let written = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).and_then(|transaction| {
            write(&transaction)?;
            transaction.commit()
        });
        written.map_err(|source| self.database_error(source))
    }

    fn database_error(&self, source: rusqlite::Error) -> StoreError {
        StoreError::Database { path: self.path.display().to_string(), source }
    }

    fn row_error(&self, what: impl ToString) -> StoreError {
        StoreError::CorruptRow { path: self.path.display().to_string(), what: what.to_string() }
    }
}
