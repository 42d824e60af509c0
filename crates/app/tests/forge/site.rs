//! A repository on a real server with a proxy in front of it, and the program run against it.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use referee_core::model::PullNumber;
use referee_testkit::proxy::Proxy;
use referee_testkit::server::{RealServer, ServerBuild, ServerPerson, ServerRepo};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A repository on a server, and the machine on which referee runs: an empty home without a checkout.
pub(crate) struct TestSite {
    pub(crate) repo: ServerRepo,
    /// Counts the requests of referee and injects faults.
    pub(crate) proxy: Proxy,
    home: TempDir,
}

/// Exit code and output of a run.
#[derive(Debug)]
pub(crate) struct RunOutput {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl TestSite {
    /// A repository with these files on `main`, `referee.toml` among them if the test wants one.
    pub(crate) fn new(build: ServerBuild, files: &[(&str, &str)]) -> Self {
        Self::on_server(&RealServer::shared(build), files)
    }

    /// The same on a given server.
    pub(crate) fn on_server(server: &RealServer, files: &[(&str, &str)]) -> Self {
        let proxy = Proxy::in_front_of(&server.url());
        Self { repo: server.create_repo(files), proxy, home: TempDir::new().expect("a folder") }
    }

    /// Opens a pull by alice.
    pub(crate) fn open(&self, branch: &str, files: &[(&str, &str)]) -> PullNumber {
        self.repo.as_("alice").open_pull(branch, files)
    }

    /// Returns a person acting on a pull.
    pub(crate) fn at(&self, login: &str, pull: PullNumber) -> ServerPerson {
        self.repo.as_(login).on(pull)
    }

    /// Returns the URL of the pull's page behind the proxy.
    pub(crate) fn page(&self, pull: PullNumber) -> String {
        format!("{}/{}/pulls/{}", self.proxy.url(), self.repo.full_name(), pull.0)
    }

    /// Runs `referee VERB <page> …`.
    pub(crate) fn on(&self, verb: &str, pull: PullNumber, args: &[&str]) -> RunOutput {
        let page = self.page(pull);
        self.run(&[&[verb, &page], args].concat())
    }

    /// Runs the same with `--json` and returns the document, whatever the exit code.
    pub(crate) fn json(&self, verb: &str, pull: PullNumber, args: &[&str]) -> Value {
        let ran = self.on(verb, pull, &[args, &["--json"]].concat());
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}\n{}\n{}", ran.out, ran.err))
    }

    /// Hands in a report of a role for the pull's head and returns the document of the run.
    pub(crate) fn report(&self, pull: PullNumber, role: &str, report: Value) -> Value {
        let file = self.full_report(pull, role, report);
        self.json("review", pull, &["--role", role, "--report", &file])
    }

    /// Writes a report, completed with the required fields that it does not set, and returns its path as an argument.
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

    /// Runs the program.
    pub(crate) fn run(&self, args: &[&str]) -> RunOutput {
        RunOutput::from_output(self.referee(args).output().expect("referee runs"))
    }

    /// Returns the command line of a run as the bot `referee`, isolated from this machine except for git.
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

    /// Clones the repository and checks out a branch.
    pub(crate) fn clone_of(&self, branch: &str) -> PathBuf {
        let (url, folder) = (format!("{}/{}.git", self.proxy.url(), self.repo.full_name()), self.path("clone"));
        let mut git = Command::new("git");
        git.args(["clone", "--quiet", "--branch", branch, &url]).arg(&folder).env("HOME", self.home.path());
        let cloned = RunOutput::from_output(git.output().expect("git runs"));
        assert_eq!(cloned.code, 0, "{}", cloned.err);
        folder
    }

    /// Returns a path below the home directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Deletes state and caches of this machine (LOOP-7).
    pub(crate) fn forget(&self) {
        for folder in [".local", ".cache"] {
            let _ = std::fs::remove_dir_all(self.path(folder));
        }
    }
}

impl RunOutput {
    pub(crate) fn from_output(output: Output) -> Self {
        let to_text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code().unwrap_or(-1), out: to_text(&output.stdout), err: to_text(&output.stderr) }
    }
}
