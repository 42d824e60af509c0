//! What servers do rarely: two posts mixed up, half a post, an answer that is lost.

use referee_core::mark::{Binding, Keys, Tag, TagKind, Topic, seal_draft};
use referee_core::model::{
    Author, FindingId, Login, PullNumber, RepoId, Review, ReviewId, ReviewKind, ReviewWeight, Sha, Text, Time, Verdict,
};
use referee_core::plan::{Action, CommentTarget, DiffLocation, Gate, NewThread, Precondition, TextDraft, Trailer};
use referee_core::policy::{ApprovalMode, GateSetting};
use referee_core::track::Side;
use serde_json::{Value, json};

use crate::gitea::scripted_server::ScriptedServer;
use crate::{ActionRequest, Forge, ForgeError, Gates, PerformOutcome, PlanBasis, RequestedGates, SealedText};

const PULL: PullNumber = PullNumber(7);
const COMMIT: &str = "4716f0cc8e5ad9511315c87e45c6c71133a7487c";

// spec: PUB-14 @gitea @forgejo
#[tokio::test]
async fn a_comment_that_cannot_be_stored_is_dropped_and_the_rest_is_published_once() {
    let half = review_json(31, "PENDING", "", 1);
    let (one, three) = (note_json(1, 31, 1, "one"), note_json(3, 31, 3, "three"));
    let server = ScriptedServer::new([
        ("GET /pulls/7/reviews", 200, json!([])),
        ("POST /pulls/7/reviews", 500, json!({ "message": "" })),
        ("GET /pulls/7/reviews", 200, json!([half])),
        ("GET /pulls/7/reviews/31/comments", 200, json!([one])),
        ("POST /pulls/7/reviews", 500, json!({ "message": "" })),
        ("GET /pulls/7/reviews", 200, json!([half])),
        ("GET /pulls/7/reviews/31/comments", 200, json!([one])),
        ("POST /pulls/7/reviews", 200, review_json(31, "COMMENT", &sealed_text("sum"), 2)),
        ("GET /pulls/7/reviews/31/comments", 200, json!([three, one])),
    ])
    .await;
    let ended = run_action(&server, &review_action(&[("one", 1), ("two", 2), ("three", 3)])).await.expect("a review");
    assert_eq!(thread_ids(&ended), ["1", "3"]);
    let sent: Vec<Vec<Value>> =
        server.sent_bodies("POST").iter().map(|body| comment_bodies(&body["comments"])).collect();
    let said = |texts: &[&str]| texts.iter().map(|text| Value::from(sealed_text(text))).collect::<Vec<_>>();
    assert_eq!(sent, [said(&["one", "two", "three"]), said(&["two", "three"]), said(&["three"])]);
}

// spec: PUB-14 @gitea @forgejo
#[tokio::test]
async fn comments_stored_in_another_review_are_found_and_not_posted_again() {
    let (mine, other) =
        (review_json(31, "COMMENT", &sealed_text("sum"), 0), review_json(30, "COMMENT", "of another role", 1));
    let server = ScriptedServer::new([
        ("GET /pulls/7/reviews", 200, json!([])),
        ("POST /pulls/7/reviews", 200, mine.clone()),
        ("GET /pulls/7/reviews/31/comments", 200, json!([])),
        ("GET /pulls/7/reviews", 200, json!([other, mine])),
        ("GET /pulls/7/reviews/30/comments", 200, json!([note_json(4, 30, 1, "one")])),
    ])
    .await;
    let ended = run_action(&server, &review_action(&[("one", 1)])).await.expect("a review");
    assert_eq!(thread_ids(&ended), ["4"]);
    assert_eq!(server.sent_bodies("POST").len(), 1);
}

