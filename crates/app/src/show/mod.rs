//! What a run shows: the published documents, findings with their source, other tools' formats.

mod columns;
mod findings;
mod formats;
mod pass;
mod tally;
mod turn;

pub(crate) use columns::columns;
pub(crate) use findings::{Shown, count, open, render};
pub(crate) use formats::{Format, write};
pub(crate) use pass::{PassDocument, PassOf, reason};
pub(crate) use tally::{some, tally};
pub(crate) use turn::{Calls, Played, TurnDocument};
