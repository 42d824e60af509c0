//! The proxy between the client and a server: it writes down what passes, and breaks what it is told to.

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

/// A server that says hello, and what it saw.
struct Stage {
    proxy: Proxy,
    client: Client,
    saw: Arc<Mutex<Vec<String>>>,
}

impl Stage {
    async fn new() -> Self {
        let saw = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&saw);
        let hello = move |request: Request| async move {
            log.lock().expect("the log").push(format!("{} {}", request.method(), request.uri()));
            r#"{"message":"hello"}"#
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let server = format!("http://{}/api/v1/", listener.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(hello)).await });
        let proxy = Proxy::in_front_of(&server);
        let usual = ClientOptions::new(proxy.url().parse().expect("an address"), None, ROUTES);
        let limits = ClientLimits { max_attempts: 2, initial_backoff: Duration::from_millis(1), ..usual.limits };
        let client = Client::new(ClientOptions { limits, ..usual }).expect("a client");
        Self { proxy, client, saw }
    }

    async fn read(&self) -> Result<Response, HttpError> {
        self.client.send(&RouteRequest::new(&READ, [7])).await
    }

    async fn write(&self) -> Result<Response, HttpError> {
        self.client.send(&RouteRequest::new(&POST, [""; 0]).with_body(json!({ "body": "hi" }))).await
    }

    fn saw(&self) -> usize {
        self.saw.lock().expect("the log").len()
    }
}

fn seen(method: &str, path: &str, status: Option<u16>, passed: bool) -> LoggedRequest {
    LoggedRequest { method: method.into(), path: path.into(), status, reached_server: passed }
}

#[tokio::test]
async fn what_passes_is_written_down() {
    let stage = Stage::new().await;
    assert_eq!(stage.read().await.expect("an answer").message(), "hello");
    assert_eq!(stage.write().await.expect("an answer").message(), "hello");
    let want = [seen("GET", "/api/v1/pulls/7", Some(200), true), seen("POST", "/api/v1/comments", Some(200), true)];
    assert_eq!(stage.proxy.log(), want);
    assert_eq!((stage.proxy.read_count(), stage.proxy.write_count()), (1, 1));
    assert_eq!(*stage.saw.lock().expect("the log"), ["GET /api/v1/pulls/7", "POST /api/v1/comments"]);
    stage.proxy.forget();
    assert_eq!(stage.proxy.log(), []);
}

#[tokio::test]
async fn each_fault_does_to_a_write_what_it_says() {
    let answered = |status: u16, words: &str| Ok((status, words.to_owned()));
    let cases = [
        (ProxyFault::DropBefore, Err(HttpError::OutcomeUnknown), None, 0),
        (ProxyFault::DropAfter, Err(HttpError::OutcomeUnknown), None, 1),
        (ProxyFault::Error, answered(500, "broken on purpose"), Some(500), 0),
        (ProxyFault::ErrorAfter, answered(500, "broken on purpose"), Some(500), 1),
        (ProxyFault::Gateway, answered(502, ""), Some(502), 0),
        (ProxyFault::Slow(Duration::from_millis(1)), answered(200, "hello"), Some(200), 1),
        (ProxyFault::Truncated, Err(HttpError::OutcomeUnknown), Some(200), 1),
        (
            ProxyFault::RateLimited(3600),
            Err(HttpError::RetryLater { after: Some(Duration::from_secs(3600)) }),
            Some(429),
            0,
        ),
        (ProxyFault::WrongJson, answered(200, "{\"id\": ]"), Some(200), 1),
    ];
    for (fault, told, status, saw) in cases {
        let stage = Stage::new().await;
        stage.proxy.inject_fault(fault, RequestMatcher::nth_write(1));
        let answer = stage.write().await.map(|answer| (answer.status, answer.message()));
        assert_eq!(answer, told, "{fault:?}");
        assert_eq!(stage.proxy.log(), [seen("POST", "/api/v1/comments", status, saw == 1)], "{fault:?}");
        assert_eq!(stage.saw(), saw, "{fault:?}");
        assert_eq!(stage.write().await.expect("only the first is broken").status, 200);
    }
}

#[tokio::test]
async fn a_fault_waits_for_its_request() {
    let stage = Stage::new().await;
    stage.proxy.inject_fault(ProxyFault::Error, RequestMatcher::nth_read(2).with_path("/pulls/"));
    stage.proxy.inject_fault(ProxyFault::Gateway, RequestMatcher::nth(1).with_path("/elsewhere"));
    stage.proxy.inject_fault(ProxyFault::Error, RequestMatcher::nth_write(2).and_following());
    let mut told = Vec::new();
    for _ in 0..3 {
        told.push(stage.read().await.expect("an answer").status);
        told.push(stage.write().await.expect("an answer").status);
    }
    assert_eq!(told, [200, 200, 500, 500, 200, 500]);
    stage.proxy.forget();
    assert_eq!(stage.write().await.expect("an answer").status, 200);
}

#[tokio::test]
async fn something_is_done_after_a_write_before_its_sender_knows() {
    let stage = Stage::new().await;
    stage.proxy.inject_fault(ProxyFault::Error, RequestMatcher::nth_write(1));
    let (done, log) = (Arc::new(Mutex::new(0)), Arc::clone(&stage.saw));
    let told = Arc::clone(&done);
    stage.proxy.after_write(2, move || *told.lock().expect("a number") = log.lock().expect("the log").len());
    let mut seen = Vec::new();
    for _ in 0..3 {
        stage.write().await.expect("an answer");
        stage.read().await.expect("an answer");
        seen.push(*done.lock().expect("a number"));
    }
    // The first write did not pass, so it is the third: with it, the server saw two reads and two writes.
    assert_eq!(seen, [0, 0, 4]);
}

#[tokio::test]
async fn a_server_that_is_gone_is_a_bad_gateway() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let proxy = Proxy::in_front_of(&format!("http://{}", listener.local_addr().expect("an address")));
    drop(listener);
    let client =
        Client::new(ClientOptions::new(proxy.url().parse().expect("an address"), None, ROUTES)).expect("a client");
    let call = RouteRequest::new(&POST, [""; 0]).with_body(json!({ "body": "hi" }));
    assert_eq!(client.send(&call).await.expect("an answer").status, 502);
    assert_eq!(proxy.log(), [seen("POST", "/comments", Some(502), false)]);
}
