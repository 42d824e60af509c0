//! A raw HTTP client of a fake server, which shares no code with the adapter.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use referee_core::model::{Access, PullNumber, Sha};
use referee_testkit::dialect::{Dialect, FakeServer};
use referee_testkit::{World, WorldClient, WorldPerson};
use serde_json::Value;

/// A world with a pull, its fake server, and a token.
pub(crate) struct ApiFixture {
    pub(crate) dialect: Dialect,
    pub(crate) world: World,
    pub(crate) server: FakeServer,
    pub(crate) pull: PullNumber,
    pub(crate) head: Sha,
    pub(crate) client: WorldClient,
    token: String,
}

/// A raw response.
#[derive(Debug)]
pub(crate) struct RawResponse {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl ApiFixture {
    /// Creates the fixture: `bot` sends the requests, `alice` opened the pull, `ruth` may write and `paul` may not.
    pub(crate) fn new(dialect: Dialect) -> Self {
        let world = World::new(dialect.quirks());
        for (name, access) in [("alice", Access::Write), ("ruth", Access::Write), ("paul", Access::Read)] {
            world.admit(name, access);
        }
        let client = world.client("bot");
        let pull = world.people().as_("alice").open_pull("feature", &[("a.txt", "one\ntwo\nthree\nfour\nfive\n")]);
        let head = world.people().on(pull).as_("alice").head();
        let server = FakeServer::open(dialect, &world);
        let token = server.issue_token(&client, client.login());
        Self { dialect, world, server, pull, head, client, token }
    }

    pub(crate) fn person(&self, name: &str) -> WorldPerson {
        self.world.people().on(self.pull).as_(name)
    }

    /// Returns a caller with the token of another user.
    pub(crate) fn as_(&self, name: &str) -> ApiCaller<'_> {
        let client = self.world.client(name);
        ApiCaller { api: self, token: self.server.issue_token(&client, client.login()) }
    }

    pub(crate) fn with_token(&self, token: &str) -> ApiCaller<'_> {
        ApiCaller { api: self, token: token.to_owned() }
    }

    pub(crate) fn get(&self, path: &str) -> RawResponse {
        self.own_caller().send("GET", path, None).expect("a response")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> RawResponse {
        self.own_caller().send("POST", path, Some(body)).expect("a response")
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Option<RawResponse> {
        self.own_caller().send(method, path, body)
    }

    fn own_caller(&self) -> ApiCaller<'_> {
        self.with_token(&self.token)
    }
}

impl Drop for ApiFixture {
    fn drop(&mut self) {
        // Tests check the results over HTTP.
        drop(self.world.take_effects());
    }
}

/// A user who sends requests.
pub(crate) struct ApiCaller<'a> {
    api: &'a ApiFixture,
    token: String,
}

impl ApiCaller<'_> {
    /// Sends a request; a path with a leading slash is absolute, any other is relative to the repository. Returns `None` if the
    /// server closes the connection without a response.
    pub(crate) fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Option<RawResponse> {
        let host = self.api.server.base_url().trim_start_matches("http://");
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/api/v1/repos/acme/api/{path}") };
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut stream = TcpStream::connect(host).expect("a connection");
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: token {}\r\n", self.token);
        let length = body.len();
        write!(stream, "{head}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}").expect("a request");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("a complete response");
        let (head, body) = text.split_once("\r\n\r\n")?;
        let mut lines = head.lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().expect("a status");
        let headers = lines.filter_map(|stream| stream.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
        Some(RawResponse { status, headers, body: body.to_owned() })
    }

    pub(crate) fn get(&self, path: &str) -> RawResponse {
        self.send("GET", path, None).expect("a response")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> RawResponse {
        self.send("POST", path, Some(body)).expect("a response")
    }
}

impl RawResponse {
    /// Asserts the status and parses the body as JSON.
    #[track_caller]
    pub(crate) fn json(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        serde_json::from_str(&self.body).expect("JSON")
    }

    /// Returns the number of rows of a list.
    #[track_caller]
    pub(crate) fn rows(&self) -> usize {
        self.json(200).as_array().map_or(0, Vec::len)
    }

    #[track_caller]
    pub(crate) fn total(&self) -> usize {
        self.headers["x-total-count"].parse().expect("a number")
    }
}
