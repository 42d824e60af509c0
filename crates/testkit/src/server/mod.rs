//! Real Gitea and Forgejo servers, as `.ci/servers` builds them, with people on them who have hands.
//!
//! Unlike the rest of this crate it needs what a machine has: files, ports, git. A server listens on loopback only and
//! ends with the process that started it, however that one ends. Tests share one per process, as a start costs a
//! second, and each takes a repository of its own.

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

/// A server that runs. Clones are the same one; it ends with the last.
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
    /// The one that all tests of this process share.
    #[track_caller]
    pub fn shared(build: ServerBuild) -> Self {
        static SHARED: [OnceLock<RealServer>; ServerBuild::ALL.len()] =
            [const { OnceLock::new() }; ServerBuild::ALL.len()];
        SHARED[build as usize].get_or_init(|| Self::start(build)).clone()
    }

    /// One of one's own.
    ///
    /// # Panics
    ///
    /// When it is not built, or does not start.
    #[track_caller]
    pub fn start(build: ServerBuild) -> Self {
        let started = accounts::load_accounts(build).and_then(|(folder, tokens)| {
            let process = ServerProcess::start(build, &folder)?;
            Ok(Self { inner: Arc::new(ServerInner { build, process, tokens, name_count: AtomicUsize::new(0) }) })
        });
        match started {
            Ok(server) => server,
            Err(why) => panic!("{build} does not run: {why}"),
        }
    }

    /// Which one it is.
    pub fn build(&self) -> ServerBuild {
        self.inner.build
    }

    /// Where it is: `http://127.0.0.1:34567`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.inner.process.port)
    }

    /// The token of somebody who is on it.
    #[track_caller]
    pub fn token(&self, login: &str) -> &str {
        match self.inner.tokens.get(login) {
            Some(token) => token,
            None => panic!("there is no `{login}` on {}", self.build()),
        }
    }

    /// All tokens: none of them may show anywhere.
    pub fn tokens(&self) -> impl Iterator<Item = &str> {
        self.inner.tokens.values().map(String::as_str)
    }

    /// Asks its interface in somebody's name, and takes any answer. The path begins below `/api/v1`.
    #[track_caller]
    pub fn send_as(&self, login: &str, method: &str, path: &str, body: Option<&Value>) -> Response {
        let path = format!("/api/v1{path}");
        match raw_http::send_request(self.inner.process.port, Some(self.token(login)), method, &path, body) {
            Ok(answer) => answer,
            Err(error) => panic!("{method} {path} got no answer: {error}\n{}", self.log()),
        }
    }

    /// Sends a form in somebody's name, as a browser does, and takes any answer.
    #[track_caller]
    pub fn submit_form(&self, login: &str, path: &str, fields: &[(&str, &str)]) -> Response {
        let port = self.inner.process.port;
        match browser::BrowserSession::sign_in(port, login).and_then(|mut session| session.submit_form(path, fields)) {
            Ok(answer) => answer,
            Err(error) => panic!("the form of {path} got no answer: {error}\n{}", self.log()),
        }
    }

    /// What the server wrote into its log so far.
    pub fn log(&self) -> String {
        self.inner.process.log()
    }

    /// A name that nothing on this server has yet.
    fn fresh_name(&self, what: &str) -> String {
        format!("{what}-{}", self.inner.name_count.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// A folder that goes with the server.
    fn subfolder(&self, name: &str) -> PathBuf {
        self.inner.process.folder.join(name)
    }
}

/// Everything in a folder, again in another.
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
