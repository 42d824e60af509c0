//! Parses the reports of tools.
//!
//! A report counts as complete only if the run of the tool was complete (INTERFACE §3). If an interrupted run counted,
//! every finding that it did not reach would be marked as fixed.
//!
//! | format | the run is complete when |
//! |---|---|
//! | `referee` | the report has coverage; the core evaluates it |
//! | `sarif` | the JSON is closed, there is a run, each run has its results, and none says `executionSuccessful: false` |
//! | `rdjson`, `gitlab` | the JSON is closed |
//! | `rdjsonl` | referee ran the command and it exited as expected: the format itself has no end mark |
//! | `checkstyle` | the XML is closed |
//! | `cargo` | the last message is `build-finished` with success: a failed build leaves crates unread |
//!
//! A truncated JSON document is rejected. In formats of separate records (lines, elements) the records before the cut are
//! kept and the report is incomplete; without any record it is a failed report.

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

/// A report of this size or more is rejected without parsing.
pub const MAX_REPORT_BYTES: usize = 100_000_000;

/// Parses the output of a tool into a report for a role.
pub fn parse_report(format: Format, bytes: &[u8], context: &ReportContext<'_>) -> Result<Submission, FormatError> {
    let text = decode_text(format, bytes)?;
    if text.trim().is_empty() {
        return Ok(context.failed_report("the report is empty".to_owned()));
    }
    match format {
        Format::Referee => referee::parse_referee(&text, context),
        Format::Sarif => sarif::parse_sarif(&text, context),
        Format::Rdjson => rdjson::parse_rdjson(&text, context),
        Format::Rdjsonl => rdjson::parse_rdjsonl(&text, context),
        Format::Checkstyle => checkstyle::parse_checkstyle(&text, context),
        Format::Cargo => cargo::parse_cargo(&text, context),
        Format::Gitlab => gitlab::parse_gitlab(&text, context),
    }
}

/// Decodes UTF-8. Tools quote source code, which may be in another encoding, so invalid bytes are replaced. The format
/// `referee` must be valid UTF-8.
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
