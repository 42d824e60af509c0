//! Reads turns back from the journal, for `explain` and `replay`.

use std::collections::BTreeMap;

use referee_core::decide::PlanScope;
use referee_core::model::{Snapshot, Time};
use referee_core::policy::Policy;
use rusqlite::{OptionalExtension, params};

use super::journal::texts_mut;
use super::{Store, StoreError};

/// A turn as `explain` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TurnSummary {
    /// The id that `referee replay` takes.
    pub(crate) id: i64,
    /// Time of the first of the equal turns.
    pub(crate) first_at: Time,
    /// Number of consecutive turns with the same snapshot and plan.
    pub(crate) occurrences: u64,
    pub(crate) head: String,
}

/// The last turn of a pull.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LatestTurn {
    pub(crate) head: String,
    /// The plan as `explain` prints it.
    pub(crate) plan_text: String,
}

/// A turn with everything that `decide` needs.
#[derive(Clone, Debug)]
pub(crate) struct StoredTurn {
    pub(crate) snapshot: Snapshot,
    /// The policy at the time of the turn.
    pub(crate) policy: Policy,
    /// The part of the plan that the turn carried out.
    pub(crate) scope: PlanScope,
    pub(crate) plan_hash: String,
    /// The plan as `explain` prints it.
    pub(crate) plan_text: String,
    /// The receipts of the steps, as JSON.
    pub(crate) receipts: String,
}

impl Store {
    /// Returns the latest turns of a pull, newest first.
    pub(crate) fn list_turns(&self, pull: &str, limit: usize) -> Result<Vec<TurnSummary>, StoreError> {
        self.query(Vec::new(), |db| {
            let mut statement =
                db.prepare("SELECT id, at, times, head FROM turns WHERE pull = ? ORDER BY id DESC LIMIT ?")?;
            let to_summary = |row: &rusqlite::Row<'_>| {
                Ok(TurnSummary {
                    id: row.get(0)?,
                    first_at: Time(row.get(1)?),
                    occurrences: row.get::<_, i64>(2)?.unsigned_abs(),
                    head: row.get(3)?,
                })
            };
            statement.query_map(params![pull, limit as i64], to_summary)?.collect()
        })
    }

    /// Returns the last turn of every pull, by the pull's name.
    pub(crate) fn load_latest_turns(&self) -> Result<BTreeMap<String, LatestTurn>, StoreError> {
        self.query(BTreeMap::new(), |db| {
            let mut statement = db
                .prepare("SELECT pull, head, lines FROM turns WHERE id IN (SELECT max(id) FROM turns GROUP BY pull)")?;
            let to_turn =
                |row: &rusqlite::Row<'_>| Ok((row.get(0)?, LatestTurn { head: row.get(1)?, plan_text: row.get(2)? }));
            statement.query_map([], to_turn)?.collect()
        })
    }

    /// Returns a turn with its texts and policy.
    pub(crate) fn load_turn(&self, id: i64) -> Result<Option<StoredTurn>, StoreError> {
        let row: Option<[String; 6]> = self.query(None, |db| {
            let sql = "SELECT snapshot, policies.policy, scope, plan, lines, receipts FROM turns
                       JOIN policies ON policies.hash = turns.policy WHERE id = ?";
            let columns = |row: &rusqlite::Row<'_>| {
                Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?])
            };
            db.query_row(sql, [id], columns).optional()
        })?;
        let Some([snapshot, policy, scope, plan_hash, plan_text, receipts]) = row else { return Ok(None) };
        let mut snapshot: Snapshot = serde_json::from_str(&snapshot).map_err(|error| self.row_error(error))?;
        for text in texts_mut(&mut snapshot) {
            let Some(hash) = text.body.take() else { continue };
            text.body = self.query(None, |db| {
                db.query_row("SELECT body FROM texts WHERE hash = ?", [&hash], |row| row.get(0)).optional()
            })?;
        }
        let policy = serde_json::from_str(&policy).map_err(|error| self.row_error(error))?;
        let scope = serde_json::from_str(&scope).map_err(|error| self.row_error(error))?;
        Ok(Some(StoredTurn { snapshot, policy, scope, plan_hash, plan_text, receipts }))
    }
}
