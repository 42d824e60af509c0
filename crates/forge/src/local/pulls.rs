//! The rows of pulls: a range of commits, its pushes, and its state.

use referee_core::model::{Login, PullNumber, PullState, Push, Sha, Time};
use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::LocalError;
use super::column::ColumnValue;
use super::names::format_local_name;

/// A local pull in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalPull {
    /// Shown as `L7`.
    pub number: PullNumber,
    /// The branch, or the name of the range.
    pub branch: String,
    /// The branch it merges into.
    pub base: String,
    /// As last recorded.
    pub state: PullState,
    pub author: Login,
    pub title: String,
    /// The last recorded head.
    pub head: Sha,
    pub opened_at: Time,
}

/// The record of a pull.
#[derive(Clone, Debug)]
pub(super) struct LocalPullRecord {
    pub(super) number: PullNumber,
    pub(super) branch: String,
    pub(super) base: String,
    pub(super) head_source: HeadSource,
    pub(super) title: String,
    pub(super) author: Login,
    pub(super) state: PullState,
    pub(super) opened_at: Time,
    pub(super) reopens: Vec<Time>,
    /// Empty only in the preview of a pull that was never opened.
    pub(super) pushes: Vec<RecordedPush>,
}

/// What determines a pull's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadSource {
    /// The branch: the head moves with it.
    Branch,
    /// The last commit that was set.
    Fixed,
}

/// A recorded push, and the base at that time.
#[derive(Clone, Debug)]
pub(super) struct RecordedPush {
    pub(super) push: Push,
    pub(super) base_sha: Sha,
}

/// A pull to be opened.
pub(super) struct NewLocalPull<'a> {
    pub(super) branch: &'a str,
    pub(super) base: &'a str,
    pub(super) head_source: HeadSource,
    pub(super) title: &'a str,
    pub(super) body: &'a str,
    pub(super) author: &'a Login,
    pub(super) at: Time,
    pub(super) first_push: &'a RecordedPush,
}

pub(super) fn list_pulls(tx: &Transaction<'_>) -> Result<Vec<LocalPull>, LocalError> {
    let mut rows = tx.prepare(
        "SELECT number, branch, base, state, author, title, opened_at,
                (SELECT head FROM pushes WHERE pull = number ORDER BY id DESC LIMIT 1)
         FROM pulls ORDER BY number",
    )?;
    let pull = |row: &Row<'_>| {
        Ok(LocalPull {
            number: pull_number(row.get(0)?),
            branch: row.get(1)?,
            base: row.get(2)?,
            state: PullState::from_row(row, 3)?,
            author: Login(row.get(4)?),
            title: row.get(5)?,
            opened_at: Time(row.get(6)?),
            head: Sha(row.get(7)?),
        })
    };
    Ok(rows.query_map([], pull)?.collect::<Result<_, _>>()?)
}

pub(super) fn find_open_pull(tx: &Transaction<'_>, branch: &str, base: &str) -> Result<Option<PullNumber>, LocalError> {
    let sql = "SELECT number FROM pulls WHERE branch = ?1 AND base = ?2 AND state = 'open'";
    Ok(tx.query_row(sql, [branch, base], |row| row.get(0)).optional()?.map(pull_number))
}

pub(super) fn load_record(tx: &Transaction<'_>, pull: PullNumber) -> Result<LocalPullRecord, LocalError> {
    let sql = "SELECT branch, base, follows, title, author, state, opened_at FROM pulls WHERE number = ?1";
    let read = |row: &Row<'_>| {
        Ok(LocalPullRecord {
            number: pull,
            branch: row.get(0)?,
            base: row.get(1)?,
            head_source: if row.get(2)? { HeadSource::Branch } else { HeadSource::Fixed },
            title: row.get(3)?,
            author: Login(row.get(4)?),
            state: PullState::from_row(row, 5)?,
            opened_at: Time(row.get(6)?),
            reopens: Vec::new(),
            pushes: Vec::new(),
        })
    };
    let found = tx.query_row(sql, [pull_row_id(pull)], read).optional()?;
    let mut kept = found.ok_or_else(|| LocalError::NotFound(format_local_name(pull)))?;
    let mut reopens = tx.prepare("SELECT at FROM states WHERE pull = ?1 AND state = 'open' ORDER BY id")?;
    kept.reopens = reopens.query_map([pull_row_id(pull)], |row| row.get(0).map(Time))?.collect::<Result<_, _>>()?;
    let mut pushes = tx.prepare("SELECT head, base_sha, by, at FROM pushes WHERE pull = ?1 ORDER BY id")?;
    let seen = |row: &Row<'_>| {
        let by: Option<String> = row.get(2)?;
        let push = Push { head: Sha(row.get(0)?), by: by.map(Login), at: Time(row.get(3)?) };
        Ok(RecordedPush { push, base_sha: Sha(row.get(1)?) })
    };
    kept.pushes = pushes.query_map([pull_row_id(pull)], seen)?.collect::<Result<_, _>>()?;
    Ok(kept)
}

