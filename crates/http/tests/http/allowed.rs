//! What is not on the list does not leave (SAF-1).

use referee_http::{Call, HttpError, Method, Route};
use serde_json::{Value, json};

use crate::server::{Reply, Server};

const PULL: Route = Route::get("/repos/{owner}/{repo}/pulls/{number}");
const COMMENT: Route = Route::write(Method::Post, "/repos/{owner}/{repo}/issues/{number}/comments", &["body"]);
const EDIT: Route = Route::write(Method::Patch, "/repos/{owner}/{repo}/issues/comments/{comment}", &["body"]);
const ASSIGN: Route = Route::write(Method::Patch, "/repos/{owner}/{repo}/issues/{number}", &["assignees"]);
const RESOLVE: Route = Route::bare(Method::Post, "/repos/{owner}/{repo}/pulls/comments/{comment}/resolve");
const UNLABEL: Route = Route::bare(Method::Delete, "/repos/{owner}/{repo}/issues/{number}/labels/{label}");
const ROUTES: &[Route] = &[PULL, COMMENT, EDIT, ASSIGN, RESOLVE, UNLABEL];

async fn refused(calls: &[Call<'_>]) {
    let server = Server::new([Reply::ok("{}")]).await;
    let client = server.client(ROUTES);
    for call in calls {
        let error = client.send(call).await.expect_err("it must not leave");
        assert!(matches!(error, HttpError::NotAllowed(_)), "{call:?}: {error}");
    }
    assert_eq!(server.seen(), Vec::<String>::new());
    assert_eq!(client.calls().reads + client.calls().writes, 0);
}

#[tokio::test]
async fn what_is_on_the_list_leaves() {
    let server = Server::new([Reply::ok("{}")]).await;
    let client = server.client(ROUTES);
    client.send(&Call::new(&PULL, ["o", "r", "7"]).with("q", "a b&c=d")).await.expect("a read");
    client.send(&Call::new(&COMMENT, ["o", "r", "7"]).sending(json!({ "body": "hi" }))).await.expect("a comment");
    client.send(&Call::new(&RESOLVE, ["o", "r", "9"])).await.expect("a bare write");
    client.send(&Call::new(&UNLABEL, ["o", "r", "7", "4"])).await.expect("an own label");
    let want = [
        "GET /api/v1/repos/o/r/pulls/7?q=a+b%26c%3Dd",
        "POST /api/v1/repos/o/r/issues/7/comments",
        "POST /api/v1/repos/o/r/pulls/comments/9/resolve",
        "DELETE /api/v1/repos/o/r/issues/7/labels/4",
    ];
    assert_eq!(server.lines(), want);
    assert!(server.seen()[1].ends_with("{\"body\":\"hi\"}"));
    assert_eq!((client.calls().reads, client.calls().writes), (1, 3));
}

#[tokio::test]
async fn no_route_merges_closes_dismisses_or_deletes_words() {
    let forbidden = [
        (Method::Post, "/repos/{owner}/{repo}/pulls/{number}/merge"),
        (Method::Put, "/repos/{owner}/{repo}/pulls/{number}/merge"),
        (Method::Post, "/repos/{owner}/{repo}/pulls/{number}/reviews/1/dismissals"),
        (Method::Delete, "/repos/{owner}/{repo}/pulls/{number}/reviews/1"),
        (Method::Delete, "/repos/{owner}/{repo}/issues/comments/{number}"),
        (Method::Delete, "/repos/{owner}/{repo}/branches/{number}"),
        (Method::Post, "/repos/{owner}/{repo}/pulls/{number}"),
        (Method::Put, "/repos/{owner}/{repo}/issues/comments/{number}"),
    ];
    let routes = forbidden.map(|(method, path)| Route::bare(method, path));
    let calls: Vec<Call<'_>> = routes.iter().map(|route| Call::new(route, ["o", "r", "7"])).collect();
    refused(&calls).await;
}

#[tokio::test]
async fn no_body_says_more_than_the_list() {
    let bodies = [
        json!({ "state": "closed" }),
        json!({ "assignees": [], "state": "closed" }),
        json!({ "title": "x" }),
        json!({ "base": "main" }),
        json!({ "Assignees": [] }),
        json!([{ "assignees": [] }]),
        json!("assignees"),
        Value::Null,
    ];
    // A call that brings its own, wider route is held to the list's.
    let wider =
        Route::write(Method::Patch, "/repos/{owner}/{repo}/issues/{number}", &["assignees", "state", "title", "base"]);
    let mut calls = vec![
        Call::new(&RESOLVE, ["o", "r", "9"]).sending(json!({})),
        Call::new(&PULL, ["o", "r", "7"]).sending(json!({ "body": "x" })),
    ];
    for body in bodies {
        calls.push(Call::new(&ASSIGN, ["o", "r", "7"]).sending(body.clone()));
        calls.push(Call::new(&wider, ["o", "r", "7"]).sending(body));
    }
    refused(&calls).await;
}

#[tokio::test]
async fn no_place_leads_to_another_path() {
    let doubled = Route::get("/repos/{owner}//{repo}/pulls/{number}");
    let ended = Route::get("/repos/{owner}/{repo}/pulls/{number}/");
    let mut calls = vec![
        Call::new(&PULL, ["o", "r"]),
        Call::new(&PULL, ["o", "r", "7", "merge"]),
        Call::new(&doubled, ["o", "r", "7"]),
        Call::new(&ended, ["o", "r", "7"]),
    ];
    for trick in ["", ".", "..", ".\t.", "\n..", "7\r\nHost: x", "\u{0}"] {
        calls.push(Call::new(&PULL, ["o", "r", trick]));
        calls.push(Call::new(&PULL, ["o", trick, "7"]));
        calls.push(Call::new(&PULL, [trick, "r", "7"]));
    }
    refused(&calls).await;
}

#[tokio::test]
async fn whatever_stands_in_a_place_is_one_segment() {
    let server = Server::new([Reply::ok("{}")]).await;
    let client = server.client(ROUTES);
    let places = [
        ("7/merge", "7%2Fmerge"),
        ("7%2fmerge", "7%252fmerge"),
        ("%2e%2e", "%252e%252e"),
        ("7?state=closed", "7%3Fstate=closed"),
        ("7#x", "7%23x"),
        ("..\\x", "..%5Cx"),
        ("feature/ü", "feature%2F%C3%BC"),
    ];
    for (place, _) in places {
        client.send(&Call::new(&PULL, ["o", "r", place])).await.expect("one segment");
    }
    let want: Vec<String> = places.iter().map(|(_, sent)| format!("GET /api/v1/repos/o/r/pulls/{sent}")).collect();
    assert_eq!(server.lines(), want);
}

#[tokio::test]
async fn a_refusal_names_the_shape_and_no_content() {
    let server = Server::new([Reply::ok("{}")]).await;
    let call = Call::new(&ASSIGN, ["o", "r", "7"]).sending(json!({ "state": "closed by me" }));
    let error = server.client(ROUTES).send(&call).await.expect_err("it must not leave");
    let want = "`PATCH /repos/{owner}/{repo}/issues/{number} {state}` is not something referee sends";
    assert_eq!(error.to_string(), want);
}
