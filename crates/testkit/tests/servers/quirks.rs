//! Surprising behaviours of real servers that the adapter relies on. If a test fails after a new version was added, the
//! adapter needs a change at that point.

use std::thread;
use std::time::Duration;

use referee_testkit::server::{OWNER, RealServer, ServerBuild, ServerPerson};
use serde_json::{Value, json};

use crate::{FILE, LINES, on_each_server};

on_each_server! {
    an_edited_summary_is_visible_only_in_the_timeline
    a_line_past_the_end_leaves_a_draft_or_is_stored
    unknown_labels_and_unpaged_limits_are_ignored
    a_request_by_the_author_removes_the_weight_of_a_block
    a_force_push_may_rewrite_the_timeline
}

/// The number in a review's link is not always the id to edit.
fn an_edited_summary_is_visible_only_in_the_timeline(build: ServerBuild) {
    let ruth = person_on_new_pull(build, "ruth");
    let review = ruth.review_without_verdict("first words");
    let row = fetch_json(&ruth, &format!("/issues/{}/timeline", ruth.pull().0));
    let row = rows(&row).find(|row| row["type"] == "review").expect("the review").clone();
    ruth.edit_text(&row["id"].to_string(), "second words");
    let timeline = fetch_json(&ruth, &format!("/issues/{}/timeline", ruth.pull().0));
    assert!(rows(&timeline).any(|entry| entry["id"] == row["id"] && entry["body"] == "second words"));
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
    let ruth = person_on_new_pull(build, "ruth");
    let note = |line: u32| json!({"path": FILE, "new_position": line, "body": format!("line {line}")});
    let review = json!({"event": "COMMENT", "commit_id": ruth.head(), "body": "words",
        "comments": [note(1), note(999), note(2)]});
    let response = ruth.send("POST", &format!("/pulls/{}/reviews", ruth.pull().0), Some(&review));
    let listed = ruth.list_reviews();
    let (state, notes) = (&listed[0]["state"], ruth.list_notes(&listed[0]["id"].to_string()).len());
    let actual = (response.status, state.as_str().unwrap_or_default(), notes);
    let expected = if build == ServerBuild::Forgejo10 { (200, "COMMENT", 3) } else { (500, "PENDING", 1) };
    assert_eq!((actual, listed.len()), (expected, 1));
}

/// Unknown labels are ignored without an error, Forgejo ignores `limit` without `page`, and Forgejo stores a comment
/// although it answers 500.
fn unknown_labels_and_unpaged_limits_are_ignored(build: ServerBuild) {
    let ruth = person_on_new_pull(build, "ruth");
    let pull = ruth.pull().0;
    let labelled = ruth.send("POST", &format!("/issues/{pull}/labels"), Some(&json!({"labels": ["unknown-label"]})));
    assert_eq!((labelled.status, labelled.json::<Value>().expect("a list")), (200, json!([])));
    for n in 0..3 {
        ruth.review_without_verdict(&format!("remark {n}"));
    }
    let count = |query: &str| rows(&fetch_json(&ruth, &format!("/pulls/{pull}/reviews?{query}"))).count();
    let unpaged = if build == ServerBuild::Forgejo10 { 3 } else { 1 };
    assert_eq!((count("limit=1&page=1"), count("limit=1")), (1, unpaged));
    let response = ruth.send("POST", &format!("/issues/{pull}/comments"), Some(&json!({"body": "words"})));
    let status = if build == ServerBuild::Forgejo10 { 500 } else { 201 };
    let stored = rows(&fetch_json(&ruth, &format!("/issues/{pull}/comments"))).count();
    assert_eq!((response.status, stored), (status, 1));
}

/// This is why a bot repeats its verdict after a request (PUB-20).
fn a_request_by_the_author_removes_the_weight_of_a_block(build: ServerBuild) {
    let alice = person_on_new_pull(build, "alice");
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

/// Gitea removes pushes from the timeline whose commits are gone.
fn a_force_push_may_rewrite_the_timeline(build: ServerBuild) {
    let alice = person_on_new_pull(build, "alice");
    alice.push(FILE, |text| format!("{text}fn four() {{}}\n"));
    // Opening the pull counts as a push.
    let before = wait_for_pushes(&alice, |rows| rows.len() == 2);
    alice.force_push(FILE, |_| "fn other() {}\n".to_owned());
    let after = wait_for_pushes(&alice, |rows| rows.iter().any(|(_, body)| body.contains("\"is_force_push\":true")));
    let kept = before.iter().all(|row| after.contains(row));
    assert_eq!(kept, build == ServerBuild::Forgejo10, "{before:?} {after:?}");
}

/// Polls the timeline until its pushes meet the condition, because servers record a push after answering it.
fn wait_for_pushes(person: &ServerPerson, condition: impl Fn(&[(u64, String)]) -> bool) -> Vec<(u64, String)> {
    for _ in 0..300 {
        let timeline = fetch_json(person, &format!("/issues/{}/timeline", person.pull().0));
        let pushes = rows(&timeline).filter(|row| row["type"] == "pull_push");
        let id_and_body = |row: &Value| Some((row["id"].as_u64()?, row["body"].as_str()?.to_owned()));
        let pushes: Vec<_> = pushes.filter_map(id_and_body).collect();
        if condition(&pushes) {
            return pushes;
        }
        thread::park_timeout(Duration::from_millis(100));
    }
    panic!("{}: timed out waiting for the pushes in the timeline", person.repo().server().build())
}

fn person_on_new_pull(build: ServerBuild, login: &str) -> ServerPerson {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let pull = repo.as_("alice").open_pull("feature", &[(FILE, LINES)]);
    repo.as_(login).on(pull)
}

fn fetch_json(person: &ServerPerson, path: &str) -> Value {
    person.send("GET", path, None).json().expect("JSON")
}

fn rows(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
