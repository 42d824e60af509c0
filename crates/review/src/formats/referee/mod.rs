//! Referee's own format: `referee/report-1`, to the letter, and all that is wrong at once.

mod report_schema;

use std::collections::HashSet;

use referee_core::model::{Submission, SubmittedOutcome};
use serde_json::Value;

use self::report_schema::{REPORT_TYPE, ViolationList};
use super::context::REPORT_SCHEMA;
use super::path_resolver::PathResolver;
use super::unplaced::UnplacedFindings;
use super::{Format, FormatError, ReportContext, ReportViolation, json};

pub(super) fn parse_referee(text: &str, origin: &ReportContext<'_>) -> Result<Submission, FormatError> {
    let value: Value = json::parse_document(Format::Referee, text)?;
    let mut faults = ViolationList::default();
    check_schema(&value, &mut faults);
    REPORT_TYPE.check_value(&value, "", &mut faults);
    if !faults.is_empty() {
        return Err(FormatError::Violations(faults.into_violations()));
    }
    // The text again, not the value: a field that is there twice shows only here.
    let report: Submission = serde_json::from_str(text).map_err(|error| {
        FormatError::Violations(vec![ReportViolation { pointer: String::new(), message: error.to_string() }])
    })?;
    if report.role != *origin.role {
        let (said, asked) = (report.role.to_string(), origin.role.to_string());
        return Err(FormatError::WrongRole { said, asked });
    }
    check_consistency(&report)?;
    Ok(resolve_paths(report, origin))
}

/// First, since with another schema nothing else need be as it is here.
fn check_schema(report: &Value, faults: &mut ViolationList) {
    match report.get("schema").and_then(Value::as_str) {
        None | Some(REPORT_SCHEMA) => {}
        Some(other) => faults.add("/schema", format!("`{other}` is not `{REPORT_SCHEMA}`, the only one known here")),
    }
}

/// What has the right form and makes no sense.
fn check_consistency(report: &Submission) -> Result<(), FormatError> {
    let mut faults = ViolationList::default();
    let head = report.head.as_str();
    if !matches!(head.len(), 40 | 64) || !head.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        faults.add("/head", format!("`{head}` is not the full name of a commit"));
    }
    match report.outcome {
        SubmittedOutcome::Clean if !report.findings.is_empty() => {
            faults.add("/outcome", "`clean`, and yet there are findings".to_owned());
        }
        SubmittedOutcome::Failed if report.reason.trim().is_empty() => {
            faults.add("/reason", "a failed report says why".to_owned());
        }
        _ => {}
    }
    for (at, found) in report.findings.iter().enumerate() {
        if found.title.trim().is_empty() {
            faults.add(&format!("/findings/{at}/title"), "is empty".to_owned());
        }
        if found.line == Some(0) {
            faults.add(&format!("/findings/{at}/line"), "lines count from 1".to_owned());
        }
        if found.end_line.is_some_and(|end| Some(end) < found.line || found.line.is_none()) {
            faults.add(&format!("/findings/{at}/end_line"), "is before `line`".to_owned());
        }
    }
    let mut taken = HashSet::new();
    for (at, stated) in report.positions.iter().enumerate().filter(|(_, it)| !taken.insert(it.finding)) {
        faults.add(&format!("/positions/{at}/finding"), format!("`{}` has a position already", stated.finding));
    }
    if faults.is_empty() { Ok(()) } else { Err(FormatError::Violations(faults.into_violations())) }
}

/// Findings outside the repository become words of the summary.
fn resolve_paths(mut report: Submission, origin: &ReportContext<'_>) -> Submission {
    let places = PathResolver::new(origin);
    let mut strays = UnplacedFindings::default();
    report.findings.retain_mut(|found| match places.resolve_path(&found.path) {
        Some(path) => {
            found.path = path;
            true
        }
        None => {
            strays.add(found);
            false
        }
    });
    if let Some(words) = strays.render() {
        report.summary = [report.summary.as_str(), words.as_str()].join("\n\n").trim_start().to_owned();
    }
    if strays.has_critical() {
        report.coverage = None;
    }
    report
}
