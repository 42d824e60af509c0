//! Pulls as rows: a range of commits, its pushes, and how it stands.

use referee_core::model::{Login, PullNumber, PullState, Push, Sha, Time};
use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::LocalError;
use super::names::local_name;
use super::words::Word;

/// A local pull in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalPull {
    /// Its number, shown as `L7`.
    pub number: PullNumber,
    /// Its branch, or the name of its range.
    pub branch: String,
    /// What it wants into.
    pub base: String,
    /// Open, closed or merged, as it was last written down.
    pub state: PullState,
    /// Who opened it.
    pub author: Login,
    /// Its title.
    pub title: String,
    /// The head that was last seen.
    pub head: Sha,
    /// When it was opened.
    pub opened_at: Time,
}

/// A pull with what it was seen to be.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) number: PullNumber,
    pub(super) branch: String,
    pub(super) base: String,
    pub(super) follows: Follows,
    pub(super) title: String,
    pub(super) author: Login,
    pub(super) state: PullState,
    pub(super) opened_at: Time,
    pub(super) reopens: Vec<Time>,
    /// Never empty but in a preview of what was never opened.
    pub(super) pushes: Vec<Seen>,
}

/// Where a pull's head is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follows {
    /// Wherever its branch is now.
    Branch,
    /// Where it was last set.
    Nothing,
}

/// A push that was seen, and the base at that time.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) push: Push,
    pub(super) base_sha: Sha,
}

/// A pull to be opened.
pub(super) struct Opening<'a> {
    pub(super) branch: &'a str,
    pub(super) base: &'a str,
    pub(super) follows: Follows,
    pub(super) title: &'a str,
    pub(super) body: &'a str,
    pub(super) author: &'a Login,
    pub(super) at: Time,
    pub(super) seen: &'a Seen,
}

pub(super) fn list(tx: &Transaction<'_>) -> Result<Vec<LocalPull>, LocalError> {
    let mut rows = tx.prepare(
        "SELECT number, branch, base, state, author, title, opened_at,
                (SELECT head FROM pushes WHERE pull = number ORDER BY id DESC LIMIT 1)
         FROM pulls ORDER BY number",
    )?;
    let pull = |row: &Row<'_>| {
        Ok(LocalPull {
            number: number(row.get(0)?),
            branch: row.get(1)?,
            base: row.get(2)?,
            state: PullState::read(row, 3)?,
            author: Login(row.get(4)?),
            title: row.get(5)?,
            opened_at: Time(row.get(6)?),
            head: Sha(row.get(7)?),
        })
    };
    Ok(rows.query_map([], pull)?.collect::<Result<_, _>>()?)
}

pub(super) fn open_one(tx: &Transaction<'_>, branch: &str, base: &str) -> Result<Option<PullNumber>, LocalError> {
    let sql = "SELECT number FROM pulls WHERE branch = ?1 AND base = ?2 AND state = 'open'";
    Ok(tx.query_row(sql, [branch, base], |row| row.get(0)).optional()?.map(number))
}

pub(super) fn kept(tx: &Transaction<'_>, pull: PullNumber) -> Result<Kept, LocalError> {
    let sql = "SELECT branch, base, follows, title, author, state, opened_at FROM pulls WHERE number = ?1";
    let read = |row: &Row<'_>| {
        Ok(Kept {
            number: pull,
            branch: row.get(0)?,
            base: row.get(1)?,
            follows: if row.get(2)? { Follows::Branch } else { Follows::Nothing },
            title: row.get(3)?,
            author: Login(row.get(4)?),
            state: PullState::read(row, 5)?,
            opened_at: Time(row.get(6)?),
            reopens: Vec::new(),
            pushes: Vec::new(),
        })
    };
    let found = tx.query_row(sql, [key(pull)], read).optional()?;
    let mut kept = found.ok_or_else(|| LocalError::NotFound(local_name(pull)))?;
    let mut reopens = tx.prepare("SELECT at FROM states WHERE pull = ?1 AND state = 'open' ORDER BY id")?;
    kept.reopens = reopens.query_map([key(pull)], |row| row.get(0).map(Time))?.collect::<Result<_, _>>()?;
    let mut pushes = tx.prepare("SELECT head, base_sha, by, at FROM pushes WHERE pull = ?1 ORDER BY id")?;
    let seen = |row: &Row<'_>| {
        let by: Option<String> = row.get(2)?;
        let push = Push { head: Sha(row.get(0)?), by: by.map(Login), at: Time(row.get(3)?) };
        Ok(Seen { push, base_sha: Sha(row.get(1)?) })
    };
    kept.pushes = pushes.query_map([key(pull)], seen)?.collect::<Result<_, _>>()?;
    Ok(kept)
}