// spec: PUB-14 @gitea @forgejo
#[tokio::test]
async fn after_a_lost_response_the_outcome_is_read_and_nothing_is_sent_again() {
    let page = json!("<html>bad gateway</html>");
    let stored = ScriptedServer::new([
        ("GET /pulls/7/reviews", 200, json!([])),
        ("POST /pulls/7/reviews", 502, page.clone()),
        ("GET /pulls/7/reviews", 200, json!([review_json(31, "COMMENT", &sealed_text("sum"), 0)])),
    ])
    .await;
    assert!(matches!(run_action(&stored, &review_action(&[])).await, Ok(PerformOutcome::Done(_))));
    let nothing = ScriptedServer::new([
        ("GET /pulls/7/reviews", 200, json!([])),
        ("POST /pulls/7/reviews", 502, page),
        ("GET /pulls/7/reviews", 200, json!([])),
    ])
    .await;
    assert_eq!(run_action(&nothing, &review_action(&[])).await, Err(ForgeError::OutcomeUnknown));
    assert_eq!((stored.sent_bodies("POST").len(), nothing.sent_bodies("POST").len()), (1, 1));
}

#[tokio::test]
async fn a_second_thread_on_a_line_is_posted_in_its_own_review() {
    let server = ScriptedServer::new([
        ("GET /pulls/7/reviews", 200, json!([])),
        ("POST /pulls/7/reviews", 200, review_json(31, "COMMENT", &sealed_text("sum"), 1)),
        ("GET /pulls/7/reviews/31/comments", 200, json!([note_json(1, 31, 2, "one")])),
        ("POST /pulls/7/reviews", 200, review_json(32, "COMMENT", "", 1)),
        ("GET /pulls/7/reviews/32/comments", 200, json!([note_json(3, 32, 2, "two")])),
    ])
    .await;
    let ended = run_action(&server, &review_action(&[("one", 2), ("two", 2)])).await.expect("a review");
    assert_eq!(thread_ids(&ended), ["1", "3"]);
    let sent = server.sent_bodies("POST");
    assert_eq!((&sent[0]["body"], &sent[1]["body"]), (&json!(sealed_text("sum")), &json!("")));
}

// spec: PUB-20 @gitea @forgejo
#[tokio::test]
async fn a_block_that_no_longer_counts_after_a_review_request_is_posted_again() {
    let mut block = review_json(31, "REQUEST_CHANGES", &sealed_text("sum"), 0);
    block["official"] = json!(false);
    let request = review_json(32, "REQUEST_REVIEW", "", 0);
    let server = ScriptedServer::new([
        ("GET /pulls/7/reviews", 200, json!([block, request])),
        ("POST /pulls/7/reviews", 200, review_json(33, "REQUEST_CHANGES", &sealed_text("sum"), 0)),
    ])
    .await;
    let mut action = review_action(&[]);
    if let Action::PostReview { verdict, .. } = &mut action {
        *verdict = Verdict::RequestChanges;
    }
    let known = known_review("31");
    let basis = PlanBasis { reviews: std::slice::from_ref(&known), ..PlanBasis::default() };
    assert!(matches!(run_planned_action(&server, &action, basis).await, Ok(PerformOutcome::Done(_))));
    server.finished_requests();
}

#[tokio::test]
async fn a_post_does_not_read_again_what_the_plan_just_read() {
    let me = Login::from("bot");
    let current = PlanBasis { current_for: Some(&me), head_is_checked: true, ..PlanBasis::default() };
    let stored = ("POST /pulls/7/reviews", 200, review_json(31, "COMMENT", &sealed_text("sum"), 0));
    let server = ScriptedServer::new([stored.clone()]).await;
    let posted = run_planned_action(&server, &review_action(&[]), current).await;
    assert!(matches!(posted, Ok(PerformOutcome::Done(_))), "{posted:?}");
    server.finished_requests();

    let draft = Review { row: ReviewKind::Draft, ..known_review("30") };
    let basis = PlanBasis { reviews: std::slice::from_ref(&draft), ..current };
    let server = ScriptedServer::new([("GET /pulls/7/reviews", 200, json!([])), stored]).await;
    let posted = run_planned_action(&server, &review_action(&[]), basis).await;
    assert!(matches!(posted, Ok(PerformOutcome::Done(_))), "a draft has to be looked at: {posted:?}");
    server.finished_requests();
}

