//! Any program as a reviewer.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::time::Duration;

use referee_core::model::{FindingId, Severity, Submission, SubmittedOutcome};
use referee_core::plan::{Brief, Scope};
use referee_review::command::{ReviewCommand, run_command};
use referee_review::formats::Format;
use tempfile::TempDir;

const HEAD: &str = "1111111111111111111111111111111111111111";
const ISSUE: &str =
    r#"[{"description":"Something is wrong","severity":"minor","location":{"path":"src/lib.rs","lines":{"begin":3}}}]"#;

#[test]
fn a_program_that_ends_well_is_a_complete_report() {
    let report = review(&command(&["printf", "%s", ISSUE]));
    assert_eq!((report.outcome, report.findings.len()), (SubmittedOutcome::Findings, 1));
    assert_eq!(report.coverage.expect("complete").read, ["src/lib.rs"]);
    assert!(report.deterministic);
    assert_eq!(report.figures.runs, 1);
}

#[test]
fn no_shell_reads_the_arguments() {
    let issue = ISSUE.replace("Something", "$(id) `id` ; | >x");
    let report = review(&command(&["printf", "%s", &issue]));
    assert_eq!(report.findings[0].title, "$(id) `id` ; | >x is wrong");
}

#[test]
fn whatever_goes_wrong_is_a_failed_report_that_says_why() {
    let rows: &[(&[&str], &str)] = &[
        (&[], "no program was run: `argv` is empty"),
        (&["no-such-program-here"], "`no-such-program-here` could not be started: No such file or directory"),
        (&["true"], "`true` printed nothing"),
        (&["sh", "-c", "echo '[]'; exit 3"], "`sh` ended with exit code 3"),
        (&["sh", "-c", "echo no config >&2; echo >&2; echo '[]'; exit 2"], "`sh` ended with exit code 2: no config"),
        (&["sh", "-c", "echo '[]'; kill -TERM $$"], "`sh` was ended by signal 15"),
        (&["sh", "-c", "echo half >&2; cat /dev/zero"], "`sh` printed more than 100000 bytes: half"),
        (&["echo", "garbage"], "`echo` ended with exit code 0, but the report was not taken: this is no gitlab"),
        (&["echo", "[{"], "`echo` ended with exit code 0, but the report was not taken: the gitlab ends in the middle"),
    ];
    for (argv, reason) in rows {
        let report = review(&command(argv));
        assert_eq!((report.outcome, &report.coverage), (SubmittedOutcome::Failed, &None), "{argv:?}");
        assert!(report.reason.starts_with(reason), "{argv:?}: {}", report.reason);
    }
}

#[test]
fn a_program_that_hangs_is_ended() {
    let hanging = ReviewCommand { timeout: Duration::from_millis(100), ..command(&["sleep", "600"]) };
    assert_eq!(review(&hanging).reason, "`sleep` did not end within 100ms");
}

#[test]
fn other_exit_codes_may_count() {
    let failing = ReviewCommand { ok_codes: vec![0, 1], ..command(&["sh", "-c", "echo '[]'; exit 1"]) };
    assert_eq!(review(&failing).outcome, SubmittedOutcome::Clean);
}

