//! The parsers of report formats.

mod levels;
mod paths;
mod quirks;
mod referee_format;
mod samples;
mod truncated;

use std::path::Path;

use referee_core::model::{RoleName, Sha, Submission};
use referee_review::RuleLevels;
use referee_review::formats::{Format, FormatError, ReportContext, ToolExit, parse_report};

const HEAD: &str = "1111111111111111111111111111111111111111";

/// One sample of each format.
const SAMPLES: [(Format, &str); 7] = [
    (Format::Referee, include_str!("samples/report.json")),
    (Format::Sarif, include_str!("samples/sarif.json")),
    (Format::Rdjson, include_str!("samples/rdjson.json")),
    (Format::Rdjsonl, include_str!("samples/rdjson.jsonl")),
    (Format::Checkstyle, include_str!("samples/checkstyle.xml")),
    (Format::Cargo, include_str!("samples/cargo.jsonl")),
    (Format::Gitlab, include_str!("samples/gitlab.json")),
];

fn sample(format: Format) -> &'static str {
    SAMPLES.iter().find(|(known, _)| *known == format).expect("each format has a sample").1
}

/// Parses a report for the role `lint`, from a checkout at `/checkout` in which `src/lib.rs` changed.
fn parse(format: Format, bytes: &[u8], tool_exit: ToolExit) -> Result<Submission, FormatError> {
    parse_with_levels(format, bytes, tool_exit, &RuleLevels::default())
}

fn parse_with_levels(
    format: Format,
    bytes: &[u8],
    tool_exit: ToolExit,
    levels: &RuleLevels,
) -> Result<Submission, FormatError> {
    let files = ["src/lib.rs".to_owned()];
    let (role, head) = (RoleName::from("lint"), Sha::from(HEAD));
    let root = Some(Path::new("/checkout"));
    parse_report(
        format,
        bytes,
        &ReportContext { role: &role, head: &head, checkout_root: root, changed_files: &files, tool_exit, levels },
    )
}

/// Parses a report of which nobody knows how the tool ended.
fn parse_file(format: Format, text: &str) -> Submission {
    parse(format, text.as_bytes(), ToolExit::Unknown).expect("it can be parsed")
}
