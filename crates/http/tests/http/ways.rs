//! Where a request may go, what it may bring back, and what is said when there is no way.

use referee_http::{Client, ClientLimits, ClientOptions, HttpError, Method, RequestCounts, Route, RouteRequest, Token};
use tokio::net::TcpListener;
use url::Url;

use crate::server::{Reply, SECRET, Server, reach};

const PULL: Route = Route::get("/pulls/{number}");
const POST: Route = Route::write_without_body(Method::Post, "/pulls/{number}/resolve");
const ROUTES: &[Route] = &[PULL, POST];

fn read() -> RouteRequest<'static> {
    RouteRequest::new(&PULL, [7])
}

fn write() -> RouteRequest<'static> {
    RouteRequest::new(&POST, [7])
}

fn led_to(place: &str) -> Reply {
    Reply::new("307 Temporary Redirect", &format!("location: {place}\r\n"), "")
}

async fn closed_port() -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    Url::parse(&format!("http://{}/", listener.local_addr().expect("an address"))).expect("an address")
}

#[tokio::test]
async fn a_refused_connection_is_told_and_not_counted() {
    let client = Client::new(reach(closed_port().await, ROUTES)).expect("a client");
    for call in [read(), write()] {
        let error = client.send(&call).await.expect_err("nobody listens");
        assert_eq!(error.to_string(), "`127.0.0.1` cannot be reached: the connection is refused");
    }
    assert_eq!(client.request_counts(), RequestCounts::default());
}

#[tokio::test]
async fn an_unknown_name_is_told() {
    let base = Url::parse("http://nowhere.invalid/api").expect("an address");
    let error = Client::new(reach(base, ROUTES)).expect("a client").send(&read()).await.expect_err("no such name");
    assert_eq!(error.to_string(), "`nowhere.invalid` cannot be reached: its name cannot be resolved");
}

#[tokio::test]
async fn a_server_without_tls_is_told() {
    let server = Server::new([Reply::ok("{}")]).await;
    let mut base = server.url.clone();
    base.set_scheme("https").expect("a scheme");
    let error = Client::new(reach(base, ROUTES)).expect("a client").send(&write()).await.expect_err("no TLS");
    let want = "`127.0.0.1` cannot be reached: it does not speak TLS as expected";
    assert!(error.to_string().starts_with(want), "{error}");
}

