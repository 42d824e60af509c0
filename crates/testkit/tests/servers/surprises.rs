//! What these servers do that nobody would guess, and that the adapter counts on. A test that fails here after a new
//! version was added says where the adapter must look again.

use std::thread;
use std::time::Duration;

use referee_testkit::server::{OWNER, RealServer, ServerBuild, ServerPerson};
use serde_json::{Value, json};

use crate::{FILE, LINES, on_each_server};

on_each_server! {
    an_edited_summary_shows_in_the_timeline_alone
    a_line_past_the_end_leaves_a_draft_or_is_stored
    what_is_asked_for_is_not_what_is_done
    the_author_can_take_the_weight_off_a_block
    a_force_push_may_rewrite_the_timeline
}

/// And what a review's link ends in is not always what can be edited.
fn an_edited_summary_shows_in_the_timeline_alone(build: ServerBuild) {
    let ruth = at_a_pull(build, "ruth");
    let review = ruth.review_without_verdict("first words");
    let row = json_of(&ruth, &format!("/issues/{}/timeline", ruth.pull().0));
    let row = rows(&row).find(|row| row["type"] == "review").expect("the review").clone();
    ruth.edit_text(&row["id"].to_string(), "second words");
    let timeline = json_of(&ruth, &format!("/issues/{}/timeline", ruth.pull().0));
    assert!(rows(&timeline).any(|it| it["id"] == row["id"] && it["body"] == "second words"));
    let listed = ruth.list_reviews();
    assert_eq!((listed.len(), &listed[0]["body"]), (1, &json!("first words")));
    let link = listed[0]["html_url"].as_str().expect("a link");
    let end = match build {
        ServerBuild::Gitea127 => format!("#pullrequestreview-{review}"),
        ServerBuild::Gitea126 | ServerBuild::Forgejo10 => format!("#issuecomment-{}", row["id"]),
    };
    assert!(link.ends_with(&end), "{link} does not end in {end}");
}

fn a_line_past_the_end_leaves_a_draft_or_is_stored(build: ServerBuild) {
    let ruth = at_a_pull(build, "ruth");
    let note = |line: u32| json!({"path": FILE, "new_position": line, "body": format!("line {line}")});
    let review = json!({"event": "COMMENT", "commit_id": ruth.head(), "body": "words",
        "comments": [note(1), note(999), note(2)]});
    let answer = ruth.send("POST", &format!("/pulls/{}/reviews", ruth.pull().0), Some(&review));
    let listed = ruth.list_reviews();
    let (state, notes) = (&listed[0]["state"], ruth.list_notes(&listed[0]["id"].to_string()).len());
    let seen = (answer.status, state.as_str().unwrap_or_default(), notes);
    let expected = if build == ServerBuild::Forgejo10 { (200, "COMMENT", 3) } else { (500, "PENDING", 1) };
    assert_eq!((seen, listed.len()), (expected, 1));
}

/// Unknown labels are ignored with success, a limit without a page is ignored on Forgejo, and a comment that failed
/// there is stored all the same.
fn what_is_asked_for_is_not_what_is_done(build: ServerBuild) {
    let ruth = at_a_pull(build, "ruth");
    let pull = ruth.pull().0;
    let labelled = ruth.send("POST", &format!("/issues/{pull}/labels"), Some(&json!({"labels": ["nobody-made-me"]})));
    assert_eq!((labelled.status, labelled.json::<Value>().expect("a list")), (200, json!([])));
    for n in 0..3 {
        ruth.review_without_verdict(&format!("remark {n}"));
    }
    let count = |query: &str| rows(&json_of(&ruth, &format!("/pulls/{pull}/reviews?{query}"))).count();
    let unpaged = if build == ServerBuild::Forgejo10 { 3 } else { 1 };
    assert_eq!((count("limit=1&page=1"), count("limit=1")), (1, unpaged));
    let answer = ruth.send("POST", &format!("/issues/{pull}/comments"), Some(&json!({"body": "words"})));
    let status = if build == ServerBuild::Forgejo10 { 500 } else { 201 };
    let stored = rows(&json_of(&ruth, &format!("/issues/{pull}/comments"))).count();
    assert_eq!((answer.status, stored), (status, 1));
}

/// Why a bot that is asked again says its verdict again (PUB-20).
fn the_author_can_take_the_weight_off_a_block(build: ServerBuild) {
    let alice = at_a_pull(build, "alice");
    let (pull, repo) = (alice.pull(), alice.repo());
    repo.as_(OWNER).protect_base(json!({"block_on_rejected_reviews": true}));
    repo.as_("referee").on(pull).block("not yet");
    let official = || {
        alice.list_reviews().iter().filter(|row| row["state"] == "REQUEST_CHANGES" && row["official"] == true).count()
    };
    assert_eq!(official(), 1);
    alice.request_review("referee");
    assert_eq!(official(), 0);
    repo.as_("referee").on(pull).block("still not");
    assert_eq!(official(), 1);
}

/// Gitea takes out of the history what is no longer there; so a push that was seen may not be found again.
fn a_force_push_may_rewrite_the_timeline(build: ServerBuild) {
    let alice = at_a_pull(build, "alice");
    alice.push(FILE, |text| format!("{text}fn four() {{}}\n"));
    // The pull's first commits are a push as well.
    let before = pushes(&alice, |rows| rows.len() == 2);
    alice.force_push(FILE, |_| "fn other() {}\n".to_owned());
    let after = pushes(&alice, |rows| rows.iter().any(|(_, body)| body.contains("\"is_force_push\":true")));
    let kept = before.iter().all(|row| after.contains(row));
    assert_eq!(kept, build == ServerBuild::Forgejo10, "{before:?} {after:?}");
}

/// The pushes in the timeline, id and text, once they are so: they are written down after the push was answered.
fn pushes(at: &ServerPerson, so: impl Fn(&[(u64, String)]) -> bool) -> Vec<(u64, String)> {
    for _ in 0..300 {
        let timeline = json_of(at, &format!("/issues/{}/timeline", at.pull().0));
        let pushes = rows(&timeline).filter(|row| row["type"] == "pull_push");
        let told = |row: &Value| Some((row["id"].as_u64()?, row["body"].as_str()?.to_owned()));
        let pushes: Vec<_> = pushes.filter_map(told).collect();
        if so(&pushes) {
            return pushes;
        }
        thread::park_timeout(Duration::from_millis(100));
    }
    panic!("{} does not show the pushes", at.repo().server().build())
}

fn at_a_pull(build: ServerBuild, login: &str) -> ServerPerson {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let pull = repo.as_("alice").open_pull("feature", &[(FILE, LINES)]);
    repo.as_(login).on(pull)
}

fn json_of(person: &ServerPerson, path: &str) -> Value {
    person.send("GET", path, None).json().expect("JSON")
}

fn rows(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
