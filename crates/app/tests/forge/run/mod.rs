//! Workers that referee runs, on real servers. A script plays the agent.

mod cron;
mod ends;
mod failures;
mod killed;
mod life;
mod one;
mod policy;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use referee_core::model::{PullNumber, Sha};
use referee_testkit::server::{OWNER, ServerBuild};
use serde_json::{Value, json};

use crate::site::{RunOutput, TestSite};

/// A repository with a project whose workers all run one script of testkit.
struct WorkerProject {
    site: TestSite,
}

impl WorkerProject {
    fn new(build: ServerBuild, script: &str) -> Self {
        Self::with(build, &[("README.md", "# shop\n")], script)
    }

    /// With these files on `main`.
    fn with(build: ServerBuild, files: &[(&str, &str)], script: &str) -> Self {
        let site = TestSite::new(build, files);
        for name in ["wip", "ready", "bug"] {
            site.repo.as_(OWNER).send("POST", "/labels", Some(&json!({"name": name, "color": "#ee0701"})));
        }
        fs::write(site.path("token"), site.repo.server().token("referee")).expect("a file");
        let project = Self { site };
        project.project("");
        project.set_worker(script, "5m");
        project
    }

    /// The project's file, with more lines.
    fn project(&self, more: &str) {
        let kinds = ["findings", "rebase", "ci-fix", "self-review", "sr-fix", "address-feedback", "impl"];
        let workers: String = kinds.iter().map(|kind| format!("  {kind}: hand\n")).collect();
        let project = format!(
            "repo: {}\napi_base: {}/api/v1\ntoken_path: token\nuser: referee\nassign: ruth\n{more}workers:\n{workers}",
            self.site.repo.full_name(),
            self.site.proxy.url(),
        );
        fs::write(self.site.path("api.yaml"), project).expect("a file");
    }

    /// Makes this script, with its arguments, the worker of every job.
    fn set_worker(&self, script: &str, timeout: &str) {
        let mut words = script.split(' ');
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/worker").join(words.next().expect("a name"));
        let argv: Vec<String> =
            ["sh".to_owned(), file.display().to_string()].into_iter().chain(words.map(str::to_owned)).collect();
        let operator = format!(
            "[agents.script]\nargv = {argv:?}\n[workers.hand]\nagent = \"script\"\ntimeout = \"{timeout}\"\nsandbox = 1\n",
        );
        fs::write(self.site.path("operator.toml"), operator).expect("a file");
    }

    /// `referee dispatch`, not started yet.
    fn command(&self, args: &[&str]) -> Command {
        let (project, operator) = (self.site.path("api.yaml"), self.site.path("operator.toml"));
        let (project, operator) = (project.display().to_string(), operator.display().to_string());
        let args = [&["--operator", operator.as_str(), "dispatch", &project], args].concat();
        let mut command = self.site.referee(&args);
        command.env_remove("REFEREE_TOKEN");
        command
    }

    fn pass(&self, args: &[&str]) -> RunOutput {
        RunOutput::from_output(self.command(args).output().expect("referee runs"))
    }

    /// Runs a pass with `--run`, asserts its exit code and returns `worker` of its document.
    #[track_caller]
    fn worker(&self, code: i32) -> Value {
        let ran = self.pass(&["--run", "--json"]);
        assert_eq!(ran.code, code, "{}\n{}", ran.out, ran.err);
        let document: Value = serde_json::from_str(&ran.out).expect("a document");
        assert!(document["worker"].is_object(), "nobody was started: {document:#}");
        document["worker"].clone()
    }

    /// Runs a pass and asserts that its worker completes this kind of job and releases its claim.
    #[track_caller]
    fn assert_done(&self, kind: &str) -> Value {
        let worker = self.worker(0);
        assert_eq!((&worker["type"], &worker["outcome"]), (&json!(kind), &json!("done")), "{worker:#}");
        let number = worker["number"].as_u64().expect("a number");
        self.assert_unclaimed(number);
        if let Some(pushed) = worker["pushed"].as_str() {
            self.site.at("alice", PullNumber(number)).wait_for_head(&Sha::from(pushed));
        }
        worker
    }

