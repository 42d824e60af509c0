//! One turn: fetch, gather, decide, apply, once, forwards. The only caller of `perform`.

mod apply;
mod gather;
mod journal;
mod pass;
mod receipt;
mod refresh;
mod source;
mod turn;

pub use apply::{Applied, apply};
pub use gather::{GatherError, Inbox, gather};
pub use journal::{Intent, Journal, Nothing, Record};
pub use pass::{Looked, Passed, Started, pass};
pub use receipt::{Outcome, Receipt};
pub use source::{Source, SourceError};
pub use turn::{Desk, Publishing, Turn, TurnError, turn};
