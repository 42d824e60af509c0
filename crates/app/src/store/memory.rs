//! The latest value of each kind per pull, such as triage, check results and phase.

use rusqlite::{OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Store, StoreError};

/// The kind of a remembered value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    /// The latest triage (TRI-7).
    Triage,
    /// The threads of the latest scan (TRI-7).
    ScannedThreads,
    /// The result of the latest `referee check` (FIX-6).
    CheckResult,
    /// The result of the latest `referee watch` (FIX-6).
    WatchResult,
    /// The phase of the threads (TRI-8).
    Phase,
    /// The outcomes of answers (FIX-9).
    AnswerOutcomes,
    /// The pull last used on a branch (TRI-2).
    LastUsedPull,
    /// Version and flavour of a server.
    ServerInfo,
}

impl Store {
    /// Returns the value of a kind, if one was saved.
    pub(crate) fn load_memory<T: DeserializeOwned>(
        &self,
        pull: &str,
        kind: MemoryKind,
    ) -> Result<Option<T>, StoreError> {
        let text: Option<String> = self.query(None, |db| {
            let sql = "SELECT value FROM memory WHERE pull = ? AND kind = ?";
            db.query_row(sql, params![pull, kind.name()], |row| row.get(0)).optional()
        })?;
        text.map(|text| serde_json::from_str(&text).map_err(|error| self.row_error(error))).transpose()
    }

    /// Saves a value and replaces the previous one of the same kind.
    pub(crate) fn save_memory<T: Serialize>(&self, pull: &str, kind: MemoryKind, value: &T) -> Result<(), StoreError> {
        let text = serde_json::to_string(value).map_err(|error| self.row_error(error))?;
        let at = (self.now)().0;
        self.write(|db| {
            let sql = "INSERT INTO memory (pull, kind, at, value) VALUES (?, ?, ?, ?)
                       ON CONFLICT (pull, kind) DO UPDATE SET at = excluded.at, value = excluded.value";
            db.execute(sql, params![pull, kind.name(), at, text]).map(drop)
        })
    }
}

impl MemoryKind {
    fn name(self) -> &'static str {
        match self {
            Self::Triage => "triage",
            Self::ScannedThreads => "seen",
            Self::CheckResult => "check",
            Self::WatchResult => "watched",
            Self::Phase => "phase",
            Self::AnswerOutcomes => "outcomes",
            Self::LastUsedPull => "used",
            Self::ServerInfo => "server",
        }
    }
}