#[test]
fn a_checkout_that_is_gone_is_told_from_a_missing_program() {
    let report = run_command(&command(&["true"]), Path::new("gone/away"), &brief(), &[]);
    assert_eq!(report.reason, "`true` could not be started: the checkout is gone");
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_program_started_ends_with_it() {
    let dir = TempDir::new().expect("a folder");
    // The flood ends it, and by then the number of the child is written.
    let flooding = command(&["sh", "-c", "sleep 600 & echo $! > child; cat /dev/zero"]);
    let report = run_command(&flooding, dir.path(), &brief(), &[]);
    assert_eq!(report.outcome, SubmittedOutcome::Failed);
    let child = fs::read_to_string(dir.path().join("child")).expect("it was started");
    // A signal that was sent takes its time; this never ends where none was.
    while is_alive(child.trim()) {
        std::thread::yield_now();
    }
}

/// What is dead and was not yet buried is a zombie.
#[cfg(target_os = "linux")]
fn is_alive(process: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat"));
    state.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn what_it_leaves_behind_cannot_hold_the_line() {
    let leaving = command(&["sh", "-c", "sleep 600 & echo '[]'"]);
    assert_eq!(review(&leaving).outcome, SubmittedOutcome::Clean, "closed JSON is complete, whoever holds the pipe");
    let line = r#"{"message":"x","location":{"path":"src/lib.rs"}}"#;
    let lines = |script: &str| {
        let argv = ["sh", "-c", script, "sh", line];
        review(&ReviewCommand { format: Format::Rdjsonl, ..command(&argv) })
    };
    assert!(lines("echo \"$1\"").coverage.is_some());
    let report = lines("sleep 600 & echo \"$1\"");
    assert_eq!((report.findings.len(), report.coverage), (1, None), "more lines may have come");
}

#[test]
fn a_program_that_writes_our_format_is_given_the_brief() {
    let dir = TempDir::new().expect("a folder");
    let report = format!(r#"{{"schema":"referee/report-1","role":"lint","head":"{HEAD}","outcome":"clean"}}"#);
    let script = "cat > brief; echo \"$1\"";
    let asked = ReviewCommand { format: Format::Referee, ..command(&["sh", "-c", script, "sh", &report]) };
    let report = run_command(&asked, dir.path(), &brief(), &["src/lib.rs".to_owned()]);
    assert_eq!((report.outcome, report.deterministic), (SubmittedOutcome::Clean, false), "{}", report.reason);
    let brief = fs::read_to_string(dir.path().join("brief")).expect("it was written");
    let brief: serde_json::Value = serde_json::from_str(&brief).expect("it is JSON");
    assert_eq!(
        brief,
        serde_json::json!({
            "schema": "referee/brief-1", "role": "lint", "head": HEAD, "scope": "whole", "round": 1,
            "priors": ["F4"], "floor": "suggestion", "files": ["src/lib.rs"],
        })
    );
}

#[test]
fn a_brief_that_nobody_reads_is_no_failure() {
    let report = format!(r#"{{"schema":"referee/report-1","role":"lint","head":"{HEAD}","outcome":"clean"}}"#);
    let files: Vec<String> = (0..20_000).map(|number| format!("src/file_{number}.rs")).collect();
    let deaf = ReviewCommand { format: Format::Referee, ..command(&["printf", "%s", &report]) };
    assert_eq!(run_command(&deaf, Path::new("."), &brief(), &files).outcome, SubmittedOutcome::Clean);
}

#[test]
fn others_read_nothing() {
    let report = review(&command(&["sh", "-c", "cat; echo '[]'"]));
    assert_eq!(report.outcome, SubmittedOutcome::Clean);
}

#[test]
fn a_program_knows_what_it_was_given_and_no_more() {
    let dir = TempDir::new().expect("a folder");
    run_command(&command(&["sh", "-c", "env > seen; echo '[]'"]), dir.path(), &brief(), &[]);
    let seen = fs::read_to_string(dir.path().join("seen")).expect("it was written");
    assert!(seen.contains("PATH="), "{seen}");
    // Cargo sets these for every test.
    assert!(!seen.contains("CARGO_PKG_NAME=") && !seen.contains("CARGO_MANIFEST_DIR="), "{seen}");
    let named = ReviewCommand {
        env_names: vec!["CARGO_PKG_NAME".to_owned()],
        ..command(&["sh", "-c", "test \"$CARGO_PKG_NAME\" = referee-review && echo '[]'"])
    };
    assert_eq!(review(&named).outcome, SubmittedOutcome::Clean);
}

#[test]
fn a_value_that_was_let_through_is_in_no_text() {
    let secret = "referee-review";
    let env = vec!["CARGO_PKG_NAME".to_owned()];
    let failing = command(&["sh", "-c", "echo \"bad key: $CARGO_PKG_NAME!\" >&2; exit 9"]);
    let report = review(&ReviewCommand { env_names: env.clone(), ..failing });
    assert_eq!(report.reason, "`sh` ended with exit code 9: bad key: ***!");
    let script = "printf '%s' \"$1\" | sed \"s/Something/$CARGO_PKG_NAME/\"";
    let report = review(&ReviewCommand { env_names: env, ..command(&["sh", "-c", script, "sh", ISSUE]) });
    assert_eq!(report.findings[0].title, "*** is wrong");
    assert!(!format!("{report:?}").contains(secret));
}

fn review(command: &ReviewCommand) -> Submission {
    let dir = TempDir::new().expect("a folder");
    run_command(command, dir.path(), &brief(), &["src/lib.rs".to_owned()])
}

fn command(argv: &[&str]) -> ReviewCommand {
    ReviewCommand {
        argv: argv.iter().map(|part| (*part).to_owned()).collect(),
        format: Format::Gitlab,
        ok_codes: vec![0],
        timeout: Duration::from_secs(60),
        max_output_bytes: 100_000,
        env_names: Vec::new(),
    }
}

fn brief() -> Brief {
    Brief {
        role: "lint".into(),
        head: HEAD.into(),
        scope: Scope::Whole,
        round: 1,
        priors: vec![FindingId(4)],
        floor: Severity::Suggestion,
    }
}
