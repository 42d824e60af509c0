//! Referee's own format: `referee/report-1`, to the letter, and all that is wrong at once.

mod shape;

use std::collections::HashSet;

use referee_core::model::{Ended, Submission};
use serde_json::Value;

use self::shape::{Faults, REPORT};
use super::origin::SCHEMA;
use super::places::Places;
use super::strays::Strays;
use super::{Format, FormatError, Origin, Violation, json};

pub(super) fn parse(text: &str, origin: &Origin<'_>) -> Result<Submission, FormatError> {
    let value: Value = json::document(Format::Referee, text)?;
    let mut faults = Faults::default();
    schema(&value, &mut faults);
    REPORT.check(&value, "", &mut faults);
    if !faults.is_empty() {
        return Err(FormatError::Violations(faults.into_violations()));
    }
    // The text again, not the value: a field that is there twice shows only here.
    let report: Submission = serde_json::from_str(text).map_err(|error| {
        FormatError::Violations(vec![Violation { pointer: String::new(), what: error.to_string() }])
    })?;
    if report.role != *origin.role {
        let (said, asked) = (report.role.to_string(), origin.role.to_string());
        return Err(FormatError::Role { said, asked });
    }
    contradictions(&report)?;
    Ok(placed(report, origin))
}

/// First, since with another schema nothing else need be as it is here.
fn schema(report: &Value, faults: &mut Faults) {
    match report.get("schema").and_then(Value::as_str) {
        None | Some(SCHEMA) => {}
        Some(other) => faults.add("/schema", format!("`{other}` is not `{SCHEMA}`, the only one known here")),
    }
}

/// What has the right form and makes no sense.
fn contradictions(report: &Submission) -> Result<(), FormatError> {
    let mut faults = Faults::default();
    let head = report.head.as_str();
    if !matches!(head.len(), 40 | 64) || !head.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        faults.add("/head", format!("`{head}` is not the full name of a commit"));
    }
    match report.outcome {
        Ended::Clean if !report.findings.is_empty() => {
            faults.add("/outcome", "`clean`, and yet there are findings".to_owned());
        }
        Ended::Failed if report.reason.trim().is_empty() => {
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
fn placed(mut report: Submission, origin: &Origin<'_>) -> Submission {
    let places = Places::new(origin);
    let mut strays = Strays::default();
    report.findings.retain_mut(|found| match places.path(&found.path) {
        Some(path) => {
            found.path = path;
            true
        }
        None => {
            strays.add(found);
            false
        }
    });
    if let Some(words) = strays.words() {
        report.summary = [report.summary.as_str(), words.as_str()].join("\n\n").trim_start().to_owned();
    }
    if strays.is_grave() {
        report.coverage = None;
    }
    report
}
