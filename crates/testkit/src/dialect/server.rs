//! The machinery: a port on loopback, a thread of its own, tokens, and faults as a client sees them.

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

/// What the thread works with.
#[derive(Debug)]
struct FakeServerState {
    dialect: Dialect,
    world: World,
    base_url: String,
    /// A repository that answers git.
    bare_repo: Option<PathBuf>,
    /// Whose they are: the seat and the name.
    tokens: Mutex<BTreeMap<String, (u64, Login)>>,
}

/// A request, taken apart.
#[derive(Debug)]
pub(super) struct ApiRequest {
    pub(super) method: Method,
    pub(super) path: Vec<String>,
    query: Vec<(String, String)>,
    pub(super) body: Value,
}

/// Who asks what of which server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller<'a> {
    pub(super) dialect: Dialect,
    /// Where the server's pages begin, without a slash at the end.
    pub(super) base_url: &'a str,
    pub(super) login: &'a Login,
}

impl FakeServer {
    /// Opens a port for a world.
    ///
    /// # Panics
    ///
    /// When there is no port to be had.
    pub fn open(dialect: Dialect, world: &World) -> Self {
        Self::listen(dialect, world, None)
    }

    /// The same, with a repository whose commits are those of the world, for whoever asks by git.
    ///
    /// # Panics
    ///
    /// When there is no port to be had.
    pub fn open_with_git(dialect: Dialect, world: &World, bare: &Path) -> Self {
        Self::listen(dialect, world, Some(bare.to_owned()))
    }

    fn listen(dialect: Dialect, world: &World, bare: Option<PathBuf>) -> Self {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port on loopback");
        listener.set_nonblocking(true).expect("a port that does not block");
        let address = listener.local_addr().expect("an address on loopback");
        let desk = Arc::new(FakeServerState {
            dialect,
            world: world.clone(),
            base_url: format!("http://{address}"),
            bare_repo: bare,
            tokens: Mutex::default(),
        });
        let (ends, ended) = oneshot::channel();
        let app = Router::new().fallback({
            let desk = Arc::clone(&desk);
            move |request: Request| handle_request(Arc::clone(&desk), request)
        });
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a port for the runtime");
                let serving = std::future::IntoFuture::into_future(axum::serve(listener, app));
                // Whoever drops the server ends it in the middle of whatever it does.
                tokio::select! { _ = serving => {}, _ = ended => {} }
            });
        });
        Self { state: desk, shutdown: Some(ends), thread: Some(thread) }
    }

    /// Where its pages begin: `http://127.0.0.1:45678`.
    pub fn base_url(&self) -> &str {
        &self.state.base_url
    }

    /// A token of one of the names that a seat holds.
    ///
    /// # Panics
    ///
    /// When it does not hold that name.
    pub fn issue_token(&self, seat: &WorldClient, login: &Login) -> String {
        assert!(seat.holds.contains(login), "{} does not hold {login}", seat.login);
        let token = format!("token-of-{login}-{}", seat.id);
        lock_mutex(&self.state.tokens).insert(token.clone(), (seat.id, login.clone()));
        token
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        drop(self.shutdown.take());
        // The thread holds a handle of the world: it must be gone before the world is asked what nobody looked at.
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl ApiRequest {
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A text of the body; what is missing is empty.
    pub(super) fn text(&self, name: &str) -> &str {
        self.body.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

async fn handle_request(desk: Arc<FakeServerState>, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    if let Some(bare) = desk.bare_repo.as_ref().filter(|_| head.uri.path().contains(".git/")) {
        return git::run_http_backend(bare, &head, &body);
    }
    let token = head.headers.get("authorization").and_then(|value| value.to_str().ok());
    let token = token.and_then(|value| value.split_once(' ')).map(|(_, token)| token.trim().to_owned());
    let path = head.uri.path().split('/').skip(1).map(percent_decode).collect();
    let pairs = head.uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let query = pairs.map(|(name, value)| (percent_decode(name), percent_decode(&value.replace('+', " ")))).collect();
    let asked = ApiRequest { method: head.method, path, query, body: Value::Null };
    match desk.build_reply(asked, &body, token.as_deref()) {
        Some((reply, at)) => build_response(reply, at),
        // Unwinding past the runtime's task is what closes the line without a word.
        None => std::panic::resume_unwind(Box::new("the line is cut")),
    }
}

impl FakeServerState {
    /// What goes back and when; nothing where the line is cut.
    fn build_reply(&self, mut asked: ApiRequest, body: &[u8], token: Option<&str>) -> Option<(HttpReply, Time)> {
        let known = token.map(|token| lock_mutex(&self.tokens).get(token).cloned());
        let mut state = self.world.state();
        let (seat, login) = match known {
            Some(Some(known)) => known,
            Some(None) => return Some((HttpReply::unauthenticated(self.dialect), state.repo.now)),
            // Seats are counted from one.
            None => (0, Login(String::new())),
        };
        if !body.is_empty() {
            match serde_json::from_slice(body) {
                Ok(value) => asked.body = value,
                Err(error) => return Some((HttpReply::error(422, &error.to_string()), state.repo.now)),
            }
        }
        let caller = Caller { dialect: self.dialect, base_url: &self.base_url, login: &login };
        let kind = if asked.method == Method::GET { RequestKind::Read } else { RequestKind::Write };
        let wired = state.serve_request(seat, kind, |state| match kind {
            RequestKind::Read => read::route(&caller, state.readable_repo(), &asked),
            RequestKind::Write => write::route(&caller, state, &asked),
        });
        let reply = match wired {
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
        Some((reply, state.repo.now))
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

/// Undoes what an address does to unusual letters.
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
