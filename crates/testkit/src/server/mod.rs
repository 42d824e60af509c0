//! Real Gitea and Forgejo servers, built by `.ci/servers`, and people who act on them.
//!
//! Unlike the rest of this crate, this module needs files, ports and git. A server listens on loopback only and ends with
//! the process that started it, even if that process is killed. Starting one takes a second, so the tests of a process
//! share a server and each test creates its own repository.

mod accounts;
mod browser;
mod build;
mod checkout;
mod person;
mod process;
mod raw_http;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use accounts::Tokens;
pub use accounts::{ADMIN, BOTS, OWNER};
pub use build::{ServerBuild, cache_dir};
pub use person::{ServerPerson, ServerRepo};
use process::ServerProcess;
use referee_http::Response;
use serde_json::Value;

/// A running server. Clones share it; it stops when the last one is dropped.
#[derive(Clone, Debug)]
pub struct RealServer {
    inner: Arc<ServerInner>,
}

#[derive(Debug)]
struct ServerInner {
    build: ServerBuild,
    process: ServerProcess,
    tokens: Tokens,
    name_count: AtomicUsize,
}

impl RealServer {
    /// Returns the server that all tests of this process share.
    #[track_caller]
    pub fn shared(build: ServerBuild) -> Self {
        static SHARED: [OnceLock<RealServer>; ServerBuild::ALL.len()] =
            [const { OnceLock::new() }; ServerBuild::ALL.len()];
        SHARED[build as usize].get_or_init(|| Self::start(build)).clone()
    }

    /// Starts a server for this caller only.
    ///
    /// # Panics
    ///
    /// Panics if the server is not built or does not start.
    #[track_caller]
    pub fn start(build: ServerBuild) -> Self {
        let started = accounts::load_accounts(build).and_then(|(folder, tokens)| {
            let process = ServerProcess::start(build, &folder)?;
            Ok(Self { inner: Arc::new(ServerInner { build, process, tokens, name_count: AtomicUsize::new(0) }) })
        });
        match started {
            Ok(server) => server,
            Err(error) => panic!("cannot start {build}: {error}"),
        }
    }

    pub fn build(&self) -> ServerBuild {
        self.inner.build
    }

    /// Returns the base URL, for example `http://127.0.0.1:34567`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.inner.process.port)
    }

    /// Returns the token of an account.
    #[track_caller]
    pub fn token(&self, login: &str) -> &str {
        match self.inner.tokens.get(login) {
            Some(token) => token,
            None => panic!("no account `{login}` on {}", self.build()),
        }
    }

    /// Returns all tokens; none of them may appear in any output.
    pub fn tokens(&self) -> impl Iterator<Item = &str> {
        self.inner.tokens.values().map(String::as_str)
    }

    /// Sends an API request as an account and returns any response. `path` is relative to `/api/v1`.
    #[track_caller]
    pub fn send_as(&self, login: &str, method: &str, path: &str, body: Option<&Value>) -> Response {
        let path = format!("/api/v1{path}");
        match raw_http::send_request(self.inner.process.port, Some(self.token(login)), method, &path, body) {
            Ok(response) => response,
            Err(error) => panic!("{method} {path} got no response: {error}\n{}", self.log()),
        }
    }

    /// Submits a web form as an account, as a browser does, and returns any response.
    #[track_caller]
    pub fn submit_form(&self, login: &str, path: &str, fields: &[(&str, &str)]) -> Response {
        let port = self.inner.process.port;
        match browser::BrowserSession::sign_in(port, login).and_then(|mut session| session.submit_form(path, fields)) {
            Ok(response) => response,
            Err(error) => panic!("the form at {path} got no response: {error}\n{}", self.log()),
        }
    }

    /// Returns the server's log so far.
    pub fn log(&self) -> String {
        self.inner.process.log()
    }

    /// Returns a name that is not in use on this server yet.
    fn fresh_name(&self, what: &str) -> String {
        format!("{what}-{}", self.inner.name_count.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Creates a folder that is removed with the server.
    fn subfolder(&self, name: &str) -> PathBuf {
        self.inner.process.folder.join(name)
    }
}

/// Copies a folder recursively.
fn copy_dir(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_dir(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
