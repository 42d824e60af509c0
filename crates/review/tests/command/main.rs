//! Any program as a reviewer: exit codes, limits, the process tree, stdin and the environment.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::time::Duration;

use referee_core::model::{FindingId, Severity, Submission, SubmittedOutcome};
use referee_core::plan::{Brief, Reason, Scope};
use referee_core::rule::Rule;
use referee_review::RuleLevels;
use referee_review::command::{ReviewCommand, run_command};
use referee_review::formats::Format;
use tempfile::TempDir;

const HEAD: &str = "1111111111111111111111111111111111111111";
const ISSUE: &str =
    r#"[{"description":"Something is wrong","severity":"minor","location":{"path":"src/lib.rs","lines":{"begin":3}}}]"#;

#[test]
fn a_program_that_exits_as_expected_gives_a_complete_report() {
    let report = review(&command(&["printf", "%s", ISSUE]));
    assert_eq!((report.outcome, report.findings.len()), (SubmittedOutcome::Findings, 1));
    assert_eq!(report.coverage.expect("complete").read, ["src/lib.rs"]);
    assert!(report.deterministic);
    assert_eq!(report.figures.runs, 1);
}

#[test]
fn no_shell_interprets_the_arguments() {
    let issue = ISSUE.replace("Something", "$(id) `id` ; | >x");
    let report = review(&command(&["printf", "%s", &issue]));
    assert_eq!(report.findings[0].title, "$(id) `id` ; | >x is wrong");
}

#[test]
fn every_failure_is_a_failed_report_with_its_reason() {
    let rows: &[(&[&str], &str)] = &[
        (&[], "no program was run: `argv` is empty"),
        (&["no-such-program-here"], "`no-such-program-here` could not be started: No such file or directory"),
        (&["true"], "`true` printed nothing"),
        (&["sh", "-c", "echo '[]'; exit 3"], "`sh` exited with code 3"),
        (&["sh", "-c", "echo no config >&2; echo >&2; echo '[]'; exit 2"], "`sh` exited with code 2: no config"),
        (&["sh", "-c", "echo '[]'; kill -TERM $$"], "`sh` was killed by signal 15"),
        (&["sh", "-c", "echo half >&2; cat /dev/zero"], "`sh` printed more than 100000 bytes: half"),
        (
            &["echo", "garbage"],
            "`echo` exited with code 0, but the report was rejected: it is not in the `gitlab` format",
        ),
        (&["echo", "[{"], "`echo` exited with code 0, but the report was rejected: the `gitlab` document is truncated"),
    ];
    for (argv, reason) in rows {
        let report = review(&command(argv));
        assert_eq!((report.outcome, &report.coverage), (SubmittedOutcome::Failed, &None), "{argv:?}");
        assert!(report.reason.starts_with(reason), "{argv:?}: {}", report.reason);
    }
}

#[test]
fn a_program_that_hangs_is_killed() {
    let hanging = ReviewCommand { timeout: Duration::from_millis(100), ..command(&["sleep", "600"]) };
    assert_eq!(review(&hanging).reason, "`sleep` did not finish within 100ms");
}

#[test]
fn other_exit_codes_can_be_accepted() {
    let failing = ReviewCommand { ok_codes: vec![0, 1], ..command(&["sh", "-c", "echo '[]'; exit 1"]) };
    assert_eq!(review(&failing).outcome, SubmittedOutcome::Clean);
}

#[test]
fn a_missing_checkout_is_distinguished_from_a_missing_program() {
    let report = run_command(&command(&["true"]), Path::new("gone/away"), &brief(), &[]);
    assert_eq!(report.reason, "`true` could not be started: the checkout no longer exists");
}

#[test]
#[cfg(target_os = "linux")]
fn descendants_of_a_killed_program_are_killed() {
    let dir = TempDir::new().expect("a folder");
    // The program is killed for its output, after it has written the pid of its child.
    let flooding = command(&["sh", "-c", "sleep 600 & echo $! > child; cat /dev/zero"]);
    let report = run_command(&flooding, dir.path(), &brief(), &[]);
    assert_eq!(report.outcome, SubmittedOutcome::Failed);
    let child = fs::read_to_string(dir.path().join("child")).expect("it was started");
    // A killed process takes a moment to die. This never ends if no signal was sent.
    while is_alive(child.trim()) {
        std::thread::yield_now();
    }
}

/// Returns whether a process runs. A zombie does not.
#[cfg(target_os = "linux")]
fn is_alive(process: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat"));
    state.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn a_descendant_that_holds_the_output_does_not_block_the_review() {
    let leaving = command(&["sh", "-c", "sleep 600 & echo '[]'"]);
    assert_eq!(
        review(&leaving).outcome,
        SubmittedOutcome::Clean,
        "a closed JSON document is complete, even if the pipe is still open"
    );
    let line = r#"{"message":"x","location":{"path":"src/lib.rs"}}"#;
    let lines = |script: &str| {
        let argv = ["sh", "-c", script, "sh", line];
        review(&ReviewCommand { format: Format::Rdjsonl, ..command(&argv) })
    };
    assert!(lines("echo \"$1\"").coverage.is_some());
    let report = lines("sleep 600 & echo \"$1\"");
    assert_eq!((report.findings.len(), report.coverage), (1, None), "more lines might have followed");
}

#[test]
fn a_program_with_the_referee_format_receives_the_brief() {
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
fn a_program_need_not_read_its_brief() {
    let report = format!(r#"{{"schema":"referee/report-1","role":"lint","head":"{HEAD}","outcome":"clean"}}"#);
    let files: Vec<String> = (0..20_000).map(|number| format!("src/file_{number}.rs")).collect();
    let deaf = ReviewCommand { format: Format::Referee, ..command(&["printf", "%s", &report]) };
    assert_eq!(run_command(&deaf, Path::new("."), &brief(), &files).outcome, SubmittedOutcome::Clean);
}

#[test]
fn stdin_is_empty_for_other_formats() {
    let report = review(&command(&["sh", "-c", "cat; echo '[]'"]));
    assert_eq!(report.outcome, SubmittedOutcome::Clean);
}

#[test]
fn the_environment_holds_only_the_usual_and_the_named_variables() {
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
fn values_of_named_variables_are_redacted() {
    let secret = "referee-review";
    let env = vec!["CARGO_PKG_NAME".to_owned()];
    let failing = command(&["sh", "-c", "echo \"bad key: $CARGO_PKG_NAME!\" >&2; exit 9"]);
    let report = review(&ReviewCommand { env_names: env.clone(), ..failing });
    assert_eq!(report.reason, "`sh` exited with code 9: bad key: ***!");
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
        levels: RuleLevels::default(),
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
        why: Reason::new(Rule::ReviewDue),
    }
}
