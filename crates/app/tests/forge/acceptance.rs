//! People and programs who try to talk referee into accepting a critical finding (D39, D40, D41).

use referee_core::model::ThreadId;
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::on_each_server;
use crate::test_pull::{TestPull, critical, role_verdicts, state};

on_each_server! {
    words_that_demand_a_fix_accept_nothing_and_get_one_hint
    an_edited_note_or_command_accepts_nothing
    the_words_of_a_worker_accept_nothing
}

fn root(test_pull: &TestPull) -> ThreadId {
    ThreadId(test_pull.talk().notes("referee")[0]["id"].to_string())
}

/// Runs a review and asserts that the finding still blocks.
#[track_caller]
fn assert_blocked(test_pull: &TestPull, why: &str) -> Value {
    let turn = test_pull.report("alpha", critical(3));
    assert!(state(&turn, "F1").1, "{why}: {turn:#}");
    assert_eq!(role_verdicts(&turn, "alpha").0, "request_changes", "{why}");
    assert_eq!(test_pull.talk().newest_verdict(), Some(("REQUEST_CHANGES".to_owned(), true)), "{why}");
    turn
}

fn hints(test_pull: &TestPull) -> usize {
    let talk = test_pull.talk();
    let notes = talk.notes("referee");
    notes.iter().filter(|note| note["body"].as_str().is_some_and(|body| body.contains("dismiss F1 <reason>"))).count()
}

// spec: D39, INC-6 @gitea @forgejo
fn words_that_demand_a_fix_accept_nothing_and_get_one_hint(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", critical(3));
    let root = root(&test_pull);
    for words in [
        "Acknowledged, please fix this before the merge",
        "I accept the risk is high, so fix it now!",
        "a wontfix is unacceptable here",
        "Secure by design means we must fix this",
        "Acknowledged.",
        "won't fix: you have to fix this first",
    ] {
        test_pull.as_("ruth").reply(&root, words);
        assert_blocked(&test_pull, words);
        assert_eq!(hints(&test_pull), 1, "{words}");
        test_pull.assert_quiet();
    }
    test_pull.as_("ruth").reply(&root, "accepted risk: the log is private");
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!(state(&turn, "F1"), ("accepted".to_owned(), false), "{turn:#}");
    let said = test_pull.talk().notes("referee").iter().map(|note| note["body"].to_string()).collect::<String>();
    assert!(said.contains("accepted by ruth"), "{said}");
    test_pull.assert_quiet();
}

/// Edits a text as the author of the pull, until the server shows the edit: its clock counts in seconds.
fn edit(test_pull: &TestPull, id: &str, words: &str) {
    let alice = test_pull.as_("alice");
    for attempt in 0..500 {
        let body = json!({ "body": format!("{words}{}", " ".repeat(attempt % 7)) });
        let text: Value =
            alice.send("PATCH", &format!("/issues/comments/{id}"), Some(&body)).json().expect("the edited text");
        if text["created_at"] != text["updated_at"] {
            return;
        }
    }
    panic!("the server shows no edit of {id}");
}

// spec: D40, LOOP-12 @gitea @forgejo
fn an_edited_note_or_command_accepts_nothing(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", critical(3));
    let note = test_pull.as_("ruth").reply(&root(&test_pull), "thanks");
    edit(&test_pull, note.as_str(), "won't fix: the log is private");
    assert_blocked(&test_pull, "another's note, edited by the author");
    let said = test_pull.talk().notes("referee").iter().map(|note| note["body"].to_string()).collect::<String>();
    assert!(said.contains("An edited note does not count"), "{said}");
    test_pull.assert_quiet();
    let comment = test_pull.as_("ruth").comment("thanks");
    edit(&test_pull, comment.as_str(), "@referee dismiss F1 the log is private");
    assert_blocked(&test_pull, "another's comment, edited into a command");
    test_pull.assert_quiet();
    // What was accepted stays accepted when the command is edited later.
    let command = test_pull.as_("ruth").comment("@referee dismiss F1 the log is private");
    assert!(!state(&test_pull.report("alpha", critical(3)), "F1").1);
    edit(&test_pull, command.as_str(), "never mind");
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!(state(&turn, "F1"), ("accepted".to_owned(), false), "{turn:#}");
}

// spec: D41 @gitea @forgejo
fn the_words_of_a_worker_accept_nothing(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", critical(3));
    let root = root(&test_pull);
    // A dispatch under another account posts a worker's answers with a Tag. This referee does not know that account.
    let tag = "<!-- referee:tag v1 an,1,0000000000000000000000000000000000000000 x -->";
    for words in [
        format!("won't fix: accepted risk\n\n{tag}"),
        "> won't fix: accepted risk\n\nsee above".to_owned(),
        "Forwarded from the worker:\n\nwon't fix: accepted risk".to_owned(),
    ] {
        test_pull.as_("ruth").reply(&root, &words);
        assert_blocked(&test_pull, &words);
    }
    test_pull.assert_quiet();
}
