//! The server: a port on loopback, a thread, tokens, and faults as a client sees them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{Method, Response};
use axum::response::IntoResponse;
use referee_core::model::{Login, Time};
use serde_json::Value;
use tokio::sync::oneshot;

use super::reply::HttpReply;
use super::{Dialect, git, read, timestamp, write};
use crate::world::{RequestKind, WireOutcome, World, WorldClient};

/// A server that speaks a dialect over a world, until it is dropped.
#[derive(Debug)]
pub struct FakeServer {
    state: Arc<FakeServerState>,
    shutdown: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The state shared with the server's thread.
#[derive(Debug)]
struct FakeServerState {
    dialect: Dialect,
    world: World,
    base_url: String,
    /// A bare repository for requests of git.
    bare_repo: Option<PathBuf>,
    /// The client id and the login of each token.
    tokens: Mutex<BTreeMap<String, (u64, Login)>>,
}

/// A parsed request.
#[derive(Debug)]
pub(super) struct ApiRequest {
    pub(super) method: Method,
    pub(super) path: Vec<String>,
    query: Vec<(String, String)>,
    pub(super) body: Value,
}

/// The caller of a route, and the server it called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller<'a> {
    pub(super) dialect: Dialect,
    /// The server's URL without a trailing slash.
    pub(super) base_url: &'a str,
    pub(super) login: &'a Login,
}

impl FakeServer {
    /// Starts a server for a world.
    ///
    /// # Panics
    ///
    /// Panics if no port is free.
    pub fn open(dialect: Dialect, world: &World) -> Self {
        Self::listen(dialect, world, None)
    }

    /// Starts a server that also serves git, from a bare repository with the same commits as the world.
    ///
    /// # Panics
    ///
    /// Panics if no port is free.
    pub fn open_with_git(dialect: Dialect, world: &World, bare: &Path) -> Self {
        Self::listen(dialect, world, Some(bare.to_owned()))
    }

    fn listen(dialect: Dialect, world: &World, bare: Option<PathBuf>) -> Self {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("bind a port on loopback");
        listener.set_nonblocking(true).expect("make the socket non-blocking");
        let address = listener.local_addr().expect("a bound listener has an address");
        let state = Arc::new(FakeServerState {
            dialect,
            world: world.clone(),
            base_url: format!("http://{address}"),
            bare_repo: bare,
            tokens: Mutex::default(),
        });
        let (shutdown, stopped) = oneshot::channel();
        let app = Router::new().fallback({
            let state = Arc::clone(&state);
            move |request: Request| handle_request(Arc::clone(&state), request)
        });
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("create a runtime");
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("register the listener");
                let serving = std::future::IntoFuture::into_future(axum::serve(listener, app));
                // Dropping the server stops it without waiting for open requests.
                tokio::select! { _ = serving => {}, _ = stopped => {} }
            });
        });
        Self { state, shutdown: Some(shutdown), thread: Some(thread) }
    }

    /// Returns the server's URL, for example `http://127.0.0.1:45678`.
    pub fn base_url(&self) -> &str {
        &self.state.base_url
    }

    /// Issues a token for one of the logins that a client holds.
    ///
    /// # Panics
    ///
    /// Panics if the client does not hold that login.
    pub fn issue_token(&self, client: &WorldClient, login: &Login) -> String {
        assert!(client.holds.contains(login), "{} does not hold {login}", client.login);
        let token = format!("token-of-{login}-{}", client.id);
        lock_mutex(&self.state.tokens).insert(token.clone(), (client.id, login.clone()));
        token
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        drop(self.shutdown.take());
        // The thread holds a handle of the world. Join it first, so that the world's last handle checks the effects.
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl ApiRequest {
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns a string field of the body; empty if missing.
    pub(super) fn text(&self, name: &str) -> &str {
        self.body.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

async fn handle_request(state: Arc<FakeServerState>, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    if let Some(bare) = state.bare_repo.as_ref().filter(|_| head.uri.path().contains(".git/")) {
        return git::run_http_backend(bare, &head, &body);
    }
    let token = head.headers.get("authorization").and_then(|value| value.to_str().ok());
    let token = token.and_then(|value| value.split_once(' ')).map(|(_, token)| token.trim().to_owned());
    let path = head.uri.path().split('/').skip(1).map(percent_decode).collect();
    let pairs = head.uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let query = pairs.map(|(name, value)| (percent_decode(name), percent_decode(&value.replace('+', " ")))).collect();
    let request = ApiRequest { method: head.method, path, query, body: Value::Null };
    match state.build_reply(request, &body, token.as_deref()) {
        Some((reply, at)) => build_response(reply, at),
        // A panic in the task makes axum close the connection without a response.
        None => std::panic::resume_unwind(Box::new("connection closed on purpose")),
    }
}

impl FakeServerState {
    /// Returns the response and its time; `None` if the connection is to be closed.
    fn build_reply(&self, mut request: ApiRequest, body: &[u8], token: Option<&str>) -> Option<(HttpReply, Time)> {
        let owner = token.map(|token| lock_mutex(&self.tokens).get(token).cloned());
        let mut world = self.world.state();
        let (client, login) = match owner {
            Some(Some(owner)) => owner,
            Some(None) => return Some((HttpReply::unauthenticated(self.dialect), world.repo.now)),
            // Client ids start at 1, so 0 is the anonymous client.
            None => (0, Login(String::new())),
        };
        if !body.is_empty() {
            match serde_json::from_slice(body) {
                Ok(value) => request.body = value,
                Err(error) => return Some((HttpReply::error(422, &error.to_string()), world.repo.now)),
            }
        }
        let caller = Caller { dialect: self.dialect, base_url: &self.base_url, login: &login };
        let kind = if request.method == Method::GET { RequestKind::Read } else { RequestKind::Write };
        let outcome = world.serve_request(client, kind, |state| match kind {
            RequestKind::Read => read::route(&caller, state.readable_repo(), &request),
            RequestKind::Write => write::route(&caller, state, &request),
        });
        let reply = match outcome {
            WireOutcome::Answered(reply) => reply,
            WireOutcome::Truncated(mut reply) => {
                reply.body.truncate(reply.body.len() / 2);
                reply
            }
            WireOutcome::Failed => HttpReply::html_page(502, "Bad Gateway"),
            WireOutcome::RetryLater => HttpReply::empty(429).with_header("retry-after", 0),
            WireOutcome::Unauthenticated => HttpReply::unauthenticated(self.dialect),
            WireOutcome::Dropped => return None,
        };
        Some((reply, world.repo.now))
    }
}

fn build_response(reply: HttpReply, at: Time) -> Response<Body> {
    let mut response = Response::builder().status(reply.status).header("date", timestamp::format_http_date(at));
    if !reply.content_type.is_empty() {
        response = response.header("content-type", reply.content_type);
    }
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(Body::from(reply.body)).unwrap_or_else(|error| error.to_string().into_response())
}

/// Decodes percent-encoding.
fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