/// Opens a pull, or returns the one that another process opened meanwhile.
pub(super) fn insert_pull(tx: &Transaction<'_>, opening: &NewLocalPull<'_>) -> Result<PullNumber, LocalError> {
    if let Some(number) = find_open_pull(tx, opening.branch, opening.base)? {
        return Ok(number);
    }
    let NewLocalPull { branch, base, head_source: follows, title, body, author, at, first_push: seen } = opening;
    tx.execute(
        "INSERT INTO pulls (branch, base, follows, title, body, author, state, opened_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'open', ?7)",
        params![branch, base, *follows == HeadSource::Branch, title, body, author.as_str(), at.0],
    )?;
    let pull = pull_number(tx.last_insert_rowid());
    record_push(tx, pull, seen)?;
    Ok(pull)
}

/// Records a push, unless it is the last recorded one.
pub(super) fn record_push(tx: &Transaction<'_>, pull: PullNumber, seen: &RecordedPush) -> Result<(), LocalError> {
    let last: Option<String> = tx
        .query_row("SELECT head FROM pushes WHERE pull = ?1 ORDER BY id DESC LIMIT 1", [pull_row_id(pull)], |row| {
            row.get(0)
        })
        .optional()?;
    let RecordedPush { push: Push { head, by, at }, base_sha } = seen;
    if last.as_deref() == Some(head.as_str()) {
        return Ok(());
    }
    tx.execute(
        "INSERT INTO pushes (pull, head, base_sha, by, at) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![pull_row_id(pull), head.as_str(), base_sha.as_str(), by.as_ref().map(Login::as_str), at.0],
    )?;
    Ok(())
}

/// Sets the state of a pull and records who did; does nothing if it has that state already.
pub(super) fn set_state(
    tx: &Transaction<'_>,
    pull: PullNumber,
    state: PullState,
    by: Option<&Login>,
    at: Time,
) -> Result<(), LocalError> {
    let kept = load_record(tx, pull)?;
    if kept.state == state {
        return Ok(());
    }
    if state == PullState::Open
        && let Some(other) = find_open_pull(tx, &kept.branch, &kept.base)?
    {
        let (this, other) = (format_local_name(pull), format_local_name(other));
        return Err(LocalError::Refused(format!("`{this}` was not reopened: `{other}` is open for the same range")));
    }
    tx.execute("UPDATE pulls SET state = ?2 WHERE number = ?1", params![pull_row_id(pull), state.column_text()])?;
    tx.execute(
        "INSERT INTO states (pull, state, by, at) VALUES (?1, ?2, ?3, ?4)",
        params![pull_row_id(pull), state.column_text(), by.map(Login::as_str), at.0],
    )?;
    Ok(())
}

/// Returns the number of the next pull.
pub(super) fn next_number(tx: &Transaction<'_>) -> Result<PullNumber, LocalError> {
    Ok(tx.query_row("SELECT coalesce(max(number), 0) + 1 FROM pulls", [], |row| row.get(0)).map(pull_number)?)
}

pub(super) fn pull_number(row: i64) -> PullNumber {
    PullNumber(row.unsigned_abs())
}

/// Returns the row id of a pull; a number that no row can have becomes an id that does not exist.
pub(super) fn pull_row_id(pull: PullNumber) -> i64 {
    i64::try_from(pull.0).unwrap_or(-1)
}
