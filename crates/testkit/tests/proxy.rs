//! The proxy logs every request and injects the scheduled faults.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use referee_http::{Client, ClientLimits, ClientOptions, HttpError, Method, Response, Route, RouteRequest};
use referee_testkit::proxy::{LoggedRequest, Proxy, ProxyFault, RequestMatcher};
use serde_json::json;

const READ: Route = Route::get("/pulls/{number}");
const POST: Route = Route::write(Method::Post, "/comments", &["body"]);
const ROUTES: &[Route] = &[READ, POST];

/// A server that answers "hello" and logs its requests, behind a proxy.
struct ProxyFixture {
    proxy: Proxy,
    client: Client,
    received: Arc<Mutex<Vec<String>>>,
}

impl ProxyFixture {
    async fn new() -> Self {
        let received = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&received);
        let hello = move |request: Request| async move {
            log.lock().expect("the log").push(format!("{} {}", request.method(), request.uri()));
            r#"{"message":"hello"}"#
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let server = format!("http://{}/api/v1/", listener.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(hello)).await });
        let proxy = Proxy::in_front_of(&server);
        let defaults = ClientOptions::new(proxy.url().parse().expect("an address"), None, ROUTES);
        let limits = ClientLimits { max_attempts: 2, initial_backoff: Duration::from_millis(1), ..defaults.limits };
        let client = Client::new(ClientOptions { limits, ..defaults }).expect("a client");
        Self { proxy, client, received }
    }

    async fn read(&self) -> Result<Response, HttpError> {
        self.client.send(&RouteRequest::new(&READ, [7])).await
    }

    async fn write(&self) -> Result<Response, HttpError> {
        self.client.send(&RouteRequest::new(&POST, [""; 0]).with_body(json!({ "body": "hi" }))).await
    }

    fn received(&self) -> usize {
        self.received.lock().expect("the log").len()
    }
}

fn logged(method: &str, path: &str, status: Option<u16>, reached_server: bool) -> LoggedRequest {
    LoggedRequest { method: method.into(), path: path.into(), status, reached_server }
}

#[tokio::test]
async fn requests_are_logged() {
    let fixture = ProxyFixture::new().await;
    assert_eq!(fixture.read().await.expect("a response").message(), "hello");
    assert_eq!(fixture.write().await.expect("a response").message(), "hello");
    let expected =
        [logged("GET", "/api/v1/pulls/7", Some(200), true), logged("POST", "/api/v1/comments", Some(200), true)];
    assert_eq!(fixture.proxy.log(), expected);
    assert_eq!((fixture.proxy.read_count(), fixture.proxy.write_count()), (1, 1));
    assert_eq!(*fixture.received.lock().expect("the log"), ["GET /api/v1/pulls/7", "POST /api/v1/comments"]);
    fixture.proxy.forget();
    assert_eq!(fixture.proxy.log(), []);
}

#[tokio::test]
async fn each_fault_affects_a_write_as_documented() {
    let response = |status: u16, message: &str| Ok((status, message.to_owned()));
    let cases = [
        (ProxyFault::DropBefore, Err(HttpError::OutcomeUnknown), None, 0),
        (ProxyFault::DropAfter, Err(HttpError::OutcomeUnknown), None, 1),
        (ProxyFault::Error, response(500, "broken on purpose"), Some(500), 0),
        (ProxyFault::ErrorAfter, response(500, "broken on purpose"), Some(500), 1),
        (ProxyFault::Gateway, response(502, ""), Some(502), 0),
        (ProxyFault::Slow(Duration::from_millis(1)), response(200, "hello"), Some(200), 1),
        (ProxyFault::Truncated, Err(HttpError::OutcomeUnknown), Some(200), 1),
        (
            ProxyFault::RateLimited(3600),
            Err(HttpError::RetryLater { after: Some(Duration::from_secs(3600)) }),
            Some(429),
            0,
        ),
        (ProxyFault::WrongJson, response(200, "{\"id\": ]"), Some(200), 1),
    ];
    for (fault, expected, status, received) in cases {
        let fixture = ProxyFixture::new().await;
        fixture.proxy.inject_fault(fault, RequestMatcher::nth_write(1));
        let response = fixture.write().await.map(|response| (response.status, response.message()));
        assert_eq!(response, expected, "{fault:?}");
        assert_eq!(fixture.proxy.log(), [logged("POST", "/api/v1/comments", status, received == 1)], "{fault:?}");
        assert_eq!(fixture.received(), received, "{fault:?}");
        assert_eq!(fixture.write().await.expect("the fault applies once").status, 200);
    }
}

#[tokio::test]
async fn a_fault_applies_only_to_the_matching_request() {
    let fixture = ProxyFixture::new().await;
    fixture.proxy.inject_fault(ProxyFault::Error, RequestMatcher::nth_read(2).with_path("/pulls/"));
    fixture.proxy.inject_fault(ProxyFault::Gateway, RequestMatcher::nth(1).with_path("/elsewhere"));
    fixture.proxy.inject_fault(ProxyFault::Error, RequestMatcher::nth_write(2).and_following());
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(fixture.read().await.expect("a response").status);
        statuses.push(fixture.write().await.expect("a response").status);
    }
    assert_eq!(statuses, [200, 200, 500, 500, 200, 500]);
    fixture.proxy.forget();
    assert_eq!(fixture.write().await.expect("a response").status, 200);
}

#[tokio::test]
async fn a_hook_runs_after_the_write_and_before_its_response() {
    let fixture = ProxyFixture::new().await;
    fixture.proxy.inject_fault(ProxyFault::Error, RequestMatcher::nth_write(1));
    let (count, log) = (Arc::new(Mutex::new(0)), Arc::clone(&fixture.received));
    let hook_count = Arc::clone(&count);
    fixture.proxy.after_write(2, move || *hook_count.lock().expect("a number") = log.lock().expect("the log").len());
    let mut counts = Vec::new();
    for _ in 0..3 {
        fixture.write().await.expect("a response");
        fixture.read().await.expect("a response");
        counts.push(*count.lock().expect("a number"));
    }
    // The first write does not reach the server, so the hook runs on the third, when the server has received two reads and
    // two writes.
    assert_eq!(counts, [0, 0, 4]);
}

#[tokio::test]
async fn an_unreachable_server_is_a_bad_gateway() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let proxy = Proxy::in_front_of(&format!("http://{}", listener.local_addr().expect("an address")));
    drop(listener);
    let client =
        Client::new(ClientOptions::new(proxy.url().parse().expect("an address"), None, ROUTES)).expect("a client");
    let call = RouteRequest::new(&POST, [""; 0]).with_body(json!({ "body": "hi" }));
    assert_eq!(client.send(&call).await.expect("a response").status, 502);
    assert_eq!(proxy.log(), [logged("POST", "/comments", Some(502), false)]);
}
