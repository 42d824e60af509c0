//! Small things kept per pull: the latest triage, checks, outcomes and phase. One value of each kind.

use rusqlite::{OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Store, StoreError};

/// What is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    /// The latest triage (TRI-7).
    Triage,
    /// The threads that the latest scan saw (TRI-7).
    ScannedThreads,
    /// The latest `referee check` (FIX-6).
    CheckResult,
    /// The latest `referee watch` (FIX-6).
    WatchResult,
    /// The phase (TRI-8).
    Phase,
    /// What became of answers (FIX-9).
    AnswerOutcomes,
    /// The pull last used on a branch (TRI-2).
    LastUsedPull,
    /// What a server said of itself.
    ServerInfo,
}

impl Store {
    /// The value of that kind.
    pub(crate) fn load_memory<T: DeserializeOwned>(
        &self,
        pull: &str,
        kind: MemoryKind,
    ) -> Result<Option<T>, StoreError> {
        let text: Option<String> = self.query(None, |db| {
            let asked = "SELECT value FROM memory WHERE pull = ? AND kind = ?";
            db.query_row(asked, params![pull, kind.name()], |row| row.get(0)).optional()
        })?;
        text.map(|text| serde_json::from_str(&text).map_err(|error| self.row_error(error))).transpose()
    }

    /// Keeps a value, in place of the one before.
    pub(crate) fn save_memory<T: Serialize>(&self, pull: &str, kind: MemoryKind, value: &T) -> Result<(), StoreError> {
        let text = serde_json::to_string(value).map_err(|error| self.row_error(error))?;
        let at = (self.now)().0;
        self.write(|db| {
            let asked = "INSERT INTO memory (pull, kind, at, value) VALUES (?, ?, ?, ?)
                         ON CONFLICT (pull, kind) DO UPDATE SET at = excluded.at, value = excluded.value";
            db.execute(asked, params![pull, kind.name(), at, text]).map(drop)
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
