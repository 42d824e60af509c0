//! What servers do rarely: two posts mixed up, half a post, an answer that is lost.

use referee_core::mark::{Binding, Keys, Tag, TagKind, Topic, seal};
use referee_core::model::{FindingId, Login, PullNumber, RepoId, Sha, Verdict};
use referee_core::plan::{Action, Draft, Expect, Gate, NewThread, Place, Target, Trailer};
use referee_core::policy::{Approve, Setting};
use referee_core::track::Side;
use serde_json::{Value, json};

use crate::gitea::script::Scripted;
use crate::{Asked, Errand, Forge, ForgeError, Gates, Performed, Sealed};

const PULL: PullNumber = PullNumber(7);
const COMMIT: &str = "4716f0cc8e5ad9511315c87e45c6c71133a7487c";

// spec: PUB-14 @gitea @forgejo
#[tokio::test]
async fn a_comment_that_cannot_be_stored_is_dropped_and_the_rest_is_published_once() {
    let half = row(31, "PENDING", "", 1);
    let (one, three) = (note(1, 31, 1, "one"), note(3, 31, 3, "three"));
    let server = Scripted::new([
        ("GET /pulls/7/reviews", 200, json!([])),
        ("POST /pulls/7/reviews", 500, json!({ "message": "" })),
        ("GET /pulls/7/reviews", 200, json!([half])),
        ("GET /pulls/7/reviews/31/comments", 200, json!([one])),
        ("POST /pulls/7/reviews", 500, json!({ "message": "" })),
        ("GET /pulls/7/reviews", 200, json!([half])),
        ("GET /pulls/7/reviews/31/comments", 200, json!([one])),
        ("POST /pulls/7/reviews", 200, row(31, "COMMENT", &words("sum"), 2)),
        ("GET /pulls/7/reviews/31/comments", 200, json!([three, one])),
    ])
    .await;
    let ended = act(&server, &post(&[("one", 1), ("two", 2), ("three", 3)])).await.expect("a review");
    assert_eq!(made(&ended), ["1", "3"]);
    let sent: Vec<Vec<Value>> = server.sent("POST").iter().map(|body| bodies(&body["comments"])).collect();
    let said = |texts: &[&str]| texts.iter().map(|text| Value::from(words(text))).collect::<Vec<_>>();
    assert_eq!(sent, [said(&["one", "two", "three"]), said(&["two", "three"]), said(&["three"])]);
}

// spec: PUB-14 @gitea @forgejo
#[tokio::test]
async fn comments_that_landed_in_another_review_are_found_and_not_posted_again() {
    let (mine, other) = (row(31, "COMMENT", &words("sum"), 0), row(30, "COMMENT", "of another role", 1));
    let server = Scripted::new([
        ("GET /pulls/7/reviews", 200, json!([])),
        ("POST /pulls/7/reviews", 200, mine.clone()),
        ("GET /pulls/7/reviews/31/comments", 200, json!([])),
        ("GET /pulls/7/reviews", 200, json!([other, mine])),
        ("GET /pulls/7/reviews/30/comments", 200, json!([note(4, 30, 1, "one")])),
    ])
    .await;
    let ended = act(&server, &post(&[("one", 1)])).await.expect("a review");
    assert_eq!(made(&ended), ["4"]);
    assert_eq!(server.sent("POST").len(), 1);
}

// spec: PUB-14 @gitea @forgejo
#[tokio::test]
async fn a_lost_answer_is_read_back_and_never_sent_again() {
    let page = json!("<html>bad gateway</html>");
    let stored = Scripted::new([
        ("GET /pulls/7/reviews", 200, json!([])),
        ("POST /pulls/7/reviews", 502, page.clone()),
        ("GET /pulls/7/reviews", 200, json!([row(31, "COMMENT", &words("sum"), 0)])),
    ])
    .await;
    assert!(matches!(act(&stored, &post(&[])).await, Ok(Performed::Done(_))));
    let nothing = Scripted::new([
        ("GET /pulls/7/reviews", 200, json!([])),
        ("POST /pulls/7/reviews", 502, page),
        ("GET /pulls/7/reviews", 200, json!([])),
    ])
    .await;
    assert_eq!(act(&nothing, &post(&[])).await, Err(ForgeError::Unknown));
    assert_eq!((stored.sent("POST").len(), nothing.sent("POST").len()), (1, 1));
}

