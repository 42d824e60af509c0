//! Labels, assignees, statuses.

use referee_core::model::{CheckState, Login, Sha};
use rusqlite::{OptionalExtension, params};

use crate::local::LocalError;
use crate::local::column::ColumnValue;
use crate::local::pulls::pull_row_id;
use crate::local::writer::LocalWriter;
use crate::{CreatedIds, PerformOutcome};

impl LocalWriter<'_> {
    pub(super) fn add_label(&self, name: &str) -> Result<PerformOutcome, LocalError> {
        if self.find_label(name)?.is_some() {
            return Ok(PerformOutcome::AlreadySo);
        }
        self.tx.execute(
            "INSERT INTO labels (pull, name, by, at) VALUES (?1, ?2, ?3, ?4)",
            params![pull_row_id(self.pull), name, self.by.as_str(), self.at.0],
        )?;
        Ok(done_without_ids())
    }

    pub(super) fn remove_label(&self, name: &str) -> Result<PerformOutcome, LocalError> {
        let Some((label, by)) = self.find_label(name)? else { return Ok(PerformOutcome::AlreadySo) };
        if by != *self.by {
            return Err(LocalError::NotTheLabeller);
        }
        self.tx.execute("UPDATE labels SET off_at = ?2 WHERE id = ?1", params![label, self.at.0])?;
        Ok(done_without_ids())
    }

    pub(super) fn set_assignee(&self, who: Option<&Login>) -> Result<PerformOutcome, LocalError> {
        let login = who.unwrap_or(self.by);
        let sql = "SELECT id FROM assignments WHERE pull = ?1 AND who = ?2 AND off_at IS NULL";
        let row: Option<i64> =
            self.tx.query_row(sql, params![pull_row_id(self.pull), login.as_str()], |row| row.get(0)).optional()?;
        match (row, who) {
            (Some(_), Some(_)) | (None, None) => return Ok(PerformOutcome::AlreadySo),
            (None, Some(who)) => self.tx.execute(
                "INSERT INTO assignments (pull, who, by, at) VALUES (?1, ?2, ?3, ?4)",
                params![pull_row_id(self.pull), who.as_str(), self.by.as_str(), self.at.0],
            )?,
            (Some(row), None) => {
                self.tx.execute("UPDATE assignments SET off_at = ?2 WHERE id = ?1", params![row, self.at.0])?
            }
        };
        Ok(done_without_ids())
    }

    pub(super) fn set_status(
        &self,
        commit: &Sha,
        context: &str,
        state: CheckState,
        text: &str,
    ) -> Result<PerformOutcome, LocalError> {
        let sql = "SELECT state, text FROM statuses WHERE commit_sha = ?1 AND context = ?2 ORDER BY id DESC LIMIT 1";
        let last = self.tx.query_row(sql, [commit.as_str(), context], |row| {
            Ok((CheckState::from_row(row, 0)?, row.get::<_, String>(1)?))
        });
        if last.optional()?.is_some_and(|(was, said)| was == state && said == text) {
            return Ok(PerformOutcome::AlreadySo);
        }
        self.tx.execute(
            "INSERT INTO statuses (commit_sha, context, state, text, by, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![commit.as_str(), context, state.column_text(), text, self.by.as_str(), self.at.0],
        )?;
        Ok(done_without_ids())
    }

    fn find_label(&self, name: &str) -> Result<Option<(i64, Login)>, LocalError> {
        let sql = "SELECT id, by FROM labels WHERE pull = ?1 AND name = ?2 AND off_at IS NULL";
        let label =
            self.tx.query_row(sql, params![pull_row_id(self.pull), name], |row| Ok((row.get(0)?, Login(row.get(1)?))));
        Ok(label.optional()?)
    }
}

fn done_without_ids() -> PerformOutcome {
    PerformOutcome::Done(CreatedIds::default())
}
