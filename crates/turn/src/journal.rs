//! What is written down of a turn: before each write that it is meant, after it what came of it.

use referee_core::decide::PlanScope;
use referee_core::model::{PullNumber, Snapshot};
use referee_core::plan::Plan;

use crate::receipt::Receipt;

/// Keeps turns. An intent is kept before a write leaves, so that a crash in between is known.
pub trait Journal: Send + Sync {
    /// A write is about to leave. Failing here means that it must not.
    fn record_intent(&self, intent: &Intent<'_>) -> Result<(), String>;

    /// What came of it.
    fn record_receipt(&self, intent: &Intent<'_>, receipt: &Receipt);

    /// The turn as a whole.
    fn record_turn(&self, record: &JournalRecord<'_>);
}

/// A write that is about to leave.
#[derive(Clone, Copy, Debug)]
pub struct Intent<'a> {
    /// On which pull.
    pub pull: PullNumber,
    /// The step's number.
    pub step: usize,
    /// The action's name.
    pub action: &'a str,
    /// At which head.
    pub head: &'a str,
}

/// A turn as a whole: any stored one can be decided again.
#[derive(Clone, Copy, Debug)]
pub struct JournalRecord<'a> {
    /// What was known.
    pub snapshot: &'a Snapshot,
    /// The part of the plan that was carried out.
    pub scope: &'a PlanScope,
    /// What was decided.
    pub plan: &'a Plan,
    /// What was done.
    pub receipts: &'a [Receipt],
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullJournal;

impl Journal for NullJournal {
    fn record_intent(&self, _: &Intent<'_>) -> Result<(), String> {
        Ok(())
    }

    fn record_receipt(&self, _: &Intent<'_>, _: &Receipt) {}

    fn record_turn(&self, _: &JournalRecord<'_>) {}
}