#[tokio::test]
async fn a_second_thread_on_a_line_comes_in_a_review_of_its_own() {
    let server = Scripted::new([
        ("GET /pulls/7/reviews", 200, json!([])),
        ("POST /pulls/7/reviews", 200, row(31, "COMMENT", &words("sum"), 1)),
        ("GET /pulls/7/reviews/31/comments", 200, json!([note(1, 31, 2, "one")])),
        ("POST /pulls/7/reviews", 200, row(32, "COMMENT", "", 1)),
        ("GET /pulls/7/reviews/32/comments", 200, json!([note(3, 32, 2, "two")])),
    ])
    .await;
    let ended = act(&server, &post(&[("one", 2), ("two", 2)])).await.expect("a review");
    assert_eq!(made(&ended), ["1", "3"]);
    let sent = server.sent("POST");
    assert_eq!((&sent[0]["body"], &sent[1]["body"]), (&json!(words("sum")), &json!("")));
}

// spec: PUB-20 @gitea @forgejo
#[tokio::test]
async fn a_block_that_lost_its_weight_to_a_request_is_posted_anew() {
    let mut block = row(31, "REQUEST_CHANGES", &words("sum"), 0);
    block["official"] = json!(false);
    let request = row(32, "REQUEST_REVIEW", "", 0);
    let server = Scripted::new([
        ("GET /pulls/7/reviews", 200, json!([block, request])),
        ("POST /pulls/7/reviews", 200, row(33, "REQUEST_CHANGES", &words("sum"), 0)),
    ])
    .await;
    let mut action = post(&[]);
    if let Action::PostReview { verdict, .. } = &mut action {
        *verdict = Verdict::RequestChanges;
    }
    assert!(matches!(act(&server, &action).await, Ok(Performed::Done(_))));
    server.asked();
}

#[tokio::test]
async fn a_comment_that_was_stored_behind_an_error_is_done() {
    let stored = json!([{ "id": 9, "user": { "login": "bot" }, "body": words("topic") }]);
    let server = Scripted::new([
        ("GET /issues/7/comments", 200, json!([])),
        ("POST /issues/7/comments", 500, Value::Null),
        ("GET /issues/7/comments", 200, stored),
    ])
    .await;
    let action = Action::EnsureComment { existing: None, target: Target::Pull, text: draft("topic") };
    let Ok(Performed::Done(made)) = act(&server, &action).await else { panic!("it was stored") };
    assert_eq!(made.comment.map(|id| id.0), Some("9".to_owned()));
    assert_eq!(server.sent("POST").len(), 1);
}

async fn act(server: &Scripted, action: &Action) -> Result<Performed, ForgeError> {
    let action = action.map(sealed);
    let gates = Gates::new([(Gate::Review, Setting::On)].into(), Asked::new(), Approve::On);
    let (by, permit) = (Login::from("bot"), gates.open(Gate::Review).expect("an open gate"));
    let errand = Errand { action: &action, by: &by, expect: &Expect::Nothing, permit: &permit };
    server.forge.perform(PULL, &errand).await
}

fn post(threads: &[(&str, u32)]) -> Action {
    let threads = threads
        .iter()
        .map(|(text, line)| {
            let place = Place { path: "a.rs".to_owned(), line: Some(*line), start_line: None, side: Side::New };
            NewThread { finding: FindingId(1), place, text: draft(text) }
        })
        .collect();
    Action::PostReview {
        role: "security".into(),
        verdict: Verdict::Comment,
        commit: Sha::from(COMMIT),
        text: draft("sum"),
        threads,
    }
}

fn draft(words: &str) -> Draft {
    let tag = Tag { kind: TagKind::Topic(Topic::Said { to: "1".to_owned() }), head: Sha::from(COMMIT) };
    let words = serde_json::from_value(words.into()).expect("words");
    Draft { words, trailer: Trailer::Tag(Box::new(tag)) }
}

fn sealed(draft: &Draft) -> Sealed {
    seal(draft, &Binding { forge: "gitea".to_owned(), repo: RepoId(1), pull: PULL }, &Keys::none())
}

/// What a draft reads as once it is sent.
fn words(text: &str) -> String {
    sealed(&draft(text)).as_str().to_owned()
}

fn row(id: u64, state: &str, body: &str, comments: u64) -> Value {
    json!({
        "id": id, "user": { "id": 4, "login": "bot" }, "state": state, "body": body, "commit_id": COMMIT,
        "official": true, "comments_count": comments, "submitted_at": "2026-11-15T09:59:00Z",
    })
}

fn note(id: u64, review: u64, line: u64, text: &str) -> Value {
    json!({
        "id": id, "user": { "id": 4, "login": "bot" }, "body": words(text), "path": "a.rs", "position": line,
        "original_position": 0, "pull_request_review_id": review,
    })
}

fn bodies(comments: &Value) -> Vec<Value> {
    comments.as_array().into_iter().flatten().map(|comment| comment["body"].clone()).collect()
}

fn made(performed: &Performed) -> Vec<&str> {
    let Performed::Done(made) = performed else { panic!("{performed:?}") };
    made.threads.iter().map(|thread| thread.as_str()).collect()
}
