//! The format `referee/report-1`, checked strictly. All violations are reported at once.

mod report_schema;

use std::collections::HashSet;

use referee_core::model::{Accounting, Submission, SubmittedOutcome};
use serde_json::Value;

use self::report_schema::{REPORT_TYPE, ViolationList};
use super::context::REPORT_SCHEMA;
use super::path_resolver::PathResolver;
use super::unplaced::UnplacedFindings;
use super::{Format, FormatError, ReportContext, ReportViolation, json};
use crate::levels::ReportedResult;

pub(super) fn parse_referee(text: &str, context: &ReportContext<'_>) -> Result<Submission, FormatError> {
    let value: Value = json::parse_document(Format::Referee, text)?;
    let mut violations = ViolationList::default();
    check_schema(&value, &mut violations);
    REPORT_TYPE.check_value(&value, "", &mut violations);
    if !violations.is_empty() {
        return Err(FormatError::Violations(violations.into_violations()));
    }
    // Parses the text again rather than the value: only this way a duplicate field is found.
    let report: Submission = serde_json::from_str(text).map_err(|error| {
        FormatError::Violations(vec![ReportViolation { pointer: String::new(), message: error.to_string() }])
    })?;
    if report.role != *context.role {
        let (found, expected) = (report.role.to_string(), context.role.to_string());
        return Err(FormatError::WrongRole { found, expected });
    }
    check_consistency(&report)?;
    Ok(place_findings(report, context))
}

/// Checks the schema version. This comes first: in another version, everything else may differ.
fn check_schema(report: &Value, violations: &mut ViolationList) {
    match report.get("schema").and_then(Value::as_str) {
        None | Some(REPORT_SCHEMA) => {}
        Some(other) => violations.add("/schema", format!("`{other}` is not supported, write `{REPORT_SCHEMA}`")),
    }
}

/// Checks what the types cannot: values that contradict each other.
fn check_consistency(report: &Submission) -> Result<(), FormatError> {
    let mut violations = ViolationList::default();
    let head = report.head.as_str();
    if !matches!(head.len(), 40 | 64) || !head.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        violations.add("/head", format!("`{head}` is not a full commit id"));
    }
    match report.outcome {
        SubmittedOutcome::Clean if !report.findings.is_empty() => {
            violations.add("/outcome", "is `clean`, but there are findings".to_owned());
        }
        SubmittedOutcome::Failed if report.reason.trim().is_empty() => {
            violations.add("/reason", "a failed report needs a reason".to_owned());
        }
        _ => {}
    }
    for (at, finding) in report.findings.iter().enumerate() {
        if finding.title.trim().is_empty() {
            violations.add(&format!("/findings/{at}/title"), "is empty".to_owned());
        }
        if finding.line == Some(0) {
            violations.add(&format!("/findings/{at}/line"), "line numbers start at 1".to_owned());
        }
        if finding.end_line.is_some_and(|end| Some(end) < finding.line || finding.line.is_none()) {
            violations.add(&format!("/findings/{at}/end_line"), "is before `line`".to_owned());
        }
    }
    let mut seen = HashSet::new();
    for (at, stated) in report.positions.iter().enumerate().filter(|(_, stated)| !seen.insert(stated.finding)) {
        violations.add(&format!("/positions/{at}/finding"), format!("`{}` already has a position", stated.finding));
    }
    if violations.is_empty() { Ok(()) } else { Err(FormatError::Violations(violations.into_violations())) }
}

/// Resolves the paths of findings and sets their severities. Findings outside the repository move to the summary.
fn place_findings(mut report: Submission, context: &ReportContext<'_>) -> Submission {
    let paths = PathResolver::new(context);
    let mut unplaced = UnplacedFindings::default();
    let mut left_out = Accounting::default();
    report.findings.retain_mut(|finding| {
        let resolved = paths.resolve_path(&finding.path);
        let is_inside = resolved.is_some();
        finding.path = resolved.unwrap_or_else(|| std::mem::take(&mut finding.path));
        let Some(severity) = context.levels.assign(&ReportedResult::from_finding(finding)) else {
            left_out.off += 1;
            return false;
        };
        finding.severity = severity;
        if is_inside {
            return true;
        }
        unplaced.add(finding);
        if finding.path.is_empty() {
            left_out.without_place += 1;
        } else {
            left_out.outside += 1;
        }
        false
    });
    if let Some(list) = unplaced.render() {
        report.summary = [report.summary.as_str(), list.as_str()].join("\n\n").trim_start().to_owned();
    }
    if unplaced.describe_gap().is_some() {
        report.coverage = None;
    }
    report.left_out = left_out;
    report
}
