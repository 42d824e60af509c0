//! Retries, and the error once they are used up.

use std::time::Duration;

use referee_http::{Client, ClientLimits, ClientOptions, HttpError, Method, RequestCounts, Route, RouteRequest};
use serde_json::json;

use crate::server::{Reply, Server};

const READ: Route = Route::get("/pulls");
const POST: Route = Route::write(Method::Post, "/comments", &["body"]);
const EDIT: Route = Route::write(Method::Patch, "/comments/{comment}", &["body"]).idempotent();
const ROUTES: &[Route] = &[READ, POST, EDIT];

fn read() -> RouteRequest<'static> {
    RouteRequest::new(&READ, [""; 0])
}

fn post() -> RouteRequest<'static> {
    RouteRequest::new(&POST, [""; 0]).with_body(json!({ "body": "hi" }))
}

fn edit() -> RouteRequest<'static> {
    RouteRequest::new(&EDIT, [7]).with_body(json!({ "body": "hi" }))
}

fn html_502() -> Reply {
    Reply::new("502 Bad Gateway", "content-type: text/html\r\n", "<html><h1>Bad Gateway</h1></html>")
}

fn busy(after: &str) -> Reply {
    Reply::new("429 Too Many Requests", &format!("retry-after: {after}\r\n"), "slow down")
}

fn cut() -> Reply {
    Reply::Raw("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n[{\"id\":".to_owned())
}

#[tokio::test]
async fn a_read_is_retried() {
    let unavailable = Reply::new("503 Service Unavailable", "", "");
    for first in [html_502(), unavailable, busy("0"), Reply::broken(), cut(), Reply::Raw("no HTTP at all\r\n".into())] {
        let server = Server::new([first.clone(), first, Reply::ok("[]")]).await;
        let client = server.client(ROUTES);
        assert_eq!(client.send(&read()).await.expect("the third response").status, 200);
        assert_eq!(client.request_counts(), RequestCounts { reads: 3, writes: 0 });
    }
}

