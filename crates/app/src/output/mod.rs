//! What a run prints: findings with their source for the terminal, the published JSON documents, other tools' formats.
//! Writing to stdout and stderr is `console`'s.

mod columns;
mod findings;
mod formats;
mod pass_document;
mod print_turn;
mod receipt_summary;
mod review_ending;
mod turn_document;

pub(crate) use columns::render_columns;
pub(crate) use formats::OutputFormat;
pub(crate) use pass_document::{PassDocument, PassView, render_reason};
pub(crate) use print_turn::{build_document, print_turn, render_next_step};
pub(crate) use receipt_summary::pluralize;
pub(crate) use review_ending::{FailThreshold, ReviewEnding};
pub(crate) use turn_document::{Calls, TurnDocument, TurnView};
