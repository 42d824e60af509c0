//! What a run shows: the published documents, findings with their source, other tools' formats.

mod columns;
mod findings;
mod formats;
mod pass;
mod tally;
mod turn;

pub(crate) use columns::render_columns;
pub(crate) use findings::{FindingView, collect_open_findings, render_finding, summarize_counts};
pub(crate) use formats::{OutputFormat, render_findings};
pub(crate) use pass::{PassDocument, PassView, render_reason};
pub(crate) use tally::{pluralize, summarize_receipts};
pub(crate) use turn::{Calls, TurnDocument, TurnView};
