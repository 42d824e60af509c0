//! A review that stands twice, as after two processes posted at the same moment without a claim.

use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::on_each_server;
use crate::pull_view::string;
use crate::test_pull::{TestPull, finding, role_verdicts, state};

on_each_server! {
    a_review_that_stands_twice_is_healed
}

/// Posts referee's only review once more, with its threads.
fn post_again(test_pull: &TestPull) {
    let talk = test_pull.talk();
    let row = talk.reviews()[0].clone();
    let copy = |note: &&Value| json!({ "path": note["path"], "new_position": note["position"], "body": note["body"] });
    let comments: Vec<Value> = talk.notes("referee").iter().map(copy).collect();
    let body = json!({
        "event": row["state"], "body": talk.review_text(&row), "commit_id": row["commit_id"], "comments": comments,
    });
    let referee = test_pull.as_("referee");
    let path = format!("/pulls/{}/reviews", referee.pull().0);
    assert!(referee.send("POST", &path, Some(&body)).is_success(), "{body:#}");
}

// spec: D42 @gitea @forgejo
fn a_review_that_stands_twice_is_healed(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    let two = [finding("critical", "Token is logged", 3), finding("critical", "Key is logged", 7)];
    test_pull.report("alpha", json!({ "findings": two }));
    let before = test_pull.talk();
    post_again(&test_pull);
    let roots = |test_pull: &TestPull| {
        test_pull.talk().notes("referee").iter().map(|note| note["id"].to_string()).collect::<Vec<_>>()
    };
    // A person answers in the copy of F2: that thread stays.
    let answered = roots(&test_pull)[3].clone();
    test_pull.as_("ruth").reply(&referee_core::model::ThreadId(answered), "I will look at it");
    let turn = test_pull.review();
    assert_eq!(role_verdicts(&turn, "alpha").0, "request_changes", "{turn:#}");
    assert!(state(&turn, "F1").1 && state(&turn, "F2").1, "{turn:#}");
    let talk = test_pull.talk();
    let texts: Vec<String> = talk.reviews().into_iter().map(|row| talk.review_text(row)).collect();
    let superseded: Vec<bool> = texts.iter().map(|text| text.starts_with("Superseded")).collect();
    assert_eq!(superseded, [false, true], "{texts:#?}");
    talk.assert_keeps(&before);
    let closed = |note: &&&Value| !note["resolver"].is_null() || string(&note["body"]).contains("posted twice");
    let notes = talk.notes("referee");
    let closed: Vec<usize> = (0..4).filter(|nth| notes.get(*nth).as_ref().is_some_and(closed)).collect();
    assert_eq!(closed, [1, 2], "the older one of F1, and the answered one of F2 stay: {notes:#?}");
    test_pull.assert_quiet();
    test_pull.push(&[3, 7]);
    let fixed = json!({ "positions": [
        { "finding": "F1", "position": "fixed", "evidence": "a.txt:3" },
        { "finding": "F2", "position": "fixed", "evidence": "a.txt:7" },
    ] });
    let turn = test_pull.report("alpha", fixed);
    assert_eq!(role_verdicts(&turn, "alpha").0, "approve", "{turn:#}");
    test_pull.assert_quiet();
}