    /// Asserts that a pass starts no worker.
    #[track_caller]
    fn assert_starts_nothing(&self) {
        let ran = self.pass(&["--run"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    }

    /// Asserts that further passes write nothing and start no worker, also without local state.
    #[track_caller]
    fn assert_quiet(&self) {
        let seen = self.site.proxy.write_count();
        for _ in 0..2 {
            self.assert_starts_nothing();
            assert_eq!(self.site.proxy.write_count(), seen, "{:#?}", self.site.proxy.log());
            self.site.forget();
        }
    }

    /// Asserts that after a failed worker the claim is released, a person is asked once, and nothing more is written.
    #[track_caller]
    fn assert_person_asked(&self, pull: PullNumber) {
        self.assert_unclaimed(pull.0);
        self.assert_starts_nothing();
        self.assert_quiet();
        let comments = self.comments(pull.0);
        assert_eq!(comments.matches("@ruth, this pull needs").count(), 1, "{comments}");
    }

    /// Asserts DSP-14: neither claim nor label is left on a pull or an issue.
    #[track_caller]
    fn assert_unclaimed(&self, number: u64) {
        let alice = self.site.repo.as_("alice");
        let answer = alice.send("GET", &format!("/issues/{number}/reactions"), None);
        let claims: Value = answer.json().expect("reactions");
        assert!(claims.as_array().is_none_or(Vec::is_empty), "{claims}");
        let issue: Value = alice.send("GET", &format!("/issues/{number}"), None).json().expect("an issue");
        assert!(!issue["labels"].to_string().contains("\"wip\""), "{}", issue["labels"]);
    }

    /// Opens an issue by alice.
    fn issue(&self, title: &str) -> u64 {
        let body = json!({ "title": title, "body": "it is missing" });
        let issue: Value = self.site.repo.as_("alice").send("POST", "/issues", Some(&body)).json().expect("an issue");
        issue["number"].as_u64().unwrap_or_else(|| panic!("{issue}"))
    }

    /// Opens a pull with a failed check.
    fn red(&self, branch: &str) -> PullNumber {
        let pull = self.site.open(branch, &[(&format!("src/{branch}.rs"), "fn a() {}\n")]);
        self.site.at("alice", pull).report_check("ci", "failure");
        pull
    }

    fn labels(&self, pull: PullNumber) -> usize {
        self.site.at("alice", pull).fetch_pull()["labels"].as_array().expect("labels").len()
    }

    fn comments(&self, number: u64) -> String {
        let path = format!("/issues/{number}/comments");
        let rows: Vec<Value> = self.site.repo.as_("alice").send("GET", &path, None).json().expect("comments");
        rows.iter().map(|row| format!("{}\n", row["body"].as_str().unwrap_or_default())).collect()
    }

    /// SAF-1: of all that left since the proxy began to count, nothing merges, closes or takes away but an own label
    /// and an own claim; and a push goes nowhere but through git.
    #[track_caller]
    fn assert_harmless(&self) {
        for seen in self.site.proxy.log().iter().filter(|seen| !seen.is_read()) {
            let path = seen.path.split_once(&self.site.repo.full_name()).expect("a path in the repository").1;
            let parts: Vec<&str> = path.split('/').collect();
            let known = matches!(
                (seen.method.as_str(), parts.as_slice()),
                ("POST", ["", "issues", _, "comments" | "labels" | "reactions"] | ["", "pulls"])
                    | ("POST", ["", "pulls", _, "reviews"] | ["", "pulls", _, "reviews", _, "comments"])
                    | ("POST", ["", "pulls", _, "comments", _, "replies"] | ["", "pulls", "comments", _, "resolve"])
                    | ("POST", ["", "statuses", _] | [".git", "git-receive-pack"])
                    | ("PATCH", ["", "issues", "comments", _] | ["", "issues", _])
                    | ("DELETE", ["", "issues", _, "reactions"] | ["", "issues", _, "labels", _])
            );
            assert!(known, "{seen:?}");
        }
    }
}

/// Looks until there is something, as long as a start of a process takes anywhere.
#[track_caller]
fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        match look() {
            Some(it) => return it,
            None => assert!(begun.elapsed() < Duration::from_secs(60), "it does not come"),
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
}
