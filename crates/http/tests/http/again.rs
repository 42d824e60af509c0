//! What is tried again, and what is said when that does not help.

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
async fn a_read_is_tried_again() {
    let unavailable = Reply::new("503 Service Unavailable", "", "");
    for first in [html_502(), unavailable, busy("0"), Reply::broken(), cut(), Reply::Raw("no HTTP at all\r\n".into())] {
        let server = Server::new([first.clone(), first, Reply::ok("[]")]).await;
        let client = server.client(ROUTES);
        assert_eq!(client.send(&read()).await.expect("the third answer").status, 200);
        assert_eq!(client.request_counts(), RequestCounts { reads: 3, writes: 0 });
    }
}

#[tokio::test]
async fn a_write_that_may_be_repeated_is_tried_again() {
    for first in [html_502(), Reply::broken(), cut(), busy("0")] {
        let server = Server::new([first, Reply::ok("{}")]).await;
        assert_eq!(server.client(ROUTES).send(&edit()).await.expect("the second answer").status, 200);
        assert_eq!(server.seen().len(), 2);
    }
}

#[tokio::test]
async fn a_write_whose_answer_got_lost_is_sent_once_and_unknown() {
    for lost in [Reply::broken(), cut()] {
        let server = Server::new([lost, Reply::ok("{}")]).await;
        assert_eq!(server.client(ROUTES).send(&post()).await.expect_err("no answer"), HttpError::OutcomeUnknown);
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_silent_server_is_given_up() {
    let server = Server::new([Reply::Silence]).await;
    let reach = server.reach(ROUTES);
    let limits = ClientLimits { request_timeout: Duration::from_millis(200), ..reach.limits };
    let client = Client::new(ClientOptions { limits, ..reach }).expect("a client");
    let unreachable = HttpError::Unreachable("127.0.0.1".into(), "there was no whole answer within 200ms".into());
    assert_eq!(client.send(&post()).await.expect_err("no answer"), HttpError::OutcomeUnknown);
    assert_eq!(server.seen().len(), 1);
    assert_eq!(client.send(&read()).await.expect_err("no answer"), unreachable);
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn a_read_whose_answer_gets_lost_each_time_says_why() {
    let server = Server::new([cut()]).await;
    let error = server.client(ROUTES).send(&read()).await.expect_err("no answer");
    assert_eq!(error.to_string(), "`127.0.0.1` cannot be reached: its answer was cut off");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_write_that_was_refused_for_haste_is_sent_again() {
    let server = Server::new([busy("0"), Reply::new("201 Created", "", "{}")]).await;
    assert_eq!(server.client(ROUTES).send(&post()).await.expect("the second answer").status, 201);
}

#[tokio::test]
async fn a_write_that_a_gateway_answered_is_not_sent_again() {
    let server = Server::new([html_502(), Reply::ok("{}")]).await;
    let answer = server.client(ROUTES).send(&post()).await.expect("an answer, whatever its status");
    assert_eq!((answer.status, answer.message().as_str()), (502, ""));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn an_error_of_the_server_itself_is_not_tried_again() {
    let server = Server::new([Reply::new("500 Internal Server Error", "", r#"{"message":"no such line"}"#)]).await;
    let client = server.client(ROUTES);
    for call in [read(), post(), edit()] {
        let answer = client.send(&call).await.expect("an answer, whatever its status");
        assert_eq!((answer.status, answer.message().as_str()), (500, "no such line"));
    }
    assert_eq!(client.request_counts(), RequestCounts { reads: 1, writes: 2 });
}

#[tokio::test]
async fn a_long_wait_is_the_callers() {
    let server = Server::new([busy("3600"), Reply::ok("[]")]).await;
    let error = server.client(ROUTES).send(&read()).await.expect_err("too long a wait");
    assert_eq!(error, HttpError::RetryLater { after: Some(Duration::from_secs(3600)) });
    assert_eq!(server.seen().len(), 1);
    let server = Server::new([Reply::new("503 Service Unavailable", "retry-after: 3600\r\n", "")]).await;
    let error = server.client(ROUTES).send(&read()).await.expect_err("too long a wait");
    assert_eq!(error, HttpError::RetryLater { after: Some(Duration::from_secs(3600)) });
}

#[tokio::test]
async fn a_server_that_stays_busy_or_down_says_so_in_the_end() {
    let server = Server::new([Reply::new("429 Too Many Requests", "", "")]).await;
    assert_eq!(server.client(ROUTES).send(&post()).await.expect_err("busy"), HttpError::RetryLater { after: None });
    assert_eq!(server.seen().len(), 3);
    let server = Server::new([html_502()]).await;
    assert_eq!(server.client(ROUTES).send(&read()).await.expect("its last answer").status, 502);
    assert_eq!(server.seen().len(), 3);
}

/// The first try may have been done: what the second is told says nothing about that.
#[tokio::test]
async fn a_refusal_after_a_lost_answer_is_unknown() {
    for second in [Reply::new("404 Not Found", "", ""), Reply::new("409 Conflict", "", ""), busy("3600")] {
        let server = Server::new([Reply::broken(), second]).await;
        assert_eq!(server.client(ROUTES).send(&edit()).await.expect_err("a doubt"), HttpError::OutcomeUnknown);
    }
    let server = Server::new([Reply::broken(), Reply::new("404 Not Found", "", "")]).await;
    assert_eq!(server.client(ROUTES).send(&read()).await.expect("a read has no doubt").status, 404);
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_left_alone() {
    let server = Server::new([Reply::new("500 Internal Server Error", "", "")]).await;
    let reach = server.reach(ROUTES);
    let limits = ClientLimits { failure_threshold: 4, breaker_open_time: Duration::from_secs(3600), ..reach.limits };
    let client = Client::new(ClientOptions { limits, ..reach }).expect("a client");
    for _ in 0..4 {
        assert_eq!(client.send(&read()).await.expect("an answer").status, 500);
    }
    let error = client.clone().send(&read()).await.expect_err("it is left alone");
    let want = "`127.0.0.1` cannot be reached: it failed 4 times in a row and is left alone for 3600s";
    assert_eq!(error.to_string(), want);
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn a_server_that_recovers_or_only_refuses_is_not_left_alone() {
    let failed = Reply::new("500 Internal Server Error", "", "");
    let mut replies = vec![failed.clone(), failed.clone(), failed.clone(), Reply::ok("[]"), failed.clone(), failed];
    replies.extend(vec![Reply::new("404 Not Found", "", ""); 8]);
    let server = Server::new(replies).await;
    let reach = server.reach(ROUTES);
    let limits = ClientLimits { failure_threshold: 4, breaker_open_time: Duration::from_secs(3600), ..reach.limits };
    let client = Client::new(ClientOptions { limits, ..reach }).expect("a client");
    for _ in 0..14 {
        client.send(&read()).await.expect("an answer");
    }
    assert_eq!(server.seen().len(), 14);
}

#[tokio::test]
async fn a_client_and_its_clones_keep_one_pace() {
    let server = Server::new([Reply::ok("[]")]).await;
    let reach = server.reach(ROUTES);
    let limits = ClientLimits { requests_per_minute: 1, burst: 2, ..reach.limits };
    let client = Client::new(ClientOptions { limits, ..reach }).expect("a client");
    client.send(&read()).await.expect("the first");
    client.clone().send(&read()).await.expect("the second");
    let third = tokio::time::timeout(Duration::from_millis(50), client.send(&read())).await;
    assert!(third.is_err(), "it waits for its turn");
    assert_eq!(server.seen().len(), 2);
}
