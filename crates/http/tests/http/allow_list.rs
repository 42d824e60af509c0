//! Requests outside the allow-list are not sent (SAF-1).

use referee_http::{HttpError, Method, Route, RouteRequest};
use serde_json::{Value, json};

use crate::server::{Reply, Server};

const PULL: Route = Route::get("/repos/{owner}/{repo}/pulls/{number}");
const COMMENT: Route = Route::write(Method::Post, "/repos/{owner}/{repo}/issues/{number}/comments", &["body"]);
const EDIT: Route = Route::write(Method::Patch, "/repos/{owner}/{repo}/issues/comments/{comment}", &["body"]);
const ASSIGN: Route = Route::write(Method::Patch, "/repos/{owner}/{repo}/issues/{number}", &["assignees"]);
const RESOLVE: Route =
    Route::write_without_body(Method::Post, "/repos/{owner}/{repo}/pulls/comments/{comment}/resolve");
const UNLABEL: Route =
    Route::write_without_body(Method::Delete, "/repos/{owner}/{repo}/issues/{number}/labels/{label}");
const ROUTES: &[Route] = &[PULL, COMMENT, EDIT, ASSIGN, RESOLVE, UNLABEL];

async fn assert_refused(requests: &[RouteRequest<'_>]) {
    let server = Server::new([Reply::ok("{}")]).await;
    let client = server.client(ROUTES);
    for request in requests {
        let error = client.send(request).await.expect_err("a refusal");
        assert!(matches!(error, HttpError::NotAllowed(_)), "{request:?}: {error}");
    }
    assert_eq!(server.requests(), Vec::<String>::new());
    assert_eq!(client.request_counts().reads + client.request_counts().writes, 0);
}

#[tokio::test]
async fn requests_on_the_allow_list_are_sent() {
    let server = Server::new([Reply::ok("{}")]).await;
    let client = server.client(ROUTES);
    client.send(&RouteRequest::new(&PULL, ["o", "r", "7"]).with_query("q", "a b&c=d")).await.expect("a read");
    client
        .send(&RouteRequest::new(&COMMENT, ["o", "r", "7"]).with_body(json!({ "body": "hi" })))
        .await
        .expect("a comment");
    client.send(&RouteRequest::new(&RESOLVE, ["o", "r", "9"])).await.expect("a write without a body");
    client.send(&RouteRequest::new(&UNLABEL, ["o", "r", "7", "4"])).await.expect("an own label");
    let want = [
        "GET /api/v1/repos/o/r/pulls/7?q=a+b%26c%3Dd",
        "POST /api/v1/repos/o/r/issues/7/comments",
        "POST /api/v1/repos/o/r/pulls/comments/9/resolve",
        "DELETE /api/v1/repos/o/r/issues/7/labels/4",
    ];
    assert_eq!(server.request_lines(), want);
    assert!(server.requests()[1].ends_with("{\"body\":\"hi\"}"));
    assert_eq!((client.request_counts().reads, client.request_counts().writes), (1, 3));
}

#[tokio::test]
async fn no_route_merges_closes_dismisses_or_deletes_comments() {
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
    let routes = forbidden.map(|(method, path)| Route::write_without_body(method, path));
    let requests: Vec<RouteRequest<'_>> =
        routes.iter().map(|route| RouteRequest::new(route, ["o", "r", "7"])).collect();
    assert_refused(&requests).await;
}

#[tokio::test]
async fn a_body_with_other_keys_is_refused() {
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
    // A caller's own, wider route grants nothing: the allow-list decides.
    let wider =
        Route::write(Method::Patch, "/repos/{owner}/{repo}/issues/{number}", &["assignees", "state", "title", "base"]);
    let mut requests = vec![
        RouteRequest::new(&RESOLVE, ["o", "r", "9"]).with_body(json!({})),
        RouteRequest::new(&PULL, ["o", "r", "7"]).with_body(json!({ "body": "x" })),
    ];
    for body in bodies {
        requests.push(RouteRequest::new(&ASSIGN, ["o", "r", "7"]).with_body(body.clone()));
        requests.push(RouteRequest::new(&wider, ["o", "r", "7"]).with_body(body));
    }
    assert_refused(&requests).await;
}

#[tokio::test]
async fn path_parameters_cannot_change_the_path() {
    let doubled = Route::get("/repos/{owner}//{repo}/pulls/{number}");
    let ended = Route::get("/repos/{owner}/{repo}/pulls/{number}/");
    let mut requests = vec![
        RouteRequest::new(&PULL, ["o", "r"]),
        RouteRequest::new(&PULL, ["o", "r", "7", "merge"]),
        RouteRequest::new(&doubled, ["o", "r", "7"]),
        RouteRequest::new(&ended, ["o", "r", "7"]),
    ];
    for trick in ["", ".", "..", ".\t.", "\n..", "7\r\nHost: x", "\u{0}"] {
        requests.push(RouteRequest::new(&PULL, ["o", "r", trick]));
        requests.push(RouteRequest::new(&PULL, ["o", trick, "7"]));
        requests.push(RouteRequest::new(&PULL, [trick, "r", "7"]));
    }
    assert_refused(&requests).await;
}

#[tokio::test]
async fn a_path_parameter_is_escaped_into_one_segment() {
    let server = Server::new([Reply::ok("{}")]).await;
    let client = server.client(ROUTES);
    let params = [
        ("7/merge", "7%2Fmerge"),
        ("7%2fmerge", "7%252fmerge"),
        ("%2e%2e", "%252e%252e"),
        ("7?state=closed", "7%3Fstate=closed"),
        ("7#x", "7%23x"),
        ("..\\x", "..%5Cx"),
        ("feature/ü", "feature%2F%C3%BC"),
    ];
    for (param, _) in params {
        client.send(&RouteRequest::new(&PULL, ["o", "r", param])).await.expect("one segment");
    }
    let want: Vec<String> = params.iter().map(|(_, sent)| format!("GET /api/v1/repos/o/r/pulls/{sent}")).collect();
    assert_eq!(server.request_lines(), want);
}

#[tokio::test]
async fn a_refusal_names_route_and_keys_but_no_values() {
    let server = Server::new([Reply::ok("{}")]).await;
    let request = RouteRequest::new(&ASSIGN, ["o", "r", "7"]).with_body(json!({ "state": "closed by me" }));
    let error = server.client(ROUTES).send(&request).await.expect_err("a refusal");
    let want =
        "`PATCH /repos/{owner}/{repo}/issues/{number} {state}` is not on the list of requests that referee may send";
    assert_eq!(error.to_string(), want);
}
