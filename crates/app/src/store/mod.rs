//! The store: finished reports, the journal of turns, and the latest triage and check results. Losing it costs time, never
//! correctness (LOOP-7): what is on a pull is read from the forge.
//!
//! One SQLite file. For local pulls it is in the git directory, beside the database of the local forge; for all others in
//! the user's state directory. Read-only commands open it read-only and never create it.

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

/// The store of one repository's local pulls, or of all pulls on forges.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    /// `None` if the file does not exist and this run may not create it. Queries are then empty and writes do nothing.
    db: Option<Mutex<Connection>>,
    now: fn() -> Time,
    text_retention: TextRetention,
    warnings: Vec<String>,
}

/// What a run may do with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreAccess {
    Read,
    /// Read, write, and create the file if it is missing.
    Write,
}

/// Why the store cannot be used.
#[derive(Debug, Error)]
pub(crate) enum StoreError {
    #[error("`{path}` was written by a newer version of referee (format {found}; this version knows {known})")]
    NewerFormat { path: String, found: usize, known: usize },
    #[error("`{path}` cannot be used: {source}")]
    File { path: String, source: std::io::Error },
    #[error("`{path}` cannot be used: {source}")]
    Database { path: String, source: rusqlite::Error },
    #[error("`{path}` is locked by another process for more than a minute")]
    Locked { path: String },
    #[error("`{path}` contains a corrupt row: {what}")]
    CorruptRow { path: String, what: String },
}

impl Store {
    /// Sets whether the journal keeps note texts (`[journal] texts`).
    pub(crate) fn keep_texts(&mut self, keep: bool) {
        self.text_retention = if keep { TextRetention::Full } else { TextRetention::HashOnly };
    }

    /// Returns problems met while opening the store that did not prevent its use.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Runs a query. Returns `empty` if there is no file.
    fn query<T>(&self, empty: T, query: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        match &self.db {
            Some(db) => {
                query(&db.lock().unwrap_or_else(PoisonError::into_inner)).map_err(|source| self.database_error(source))
            }
            None => Ok(empty),
        }
    }

    /// Writes in one transaction. Does nothing if there is no file, which is the case only in a read-only run.
    fn write(&self, write: impl FnOnce(&Connection) -> rusqlite::Result<()>) -> Result<(), StoreError> {
        let Some(db) = &self.db else { return Ok(()) };
        let mut db = db.lock().unwrap_or_else(PoisonError::into_inner);
        let result = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).and_then(|transaction| {
            write(&transaction)?;
            transaction.commit()
        });
        result.map_err(|source| self.database_error(source))
    }

    fn database_error(&self, source: rusqlite::Error) -> StoreError {
        open::database_error(&self.path, source)
    }

    fn row_error(&self, what: impl ToString) -> StoreError {
        StoreError::CorruptRow { path: self.path.display().to_string(), what: what.to_string() }
    }
}
