//! Each format as a tool writes it.

use std::fmt::Write;

use referee_core::model::{Submission, SubmittedOutcome};
use referee_review::formats::{Format, ToolExit};

use crate::{HEAD, SAMPLES, read, read_file, sample};

#[test]
fn every_format_is_read() {
    for (format, text) in SAMPLES {
        insta::assert_snapshot!(format.name(), told(&read_file(format, text)));
    }
}

#[test]
fn a_foreign_run_that_ends_properly_is_complete() {
    for (format, text) in SAMPLES.into_iter().filter(|(format, _)| *format != Format::Referee) {
        let report = read(format, text.as_bytes(), ToolExit::Completed).expect("it can be read");
        assert!(report.deterministic, "{format}");
        assert_eq!((report.role.as_str(), report.head.as_str()), ("lint", HEAD));
        assert_eq!(report.coverage.expect("complete").read, ["src/lib.rs"], "{format}");
    }
}

#[test]
fn a_run_that_found_nothing_is_clean() {
    let clean = [
        (Format::Sarif, r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[]}]}"#),
        (Format::Rdjson, r#"{"source":{"name":"x"},"diagnostics":null}"#),
        (Format::Checkstyle, "<?xml version=\"1.0\"?>\n<checkstyle version=\"8.0\"/>\n"),
        (Format::Cargo, "{\"reason\":\"compiler-artifact\"}\n{\"reason\":\"build-finished\",\"success\":true}\n"),
        (Format::Gitlab, "[]"),
    ];
    for (format, text) in clean {
        let report = read_file(format, text);
        assert_eq!(report.outcome, SubmittedOutcome::Clean, "{format}");
        assert_eq!(report.coverage.expect("complete").read, ["src/lib.rs"], "{format}");
    }
}

#[test]
fn a_build_that_failed_was_not_read_whole() {
    let report = read_file(Format::Cargo, include_str!("samples/cargo-failed.jsonl"));
    assert_eq!(report.coverage, None);
    insta::assert_snapshot!("cargo-failed", told(&report));
}

#[test]
fn what_a_tool_calls_a_failure_is_no_complete_run() {
    let failed = sample(Format::Sarif).replace(
        r#""executionSuccessful": true"#,
        r#""executionSuccessful": false, "toolExecutionNotifications": [{ "message": { "text": "out of memory" } }]"#,
    );
    let report = read_file(Format::Sarif, &failed);
    assert_eq!((report.outcome, report.coverage), (SubmittedOutcome::Findings, None));
    assert!(report.summary.contains("CodeScan says that it did not succeed: out of memory"), "{}", report.summary);
    let tool = r#""tool":{"driver":{"name":"x"}}"#;
    let ends = [
        r#"{"runs":[]}"#.to_owned(),
        format!(r#"{{"runs":[{{{tool}}}]}}"#),
        format!(r#"{{"runs":[{{{tool},"results":[],"invocations":[{{"executionSuccessful":false}}]}}]}}"#),
        format!(r#"{{"runs":[{{{tool},"results":[],"externalPropertyFileReferences":{{"results":[{{}}]}}}}]}}"#),
    ];
    for text in ends {
        let report = read_file(Format::Sarif, &text);
        assert_eq!((report.outcome, report.coverage), (SubmittedOutcome::Failed, None), "{text}");
        assert_ne!(report.reason, "", "{text}");
    }
}

#[test]
fn lines_without_an_end_are_complete_only_where_somebody_saw_the_end() {
    let text = sample(Format::Rdjsonl);
    assert_eq!(read_file(Format::Rdjsonl, text).coverage, None);
    let broken = format!("{text}{{\"message\":");
    let report = read(Format::Rdjsonl, broken.as_bytes(), ToolExit::Completed).expect("its lines before can be read");
    assert_eq!((report.findings.len(), report.coverage), (5, None));
}

#[test]
fn a_name_that_is_no_format_lists_those_there_are() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    let error = "xml".parse::<Format>().expect_err("there is none");
    let names = "`referee`, `sarif`, `rdjson`, `rdjsonl`, `checkstyle`, `cargo`, `gitlab`";
    assert_eq!(error.to_string(), format!("`xml` is no report format: there are {names}"));
}

/// A report as people would tell it.
fn told(report: &Submission) -> String {
    let mut text = format!("{:?} {:?}\n", report.outcome, report.coverage);
    for found in &report.findings {
        let end = found.end_line.map(|end| format!("-{end}")).unwrap_or_default();
        let line = found.line.map(|line| format!(":{line}{end}")).unwrap_or_default();
        let rule = found.rule.as_deref().unwrap_or("no rule");
        writeln!(text, "\n{:?} {}{line} [{rule}]\n  {}", found.severity, found.path, found.title).expect("memory");
        for line in found.body.lines() {
            writeln!(text, "  | {line}").expect("memory");
        }
        for line in found.suggestion.iter().flat_map(|it| it.lines()) {
            writeln!(text, "  > {line}").expect("memory");
        }
    }
    for stated in &report.positions {
        writeln!(text, "\n{} {:?} {}", stated.finding, stated.position, stated.evidence).expect("memory");
    }
    for (name, words) in [("reason", &report.reason), ("summary", &report.summary)] {
        if !words.is_empty() {
            writeln!(text, "\n{name}: {words}").expect("memory");
        }
    }
    text
}
