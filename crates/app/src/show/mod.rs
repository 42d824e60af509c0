//! What a run shows: the published documents, findings with their source, other tools' formats.

mod findings;
mod formats;
mod turn;

pub(crate) use findings::{Shown, count, open, render};
pub(crate) use formats::{Format, write};
pub(crate) use turn::{Calls, Played, TurnDocument};
