//! A second review knows the first one: what is worse, disputed, claimed, moved, renamed or broken again.

use referee_core::model::ThreadId;
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::on_each_server;
use crate::play::{Play, critical, finding, pair, position, role, state};

on_each_server! {
    what_is_worse_is_said_once_in_its_thread
    an_argument_has_one_rebuttal_and_a_concession_resolves
    a_false_claim_is_contested_once
    a_finding_follows_its_file_and_its_lines
    what_is_broken_again_returns_under_its_old_id
    a_report_that_failed_or_stopped_short_clears_nothing
}

/// A finding in other words, and by no rule.
fn reworded(title: &str, path: &str, line: u32) -> Value {
    json!({ "title": title, "body": "It breaks when it runs.", "severity": "critical", "path": path, "line": line })
}

/// The thread of referee's first inline comment.
fn thread(play: &Play) -> ThreadId {
    ThreadId(play.talk().notes("referee")[0]["id"].to_string())
}

// spec: INC-4 @gitea @forgejo
fn what_is_worse_is_said_once_in_its_thread(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.report("alpha", json!({ "findings": [finding("warning", "Token is logged", 3)] }));
    let root = play.talk().notes("referee")[0].clone();
    play.push(&[7]);
    let mut worse = position("F1", "worsened", "a.txt:7 passes a secret");
    worse["findings"] = critical(3)["findings"].clone();
    let turn = play.report("alpha", worse);
    assert_eq!(
        (&turn["findings"][0]["severity"], role(&turn, "alpha").0.as_str()),
        (&json!("critical"), "request_changes")
    );
    let talk = play.talk();
    let notes = talk.notes("referee");
    assert!(notes.len() == 2 && notes[0]["body"] == root["body"], "no note is edited: {notes:#?}");
    let said = notes[1]["body"].to_string();
    assert!(said.contains("**critical**") && said.contains("a.txt:7"), "{said}");
    assert!(talk.last().contains("critical"), "{}", talk.last());
    play.quiet();
}

// spec: INC-7, LOOP-8 @gitea @forgejo
fn an_argument_has_one_rebuttal_and_a_concession_resolves(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.report("alpha", critical(3));
    let root = thread(&play);
    // There is nobody to concede to.
    let turn = play.report("alpha", position("F1", "conceded", "the log is private indeed"));
    assert!(state(&turn, "F1").1, "{turn:#}");
    play.as_("ruth").reply(&root, "I disagree, the log is private");
    let stands = position("F1", "stands", "src/log.rs:3 ships every line");
    play.report("alpha", stands.clone());
    let own = |play: &Play| play.talk().notes("referee").len();
    assert_eq!(own(&play), 2, "one rebuttal");
    play.quiet();
    play.as_("ruth").reply(&root, "I disagree, it does not");
    let turn = play.report("alpha", stands);
    assert_eq!((&turn["next"]["cause"], own(&play)), (&json!("needs_human"), 2), "{turn:#}");
    let turn = play.report("alpha", position("F1", "conceded", "the log is private indeed"));
    assert_eq!((state(&turn, "F1").1, role(&turn, "alpha")), (false, pair("approve", "approve")), "{turn:#}");
    let talk = play.talk();
    let said = talk.notes("referee").last().expect("notes")["body"].to_string();
    assert!(said.contains("Withdrawn"), "{said}");
    play.quiet();
}

// spec: INC-8 @gitea @forgejo
fn a_false_claim_is_contested_once(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.report("alpha", critical(3));
    play.push(&[30]);
    play.as_("alice").reply(&thread(&play), "fixed");
    let turn = play.report("alpha", position("F1", "still_there", "it logs still"));
    assert!(state(&turn, "F1").1, "{turn:#}");
    let talk = play.talk();
    let notes = talk.notes("referee");
    let said = notes[1]["body"].to_string();
    assert!(notes.len() == 2 && said.contains("Not fixed") && said.contains("`a.txt:3`"), "{said}");
    play.quiet();
}