/// Opens a pull, or finds the one that another process opened meanwhile.
pub(super) fn open(tx: &Transaction<'_>, opening: &Opening<'_>) -> Result<PullNumber, LocalError> {
    if let Some(number) = open_one(tx, opening.branch, opening.base)? {
        return Ok(number);
    }
    let Opening { branch, base, follows, title, body, author, at, seen } = opening;
    tx.execute(
        "INSERT INTO pulls (branch, base, follows, title, body, author, state, opened_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'open', ?7)",
        params![branch, base, *follows == Follows::Branch, title, body, author.as_str(), at.0],
    )?;
    let pull = number(tx.last_insert_rowid());
    see(tx, pull, seen)?;
    Ok(pull)
}

/// Writes a push down, unless it is the last one already.
pub(super) fn see(tx: &Transaction<'_>, pull: PullNumber, seen: &Seen) -> Result<(), LocalError> {
    let last: Option<String> = tx
        .query_row("SELECT head FROM pushes WHERE pull = ?1 ORDER BY id DESC LIMIT 1", [key(pull)], |row| row.get(0))
        .optional()?;
    let Seen { push: Push { head, by, at }, base_sha } = seen;
    if last.as_deref() == Some(head.as_str()) {
        return Ok(());
    }
    tx.execute(
        "INSERT INTO pushes (pull, head, base_sha, by, at) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![key(pull), head.as_str(), base_sha.as_str(), by.as_ref().map(Login::as_str), at.0],
    )?;
    Ok(())
}

/// Sets how a pull stands, and keeps who did it; nothing where it stands so already.
pub(super) fn set_state(
    tx: &Transaction<'_>,
    pull: PullNumber,
    state: PullState,
    by: Option<&Login>,
    at: Time,
) -> Result<(), LocalError> {
    let kept = kept(tx, pull)?;
    if kept.state == state {
        return Ok(());
    }
    if state == PullState::Open
        && let Some(other) = open_one(tx, &kept.branch, &kept.base)?
    {
        let (this, other) = (local_name(pull), local_name(other));
        return Err(LocalError::Refused(format!("`{this}` was not reopened: `{other}` is open for the same range")));
    }
    tx.execute("UPDATE pulls SET state = ?2 WHERE number = ?1", params![key(pull), state.word()])?;
    tx.execute(
        "INSERT INTO states (pull, state, by, at) VALUES (?1, ?2, ?3, ?4)",
        params![key(pull), state.word(), by.map(Login::as_str), at.0],
    )?;
    Ok(())
}

/// The number that the next pull will have.
pub(super) fn next_number(tx: &Transaction<'_>) -> Result<PullNumber, LocalError> {
    Ok(tx.query_row("SELECT coalesce(max(number), 0) + 1 FROM pulls", [], |row| row.get(0)).map(number)?)
}

pub(super) fn number(row: i64) -> PullNumber {
    PullNumber(row.unsigned_abs())
}

/// A pull's row; a number beyond all rows is none.
pub(super) fn key(pull: PullNumber) -> i64 {
    i64::try_from(pull.0).unwrap_or(-1)
}
