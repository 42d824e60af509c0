//! The exit code of `review`, its verdict and its other words agree (D36).

use serde_json::{Value, json};

use crate::reviewer::Reviewer;
use crate::test_repo::{RunOutput, TestRepo};

/// Words that are false of a head that nobody read, and after a failed write.
const ALL_WELL: [&str; 5] =
    ["no findings", "nothing blocking", "approved", "everything is as it should be", "everything agrees"];

fn with_role(role: &str) -> TestRepo {
    let repo = TestRepo::with_config(&format!("version = 1\n[[role]]\nname = \"alpha\"\n{role}\n"));
    repo.branch("topic", &[("a.txt", "one\ntwo\nthree\nfour\n")]);
    repo
}

fn finding(severity: &str, line: u32) -> Value {
    let title = format!("Defect {line}");
    json!({ "title": title, "body": "It breaks.", "severity": severity, "path": "a.txt", "line": line })
}

fn assert_not_reviewed(ran: &RunOutput, reason: &str) {
    let line = ran.err.lines().find(|line| line.starts_with("verdict: ")).unwrap_or_default();
    assert!(line.contains("not reviewed") && line.contains(reason), "`{reason}` in\n{}", ran.err);
    assert_no_all_well(ran);
}

fn assert_no_all_well(ran: &RunOutput) {
    let said = ALL_WELL.iter().find(|words| ran.err.contains(**words) || ran.out.contains(**words));
    assert_eq!(said, None, "{}{}", ran.out, ran.err);
}

fn assert_verdict(ran: &RunOutput, words: &str) {
    assert!(ran.err.contains(&format!("\nverdict: {words} on L1")), "`{words}` in\n{}", ran.err);
}

// spec: D36 @local
#[test]
fn a_dry_run_ends_like_the_run_itself() {
    let repo = TestRepo::new();
    repo.branch("clean", &[("a.py", "x = 1\n")]);
    let dry = repo.run_expecting(0, &["review", "--dry-run"]);
    assert_verdict(&dry, "approved");
    assert!(dry.err.contains("withheld"), "{}", dry.err);
    assert_verdict(&repo.run_expecting(0, &["review"]), "approved");

    let repo = with_role("command = \"reader\"");
    repo.install_reviewer("exit 3\n", "");
    assert_not_reviewed(&repo.run_expecting(14, &["review", "--dry-run"]), "exited with code 3");
    assert_not_reviewed(&repo.run_expecting(14, &["review"]), "exited with code 3");
}

// spec: D36 @local
#[test]
fn the_verdict_of_a_blocking_role_decides_by_default() {
    let repo = with_role("builtin = true");
    let warnings = json!({ "findings": [finding("warning", 1), finding("warning", 2)] });
    let ran = repo.report("alpha", warnings);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_verdict(&ran, "approved");
    let repo = with_role("builtin = true");
    let warnings = json!({ "findings": [finding("warning", 1), finding("warning", 2), finding("warning", 3)] });
    let ran = repo.report("alpha", warnings);
    assert_eq!(ran.code, 20, "{}", ran.err);
    assert_verdict(&ran, "changes requested");
    assert_verdict(&repo.run_expecting(0, &["review", "--fail-on", "never"]), "changes requested");
    assert_verdict(&repo.run_expecting(0, &["review", "--fail-on", "critical"]), "changes requested");
    assert_verdict(&repo.run_expecting(20, &["review", "--fail-on", "warning"]), "changes requested");
}

// spec: D36 @local
#[test]
fn a_role_that_does_not_block_fails_only_on_request() {
    let repo = TestRepo::new();
    repo.branch("topic", &[("a.txt", "one\ntwo\n")]);
    let report = repo.full_report("visitor", json!({ "findings": [finding("critical", 1)] })).to_string();
    let path = repo.write_outside("visitor.json", report);
    let args = ["review", "--role", "visitor", "--report", &path];
    assert_verdict(&repo.run_expecting(0, &args), "nothing blocking");
    let ran = repo.run_expecting(20, &[&args[..], &["--fail-on", "critical"]].concat());
    assert_verdict(&ran, "1 finding at or above `--fail-on`");
    assert_no_all_well(&ran);
}

// spec: D36 @local
#[test]
fn a_failed_or_incomplete_report_is_not_a_review() {
    let repo = with_role("builtin = true");
    for (report, reason) in [
        (json!({ "outcome": "failed", "reason": "no more memory" }), "no more memory"),
        (json!({ "coverage": { "read": [], "skipped": [] } }), "does not cover this head"),
        (json!({ "head": "0".repeat(40) }), "does not cover this head"),
    ] {
        let ran = repo.report("alpha", report.clone());
        assert_eq!(ran.code, 14, "{report}: {}", ran.err);
        assert_not_reviewed(&ran, reason);
        let turn = repo.report_json("alpha", report);
        assert!(turn["roles"][0]["not_reviewed"].as_str().is_some_and(|why| why.contains(reason)), "{turn:#}");
    }
    // Known blockers still count, and the head is still not reviewed.
    repo.report("alpha", json!({ "findings": [finding("critical", 1)] }));
    repo.write("a.txt", "one\ntwo\nthree\n");
    repo.commit("Try again");
    let ran = repo.report("alpha", json!({ "outcome": "failed", "reason": "no more memory" }));
    assert_eq!(ran.code, 20, "{}", ran.err);
    assert_verdict(&ran, "changes requested");
    assert_not_reviewed(&ran, "no more memory");
}

