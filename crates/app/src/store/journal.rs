//! The journal: an intent before each write, its receipt after it, and each turn as a whole.
//!
//! A turn whose snapshot and plan equal those of the previous turn increments a counter instead of adding a row. Note
//! texts are stored once, by hash. The number of rows is limited; texts and policies that no row refers to are deleted.

use referee_core::hash::Hash;
use referee_core::model::{Snapshot, Text, Time};
use referee_core::policy::Policy;
use referee_core::render::render_plan;
use referee_turn::{Intent, Journal, JournalRecord, Receipt};
use rusqlite::{Connection, OptionalExtension, params};

use super::{Store, StoreError};

/// Whether the journal keeps note texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextRetention {
    Full,
    /// Only hashes and lengths. Replaying a turn still gives the same decision.
    HashOnly,
}

const MAX_TURNS_PER_PULL: i64 = 200;
/// Limit across all pulls of the store.
const MAX_INTENTS: i64 = 1000;

/// The journal of one pull. `pull` is the pull's name in the store.
#[derive(Debug)]
pub(crate) struct PullJournal<'a> {
    store: &'a Store,
    pull: &'a str,
    policy: &'a Policy,
}

impl Store {
    pub(crate) fn open_journal<'a>(&'a self, pull: &'a str, policy: &'a Policy) -> PullJournal<'a> {
        PullJournal { store: self, pull, policy }
    }

    /// Returns the writes whose outcome is unknown because the last run was interrupted.
    pub(crate) fn find_unfinished_writes(&self, pull: &str) -> Result<Vec<String>, StoreError> {
        self.query(Vec::new(), |db| {
            let mut statement =
                db.prepare("SELECT action FROM intents WHERE outcome IS NULL AND pull = ? ORDER BY id")?;
            statement.query_map([pull], |row| row.get(0))?.collect()
        })
    }
}

impl Journal for PullJournal<'_> {
    fn record_intent(&self, intent: &Intent<'_>) -> Result<(), String> {
        let Intent { pull: _, step, action, head } = *intent;
        let at = (self.store.now)().0;
        let result = self.store.write(|db| {
            let sql = "INSERT INTO intents (pull, head, step, action, at) VALUES (?, ?, ?, ?, ?)";
            db.execute(sql, params![self.pull, head, step as i64, action, at])?;
            db.execute("DELETE FROM intents WHERE id <= (SELECT max(id) FROM intents) - ?", [MAX_INTENTS]).map(drop)
        });
        result.map_err(|error| error.to_string())
    }

    fn record_receipt(&self, intent: &Intent<'_>, receipt: &Receipt) {
        let outcome = receipt.outcome.name();
        // The write on the forge is done, so a failure to record it is ignored: the next turn reads the pull anyway.
        let _ = self.store.write(|db| {
            let sql = "UPDATE intents SET outcome = ?1
                       WHERE id = (SELECT max(id) FROM intents WHERE pull = ?2 AND step = ?3)";
            db.execute(sql, params![outcome, self.pull, intent.step as i64]).map(drop)
        });
    }

    fn record_turn(&self, record: &JournalRecord<'_>) {
        let _ = self.store.save_turn(self.pull, self.policy, record);
    }
}

