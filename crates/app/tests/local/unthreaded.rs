//! Findings without a thread: `comments` lists them, and every command says what can be done with them.

use serde_json::{Value, json};

use crate::answers::conforms;
use crate::pull_view::string;
use crate::test_repo::TestRepo;

const CONFIG: &str = "version = 1\n[review]\nmax_inline = 1\n[[role]]\nname = \"lint\"\ncommand = \"linter\"\n";

/// Posts three findings, of which one gets a thread.
fn review_with_one_thread() -> TestRepo {
    let repo = TestRepo::with_config(CONFIG);
    repo.branch("topic", &[("a.py", "one = 1\ntwo = 2\n"), ("b.py", "three = 3\n")]);
    let finding = |title: &str, severity: &str, path: &str, line: u32| {
        json!({ "title": title, "body": format!("Why {title} matters."), "severity": severity, "path": path,
                "line": line, "column": 1, "rule": "unused", "help": "https://linter.example/unused" })
    };
    let findings = [
        finding("one", "critical", "a.py", 1),
        finding("two", "warning", "a.py", 2),
        finding("three", "warning", "b.py", 1),
    ];
    let ran = repo.report("lint", json!({ "findings": findings }));
    assert_eq!(ran.code, 20, "{}", ran.err);
    repo
}

fn list(repo: &TestRepo, args: &[&str]) -> Vec<Value> {
    let scan = repo.json(&[&["comments"], args].concat());
    scan["findingsWithoutThread"].as_array().unwrap_or_else(|| panic!("{scan:#}")).clone()
}

fn ids(findings: &[Value]) -> Vec<String> {
    findings.iter().map(|finding| string(&finding["id"])).collect()
}

// spec: TRI-1, PUB-24 @local
#[test]
fn comments_lists_findings_without_a_thread_with_their_whole_text() {
    let repo = review_with_one_thread();
    let scan = repo.json(&["comments"]);
    conforms(&repo, "comments", &scan);
    assert_eq!(scan["threads"].as_array().expect("threads").len(), 1);
    let unthreaded = list(&repo, &[]);
    assert_eq!(ids(&unthreaded), ["F2", "F3"]);
    let expected = json!({ "id": "F2", "role": "lint", "severity": "warning", "path": "a.py", "line": 2,
        "endLine": null, "column": 1, "title": "two", "body": "Why two matters.", "rule": "unused",
        "help": "https://linter.example/unused" });
    assert_eq!(unthreaded[0], expected);
    assert_eq!(ids(&list(&repo, &["--path", "b.py"])), ["F3"]);
    assert_eq!(list(&repo, &["--author", "bob"]), Vec::<Value>::new());
    let words = repo.run(&["comments"]);
    assert!(words.out.contains("2 findings without a thread\nF2 warning a.py:2: two\n"), "{}", words.out);
    assert!(words.err.contains("referee local comment L1 \"/referee dismiss F2 <reason>\""), "{}", words.err);
}

// spec: TRI-8 @local
#[test]
fn an_open_finding_without_a_thread_bars_verified_until_it_is_dismissed() {
    let repo = review_with_one_thread();
    repo.run_expecting(0, &["check", "--", "true"]);
    repo.run_expecting(0, &["local", "resolve", "L1", "F1"]);
    assert_eq!(repo.json(&["comments"])["phase"], "review_triage");
    repo.run_expecting(0, &["local", "comment", "L1", "/referee dismiss F2 it is read by a plugin"]);
    repo.run_expecting(0, &["local", "comment", "L1", "/referee dismiss F3 it is read by a plugin"]);
    repo.run(&["review"]);
    assert_eq!(list(&repo, &[]), Vec::<Value>::new());
    assert_eq!(repo.json(&["comments"])["phase"], "verified");
}

// spec: FIX-3 @local
#[test]
fn an_answer_that_names_a_finding_says_what_to_do_instead() {
    let repo = review_with_one_thread();
    let answer = |id: &str| {
        let item = json!({ "threadId": id, "classification": "invalid", "evidence": "a.py:2", "replyBody": "No." });
        let payload = json!({ "prNumber": 1, "threads": [item] }).to_string();
        let path = repo.write_outside("fix.json", payload);
        repo.run_expecting(2, &["fix-comments", "L1", "--payload", &path, "--detached", "--apply"]).err
    };
    let err = answer("F2");
    assert!(err.contains("dismiss it by its id") && err.contains("/referee dismiss F2 <reason>"), "{err}");
    assert!(answer("F1").contains("F1 is a finding; the id of its thread is `t1`"));
    let reply = repo.run_expecting(2, &["local", "reply", "L1", "F2", "no"]).err;
    assert!(reply.contains("F2 has no thread") && reply.contains("/referee dismiss F2 <reason>"), "{reply}");
}