// spec: D36, LOOP-11 @local
#[test]
fn a_reviewer_that_gave_up_leaves_the_head_not_reviewed() {
    let repo = with_role("command = \"reader\"");
    repo.install_reviewer("exit 3\n", "");
    repo.advance_clock(0);
    for reason in ["exited with code 3", "tried again later"] {
        assert_not_reviewed(&repo.run_expecting(14, &["review"]), reason);
    }
    for _ in 0..2 {
        repo.advance_clock(3600);
        assert_not_reviewed(&repo.run_expecting(14, &["review"]), "exited with code 3");
    }
    repo.advance_clock(3600);
    assert_not_reviewed(&repo.run_expecting(14, &["review"]), "failed 3 times");
}

// spec: D36, LOOP-13 @local
#[test]
fn a_budget_that_is_used_up_leaves_the_head_not_reviewed() {
    let repo = with_role("command = \"alpha\"\n[budget.pull]\nruns = 1");
    let [alpha] = Reviewer::install(&repo, ["alpha"]);
    alpha.set_report(json!({}));
    assert_verdict(&repo.run_expecting(0, &["review"]), "approved");
    repo.write("a.txt", "one\n");
    repo.commit("Go on");
    let ran = repo.run_expecting(14, &["review"]);
    assert_not_reviewed(&ran, "the budget of runs is used up");
    assert!(ran.err.contains("next: raise `[budget] pull`") && !ran.err.contains("F1"), "{}", ran.err);
}

// spec: D36 @local
#[test]
fn a_role_that_waits_is_not_a_failure_and_not_a_review() {
    let repo = with_role("builtin = true\n[review]\nstart = \"request\"");
    assert_not_reviewed(&repo.run_expecting(0, &["review"]), "waits for a request");
    let repo = with_role("builtin = true");
    repo.run_expecting(0, &["local", "open"]);
    repo.run_expecting(0, &["local", "comment", "L1", "/referee pause"]);
    assert_not_reviewed(&repo.run_expecting(0, &["review"]), "the pull is paused");
}

// spec: D36 @local
#[test]
fn a_head_that_no_role_reads_has_no_verdict() {
    let repo = with_role("builtin = true\npaths = [\"src/**\"]");
    let ran = repo.run_expecting(0, &["review"]);
    assert_verdict(&ran, "none");
    assert_no_all_well(&ran);
}

// spec: D36 @local
#[test]
fn a_failed_write_is_said_and_heals() {
    let repo = TestRepo::new();
    repo.branch("topic", &[("a.py", "x = 1\n")]);
    repo.run_expecting(0, &["local", "open"]);
    let db = rusqlite::Connection::open(repo.dir().join(".git/referee/referee.db")).expect("the database");
    db.execute_batch("CREATE TRIGGER broken BEFORE INSERT ON reviews BEGIN SELECT RAISE(FAIL, 'broken disk'); END")
        .expect("a trigger");
    let ran = repo.run(&["review"]);
    assert!([1, 75].contains(&ran.code), "{}: {}", ran.code, ran.err);
    assert_verdict(&ran, "not published");
    assert!(ran.err.contains("; 1 failed\n") && !ran.err.contains("nothing to write"), "{}", ran.err);
    assert_no_all_well(&ran);
    db.execute_batch("DROP TRIGGER broken").expect("no trigger");
    assert_verdict(&repo.run_expecting(0, &["review"]), "approved");
}

// spec: D36 @local
#[test]
fn a_role_without_its_command_is_found_before_any_reviewer_runs() {
    let beta = "builtin = true\n[[role]]\nname = \"beta\"\ncommand = \"beta\"";
    let repo = with_role(beta);
    let ran = repo.run_expecting(2, &["review"]);
    assert!(ran.err.contains("role `beta` uses the command `beta`"), "{}", ran.err);
    assert!(!ran.err.contains("alpha        done"), "no reviewer ran: {}", ran.err);
}

// spec: D36 @local
#[test]
fn answers_for_another_pull_or_thread_are_a_usage_error() {
    let repo = TestRepo::new();
    repo.branch("topic", &[("a.txt", "one\n")]);
    repo.run_expecting(0, &["local", "open"]);
    let answer = json!({ "threadId": "t99", "classification": "invalid", "evidence": "it is so" });
    for (number, says) in [(7, "the payload is for #7"), (1, "has no such thread")] {
        let payload = json!({ "prNumber": number, "threads": [answer] }).to_string();
        let path = repo.write_outside("fix.json", payload);
        for apply in [&[][..], &["--apply"]] {
            let args = [&["fix-comments", "L1", "--detached", "--payload", &path], apply].concat();
            let ran = repo.run_expecting(2, &args);
            assert!(ran.err.contains("nothing was sent") && ran.err.contains(says), "`{says}` in {}", ran.err);
        }
    }
}