impl Store {
    fn save_turn(&self, pull: &str, policy: &Policy, record: &JournalRecord<'_>) -> Result<(), StoreError> {
        let mut stored = record.snapshot.clone();
        let mut bodies = Vec::new();
        for text in texts_mut(&mut stored) {
            let body = text.body.take();
            if let (Some(body), TextRetention::Full) = (body, self.text_retention) {
                let hash = Hash::digest(&body);
                text.body = Some(hash.0.clone());
                bodies.push((hash.0, body));
            }
        }
        // The digest leaves out the time, so that equal turns have equal digests.
        let taken_at = std::mem::replace(&mut stored.taken_at, Time(0));
        let json = |value: Result<String, serde_json::Error>| value.map_err(|error| self.row_error(error));
        let plan = Hash::digest(json(serde_json::to_string(record.plan))?);
        let digest = Hash::digest_parts([json(serde_json::to_string(&stored))?.as_str(), &plan.0]);
        stored.taken_at = taken_at;
        let snapshot = json(serde_json::to_string(&stored))?;
        let scope = json(serde_json::to_string(record.scope))?;
        let policy = json(serde_json::to_string(policy))?;
        let policy_hash = Hash::digest(&policy);
        let receipts = json(serde_json::to_string(record.receipts))?;
        let at = taken_at.0;
        self.write(|db| {
            // The snapshot was taken after any interrupted write, so it shows the outcome of that write.
            db.execute("UPDATE intents SET outcome = 'read_back' WHERE outcome IS NULL AND pull = ?", [pull])?;
            if count_repeated_turn(db, pull, &digest, at)? {
                return Ok(());
            }
            for (hash, body) in &bodies {
                db.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", params![hash, body])?;
            }
            db.execute("INSERT OR IGNORE INTO policies VALUES (?, ?)", params![policy_hash.0, policy])?;
            db.execute(
                "INSERT INTO turns (pull, at, last_at, times, digest, head, policy, snapshot, plan, lines, receipts, scope)
                 VALUES (?1, ?2, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                params![
                    pull,
                    at,
                    digest.0,
                    record.plan.head.as_str(),
                    policy_hash.0,
                    snapshot,
                    plan.0,
                    render_plan(record.plan),
                    receipts,
                    scope
                ],
            )?;
            prune_turns(db, pull)
        })
    }
}

/// Increments the counter of the last turn if it has the same digest. Returns whether it had.
fn count_repeated_turn(db: &Connection, pull: &str, digest: &Hash, at: i64) -> rusqlite::Result<bool> {
    let last = "SELECT id, digest FROM turns WHERE pull = ? ORDER BY id DESC LIMIT 1";
    let last: Option<(i64, String)> = db.query_row(last, [pull], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((id, _)) = last.filter(|(_, known)| *known == digest.0) else { return Ok(false) };
    db.execute("UPDATE turns SET times = times + 1, last_at = ? WHERE id = ?", [at, id])?;
    Ok(true)
}

fn prune_turns(db: &Connection, pull: &str) -> rusqlite::Result<()> {
    let dropped = db.execute(
        "DELETE FROM turns WHERE pull = ?1 AND id <= (
             SELECT id FROM turns WHERE pull = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
        params![pull, MAX_TURNS_PER_PULL],
    )?;
    if dropped > 0 {
        db.execute("DELETE FROM policies WHERE hash NOT IN (SELECT policy FROM turns)", [])?;
        db.execute("DELETE FROM texts WHERE NOT EXISTS (SELECT 1 FROM turns WHERE instr(snapshot, hash) > 0)", [])?;
    }
    Ok(())
}

/// Returns every note text of a snapshot.
pub(super) fn texts_mut(snapshot: &mut Snapshot) -> impl Iterator<Item = &mut Text> {
    let Snapshot { reviews, threads, comments, .. } = snapshot;
    let reviews = reviews.iter_mut().map(|review| &mut review.text);
    let notes = threads.iter_mut().flat_map(|thread| &mut thread.notes).map(|note| &mut note.text);
    let comments = comments.iter_mut().map(|comment| &mut comment.text);
    reviews.chain(notes).chain(comments)
}

#[cfg(test)]
mod tests {
    use referee_core::decide::{PlanScope, decide};
    use referee_core::model::Time;
    use referee_testkit::scenario::{DEFAULT_FILE, Scenario, critical, report};
    use referee_turn::{Journal, JournalRecord};

    use crate::store::{Store, StoreAccess};

    #[test]
    fn ten_thousand_equal_turns_are_one_row() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("state.db");
        let store = Store::open(&path, StoreAccess::Write, || Time(1)).expect("a store");
        let mut scenario = Scenario::new("a quiet pull").changes("src/a.rs", DEFAULT_FILE).open_pull();
        scenario.report(report("general").finds(critical("leak").at("src/a.rs", 4))).turn().discard_effects();
        let mut snapshot = scenario.snapshot();
        let plan = decide(&snapshot, &scenario.policy, &PlanScope::Everything);
        let journal = store.open_journal("L1", &scenario.policy);
        let mut record_turns = |count: i64| {
            for _ in 0..count {
                snapshot.taken_at.0 += 1;
                journal.record_turn(&JournalRecord {
                    snapshot: &snapshot,
                    scope: &PlanScope::Everything,
                    plan: &plan,
                    receipts: &[],
                });
            }
            std::fs::metadata(&path).expect("a file").len()
        };
        let size_after_half = record_turns(5_000);
        assert_eq!(record_turns(5_000), size_after_half, "the file does not grow");
        let turns = store.list_turns("L1", 5).expect("turns");
        assert_eq!(turns.iter().map(|turn| turn.occurrences).collect::<Vec<_>>(), [10_000]);
        let stored = store.load_turn(turns[0].id).expect("a turn").expect("the turn exists");
        assert_eq!(
            decide(&stored.snapshot, &stored.policy, &stored.scope),
            plan,
            "a stored turn gives the same decision"
        );
    }
}
