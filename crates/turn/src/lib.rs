//! One turn: fetch, gather, decide, apply, once, forwards. The only caller of `perform`.

mod apply;
mod deliver;
mod gather;
mod journal;
mod pass;
mod receipt;
mod refresh;
mod source;
mod turn;

pub use apply::{Applied, apply};
pub use deliver::{Delivered, DeliveryTarget, Undelivered, answer, deliver};
pub use gather::{GatherError, Inbox, changes, gather};
pub use journal::{Intent, Journal, Nothing, Record};
pub use pass::{Held, Looked, Passed, Started, Then, View, pass, release, takes_worker};
pub use receipt::{Outcome, Receipt};
pub use source::{Source, SourceError};
pub use turn::{Desk, Publishing, Turn, TurnError, turn};
