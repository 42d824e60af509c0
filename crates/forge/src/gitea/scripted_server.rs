//! A server for tests that returns scripted responses in order and records the requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::Response;
use referee_core::model::{Capabilities, Login, Support};
use referee_http::{ClientOptions, Token};
use serde_json::Value;

use super::{GiteaForge, routes};
use crate::{ForgeKind, ServerFacts, ServerSite};

/// One response: the expected request line, the status and the body.
pub(super) type ScriptedAnswer = (&'static str, u16, Value);

/// The `Date` of all responses.
pub(super) const SERVER_DATE: &str = "Sun, 15 Nov 2026 10:00:00 GMT";

/// A forge connected to a scripted server.
pub(super) struct ScriptedServer {
    pub(super) forge: GiteaForge,
    remaining: Arc<Mutex<VecDeque<ScriptedAnswer>>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl ScriptedServer {
    pub(super) async fn new(lines: impl IntoIterator<Item = ScriptedAnswer>) -> Self {
        let left = Arc::new(Mutex::new(lines.into_iter().collect::<VecDeque<_>>()));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (script, heard) = (Arc::clone(&left), Arc::clone(&asked));
        let router =
            Router::new().fallback(move |request| serve_next(request, Arc::clone(&script), Arc::clone(&heard)));
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let base = format!("http://{}/", listener.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(listener, router).await });
        let capabilities = Capabilities { reply: Support::Emulated, ..Capabilities::default() };
        let known = ServerFacts {
            kind: ForgeKind::Gitea,
            version: "1.26.0".to_owned(),
            login: Login::from("bot"),
            details: serde_json::to_value(capabilities).expect("capabilities"),
        };
        let site = ServerSite {
            kind: None,
            client: ClientOptions::new(base.parse().expect("an address"), None, routes::ALL),
            owner: "acme".to_owned(),
            repo: "api".to_owned(),
            token: Token::new("secret"),
            known: Some(known),
        };
        let forge = GiteaForge::open(&site).await.expect("a forge");
        Self { forge, remaining: left, requests: asked }
    }

    /// Returns how many requests have arrived.
    pub(super) fn request_count(&self) -> usize {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Returns all requests; panics unless the script was used up.
    pub(super) fn finished_requests(&self) -> Vec<String> {
        let left = self.remaining.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(left.is_empty(), "never asked: {left:?}");
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the bodies of the requests whose line begins like that.
    pub(super) fn sent_bodies(&self, beginning: &str) -> Vec<Value> {
        let asked = self.finished_requests();
        let bodies = asked.iter().filter(|line| line.starts_with(beginning)).filter_map(|line| line.split_once(" {"));
        bodies.map(|(_, body)| serde_json::from_str(&format!("{{{body}")).expect("a body")).collect()
    }
}

async fn serve_next(
    request: Request,
    script: Arc<Mutex<VecDeque<ScriptedAnswer>>>,
    heard: Arc<Mutex<Vec<String>>>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let place = head.uri.path().trim_start_matches("/api/v1/repos/acme/api").to_owned();
    let asked = format!("{} {place}", head.method);
    let body = to_bytes(body, 1 << 20).await.unwrap_or_default();
    heard.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{asked} {}", String::from_utf8_lossy(&body)));
    let next = script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let (status, body) = match next {
        Some((expected, status, body)) if asked == expected => (status, body),
        other => (418, Value::String(format!("`{asked}` came instead of {other:?}"))),
    };
    let rows = body.as_array().map_or(0, Vec::len);
    let answer = Response::builder().status(status).header("date", SERVER_DATE).header("x-total-count", rows);
    answer.body(Body::from(body.to_string())).unwrap_or_default()
}
