//! Claims: one row a purpose, taken by compare-and-set on its epoch (D8).

use referee_core::model::{Lease, Login, PullNumber, Span, Time};
use rusqlite::{OptionalExtension, Transaction, params};

use super::LocalError;
use super::pulls::key;
use super::words::Word;
use crate::{Claimed, Purpose};

/// Takes a claim, if nobody holds it or its time is over.
pub(super) fn claim(
    tx: &Transaction<'_>,
    pull: PullNumber,
    purpose: Purpose,
    by: &Login,
    (now, ttl): (Time, Span),
) -> Result<Claimed, LocalError> {
    let last = read(tx, pull, purpose)?;
    if last.as_ref().is_some_and(|last| last.held && now < last.lease.until) {
        return Ok(Claimed::Held);
    }
    let epoch = last.map_or(1, |last| last.lease.epoch + 1);
    tx.execute(
        "INSERT INTO claims (pull, purpose, epoch, by, since, until, held) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1)
         ON CONFLICT (pull, purpose) DO UPDATE SET
             epoch = excluded.epoch, by = excluded.by, since = excluded.since, until = excluded.until, held = 1",
        params![key(pull), purpose.word(), epoch.cast_signed(), by.as_str(), now.0, now.after(ttl).0],
    )?;
    Ok(Claimed::Mine(epoch))
}

/// Gives a claim back; one that is gone already is given back, one of a newer epoch is not.
pub(super) fn release(tx: &Transaction<'_>, pull: PullNumber, purpose: Purpose, epoch: u64) -> Result<(), LocalError> {
    match read(tx, pull, purpose)? {
        Some(last) if last.held && last.lease.epoch != epoch => Err(LocalError::Moved("the claim")),
        Some(last) if last.held => {
            let sql = "UPDATE claims SET held = 0 WHERE pull = ?1 AND purpose = ?2";
            tx.execute(sql, params![key(pull), purpose.word()])?;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The work claim on a pull.
pub(super) fn lease(tx: &Transaction<'_>, pull: PullNumber) -> Result<Option<Lease>, LocalError> {
    Ok(read(tx, pull, Purpose::Work)?.filter(|last| last.held).map(|last| last.lease))
}

/// The last claim of a purpose, held or given back.
struct Last {
    lease: Lease,
    held: bool,
}

fn read(tx: &Transaction<'_>, pull: PullNumber, purpose: Purpose) -> Result<Option<Last>, LocalError> {
    let sql = "SELECT by, epoch, since, until, held FROM claims WHERE pull = ?1 AND purpose = ?2";
    let last = tx.query_row(sql, params![key(pull), purpose.word()], |row| {
        let lease = Lease {
            by: row.get(0)?,
            epoch: row.get::<_, i64>(1)?.cast_unsigned(),
            since: Time(row.get(2)?),
            until: Time(row.get(3)?),
        };
        Ok(Last { lease, held: row.get(4)? })
    });
    Ok(last.optional()?)
}
