//! What tools write, read as reports.
//!
//! A tool's word counts in full only where its run ended properly (INTERFACE §3): absence from a run that was cut would
//! call everything fixed.
//!
//! | format | the run is complete when |
//! |---|---|
//! | `referee` | the report has coverage; the core weighs it |
//! | `sarif` | the JSON is closed, there is a run, each run has its results, and none says `executionSuccessful: false` |
//! | `rdjson`, `gitlab` | the JSON is closed |
//! | `rdjsonl` | referee ran the command and it ended well: the format itself has no end |
//! | `checkstyle` | the XML is closed |
//! | `cargo` | the last message is `build-finished` with success: a build that failed left crates unread |
//!
//! A cut document of JSON is refused. Where records stand on their own (lines, elements), those before the cut are kept
//! and the report is incomplete; with none left it has failed.

mod cargo;
mod checkstyle;
mod context;
mod error;
mod format;
mod gitlab;
mod json;
mod path_resolver;
mod rdjson;
mod referee;
mod region;
mod report_builder;
mod sarif;
mod title;
mod unplaced;

use std::borrow::Cow;

use referee_core::model::Submission;

pub use context::{ReportContext, ToolExit};
pub use error::{FormatError, ReportViolation};
pub use format::{Format, UnknownFormat};

/// Reports from here on are refused unread.
pub const MAX_REPORT_BYTES: usize = 100_000_000;

/// A tool's output as a report for a role.
pub fn parse_report(format: Format, bytes: &[u8], origin: &ReportContext<'_>) -> Result<Submission, FormatError> {
    let text = decode_text(format, bytes)?;
    if text.trim().is_empty() {
        return Ok(origin.failed_report("the report is empty".to_owned()));
    }
    match format {
        Format::Referee => referee::parse_referee(&text, origin),
        Format::Sarif => sarif::parse_sarif(&text, origin),
        Format::Rdjson => rdjson::parse_rdjson(&text, origin),
        Format::Rdjsonl => rdjson::parse_rdjsonl(&text, origin),
        Format::Checkstyle => checkstyle::parse_checkstyle(&text, origin),
        Format::Cargo => cargo::parse_cargo(&text, origin),
        Format::Gitlab => gitlab::parse_gitlab(&text, origin),
    }
}

/// Tools quote source code, and not all source code is UTF-8: a stray byte in a quote loses no report. Whoever writes
/// referee's own format is held to it.
fn decode_text(format: Format, bytes: &[u8]) -> Result<Cow<'_, str>, FormatError> {
    if bytes.len() >= MAX_REPORT_BYTES {
        return Err(FormatError::TooLarge { bytes: bytes.len() });
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(FormatError::NotUtf8 { at: 0 });
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(error) if format == Format::Referee => Err(FormatError::NotUtf8 { at: error.valid_up_to() }),
        Err(_) => Ok(String::from_utf8_lossy(bytes)),
    }
}
