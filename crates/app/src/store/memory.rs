//! Small things kept per pull: the latest triage, checks, outcomes and phase. One value of each kind.

use rusqlite::{OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Store, StoreError};

/// What is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// The latest triage (TRI-7).
    Triage,
    /// The threads that the latest scan saw (TRI-7).
    Seen,
    /// The latest `referee check` (FIX-6).
    Check,
    /// The latest `referee watch` (FIX-6).
    Watched,
    /// The phase (TRI-8).
    Phase,
    /// What became of answers (FIX-9).
    Outcomes,
    /// The pull last used on a branch (TRI-2).
    Used,
    /// What a server said of itself.
    Server,
}

impl Store {
    /// The value of that kind.
    pub(crate) fn recall<T: DeserializeOwned>(&self, pull: &str, kind: Memory) -> Result<Option<T>, StoreError> {
        let text: Option<String> = self.ask(None, |db| {
            let asked = "SELECT value FROM memory WHERE pull = ? AND kind = ?";
            db.query_row(asked, params![pull, kind.name()], |row| row.get(0)).optional()
        })?;
        text.map(|text| serde_json::from_str(&text).map_err(|error| self.row(error))).transpose()
    }

    /// Keeps a value, in place of the one before.
    pub(crate) fn remember<T: Serialize>(&self, pull: &str, kind: Memory, value: &T) -> Result<(), StoreError> {
        let text = serde_json::to_string(value).map_err(|error| self.row(error))?;
        let at = (self.now)().0;
        self.write(|db| {
            let asked = "INSERT INTO memory (pull, kind, at, value) VALUES (?, ?, ?, ?)
                         ON CONFLICT (pull, kind) DO UPDATE SET at = excluded.at, value = excluded.value";
            db.execute(asked, params![pull, kind.name(), at, text]).map(drop)
        })
    }
}

impl Memory {
    fn name(self) -> &'static str {
        match self {
            Self::Triage => "triage",
            Self::Seen => "seen",
            Self::Check => "check",
            Self::Watched => "watched",
            Self::Phase => "phase",
            Self::Outcomes => "outcomes",
            Self::Used => "used",
            Self::Server => "server",
        }
    }
}