#[tokio::test]
async fn a_redirect_within_the_host_is_followed_by_reads() {
    let server = Server::new([led_to("/api/v1/pulls/8"), led_to("9"), Reply::ok("{}")]).await;
    let client = server.client(ROUTES);
    assert_eq!(client.send(&read()).await.expect("the third").status, 200);
    assert_eq!(server.lines(), ["GET /api/v1/pulls/7", "GET /api/v1/pulls/8", "GET /api/v1/pulls/9"]);
    assert_eq!(client.request_counts().reads, 3);
    let server = Server::new([led_to("/api/v1/pulls/8/resolve")]).await;
    assert_eq!(server.client(ROUTES).send(&write()).await.expect("an answer, whatever its status").status, 307);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_redirect_to_elsewhere_takes_no_token_there() {
    let other = Server::new([Reply::ok("{}")]).await;
    let mut there = other.url.clone();
    there.set_path("/api/v1/pulls/7");
    let server = Server::new([led_to(there.as_str())]).await;
    let error = server.client(ROUTES).send(&read()).await.expect_err("elsewhere");
    let named = other.url.origin().ascii_serialization();
    assert!(error.to_string().contains(&format!("it redirects to `{named}`, where the token does not go")), "{error}");
    assert_eq!((server.seen().len(), other.seen().len()), (1, 0));
}

#[tokio::test]
async fn a_redirect_leads_to_what_is_on_the_list_and_not_in_circles() {
    for place in ["/user/login", "/api/v1/pulls/7/merge", "/api/v1/pulls/../admin", "http://["] {
        let server = Server::new([led_to(place), Reply::ok("{}")]).await;
        let error = server.client(ROUTES).send(&read()).await.expect_err("astray");
        assert!(matches!(error, HttpError::Unreachable(..)), "{error}");
        assert_eq!(server.seen().len(), 1);
    }
    let server = Server::new([led_to("/api/v1/pulls/7")]).await;
    let error = server.client(ROUTES).send(&read()).await.expect_err("circles");
    assert!(error.to_string().ends_with("it redirects in circles"), "{error}");
    assert_eq!(server.seen().len(), 6);
}

#[tokio::test]
async fn an_answer_has_a_longest_length() {
    let server = Server::new([Reply::ok(&"x".repeat(5000))]).await;
    let reach = server.reach(ROUTES);
    let limits = ClientLimits { max_body_bytes: 4999, ..reach.limits };
    let client = Client::new(ClientOptions { limits, ..reach }).expect("a client");
    let error = client.send(&read()).await.expect_err("too long");
    assert_eq!(error, HttpError::UnreadableResponse("it is longer than 4999 bytes".into()));
    assert_eq!(client.send(&write()).await.expect_err("too long"), HttpError::OutcomeUnknown);
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn what_did_not_change_is_answered_from_what_was_kept() {
    let named = Reply::new("200 OK", "etag: \"a\"\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "{\"n\":1}");
    let same = Reply::new("304 Not Modified", "date: Sun, 06 Nov 1994 08:50:07 GMT\r\n", "");
    let server = Server::new([named, same, Reply::ok("{\"n\":2}")]).await;
    let client = server.client(ROUTES);
    let mut told = Vec::new();
    for _ in 0..4 {
        let answer = client.send(&read()).await.expect("an answer");
        told.push((answer.status, String::from_utf8_lossy(&answer.body).into_owned(), answer.date()));
    }
    let (one, two) = ("{\"n\":1}".to_owned(), "{\"n\":2}".to_owned());
    let want = [
        (200, one.clone(), Some(784_111_777)),
        (200, one, Some(784_111_807)),
        (200, two.clone(), None),
        (200, two, None),
    ];
    assert_eq!(told, want);
    let asked: Vec<bool> = server.seen().iter().map(|it| it.contains("if-none-match: \"a\"")).collect();
    assert_eq!(asked, [false, true, true, false]);
}

#[tokio::test]
async fn a_proxy_is_the_operators() {
    let proxy = Server::new([Reply::ok("{}")]).await;
    let base = Url::parse("http://git.example.org/api/v1").expect("an address");
    let reach = ClientOptions { proxy: Some(proxy.url.clone()), ..reach(base, ROUTES) };
    Client::new(reach).expect("a client").send(&read()).await.expect("through the proxy");
    assert_eq!(proxy.lines(), ["GET http://git.example.org/api/v1/pulls/7"]);
}

#[tokio::test]
async fn a_token_is_sent_and_never_shown() {
    let refused = format!("{{\"message\":\"token {SECRET} is not valid\"}}");
    let server = Server::new([Reply::new("401 Unauthorized", "", &refused)]).await;
    let client = server.client(ROUTES);
    let answer = client.send(&read()).await.expect("an answer");
    assert!(server.seen()[0].contains(&format!("authorization: token {SECRET}\r\n")));
    assert_eq!(answer.message(), "token … is not valid");
    let mut reach = server.reach(ROUTES);
    reach.proxy = Some(Url::parse(&format!("http://me:{SECRET}@proxy.example.org")).expect("an address"));
    for shown in [format!("{reach:?}"), format!("{client:?}"), format!("{answer:?}")] {
        assert!(!shown.contains(SECRET) && !shown.contains(&format!("{:?}", SECRET.as_bytes())), "{shown}");
    }
}

#[tokio::test]
async fn what_makes_no_client_is_told_without_the_secret() {
    let base = |text: &str| Url::parse(text).expect("an address");
    let usual = || reach(base("https://git.example.org/api/v1"), ROUTES);
    let cases = [
        (reach(base("ftp://git.example.org"), ROUTES), "begins with `https://`"),
        (reach(base("mailto:me"), ROUTES), "begins with `https://`"),
        (reach(base(&format!("https://{SECRET}@git.example.org")), ROUTES), "a place of its own"),
        (reach(base("https://git.example.org/?token=x"), ROUTES), "no `?`"),
        (ClientOptions { token: Some(Token::new(format!("{SECRET}\n"))), ..usual() }, "such as a line break"),
        (ClientOptions { extra_ca_pem: Some(b"no certificate".to_vec()), ..usual() }, "read as PEM"),
    ];
    for (reach, want) in cases {
        let error = Client::new(reach).expect_err("no client").to_string();
        assert!(error.contains(want) && !error.contains(SECRET), "{error}");
    }
}
