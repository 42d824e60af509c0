//! A repository on a real server, a proxy in front of it, and the program run against it as people run it.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use referee_core::model::PullNumber;
use referee_testkit::proxy::Proxy;
use referee_testkit::server::{RealServer, ServerBuild, ServerPerson, ServerRepo};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A repository, and where referee runs: a machine without a checkout and without a file of its own.
pub(crate) struct Site {
    pub(crate) repo: ServerRepo,
    /// Counts and breaks what passes between referee and the server.
    pub(crate) proxy: Proxy,
    home: TempDir,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Site {
    /// A repository with these files on `main`, `referee.toml` among them if the test wants one.
    pub(crate) fn new(build: ServerBuild, files: &[(&str, &str)]) -> Self {
        Self::on_server(&RealServer::shared(build), files)
    }

    /// The same on a server of one's own.
    pub(crate) fn on_server(server: &RealServer, files: &[(&str, &str)]) -> Self {
        let proxy = Proxy::in_front_of(&server.url());
        Self { repo: server.create_repo(files), proxy, home: TempDir::new().expect("a folder") }
    }

    /// A new pull by alice.
    pub(crate) fn open(&self, branch: &str, files: &[(&str, &str)]) -> PullNumber {
        self.repo.as_("alice").open_pull(branch, files)
    }

    /// Somebody at a pull.
    pub(crate) fn at(&self, login: &str, pull: PullNumber) -> ServerPerson {
        self.repo.as_(login).on(pull)
    }

    /// The pull's page, as it is reached through the proxy.
    pub(crate) fn page(&self, pull: PullNumber) -> String {
        format!("{}/{}/pulls/{}", self.proxy.url(), self.repo.full_name(), pull.0)
    }

    /// `referee VERB <page> …`.
    pub(crate) fn on(&self, verb: &str, pull: PullNumber, args: &[&str]) -> Ran {
        let page = self.page(pull);
        self.run(&[&[verb, &page], args].concat())
    }

    /// The same with `--json`: the document, whatever the run ends with.
    pub(crate) fn told(&self, verb: &str, pull: PullNumber, args: &[&str]) -> Value {
        let ran = self.on(verb, pull, &[args, &["--json"]].concat());
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", ran.out, ran.err))
    }

    /// A report of a role at the pull's head, handed in; the document of the run.
    pub(crate) fn report(&self, pull: PullNumber, role: &str, report: Value) -> Value {
        let file = self.full_report(pull, role, report);
        self.told("review", pull, &["--role", role, "--report", &file])
    }

    /// A file with a report that has what it must have, unless it says otherwise; its path as an argument.
    pub(crate) fn full_report(&self, pull: PullNumber, role: &str, report: Value) -> String {
        let files = self.repo.as_("alice").send("GET", &format!("/pulls/{}/files?page=1&limit=50", pull.0), None);
        let names: Vec<Value> = files.json().expect("the changed files");
        let read: Vec<Value> = names.iter().map(|file| file["filename"].clone()).collect();
        let mut full = json!({
            "schema": "referee/report-1", "role": role, "head": self.at("alice", pull).head().as_str(),
            "outcome": if report.get("findings").is_some() { "findings" } else { "clean" },
            "coverage": { "read": read, "skipped": [] },
        });
        for (key, value) in report.as_object().expect("an object") {
            full[key] = value.clone();
        }
        let path = self.path(&format!("{role}-{}.json", pull.0));
        std::fs::write(&path, full.to_string()).expect("a file");
        path.display().to_string()
    }

    /// The program.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.referee(args).output().expect("referee runs"))
    }

    /// The program, not started yet: as the bot `referee`, with nothing of this machine but git.
    pub(crate) fn referee(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        command
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("a PATH"))
            .env("HOME", self.home.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .env("TMPDIR", self.home.path())
            .env("REFEREE_TOKEN", self.repo.server().token("referee"))
            .current_dir(self.home.path())
            .stdin(Stdio::null());
        command
    }

    /// A clone of the repository on a branch, as somebody has it on their machine.
    pub(crate) fn clone_of(&self, branch: &str) -> PathBuf {
        let (url, folder) = (format!("{}/{}.git", self.proxy.url(), self.repo.full_name()), self.path("clone"));
        let mut git = Command::new("git");
        git.args(["clone", "--quiet", "--branch", branch, &url]).arg(&folder).env("HOME", self.home.path());
        let cloned = Ran::of(git.output().expect("git runs"));
        assert_eq!(cloned.code, 0, "{}", cloned.err);
        folder
    }

    /// A file of this machine.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// This machine forgets all it knew: state and caches (LOOP-7).
    pub(crate) fn forget(&self) {
        for folder in [".local", ".cache"] {
            let _ = std::fs::remove_dir_all(self.path(folder));
        }
    }
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code().unwrap_or(-1), out: words(&output.stdout), err: words(&output.stderr) }
    }
}
