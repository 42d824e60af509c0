//! Connection errors, redirects, body limits, conditional requests, proxies and redaction.

use referee_http::{Client, ClientLimits, ClientOptions, HttpError, Method, RequestCounts, Route, RouteRequest, Token};
use tokio::net::TcpListener;
use url::Url;

use crate::server::{Reply, SECRET, Server, client_options};

const PULL: Route = Route::get("/pulls/{number}");
const POST: Route = Route::write_without_body(Method::Post, "/pulls/{number}/resolve");
const ROUTES: &[Route] = &[PULL, POST];

fn read() -> RouteRequest<'static> {
    RouteRequest::new(&PULL, [7])
}

fn write() -> RouteRequest<'static> {
    RouteRequest::new(&POST, [7])
}

fn redirect(location: &str) -> Reply {
    Reply::new("307 Temporary Redirect", &format!("location: {location}\r\n"), "")
}

async fn closed_port() -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    Url::parse(&format!("http://{}/", listener.local_addr().expect("an address"))).expect("an address")
}

#[tokio::test]
async fn a_refused_connection_is_reported_and_not_counted() {
    let client = Client::new(client_options(closed_port().await, ROUTES)).expect("a client");
    for request in [read(), write()] {
        let error = client.send(&request).await.expect_err("nobody listens");
        assert_eq!(error.to_string(), "`127.0.0.1` cannot be reached: the connection was refused");
    }
    assert_eq!(client.request_counts(), RequestCounts::default());
}

#[tokio::test]
async fn an_unknown_host_name_is_reported() {
    let base = Url::parse("http://nowhere.invalid/api").expect("an address");
    let error =
        Client::new(client_options(base, ROUTES)).expect("a client").send(&read()).await.expect_err("no such name");
    assert_eq!(error.to_string(), "`nowhere.invalid` cannot be reached: the host name cannot be resolved");
}

#[tokio::test]
async fn a_server_without_tls_is_reported() {
    let server = Server::new([Reply::ok("{}")]).await;
    let mut base = server.url.clone();
    base.set_scheme("https").expect("a scheme");
    let error = Client::new(client_options(base, ROUTES)).expect("a client").send(&write()).await.expect_err("no TLS");
    let want = "`127.0.0.1` cannot be reached: the TLS handshake failed";
    assert!(error.to_string().starts_with(want), "{error}");
}

