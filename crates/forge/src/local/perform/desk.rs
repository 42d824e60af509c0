//! Labels, assignees, statuses.

use referee_core::model::{CheckState, Login, Sha};
use rusqlite::{OptionalExtension, params};

use crate::local::LocalError;
use crate::local::pen::Pen;
use crate::local::pulls::key;
use crate::local::words::Word;
use crate::{Made, Performed};

impl Pen<'_> {
    pub(super) fn put_on(&self, name: &str) -> Result<Performed, LocalError> {
        if self.label(name)?.is_some() {
            return Ok(Performed::AlreadySo);
        }
        self.tx.execute(
            "INSERT INTO labels (pull, name, by, at) VALUES (?1, ?2, ?3, ?4)",
            params![key(self.pull), name, self.by.as_str(), self.at.0],
        )?;
        Ok(done())
    }

    pub(super) fn take_off(&self, name: &str) -> Result<Performed, LocalError> {
        let Some((label, by)) = self.label(name)? else { return Ok(Performed::AlreadySo) };
        if by != *self.by {
            return Err(LocalError::NotTheLabeller);
        }
        self.tx.execute("UPDATE labels SET off_at = ?2 WHERE id = ?1", params![label, self.at.0])?;
        Ok(done())
    }

    pub(super) fn assign(&self, who: Option<&Login>) -> Result<Performed, LocalError> {
        let login = who.unwrap_or(self.by);
        let sql = "SELECT id FROM assignments WHERE pull = ?1 AND who = ?2 AND off_at IS NULL";
        let row: Option<i64> =
            self.tx.query_row(sql, params![key(self.pull), login.as_str()], |row| row.get(0)).optional()?;
        match (row, who) {
            (Some(_), Some(_)) | (None, None) => return Ok(Performed::AlreadySo),
            (None, Some(who)) => self.tx.execute(
                "INSERT INTO assignments (pull, who, by, at) VALUES (?1, ?2, ?3, ?4)",
                params![key(self.pull), who.as_str(), self.by.as_str(), self.at.0],
            )?,
            (Some(row), None) => {
                self.tx.execute("UPDATE assignments SET off_at = ?2 WHERE id = ?1", params![row, self.at.0])?
            }
        };
        Ok(done())
    }

    pub(super) fn set_status(
        &self,
        commit: &Sha,
        context: &str,
        state: CheckState,
        text: &str,
    ) -> Result<Performed, LocalError> {
        let sql = "SELECT state, text FROM statuses WHERE commit_sha = ?1 AND context = ?2 ORDER BY id DESC LIMIT 1";
        let last = self.tx.query_row(sql, [commit.as_str(), context], |row| {
            Ok((CheckState::read(row, 0)?, row.get::<_, String>(1)?))
        });
        if last.optional()?.is_some_and(|(was, said)| was == state && said == text) {
            return Ok(Performed::AlreadySo);
        }
        self.tx.execute(
            "INSERT INTO statuses (commit_sha, context, state, text, by, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![commit.as_str(), context, state.word(), text, self.by.as_str(), self.at.0],
        )?;
        Ok(done())
    }

    fn label(&self, name: &str) -> Result<Option<(i64, Login)>, LocalError> {
        let sql = "SELECT id, by FROM labels WHERE pull = ?1 AND name = ?2 AND off_at IS NULL";
        let label = self.tx.query_row(sql, params![key(self.pull), name], |row| Ok((row.get(0)?, Login(row.get(1)?))));
        Ok(label.optional()?)
    }
}

fn done() -> Performed {
    Performed::Done(Made::default())
}
