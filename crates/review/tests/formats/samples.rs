//! One sample of each format, as a tool writes it.

use std::fmt::Write;

use referee_core::model::{Submission, SubmittedOutcome};
use referee_review::formats::{Format, ToolExit};

use crate::{HEAD, SAMPLES, parse, parse_file, sample};

#[test]
fn every_format_is_parsed() {
    for (format, text) in SAMPLES {
        insta::assert_snapshot!(format.name(), render(&parse_file(format, text)));
    }
}

#[test]
fn every_format_is_recognised_by_its_content() {
    for (format, text) in SAMPLES {
        assert_eq!(Format::recognise(text.as_bytes()), Some(format));
        assert_eq!(Format::recognise(format!("\u{feff}\n{text}").as_bytes()), Some(format), "with a byte order mark");
    }
    assert_eq!(Format::recognise(br#"{"source":{"name":"x"},"diagnostics":null}"#), Some(Format::Rdjson));
    for other in ["", "  ", "src/a.rs:3: warning", "{}", "{", r#"{"message":"no place"}"#] {
        assert_eq!(Format::recognise(other.as_bytes()), None, "{other}");
    }
}

#[test]
fn a_completed_run_of_a_tool_is_complete() {
    for (format, text) in SAMPLES.into_iter().filter(|(format, _)| *format != Format::Referee) {
        let report = parse(format, text.as_bytes(), ToolExit::Completed).expect("it can be parsed");
        assert!(report.deterministic, "{format}");
        assert_eq!((report.role.as_str(), report.head.as_str()), ("lint", HEAD));
        assert_eq!(report.coverage.expect("complete").read, ["src/lib.rs"], "{format}");
    }
}

#[test]
fn a_run_without_findings_is_clean() {
    let clean = [
        (Format::Sarif, r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[]}]}"#),
        (Format::Rdjson, r#"{"source":{"name":"x"},"diagnostics":null}"#),
        (Format::Checkstyle, "<?xml version=\"1.0\"?>\n<checkstyle version=\"8.0\"/>\n"),
        (Format::Cargo, "{\"reason\":\"compiler-artifact\"}\n{\"reason\":\"build-finished\",\"success\":true}\n"),
        (Format::Gitlab, "[]"),
    ];
    for (format, text) in clean {
        let report = parse_file(format, text);
        assert_eq!(report.outcome, SubmittedOutcome::Clean, "{format}");
        assert_eq!(report.coverage.expect("complete").read, ["src/lib.rs"], "{format}");
    }
}

#[test]
fn a_failed_build_is_incomplete() {
    let report = parse_file(Format::Cargo, include_str!("samples/cargo-failed.jsonl"));
    assert_eq!(report.coverage, None);
    insta::assert_snapshot!("cargo-failed", render(&report));
}

#[test]
fn a_run_that_the_tool_reports_as_failed_is_incomplete() {
    let failed = sample(Format::Sarif).replace(
        r#""executionSuccessful": true"#,
        r#""executionSuccessful": false, "toolExecutionNotifications": [{ "message": { "text": "out of memory" } }]"#,
    );
    let report = parse_file(Format::Sarif, &failed);
    assert_eq!((report.outcome, report.coverage), (SubmittedOutcome::Findings, None));
    assert!(report.summary.contains("CodeScan reports that it failed: out of memory"), "{}", report.summary);
    let tool = r#""tool":{"driver":{"name":"x"}}"#;
    let ends = [
        r#"{"runs":[]}"#.to_owned(),
        format!(r#"{{"runs":[{{{tool}}}]}}"#),
        format!(r#"{{"runs":[{{{tool},"results":[],"invocations":[{{"executionSuccessful":false}}]}}]}}"#),
        format!(r#"{{"runs":[{{{tool},"results":[],"externalPropertyFileReferences":{{"results":[{{}}]}}}}]}}"#),
    ];
    for text in ends {
        let report = parse_file(Format::Sarif, &text);
        assert_eq!((report.outcome, report.coverage), (SubmittedOutcome::Failed, None), "{text}");
        assert_ne!(report.reason, "", "{text}");
    }
}

#[test]
fn rdjsonl_is_complete_only_if_referee_ran_the_tool() {
    let text = sample(Format::Rdjsonl);
    assert_eq!(parse_file(Format::Rdjsonl, text).coverage, None);
    let broken = format!("{text}{{\"message\":");
    let report =
        parse(Format::Rdjsonl, broken.as_bytes(), ToolExit::Completed).expect("the lines before can be parsed");
    assert_eq!((report.findings.len(), report.coverage), (5, None));
}

#[test]
fn an_unknown_format_name_lists_the_known_ones() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
    }
    let error = "xml".parse::<Format>().expect_err("there is no such format");
    let names = "`referee`, `sarif`, `rdjson`, `rdjsonl`, `checkstyle`, `cargo`, `gitlab`";
    assert_eq!(error.to_string(), format!("`xml` is not a report format; use one of {names}"));
}

/// Renders a report for a snapshot.
fn render(report: &Submission) -> String {
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