// spec: INC-9, PUB-9 @gitea @forgejo
fn a_finding_follows_its_file_and_its_lines(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.report("alpha", critical(3));
    let first = play.talk();
    play.as_("ruth").reply(&thread(&play), "this matters");
    let replied = play.talk();
    // All that was commented on moves down, then the file gets another name, then the words differ.
    play.as_("alice").push("a.txt", |text| format!("one\ntwo\n{text}"));
    let turn = play.report("alpha", critical(5));
    assert_eq!((state(&turn, "F1"), &turn["findings"][0]["line"]), (("open".to_owned(), true), &json!(5)));
    play.quiet();
    play.as_("alice").rename("a.txt", "b/session.txt");
    let turn = play.report("alpha", json!({ "findings": [reworded("Secrets end up in the log", "b/session.txt", 5)] }));
    let known: Vec<&Value> = turn["findings"].as_array().into_iter().flatten().collect();
    assert_eq!(known.len(), 1, "{turn:#}");
    assert_eq!((&known[0]["id"], &known[0]["path"]), (&json!("F1"), &json!("b/session.txt")));
    let now = play.talk();
    now.keeps(&replied);
    assert_eq!(now.notes("referee").len(), first.notes("referee").len(), "no thread is opened anew");
    assert_eq!(now.reviews().len(), 1);
    play.quiet();
}

// spec: INC-10, INC-6 @gitea @forgejo
fn what_is_broken_again_returns_under_its_old_id(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.report("alpha", critical(3));
    play.push(&[3]);
    play.report("alpha", position("F1", "fixed", "a.txt:3"));
    let head = play.push(&[30]);
    let turn = play.report("alpha", critical(3));
    assert_eq!(turn["findings"].as_array().map(Vec::len), Some(1), "{turn:#}");
    assert!(state(&turn, "F1").1);
    let text = play.talk().last();
    assert!(text.contains("reopened in") && text.contains(&head[..7]), "{text}");
    play.quiet();
    // Accepted by a maintainer, it does not come back in other words.
    play.as_("ruth").comment("/referee dismiss F1 it is a test's token");
    play.push(&[31]);
    let turn = play.report("alpha", json!({ "findings": [reworded("Credentials reach the log", "a.txt", 3)] }));
    assert_eq!(turn["findings"].as_array().map(Vec::len), Some(1), "{turn:#}");
    assert_eq!((state(&turn, "F1"), role(&turn, "alpha").0.as_str()), (("accepted".to_owned(), false), "approve"));
    let text = play.talk().last();
    assert!(text.contains("accepted by ruth"), "{text}");
    play.quiet();
}

// spec: INC-12, INC-15, INC-2 @gitea @forgejo
fn a_report_that_failed_or_stopped_short_clears_nothing(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    let turn = play.report("alpha", json!({ "outcome": "failed", "reason": "the model timed out" }));
    assert_eq!(role(&turn, "alpha").0, "comment", "{turn:#}");
    assert!(play.talk().last().contains("the model timed out"), "{}", play.talk().last());
    let warnings = ["Alpha is wrong", "Beta is missing", "Gamma is late"];
    let warnings = warnings.into_iter().zip(3..).map(|(title, line)| finding("warning", title, line));
    let turn = play.report("alpha", json!({ "findings": warnings.collect::<Vec<_>>() }));
    assert_eq!(role(&turn, "alpha").0, "request_changes", "three warnings are a risk: {turn:#}");
    play.quiet();
    play.push(&[3, 4, 5, 30]);
    // Fixed as somebody says, in a report that did not read all.
    let fixed = |evidence: &str| -> Vec<Value> {
        ["F1", "F2", "F3"].iter().map(|id| position(id, "fixed", evidence)["positions"][0].clone()).collect()
    };
    let skipped = json!({ "read": [], "skipped": [{ "path": "a.txt", "why": "too large" }] });
    let turn = play.report("alpha", json!({ "positions": fixed("a.txt:3"), "coverage": skipped }));
    assert_eq!((state(&turn, "F1").1, role(&turn, "alpha").0.as_str()), (true, "request_changes"), "{turn:#}");
    // Fixed on code that did not change is a claim.
    play.push(&[30]);
    let turn = play.report("alpha", json!({ "positions": fixed("trust me") }));
    assert!(state(&turn, "F1").1, "{turn:#}");
    assert!(play.talk().last().contains("said to be fixed"), "{}", play.talk().last());
    play.quiet();
}