#[tokio::test]
async fn reads_follow_a_redirect_within_the_origin_and_writes_do_not() {
    let server = Server::new([redirect("/api/v1/pulls/8"), redirect("9"), Reply::ok("{}")]).await;
    let client = server.client(ROUTES);
    assert_eq!(client.send(&read()).await.expect("the third").status, 200);
    assert_eq!(server.request_lines(), ["GET /api/v1/pulls/7", "GET /api/v1/pulls/8", "GET /api/v1/pulls/9"]);
    assert_eq!(client.request_counts().reads, 3);
    let server = Server::new([redirect("/api/v1/pulls/8/resolve")]).await;
    assert_eq!(server.client(ROUTES).send(&write()).await.expect("a response").status, 307);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_redirect_to_another_server_is_not_followed() {
    let other = Server::new([Reply::ok("{}")]).await;
    let mut target = other.url.clone();
    target.set_path("/api/v1/pulls/7");
    let server = Server::new([redirect(target.as_str())]).await;
    let error = server.client(ROUTES).send(&read()).await.expect_err("another server");
    let origin = other.url.origin().ascii_serialization();
    let want = format!("it redirects to `{origin}`; referee sends the token to no other server");
    assert!(error.to_string().contains(&want), "{error}");
    assert_eq!((server.requests().len(), other.requests().len()), (1, 0));
}

#[tokio::test]
async fn a_redirect_off_the_allow_list_or_in_a_loop_is_an_error() {
    for location in ["/user/login", "/api/v1/pulls/7/merge", "/api/v1/pulls/../admin", "http://["] {
        let server = Server::new([redirect(location), Reply::ok("{}")]).await;
        let error = server.client(ROUTES).send(&read()).await.expect_err("not on the allow-list");
        assert!(matches!(error, HttpError::Unreachable(..)), "{error}");
        assert_eq!(server.requests().len(), 1);
    }
    let server = Server::new([redirect("/api/v1/pulls/7")]).await;
    let error = server.client(ROUTES).send(&read()).await.expect_err("a redirect loop");
    assert!(error.to_string().ends_with("too many redirects"), "{error}");
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn a_response_beyond_the_body_limit_is_an_error() {
    let server = Server::new([Reply::ok(&"x".repeat(5000))]).await;
    let options = server.options(ROUTES);
    let limits = ClientLimits { max_body_bytes: 4999, ..options.limits };
    let client = Client::new(ClientOptions { limits, ..options }).expect("a client");
    let error = client.send(&read()).await.expect_err("too long");
    assert_eq!(error, HttpError::ResponseTooLong { max_bytes: 4999 });
    assert_eq!(client.send(&write()).await.expect_err("too long"), HttpError::OutcomeUnknown);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_request_may_accept_a_longer_response_whose_long_strings_are_cut() {
    let row = format!(r#"{{"id":7,"body":"{}"}}"#, "x".repeat(5000));
    let server = Server::new([Reply::ok(&row)]).await;
    let options = server.options(ROUTES);
    let limits = ClientLimits { max_body_bytes: 1000, max_string_bytes: 100, ..options.limits };
    let client = Client::new(ClientOptions { limits, ..options }).expect("a client");
    let error = client.send(&read()).await.expect_err("too long");
    assert_eq!(error, HttpError::ResponseTooLong { max_bytes: 1000 });
    let response = client.send(&read().with_max_response_bytes(6000)).await.expect("a response");
    let row: serde_json::Value = response.json().expect("JSON");
    assert_eq!((&row["id"], row["body"].as_str().map(str::len)), (&serde_json::json!(7), Some(101)));
}

#[tokio::test]
async fn requests_go_through_the_configured_proxy() {
    let proxy = Server::new([Reply::ok("{}")]).await;
    let base = Url::parse("http://git.example.org/api/v1").expect("an address");
    let options = ClientOptions { proxy: Some(proxy.url.clone()), ..client_options(base, ROUTES) };
    Client::new(options).expect("a client").send(&read()).await.expect("through the proxy");
    assert_eq!(proxy.request_lines(), ["GET http://git.example.org/api/v1/pulls/7"]);
}

#[tokio::test]
async fn a_token_is_sent_but_redacted_in_messages_and_debug_output() {
    let refused = format!("{{\"message\":\"token {SECRET} is not valid\"}}");
    let server = Server::new([Reply::new("401 Unauthorized", "", &refused)]).await;
    let client = server.client(ROUTES);
    let response = client.send(&read()).await.expect("a response");
    assert!(server.requests()[0].contains(&format!("authorization: token {SECRET}\r\n")));
    assert_eq!(response.message(), "token … is not valid");
    let mut options = server.options(ROUTES);
    options.proxy = Some(Url::parse(&format!("http://me:{SECRET}@proxy.example.org")).expect("an address"));
    for output in [format!("{options:?}"), format!("{client:?}"), format!("{response:?}")] {
        assert!(!output.contains(SECRET) && !output.contains(&format!("{:?}", SECRET.as_bytes())), "{output}");
    }
}

#[tokio::test]
async fn a_token_that_the_server_repeats_is_masked_in_data_headers_and_the_host_of_a_redirect() {
    let data = format!("{{\"title\":\"{SECRET}\"}}");
    let server = Server::new([Reply::new("200 OK", &format!("x-echo: {SECRET}\r\n"), &data)]).await;
    let response = server.client(ROUTES).send(&read()).await.expect("a response");
    assert_eq!(response.json::<serde_json::Value>().expect("JSON")["title"], "…");
    assert_eq!(response.header("x-echo"), Some("…"));
    // The host of a URL is decoded and lower-cased when it is parsed.
    let encoded: String = SECRET.bytes().map(|byte| format!("%{byte:02x}")).collect();
    for host in [SECRET.to_uppercase(), encoded] {
        let server = Server::new([redirect(&format!("https://{host}.example.org/"))]).await;
        let error = server.client(ROUTES).send(&read()).await.expect_err("another server").to_string();
        assert!(error.contains("redirects") && !error.to_lowercase().contains(SECRET), "{error}");
    }
}

#[tokio::test]
async fn invalid_options_are_reported_without_the_secret() {
    let base = |text: &str| Url::parse(text).expect("an address");
    let defaults = || client_options(base("https://git.example.org/api/v1"), ROUTES);
    let cases = [
        (client_options(base("ftp://git.example.org"), ROUTES), "must start with `https://`"),
        (client_options(base("mailto:me"), ROUTES), "must start with `https://`"),
        (client_options(base(&format!("https://{SECRET}@git.example.org")), ROUTES), "pass the token separately"),
        (client_options(base("https://git.example.org/?token=x"), ROUTES), "must not contain `?`"),
        (ClientOptions { token: Some(Token::new(format!("{SECRET}\n"))), ..defaults() }, "such as a line break"),
        (ClientOptions { extra_ca_pem: Some(b"no certificate".to_vec()), ..defaults() }, "must be PEM"),
    ];
    for (options, want) in cases {
        let error = Client::new(options).expect_err("no client").to_string();
        assert!(error.contains(want) && !error.contains(SECRET), "{error}");
    }
}
