//! The inbox of finished reports. A report is saved before anything is posted, so that after a failure the next run posts
//! it without running the reviewer again.

use referee_core::model::{Accounting, RunCost, Sha, Submission};
use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::{Store, StoreError};

/// A report in the inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SavedReport {
    /// Row id, for [`Store::mark_posted`].
    pub(crate) id: i64,
    pub(crate) report: Submission,
}

/// The JSON of a row. The published form of a report omits the fields that only referee sets, so they are stored beside it.
#[derive(Serialize, Deserialize)]
struct InboxRow {
    report: Submission,
    deterministic: bool,
    run: String,
    figures: RunCost,
    #[serde(default)]
    left_out: Accounting,
    #[serde(default)]
    tool: Option<String>,
}

impl Store {
    /// Saves a report for a pull. Saving the same report again does nothing.
    pub(crate) fn save_report(&self, pull: &str, report: &Submission) -> Result<(), StoreError> {
        let row = InboxRow {
            report: report.clone(),
            deterministic: report.deterministic,
            run: report.run.clone(),
            figures: report.figures,
            left_out: report.left_out,
            tool: report.tool.clone(),
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

    /// Returns the reports for this head that are not posted yet, oldest first.
    pub(crate) fn load_pending_reports(&self, pull: &str, head: &Sha) -> Result<Vec<SavedReport>, StoreError> {
        let rows: Vec<(i64, String)> = self.query(Vec::new(), |db| {
            let mut statement =
                db.prepare("SELECT id, report FROM inbox WHERE pull = ? AND head = ? AND posted IS NULL ORDER BY id")?;
            statement.query_map(params![pull, head.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })?;
        rows.into_iter()
            .map(|(id, text)| {
                let InboxRow { mut report, deterministic, run, figures, left_out, tool } =
                    serde_json::from_str(&text).map_err(|error| self.row_error(error))?;
                (report.deterministic, report.run, report.figures) = (deterministic, run, figures);
                (report.left_out, report.tool) = (left_out, tool);
                Ok(SavedReport { id, report })
            })
            .collect()
    }

    /// Marks reports as posted, and deletes posted reports that are more than 200 rows old.
    pub(crate) fn mark_posted(&self, ids: &[i64]) -> Result<(), StoreError> {
        let at = (self.now)().0;
        self.write(|db| {
            ids.iter()
                .try_for_each(|id| db.execute("UPDATE inbox SET posted = ? WHERE id = ?", [at, *id]).map(drop))?;
            db.execute("DELETE FROM inbox WHERE posted IS NOT NULL AND id <= (SELECT max(id) FROM inbox) - 200", [])
                .map(drop)
        })
    }
}
