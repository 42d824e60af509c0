//! Referee's own format, to the letter.

use referee_core::model::SubmittedOutcome;
use referee_review::formats::{Format, FormatError, ToolExit};
use serde_json::{Value, json};

use crate::{HEAD, read, read_file, sample};

#[test]
fn a_model_wrote_it_so_absence_says_nothing() {
    assert!(!read_file(Format::Referee, sample(Format::Referee)).deterministic);
}

#[test]
fn what_the_types_write_is_what_is_read() {
    let report = read_file(Format::Referee, sample(Format::Referee));
    let written = serde_json::to_string(&report).expect("it can be written");
    assert_eq!(read_file(Format::Referee, &written), report);
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
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
    insta::assert_snapshot!("violations", refused(&report));
}

#[test]
fn what_makes_no_sense_is_told_at_once() {
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
    insta::assert_snapshot!("contradictions", refused(&report));
}

#[test]
fn a_field_that_is_there_twice_is_refused() {
    let twice = sample(Format::Referee).replacen("\"reason\": \"\"", "\"reason\": \"\", \"outcome\": \"clean\"", 1);
    let error = read(Format::Referee, twice.as_bytes(), ToolExit::Completed).expect_err("it contradicts itself");
    assert!(error.to_string().contains("duplicate field `outcome`"), "{error}");
}

#[test]
fn another_roles_report_is_refused_by_both_names() {
    let report = sample(Format::Referee).replace("\"lint\"", "\"security\"");
    let error = read(Format::Referee, report.as_bytes(), ToolExit::Completed).expect_err("it is somebody else's");
    let said = "the report was not taken: it is for the role `security`, and `lint` was asked";
    assert_eq!(error.to_string(), said);
}

#[test]
fn another_heads_report_is_taken_as_what_it_is() {
    let other = "2222222222222222222222222222222222222222";
    let report = read_file(Format::Referee, &sample(Format::Referee).replace(HEAD, other));
    assert_eq!(report.head.as_str(), other);
}

#[test]
fn a_failed_report_says_why() {
    let mut report = json!({ "schema": "referee/report-1", "role": "lint", "head": HEAD, "outcome": "failed" });
    assert_eq!(refused(&report), "the report was not taken: /reason: a failed report says why");
    report["reason"] = json!("the model refused");
    let taken = read_file(Format::Referee, &report.to_string());
    assert_eq!((taken.outcome, taken.reason.as_str()), (SubmittedOutcome::Failed, "the model refused"));
}

#[test]
fn a_critical_finding_outside_leaves_no_proof() {
    let report = sample(Format::Referee).replace("./src/token.rs", "/etc/passwd");
    let report = read_file(Format::Referee, &report);
    assert_eq!((report.findings.len(), report.coverage), (1, None));
    assert!(report.summary.contains("- /etc/passwd:88: Refresh token is logged"), "{}", report.summary);
}

#[test]
fn a_thousand_faults_are_counted() {
    let report = json!({
        "schema": "referee/report-1", "role": "lint", "head": HEAD, "outcome": "findings",
        "findings": vec![Value::Null; 1000],
    });
    let FormatError::Violations(all) =
        read(Format::Referee, report.to_string().as_bytes(), ToolExit::Completed).expect_err("nothing is right")
    else {
        panic!("these are violations")
    };
    assert_eq!(all.len(), 51);
    assert_eq!(all.last().map(ToString::to_string), Some("and 950 more".to_owned()));
}

fn refused(report: &Value) -> String {
    read(Format::Referee, report.to_string().as_bytes(), ToolExit::Completed).expect_err("it is refused").to_string()
}
