//! Runs turns: fetch, gather, decide, apply. The only caller of `perform`.

mod apply;
mod claim;
mod deliver;
mod gather;
mod journal;
mod pass;
mod receipt;
mod refresh;
mod source;
mod turn;

pub use claim::{ClaimWaiter, NoWait, PublishMode};
pub use deliver::{DeliveryFailure, DeliveryOutcome, DeliveryTarget, deliver, post_answers};
pub use gather::{GatherError, Inbox, compute_changes, gather_snapshot};
pub use journal::{Intent, Journal, JournalRecord, NullJournal};
pub use pass::{
    ClaimedWorker, PassOutcome, PassPull, SpawnMode, StartOutcome, WorkSubject, release_worker, run_pass,
    worker_can_push,
};
pub use receipt::{Receipt, StepOutcome};
pub use source::{Source, SourceError};
pub use turn::{BegunTurn, Turn, TurnContext, TurnError, begin, finish, finish_begun};