#[tokio::test]
async fn a_comment_that_was_stored_behind_an_error_is_done() {
    let stored = json!([{ "id": 9, "user": { "login": "bot" }, "body": sealed_text("topic") }]);
    let server = ScriptedServer::new([
        ("GET /issues/7/comments", 200, json!([])),
        ("POST /issues/7/comments", 500, Value::Null),
        ("GET /issues/7/comments", 200, stored),
    ])
    .await;
    let action = Action::EnsureComment { existing: None, target: CommentTarget::Pull, text: draft("topic") };
    let Ok(PerformOutcome::Done(made)) = run_action(&server, &action).await else { panic!("it was stored") };
    assert_eq!(made.comment.map(|id| id.0), Some("9".to_owned()));
    assert_eq!(server.sent_bodies("POST").len(), 1);
}

async fn run_action(server: &ScriptedServer, action: &Action) -> Result<PerformOutcome, ForgeError> {
    run_planned_action(server, action, PlanBasis::default()).await
}

async fn run_planned_action(
    server: &ScriptedServer,
    action: &Action,
    basis: PlanBasis<'_>,
) -> Result<PerformOutcome, ForgeError> {
    let action = action.map_text(seal_for_pull);
    let gates = Gates::new([(Gate::Review, GateSetting::On)].into(), RequestedGates::new(), ApprovalMode::On);
    let (by, permit) = (Login::from("bot"), gates.permit_gate(Gate::Review).expect("an open gate"));
    let request = ActionRequest { action: &action, by: &by, expect: &Precondition::Nothing, permit: &permit, basis };
    server.forge.perform(PULL, &request).await
}

fn review_action(threads: &[(&str, u32)]) -> Action {
    let threads = threads
        .iter()
        .map(|(text, line)| {
            let place = DiffLocation { path: "a.rs".to_owned(), line: Some(*line), start_line: None, side: Side::New };
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

fn draft(words: &str) -> TextDraft {
    let tag = Tag { kind: TagKind::Topic(Topic::Said { to: "1".to_owned() }), head: Sha::from(COMMIT) };
    let words = serde_json::from_value(words.into()).expect("words");
    TextDraft { words, trailer: Trailer::Tag(Box::new(tag)) }
}

fn seal_for_pull(draft: &TextDraft) -> SealedText {
    seal_draft(draft, &Binding { forge: "gitea".to_owned(), repo: RepoId(1), pull: PULL }, &Keys::empty())
}

/// What a draft reads as once it is sent.
fn sealed_text(text: &str) -> String {
    seal_for_pull(&draft(text)).as_str().to_owned()
}

fn known_review(id: &str) -> Review {
    Review {
        id: ReviewId::from(id),
        edit: None,
        author: Author { login: Some(Login::from("bot")), ..Author::default() },
        row: ReviewKind::Verdict(Verdict::RequestChanges),
        text: Text::from_body(sealed_text("sum")),
        commit: Some(Sha::from(COMMIT)),
        at: Time(0),
        counts: ReviewWeight::Requested,
        url: String::new(),
    }
}

fn review_json(id: u64, state: &str, body: &str, comments: u64) -> Value {
    json!({
        "id": id, "user": { "id": 4, "login": "bot" }, "state": state, "body": body, "commit_id": COMMIT,
        "official": true, "comments_count": comments, "submitted_at": "2026-11-15T09:59:00Z",
    })
}

fn note_json(id: u64, review: u64, line: u64, text: &str) -> Value {
    json!({
        "id": id, "user": { "id": 4, "login": "bot" }, "body": sealed_text(text), "path": "a.rs", "position": line,
        "original_position": 0, "pull_request_review_id": review,
    })
}

fn comment_bodies(comments: &Value) -> Vec<Value> {
    comments.as_array().into_iter().flatten().map(|comment| comment["body"].clone()).collect()
}

fn thread_ids(performed: &PerformOutcome) -> Vec<&str> {
    let PerformOutcome::Done(made) = performed else { panic!("{performed:?}") };
    made.threads.iter().map(|thread| thread.as_str()).collect()
}
