//! Somebody who asks the server in bare HTTP: nothing here knows what an answer ought to be.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use referee_core::model::{Access, PullNumber, Sha};
use referee_testkit::dialect::{Dialect, FakeServer};
use referee_testkit::{World, WorldClient, WorldPerson};
use serde_json::Value;

/// A world with a pull, a server for it, and a token.
pub(crate) struct Visit {
    pub(crate) dialect: Dialect,
    pub(crate) world: World,
    pub(crate) server: FakeServer,
    pub(crate) pull: PullNumber,
    pub(crate) head: Sha,
    pub(crate) seat: WorldClient,
    token: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Visit {
    /// `bot` asks; `alice` opened the pull; `ruth` may write and `paul` may not.
    pub(crate) fn new(dialect: Dialect) -> Self {
        let world = World::new(dialect.quirks());
        for (name, access) in [("alice", Access::Write), ("ruth", Access::Write), ("paul", Access::Read)] {
            world.admit(name, access);
        }
        let seat = world.client("bot");
        let pull = world.people().as_("alice").open_pull("feature", &[("a.txt", "one\ntwo\nthree\nfour\nfive\n")]);
        let head = world.people().on(pull).as_("alice").head();
        let server = FakeServer::open(dialect, &world);
        let token = server.issue_token(&seat, seat.login());
        Self { dialect, world, server, pull, head, seat, token }
    }

    pub(crate) fn person(&self, name: &str) -> WorldPerson {
        self.world.people().on(self.pull).as_(name)
    }

    /// The same as somebody else.
    pub(crate) fn as_(&self, name: &str) -> As<'_> {
        let seat = self.world.client(name);
        As { visit: self, token: self.server.issue_token(&seat, seat.login()) }
    }

    pub(crate) fn with_token(&self, token: &str) -> As<'_> {
        As { visit: self, token: token.to_owned() }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.me().send("GET", path, None).expect("an answer")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.me().send("POST", path, Some(body)).expect("an answer")
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Option<Answer> {
        self.me().send(method, path, body)
    }

    fn me(&self) -> As<'_> {
        self.with_token(&self.token)
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        // Everything is read back over the wire.
        drop(self.world.take_effects());
    }
}

/// Somebody at the server.
pub(crate) struct As<'a> {
    visit: &'a Visit,
    token: String,
}

impl As<'_> {
    /// Asks below the repository, or from the root with a path that begins with a slash; nothing where the line is cut.
    pub(crate) fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Option<Answer> {
        let host = self.visit.server.base_url().trim_start_matches("http://");
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/api/v1/repos/acme/api/{path}") };
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut line = TcpStream::connect(host).expect("a connection");
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: token {}\r\n", self.token);
        let length = body.len();
        write!(line, "{head}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}").expect("a request");
        let mut text = String::new();
        line.read_to_string(&mut text).expect("an answer to its end");
        let (head, body) = text.split_once("\r\n\r\n")?;
        let mut lines = head.lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().expect("a status");
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
        Some(Answer { status, headers, body: body.to_owned() })
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None).expect("an answer")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, Some(body)).expect("an answer")
    }
}

impl Answer {
    /// The body as JSON, where the status is that one.
    #[track_caller]
    pub(crate) fn json(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        serde_json::from_str(&self.body).expect("JSON")
    }

    /// How many rows there are of a list.
    #[track_caller]
    pub(crate) fn rows(&self) -> usize {
        self.json(200).as_array().map_or(0, Vec::len)
    }

    #[track_caller]
    pub(crate) fn total(&self) -> usize {
        self.headers["x-total-count"].parse().expect("a number")
    }
}
