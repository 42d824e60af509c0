//! A second review: findings that got worse, are disputed, claimed fixed, moved, renamed or broken again.

use referee_core::model::ThreadId;
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::on_each_server;
use crate::site::TestSite;
use crate::test_pull::{TestPull, critical, finding, pair, position, role_verdicts, state};

on_each_server! {
    a_worsened_finding_is_reported_once_in_its_thread
    an_argument_has_one_rebuttal_and_a_conceded_critical_needs_an_acceptance
    the_built_in_rules_answer_an_argument_once
    a_false_claim_is_contested_once
    a_finding_follows_its_file_and_its_lines
    a_regression_returns_under_its_old_id
    a_failed_or_incomplete_report_clears_nothing
}

/// A finding in other words, and by no rule.
fn reworded(title: &str, path: &str, line: u32) -> Value {
    json!({ "title": title, "body": "It breaks when it runs.", "severity": "critical", "path": path, "line": line })
}

/// The thread of referee's first inline comment.
fn thread(test_pull: &TestPull) -> ThreadId {
    ThreadId(test_pull.talk().notes("referee")[0]["id"].to_string())
}

// spec: INC-4 @gitea @forgejo
fn a_worsened_finding_is_reported_once_in_its_thread(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", json!({ "findings": [finding("warning", "Token is logged", 3)] }));
    let root = test_pull.talk().notes("referee")[0].clone();
    test_pull.push(&[7]);
    let mut worse = position("F1", "worsened", "a.txt:7 passes a secret");
    worse["findings"] = critical(3)["findings"].clone();
    let turn = test_pull.report("alpha", worse);
    assert_eq!(
        (&turn["findings"][0]["severity"], role_verdicts(&turn, "alpha").0.as_str()),
        (&json!("critical"), "request_changes")
    );
    let talk = test_pull.talk();
    let notes = talk.notes("referee");
    assert!(notes.len() == 2 && notes[0]["body"] == root["body"], "no note is edited: {notes:#?}");
    let said = notes[1]["body"].to_string();
    assert!(said.contains("**critical**") && said.contains("a.txt:7"), "{said}");
    assert!(talk.last_review_text().contains("critical"), "{}", talk.last_review_text());
    test_pull.assert_quiet();
}

// spec: INC-7, LOOP-8 @gitea @forgejo
fn an_argument_has_one_rebuttal_and_a_conceded_critical_needs_an_acceptance(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", critical(3));
    let root = thread(&test_pull);
    // Nobody argued, so there is nothing to concede.
    let turn = test_pull.report("alpha", position("F1", "conceded", "the log is private indeed"));
    assert!(state(&turn, "F1").1, "{turn:#}");
    test_pull.as_("ruth").reply(&root, "I disagree, the log is private");
    let stands = position("F1", "stands", "src/log.rs:3 ships every line");
    test_pull.report("alpha", stands.clone());
    let own = |test_pull: &TestPull| test_pull.talk().notes("referee").len();
    assert_eq!(own(&test_pull), 2, "one rebuttal");
    test_pull.assert_quiet();
    test_pull.as_("ruth").reply(&root, "I disagree, it does not");
    let turn = test_pull.report("alpha", stands);
    assert_eq!((&turn["next"]["cause"], own(&test_pull)), (&json!("needs_human"), 2), "{turn:#}");
    let concedes = position("F1", "conceded", "the log is private indeed");
    let turn = test_pull.report("alpha", concedes.clone());
    assert_eq!((state(&turn, "F1").1, role_verdicts(&turn, "alpha").0.as_str()), (true, "request_changes"), "{turn:#}");
    let talk = test_pull.talk();
    let said = talk.notes("referee").last().expect("notes")["body"].to_string();
    assert!(said.contains("The reviewer agrees"), "{said}");
    test_pull.assert_quiet();
    test_pull.as_("ruth").reply(&root, "won't fix: the log is private");
    let turn = test_pull.report("alpha", concedes);
    assert_eq!((state(&turn, "F1").1, role_verdicts(&turn, "alpha")), (false, pair("approve", "approve")), "{turn:#}");
    test_pull.assert_quiet();
}

// spec: D30 @gitea @forgejo
fn the_built_in_rules_answer_an_argument_once(build: ServerBuild) {
    let config = "version = 1\n[review]\nci = \"optional\"\n[[role]]\nname = \"static\"\nbuiltin = true\n";
    let site = TestSite::new(build, &[("README.md", "# shop\n"), ("referee.toml", config)]);
    let code = "import subprocess\n\n\ndef run(name):\n    return subprocess.check_output('ls ' + name, shell=True)\n";
    let pull = site.open("topic", &[("a.py", code)]);
    let test_pull = TestPull::on(site, pull);
    test_pull.review();
    let root = thread(&test_pull);
    let own = || test_pull.talk().notes("referee").len();
    // Neither an outsider nor a program is answered at an unchanged head.
    test_pull.as_("passer-by").reply(&root, "I disagree");
    assert_eq!((&test_pull.review()["calls"]["writes"], own()), (&json!(0), 1));
    test_pull.as_("ruth").reply(&root, "I disagree, the caller checks the name");
    test_pull.review();
    assert_eq!(own(), 2);
    let said = test_pull.talk().notes("referee")[1]["body"].to_string();
    assert!(said.contains("The rule still matches at `a.py:5`."), "{said}");
    assert_eq!(test_pull.review()["calls"]["writes"], 0);
    // A dispute that goes on leads to `needs_human` if a collaborator writes, not if an outsider does.
    test_pull.as_("passer-by").reply(&root, "I disagree too");
    assert_ne!(test_pull.review()["next"]["cause"], "needs_human");
    test_pull.as_("ruth").reply(&root, "I disagree, it does");
    let turn = test_pull.review();
    assert_eq!((&turn["next"]["cause"], own()), (&json!("needs_human"), 2), "{turn:#}");
}

