//! Claims: one row per pull and purpose, taken by compare-and-set on its epoch (D8).

use referee_core::model::{Lease, Login, PullNumber, Span, Time};
use rusqlite::{OptionalExtension, Transaction, params};

use super::LocalError;
use super::column::ColumnValue;
use super::pulls::pull_row_id;
use crate::{ClaimHolder, ClaimOutcome, ClaimPurpose};

/// Takes a claim, if it is free or expired.
pub(super) fn acquire(
    tx: &Transaction<'_>,
    pull: PullNumber,
    purpose: ClaimPurpose,
    by: &Login,
    (now, ttl): (Time, Span),
) -> Result<ClaimOutcome, LocalError> {
    let last = read_claim(tx, pull, purpose)?;
    if let Some(held) = last.as_ref().filter(|last| last.held && now < last.lease.until) {
        let holder = ClaimHolder::new(Login::from(held.lease.by.as_str()), held.lease.until, now);
        return Ok(ClaimOutcome::HeldElsewhere(holder));
    }
    let epoch = last.map_or(1, |last| last.lease.epoch + 1);
    tx.execute(
        "INSERT INTO claims (pull, purpose, epoch, by, since, until, held) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1)
         ON CONFLICT (pull, purpose) DO UPDATE SET
             epoch = excluded.epoch, by = excluded.by, since = excluded.since, until = excluded.until, held = 1",
        params![
            pull_row_id(pull),
            purpose.column_text(),
            epoch.cast_signed(),
            by.as_str(),
            now.0,
            now.saturating_add(ttl).0
        ],
    )?;
    Ok(ClaimOutcome::Acquired(epoch))
}

/// Releases a claim. One that is not held any more is a conflict.
pub(super) fn release(
    tx: &Transaction<'_>,
    pull: PullNumber,
    purpose: ClaimPurpose,
    epoch: u64,
) -> Result<(), LocalError> {
    let is_held = read_claim(tx, pull, purpose)?.is_some_and(|last| last.held && last.lease.epoch == epoch);
    if !is_held {
        return Err(LocalError::Conflict("the claim"));
    }
    let sql = "UPDATE claims SET held = 0 WHERE pull = ?1 AND purpose = ?2";
    tx.execute(sql, params![pull_row_id(pull), purpose.column_text()])?;
    Ok(())
}

/// Reads the work claim on a pull.
pub(super) fn read_work_lease(tx: &Transaction<'_>, pull: PullNumber) -> Result<Option<Lease>, LocalError> {
    Ok(read_claim(tx, pull, ClaimPurpose::Work)?.filter(|last| last.held).map(|last| last.lease))
}

/// Reads the last claim of a purpose, held or released.
struct ClaimRow {
    lease: Lease,
    held: bool,
}

fn read_claim(tx: &Transaction<'_>, pull: PullNumber, purpose: ClaimPurpose) -> Result<Option<ClaimRow>, LocalError> {
    let sql = "SELECT by, epoch, since, until, held FROM claims WHERE pull = ?1 AND purpose = ?2";
    let last = tx.query_row(sql, params![pull_row_id(pull), purpose.column_text()], |row| {
        let lease = Lease {
            by: row.get(0)?,
            epoch: row.get::<_, i64>(1)?.cast_unsigned(),
            since: Time(row.get(2)?),
            until: Time(row.get(3)?),
        };
        Ok(ClaimRow { lease, held: row.get(4)? })
    });
    Ok(last.optional()?)
}
