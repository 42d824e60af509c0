//! Finished reports: saved before anything is posted, so that after a failure the next run posts them without calling
//! the reviewer again.

use referee_core::model::{RunCost, Sha, Submission};
use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::{Store, StoreError};

/// A report that was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SavedReport {
    /// Its row.
    pub(crate) id: i64,
    /// The report.
    pub(crate) report: Submission,
}

/// The published form leaves out what only referee knows of a run.
#[derive(Serialize, Deserialize)]
struct InboxRow {
    report: Submission,
    deterministic: bool,
    run: String,
    figures: RunCost,
}

impl Store {
    /// Saves a report for a pull. The same report twice is one.
    pub(crate) fn save_report(&self, pull: &str, report: &Submission) -> Result<(), StoreError> {
        let row = InboxRow {
            report: report.clone(),
            deterministic: report.deterministic,
            run: report.run.clone(),
            figures: report.figures,
        };
        let text = serde_json::to_string(&row).map_err(|error| self.row_error(error))?;
        let at = (self.now)().0;
        self.write(|db| {
            db.execute(
                "INSERT INTO inbox (pull, role, head, at, report) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                params![pull, report.role.as_str(), report.head.as_str(), at, text],
            )
            .map(drop)
        })
    }

    /// Reports for this head that were saved and not posted yet, oldest first.
    pub(crate) fn load_pending_reports(&self, pull: &str, head: &Sha) -> Result<Vec<SavedReport>, StoreError> {
        let rows: Vec<(i64, String)> = self.query(Vec::new(), |db| {
            let mut found =
                db.prepare("SELECT id, report FROM inbox WHERE pull = ? AND head = ? AND posted IS NULL ORDER BY id")?;
            found.query_map(params![pull, head.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })?;
        rows.into_iter()
            .map(|(id, text)| {
                let InboxRow { mut report, deterministic, run, figures } =
                    serde_json::from_str(&text).map_err(|error| self.row_error(error))?;
                (report.deterministic, report.run, report.figures) = (deterministic, run, figures);
                Ok(SavedReport { id, report })
            })
            .collect()
    }

    /// These stand on the pull now.
    pub(crate) fn mark_posted(&self, ids: &[i64]) -> Result<(), StoreError> {
        let at = (self.now)().0;
        self.write(|db| {
            ids.iter()
                .try_for_each(|id| db.execute("UPDATE inbox SET posted = ? WHERE id = ?", [at, *id]).map(drop))?;
            // What stands on the pull is of no use here.
            db.execute("DELETE FROM inbox WHERE posted IS NOT NULL AND id <= (SELECT max(id) FROM inbox) - 200", [])
                .map(drop)
        })
    }
}