// spec: INC-8 @gitea @forgejo
fn a_false_claim_is_contested_once(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", critical(3));
    test_pull.push(&[30]);
    test_pull.as_("alice").reply(&thread(&test_pull), "fixed");
    let turn = test_pull.report("alpha", position("F1", "still_there", "it logs still"));
    assert!(state(&turn, "F1").1, "{turn:#}");
    let talk = test_pull.talk();
    let notes = talk.notes("referee");
    let said = notes[1]["body"].to_string();
    assert!(notes.len() == 2 && said.contains("Not fixed") && said.contains("`a.txt:3`"), "{said}");
    test_pull.assert_quiet();
}

// spec: INC-9, PUB-9 @gitea @forgejo
fn a_finding_follows_its_file_and_its_lines(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", critical(3));
    let first = test_pull.talk();
    test_pull.as_("ruth").reply(&thread(&test_pull), "this matters");
    let replied = test_pull.talk();
    // All that was commented on moves down, then the file gets another name, then the words differ.
    test_pull.as_("alice").push("a.txt", |text| format!("one\ntwo\n{text}"));
    let turn = test_pull.report("alpha", critical(5));
    assert_eq!((state(&turn, "F1"), &turn["findings"][0]["line"]), (("open".to_owned(), true), &json!(5)));
    test_pull.assert_quiet();
    test_pull.as_("alice").rename("a.txt", "b/session.txt");
    let turn =
        test_pull.report("alpha", json!({ "findings": [reworded("Secrets end up in the log", "b/session.txt", 5)] }));
    let known: Vec<&Value> = turn["findings"].as_array().into_iter().flatten().collect();
    assert_eq!(known.len(), 1, "{turn:#}");
    assert_eq!((&known[0]["id"], &known[0]["path"]), (&json!("F1"), &json!("b/session.txt")));
    let now = test_pull.talk();
    now.assert_keeps(&replied);
    assert_eq!(now.notes("referee").len(), first.notes("referee").len(), "no thread is opened anew");
    assert_eq!(now.reviews().len(), 1);
    test_pull.assert_quiet();
}

// spec: INC-10, INC-6 @gitea @forgejo
fn a_regression_returns_under_its_old_id(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", critical(3));
    test_pull.push(&[3]);
    test_pull.report("alpha", position("F1", "fixed", "a.txt:3"));
    let head = test_pull.push(&[30]);
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!(turn["findings"].as_array().map(Vec::len), Some(1), "{turn:#}");
    assert!(state(&turn, "F1").1);
    let text = test_pull.talk().last_review_text();
    assert!(text.contains("reopened in") && text.contains(&head[..7]), "{text}");
    test_pull.assert_quiet();
    // Accepted by a maintainer, it does not come back in other words.
    test_pull.as_("ruth").comment("/referee dismiss F1 it is a test's token");
    test_pull.push(&[31]);
    let turn = test_pull.report("alpha", json!({ "findings": [reworded("Credentials reach the log", "a.txt", 3)] }));
    assert_eq!(turn["findings"].as_array().map(Vec::len), Some(1), "{turn:#}");
    assert_eq!(
        (state(&turn, "F1"), role_verdicts(&turn, "alpha").0.as_str()),
        (("accepted".to_owned(), false), "approve")
    );
    let text = test_pull.talk().last_review_text();
    assert!(text.contains("accepted by ruth"), "{text}");
    test_pull.assert_quiet();
}

// spec: INC-12, INC-15, INC-2 @gitea @forgejo
fn a_failed_or_incomplete_report_clears_nothing(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    let turn = test_pull.report("alpha", json!({ "outcome": "failed", "reason": "the model timed out" }));
    assert_eq!(role_verdicts(&turn, "alpha").0, "comment", "{turn:#}");
    assert!(
        test_pull.talk().last_review_text().contains("the model timed out"),
        "{}",
        test_pull.talk().last_review_text()
    );
    let warnings = ["Alpha is wrong", "Beta is missing", "Gamma is late"];
    let warnings = warnings.into_iter().zip(3..).map(|(title, line)| finding("warning", title, line));
    let turn = test_pull.report("alpha", json!({ "findings": warnings.collect::<Vec<_>>() }));
    assert_eq!(role_verdicts(&turn, "alpha").0, "request_changes", "three warnings are a risk: {turn:#}");
    test_pull.assert_quiet();
    test_pull.push(&[3, 4, 5, 30]);
    // Claimed as fixed in a report with incomplete coverage.
    let fixed = |evidence: &str| -> Vec<Value> {
        ["F1", "F2", "F3"].iter().map(|id| position(id, "fixed", evidence)["positions"][0].clone()).collect()
    };
    let skipped = json!({ "read": [], "skipped": [{ "path": "a.txt", "why": "too large" }] });
    let turn = test_pull.report("alpha", json!({ "positions": fixed("a.txt:3"), "coverage": skipped }));
    assert_eq!((state(&turn, "F1").1, role_verdicts(&turn, "alpha").0.as_str()), (true, "request_changes"), "{turn:#}");
    // Fixed on code that did not change is a claim.
    test_pull.push(&[30]);
    let turn = test_pull.report("alpha", json!({ "positions": fixed("trust me") }));
    assert!(state(&turn, "F1").1, "{turn:#}");
    assert!(
        test_pull.talk().last_review_text().contains("said to be fixed"),
        "{}",
        test_pull.talk().last_review_text()
    );
    test_pull.assert_quiet();
}