#[tokio::test]
async fn an_idempotent_write_is_retried() {
    for first in [html_502(), Reply::broken(), cut(), busy("0")] {
        let server = Server::new([first, Reply::ok("{}")]).await;
        assert_eq!(server.client(ROUTES).send(&edit()).await.expect("the second response").status, 200);
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_non_idempotent_write_whose_response_is_lost_is_not_retried() {
    for lost in [Reply::broken(), cut()] {
        let server = Server::new([lost, Reply::ok("{}")]).await;
        assert_eq!(server.client(ROUTES).send(&post()).await.expect_err("no response"), HttpError::OutcomeUnknown);
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_never_answers_times_out() {
    let server = Server::new([Reply::Silence]).await;
    let options = server.options(ROUTES);
    let limits = ClientLimits { request_timeout: Duration::from_millis(200), ..options.limits };
    let client = Client::new(ClientOptions { limits, ..options }).expect("a client");
    let unreachable = HttpError::Unreachable("127.0.0.1".into(), "no complete response within 200ms".into());
    assert_eq!(client.send(&post()).await.expect_err("no response"), HttpError::OutcomeUnknown);
    assert_eq!(server.requests().len(), 1);
    assert_eq!(client.send(&read()).await.expect_err("no response"), unreachable);
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_read_whose_response_is_always_cut_off_names_the_reason() {
    let server = Server::new([cut()]).await;
    let error = server.client(ROUTES).send(&read()).await.expect_err("no response");
    assert_eq!(error.to_string(), "`127.0.0.1` cannot be reached: the response was cut off");
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_rate_limited_write_is_retried() {
    let server = Server::new([busy("0"), Reply::new("201 Created", "", "{}")]).await;
    assert_eq!(server.client(ROUTES).send(&post()).await.expect("the second response").status, 201);
}

#[tokio::test]
async fn a_non_idempotent_write_answered_by_a_gateway_is_not_retried() {
    let server = Server::new([html_502(), Reply::ok("{}")]).await;
    let response = server.client(ROUTES).send(&post()).await.expect("a response");
    assert_eq!((response.status, response.message().as_str()), (502, ""));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_internal_server_error_is_not_retried() {
    let server = Server::new([Reply::new("500 Internal Server Error", "", r#"{"message":"no such line"}"#)]).await;
    let client = server.client(ROUTES);
    for request in [read(), post(), edit()] {
        let response = client.send(&request).await.expect("a response");
        assert_eq!((response.status, response.message().as_str()), (500, "no such line"));
    }
    assert_eq!(client.request_counts(), RequestCounts { reads: 1, writes: 2 });
}

#[tokio::test]
async fn a_retry_after_beyond_the_maximum_backoff_is_returned_to_the_caller() {
    let server = Server::new([busy("3600"), Reply::ok("[]")]).await;
    let error = server.client(ROUTES).send(&read()).await.expect_err("the delay is too long");
    assert_eq!(error, HttpError::RetryLater { after: Some(Duration::from_secs(3600)) });
    assert_eq!(server.requests().len(), 1);
    let server = Server::new([Reply::new("503 Service Unavailable", "retry-after: 3600\r\n", "")]).await;
    let error = server.client(ROUTES).send(&read()).await.expect_err("the delay is too long");
    assert_eq!(error, HttpError::RetryLater { after: Some(Duration::from_secs(3600)) });
}

#[tokio::test]
async fn the_last_response_is_returned_when_the_attempts_are_used_up() {
    let server = Server::new([Reply::new("429 Too Many Requests", "", "")]).await;
    assert_eq!(server.client(ROUTES).send(&post()).await.expect_err("busy"), HttpError::RetryLater { after: None });
    assert_eq!(server.requests().len(), 3);
    let server = Server::new([html_502()]).await;
    assert_eq!(server.client(ROUTES).send(&read()).await.expect("the last response").status, 502);
    assert_eq!(server.requests().len(), 3);
}

/// The server may have performed the first attempt, so a refusal of the second proves nothing.
#[tokio::test]
async fn a_refused_retry_after_a_lost_response_leaves_the_outcome_unknown() {
    for second in [Reply::new("404 Not Found", "", ""), Reply::new("409 Conflict", "", ""), busy("3600")] {
        let server = Server::new([Reply::broken(), second]).await;
        assert_eq!(
            server.client(ROUTES).send(&edit()).await.expect_err("an unknown outcome"),
            HttpError::OutcomeUnknown
        );
    }
    let server = Server::new([Reply::broken(), Reply::new("404 Not Found", "", "")]).await;
    assert_eq!(server.client(ROUTES).send(&read()).await.expect("a read has no effect").status, 404);
}

#[tokio::test]
async fn consecutive_failures_open_the_circuit_breaker() {
    let server = Server::new([Reply::new("500 Internal Server Error", "", "")]).await;
    let options = server.options(ROUTES);
    let limits = ClientLimits { failure_threshold: 4, breaker_open_time: Duration::from_secs(3600), ..options.limits };
    let client = Client::new(ClientOptions { limits, ..options }).expect("a client");
    for _ in 0..4 {
        assert_eq!(client.send(&read()).await.expect("a response").status, 500);
    }
    let error = client.clone().send(&read()).await.expect_err("the circuit breaker is open");
    let want = "`127.0.0.1` cannot be reached: 4 requests failed in a row, so the client pauses for 3600s";
    assert_eq!(error.to_string(), want);
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_success_or_a_refusal_keeps_the_circuit_breaker_closed() {
    let failed = Reply::new("500 Internal Server Error", "", "");
    let mut replies = vec![failed.clone(), failed.clone(), failed.clone(), Reply::ok("[]"), failed.clone(), failed];
    replies.extend(vec![Reply::new("404 Not Found", "", ""); 8]);
    let server = Server::new(replies).await;
    let options = server.options(ROUTES);
    let limits = ClientLimits { failure_threshold: 4, breaker_open_time: Duration::from_secs(3600), ..options.limits };
    let client = Client::new(ClientOptions { limits, ..options }).expect("a client");
    for _ in 0..14 {
        client.send(&read()).await.expect("a response");
    }
    assert_eq!(server.requests().len(), 14);
}

#[tokio::test]
async fn clones_share_the_rate_limit() {
    let server = Server::new([Reply::ok("[]")]).await;
    let options = server.options(ROUTES);
    let limits = ClientLimits { requests_per_minute: 1, burst: 2, ..options.limits };
    let client = Client::new(ClientOptions { limits, ..options }).expect("a client");
    client.send(&read()).await.expect("the first");
    client.clone().send(&read()).await.expect("the second");
    let third = tokio::time::timeout(Duration::from_millis(50), client.send(&read())).await;
    assert!(third.is_err(), "the rate limit delays the third request");
    assert_eq!(server.requests().len(), 2);
}
