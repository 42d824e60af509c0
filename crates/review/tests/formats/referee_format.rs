//! The format `referee/report-1` is checked strictly.

use referee_core::model::{Submission, SubmittedOutcome};
use referee_review::formats::{Format, FormatError, ToolExit};
use serde_json::{Value, json};

use crate::{HEAD, parse, parse_file, sample};

#[test]
fn a_report_in_the_referee_format_is_not_deterministic() {
    assert!(!parse_file(Format::Referee, sample(Format::Referee)).deterministic);
}

#[test]
fn a_serialised_report_parses_to_itself() {
    let report = parse_file(Format::Referee, sample(Format::Referee));
    let written = serde_json::to_string(&report).expect("it can be serialised");
    let parsed = parse_file(Format::Referee, &written);
    assert_eq!(Submission { left_out: report.left_out, ..parsed }, report, "but for what was left out before");
}

#[test]
fn all_violations_are_reported_at_once() {
    let report = json!({
        "schema": "referee/report-2",
        "role": 7,
        "outcome": "perfect",
        "coverage": { "read": "all" },
        "findings": [
            { "title": "a", "severity": "high", "path": "a.rs", "line": "8", "fix/it": true },
            "broken",
            { "title": "b", "severity": "warning", "path": "a.rs", "line": -1, "side": null },
        ],
        "positions": [{ "finding": "4", "position": "gone" }],
        "verdict": "",
    });
    insta::assert_snapshot!("violations", reject(&report));
}

#[test]
fn all_contradictions_are_reported_at_once() {
    let report = json!({
        "schema": "referee/report-1", "role": "lint", "head": "HEAD", "outcome": "clean",
        "findings": [
            { "title": " ", "severity": "warning", "path": "a.rs", "line": 0 },
            { "title": "b", "severity": "warning", "path": "a.rs", "line": 4, "end_line": 3 },
        ],
        "positions": [
            { "finding": "F4", "position": "fixed" },
            { "finding": "F5", "position": "fixed" },
            { "finding": "F4", "position": "stands" },
        ],
    });
    insta::assert_snapshot!("contradictions", reject(&report));
}

#[test]
fn a_duplicate_field_is_rejected() {
    let twice = sample(Format::Referee).replacen("\"reason\": \"\"", "\"reason\": \"\", \"outcome\": \"clean\"", 1);
    let error = parse(Format::Referee, twice.as_bytes(), ToolExit::Completed).expect_err("it contradicts itself");
    assert!(error.to_string().contains("duplicate field `outcome`"), "{error}");
}

#[test]
fn a_report_for_another_role_is_rejected_with_both_names() {
    let report = sample(Format::Referee).replace("\"lint\"", "\"security\"");
    let error = parse(Format::Referee, report.as_bytes(), ToolExit::Completed).expect_err("it is for another role");
    let message = "the report was rejected: it is for the role `security`, not for `lint`";
    assert_eq!(error.to_string(), message);
}

#[test]
fn a_report_for_another_head_keeps_its_head() {
    let other = "2222222222222222222222222222222222222222";
    let report = parse_file(Format::Referee, &sample(Format::Referee).replace(HEAD, other));
    assert_eq!(report.head.as_str(), other);
}

#[test]
fn a_failed_report_needs_a_reason() {
    let mut report = json!({ "schema": "referee/report-1", "role": "lint", "head": HEAD, "outcome": "failed" });
    assert_eq!(reject(&report), "the report was rejected: /reason: a failed report needs a reason");
    report["reason"] = json!("the model refused");
    let parsed = parse_file(Format::Referee, &report.to_string());
    assert_eq!((parsed.outcome, parsed.reason.as_str()), (SubmittedOutcome::Failed, "the model refused"));
}

#[test]
fn a_critical_finding_outside_the_repository_leaves_the_report_incomplete() {
    let report = sample(Format::Referee).replace("./src/token.rs", "/etc/passwd");
    let report = parse_file(Format::Referee, &report);
    assert_eq!((report.findings.len(), report.coverage), (1, None));
    assert!(report.summary.contains("- /etc/passwd:88: Refresh token is logged"), "{}", report.summary);
}

#[test]
fn violations_beyond_the_limit_are_counted() {
    let report = json!({
        "schema": "referee/report-1", "role": "lint", "head": HEAD, "outcome": "findings",
        "findings": vec![Value::Null; 1000],
    });
    let FormatError::Violations(all) =
        parse(Format::Referee, report.to_string().as_bytes(), ToolExit::Completed).expect_err("every finding is wrong")
    else {
        panic!("these are violations")
    };
    assert_eq!(all.len(), 51);
    assert_eq!(all.last().map(ToString::to_string), Some("and 950 more".to_owned()));
}

fn reject(report: &Value) -> String {
    parse(Format::Referee, report.to_string().as_bytes(), ToolExit::Completed).expect_err("it is rejected").to_string()
}
