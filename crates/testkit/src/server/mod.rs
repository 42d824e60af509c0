//! Real Gitea and Forgejo servers, as `.ci/servers` builds them, with people on them who have hands.
//!
//! Unlike the rest of this crate it needs what a machine has: files, ports, git. A server listens on loopback only and
//! ends with the process that started it, however that one ends. Tests share one per process, as a start costs a
//! second, and each takes a repository of its own.

mod build;
mod checkout;
mod hands;
mod people;
mod process;
mod web;
mod wire;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

pub use build::{Build, cache};
pub use hands::{Person, Repo};
use people::Tokens;
pub use people::{BOTS, KEEPER, OWNER};
use process::Process;
use referee_http::Answer;
use serde_json::Value;

/// A server that runs. Clones are the same one; it ends with the last.
#[derive(Clone, Debug)]
pub struct Server {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    build: Build,
    process: Process,
    tokens: Tokens,
    made: AtomicUsize,
}

impl Server {
    /// The one that all tests of this process share.
    #[track_caller]
    pub fn shared(build: Build) -> Self {
        static SHARED: [OnceLock<Server>; Build::ALL.len()] = [const { OnceLock::new() }; Build::ALL.len()];
        SHARED[build as usize].get_or_init(|| Self::start(build)).clone()
    }

    /// One of one's own.
    ///
    /// # Panics
    ///
    /// When it is not built, or does not start.
    #[track_caller]
    pub fn start(build: Build) -> Self {
        let started = people::settled(build).and_then(|(folder, tokens)| {
            let process = Process::start(build, &folder)?;
            Ok(Self { inner: Arc::new(Inner { build, process, tokens, made: AtomicUsize::new(0) }) })
        });
        match started {
            Ok(server) => server,
            Err(why) => panic!("{build} does not run: {why}"),
        }
    }

    /// Which one it is.
    pub fn build(&self) -> Build {
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
    pub fn ask(&self, login: &str, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let path = format!("/api/v1{path}");
        match wire::send(self.inner.process.port, Some(self.token(login)), method, &path, body) {
            Ok(answer) => answer,
            Err(error) => panic!("{method} {path} got no answer: {error}\n{}", self.log()),
        }
    }

    /// Sends a form in somebody's name, as a browser does, and takes any answer.
    #[track_caller]
    pub fn fill_in(&self, login: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let port = self.inner.process.port;
        match web::Session::of(port, login).and_then(|mut session| session.post(path, fields)) {
            Ok(answer) => answer,
            Err(error) => panic!("the form of {path} got no answer: {error}\n{}", self.log()),
        }
    }

    /// What the server wrote into its log so far.
    pub fn log(&self) -> String {
        self.inner.process.log()
    }

    /// A name that nothing on this server has yet.
    fn fresh(&self, what: &str) -> String {
        format!("{what}-{}", self.inner.made.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// A folder that goes with the server.
    fn folder(&self, name: &str) -> PathBuf {
        self.inner.process.folder.join(name)
    }
}

/// Everything in a folder, again in another.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
