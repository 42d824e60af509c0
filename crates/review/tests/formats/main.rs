//! What tools write, read as reports.

mod cut;
mod odd;
mod own;
mod paths;
mod samples;

use std::path::Path;

use referee_core::model::{RoleName, Sha, Submission};
use referee_review::formats::{Format, FormatError, ReportContext, ToolExit, parse_report};

const HEAD: &str = "1111111111111111111111111111111111111111";

/// A sample in its format.
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
    SAMPLES.iter().find(|(it, _)| *it == format).expect("each format has one").1
}

/// Read for the role `lint`, in a checkout at `/checkout`, with `src/lib.rs` changed.
fn read(format: Format, bytes: &[u8], ended: ToolExit) -> Result<Submission, FormatError> {
    let files = ["src/lib.rs".to_owned()];
    let (role, head) = (RoleName::from("lint"), Sha::from(HEAD));
    let root = Some(Path::new("/checkout"));
    parse_report(
        format,
        bytes,
        &ReportContext { role: &role, head: &head, checkout_root: root, changed_files: &files, tool_exit: ended },
    )
}

fn read_file(format: Format, text: &str) -> Submission {
    read(format, text.as_bytes(), ToolExit::Unknown).expect("it can be read")
}
