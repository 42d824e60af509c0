//! Stored turns: listed, and read back to be decided again.

use std::collections::BTreeMap;

use referee_core::model::{Snapshot, Time};
use referee_core::policy::Policy;
use rusqlite::{OptionalExtension, params};

use super::journal::texts_mut;
use super::{Store, StoreError};

/// A turn as `explain` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TurnSummary {
    /// Its number, for `referee replay`.
    pub(crate) id: i64,
    /// When it was played first.
    pub(crate) first_at: Time,
    /// How often it was played alike.
    pub(crate) occurrences: u64,
    /// At which head.
    pub(crate) head: String,
}

/// What the last turn of a pull left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LatestTurn {
    /// At which head.
    pub(crate) head: String,
    /// Its plan in lines.
    pub(crate) plan_text: String,
}

/// A turn that can be decided again.
#[derive(Clone, Debug)]
pub(crate) struct StoredTurn {
    /// What was known.
    pub(crate) snapshot: Snapshot,
    /// The rules of that moment.
    pub(crate) policy: Policy,
    /// The hash of the plan that was made.
    pub(crate) plan_hash: String,
    /// That plan in lines.
    pub(crate) plan_text: String,
    /// What became of its steps, as JSON.
    pub(crate) receipts: String,
}

impl Store {
    /// The latest turns of a pull, newest first.
    pub(crate) fn list_turns(&self, pull: &str, limit: usize) -> Result<Vec<TurnSummary>, StoreError> {
        self.query(Vec::new(), |db| {
            let mut found =
                db.prepare("SELECT id, at, times, head FROM turns WHERE pull = ? ORDER BY id DESC LIMIT ?")?;
            let line = |row: &rusqlite::Row<'_>| {
                Ok(TurnSummary {
                    id: row.get(0)?,
                    first_at: Time(row.get(1)?),
                    occurrences: row.get::<_, i64>(2)?.unsigned_abs(),
                    head: row.get(3)?,
                })
            };
            found.query_map(params![pull, limit as i64], line)?.collect()
        })
    }

    /// The last turn of every pull, by the pull's name.
    pub(crate) fn load_latest_turns(&self) -> Result<BTreeMap<String, LatestTurn>, StoreError> {
        self.query(BTreeMap::new(), |db| {
            let mut found = db
                .prepare("SELECT pull, head, lines FROM turns WHERE id IN (SELECT max(id) FROM turns GROUP BY pull)")?;
            let last =
                |row: &rusqlite::Row<'_>| Ok((row.get(0)?, LatestTurn { head: row.get(1)?, plan_text: row.get(2)? }));
            found.query_map([], last)?.collect()
        })
    }

    /// A stored turn.
    pub(crate) fn load_turn(&self, id: i64) -> Result<Option<StoredTurn>, StoreError> {
        let row: Option<[String; 5]> = self.query(None, |db| {
            let asked = "SELECT snapshot, policies.policy, plan, lines, receipts FROM turns
                         JOIN policies ON policies.hash = turns.policy WHERE id = ?";
            let take = |row: &rusqlite::Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?]);
            db.query_row(asked, [id], take).optional()
        })?;
        let Some([snapshot, policy, plan, lines, receipts]) = row else { return Ok(None) };
        let mut snapshot: Snapshot = serde_json::from_str(&snapshot).map_err(|error| self.row_error(error))?;
        for text in texts_mut(&mut snapshot) {
            let Some(hash) = text.body.take() else { continue };
            text.body = self.query(None, |db| {
                db.query_row("SELECT body FROM texts WHERE hash = ?", [&hash], |row| row.get(0)).optional()
            })?;
        }
        let policy = serde_json::from_str(&policy).map_err(|error| self.row_error(error))?;
        Ok(Some(StoredTurn { snapshot, policy, plan_hash: plan, plan_text: lines, receipts }))
    }
}
