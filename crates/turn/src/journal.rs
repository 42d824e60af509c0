//! The journal of turns. Each write is recorded before it is sent and after its result is known.

use referee_core::decide::PlanScope;
use referee_core::model::{PullNumber, Snapshot};
use referee_core::plan::Plan;

use crate::receipt::Receipt;

/// Stores turns. An intent is stored before a write is sent, so that a crash in between can be detected.
pub trait Journal: Send + Sync {
    /// Records that a write is about to be sent. On an error the write must not be sent.
    fn record_intent(&self, intent: &Intent<'_>) -> Result<(), String>;

    /// Records the result of a write.
    fn record_receipt(&self, intent: &Intent<'_>, receipt: &Receipt);

    /// Records a whole turn.
    fn record_turn(&self, record: &JournalRecord<'_>);
}

/// A write that is about to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Intent<'a> {
    pub pull: PullNumber,
    /// The index of the step in the plan.
    pub step: usize,
    pub action: &'a str,
    pub head: &'a str,
}

/// A whole turn, complete enough to be decided again.
#[derive(Clone, Copy, Debug)]
pub struct JournalRecord<'a> {
    pub snapshot: &'a Snapshot,
    /// The part of the plan that was applied.
    pub scope: &'a PlanScope,
    pub plan: &'a Plan,
    pub receipts: &'a [Receipt],
}

/// A journal that stores nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullJournal;

impl Journal for NullJournal {
    fn record_intent(&self, _: &Intent<'_>) -> Result<(), String> {
        Ok(())
    }

    fn record_receipt(&self, _: &Intent<'_>, _: &Receipt) {}

    fn record_turn(&self, _: &JournalRecord<'_>) {}
}
