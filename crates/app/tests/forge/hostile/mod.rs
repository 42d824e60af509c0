//! A hostile worker on real servers. Whatever it tries, only the branch of its pull can change, and the attempt is
//! reported.

mod ends;
mod folder;
mod history;
mod network;
mod paths;
mod results;
mod secrets;

use std::cell::Cell;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use referee_core::model::{PullNumber, Sha};
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::chance::times;
use crate::site::{RunOutput, TestSite};

/// A repository whose workers all run `hostile.sh`.
struct HostileProject {
    site: TestSite,
    pulls: Cell<u32>,
}

/// The outcome of one run of the hostile worker.
struct HostileRun {
    pull: PullNumber,
    /// The pull's head before and after.
    heads: [Sha; 2],
    /// `worker` of the pass document.
    worker: Value,
    comments: String,
    /// The worker's output.
    log: String,
    /// The job folder.
    folder: PathBuf,
    ran: RunOutput,
}

const TIER_2: &str = "timeout = \"5m\"\nsandbox = 2\n";
const TIER_1: &str = "timeout = \"5m\"\nsandbox = 1\n";

/// The value of a variable that the entry passes to the worker.
const MODEL_KEY: &str = "a-key-that-is-made-up";

impl HostileProject {
    fn new(build: ServerBuild) -> Self {
        let site = TestSite::new(build, &[("README.md", "# shop\n")]);
        for name in ["wip", "ready"] {
            site.repo.as_("owner").send("POST", "/labels", Some(&json!({"name": name, "color": "#ee0701"})));
        }
        fs::write(site.path("token"), site.repo.server().token("referee")).expect("a file");
        let project = format!(
            "repo: {}\napi_base: {}/api/v1\ntoken_path: token\nuser: referee\nassign: ruth\n\
             workers: {{ ci-fix: hand, findings: hand, rebase: hand }}\n",
            site.repo.full_name(),
            site.proxy.url(),
        );
        fs::write(site.path("api.yaml"), project).expect("a file");
        Self { site, pulls: Cell::new(0) }
    }

    /// Runs the worker on a new pull with a failed check.
    #[track_caller]
    fn run_worker(&self, entry: &str, words: &[&str]) -> HostileRun {
        let pull = self.open();
        self.site.at("alice", pull).report_check("ci", "failure");
        let attempt = self.run_worker_on(pull, entry, words);
        self.site.at("alice", pull).close();
        attempt
    }

    /// Runs the worker on a new pull of two commits, one of which conflicts with the base. The other one adds
    /// `src/topic_<n>.rs`.
    #[track_caller]
    fn run_rebase(&self, words: &[&str]) -> HostileRun {
        let pull = self.open();
        let alice = self.site.at("alice", pull);
        alice.push("README.md", |_| format!("# alice's {}\n", pull.0));
        alice.push_base("README.md", |_| format!("# the shop {}\n", pull.0));
        let attempt = self.run_worker_on(pull, TIER_1, words);
        assert_eq!(attempt.worker["type"], "rebase", "{attempt:?}");
        alice.close();
        attempt
    }

    fn open(&self) -> PullNumber {
        let number = self.pulls.get() + 1;
        self.pulls.set(number);
        self.site.open(&format!("topic-{number}"), &[(&format!("src/topic_{number}.rs"), "fn a() {}\n")])
    }

    /// Runs the worker on a pull, and asserts what must hold after every run.
    #[track_caller]
    fn run_worker_on(&self, pull: PullNumber, entry: &str, words: &[&str]) -> HostileRun {
        let alice = self.site.at("alice", pull);
        let branch = format!("topic-{}", self.pulls.get());
        let (before, others) = (alice.head(), self.branches(&branch));
        let ran = self.pass(entry, words, &["--json"]);
        let document: Value = serde_json::from_str(&ran.out)
            .unwrap_or_else(|error| panic!("the pass prints its document alone: {error}\n{}\n{}", ran.out, ran.err));
        let worker = document["worker"].clone();
        assert_eq!(worker["number"], pull.0, "{}\n{}", ran.out, ran.err);
        let log = PathBuf::from(worker["log"].as_str().expect("it was started"));
        let attempt = HostileRun {
            pull,
            heads: [before, alice.head()],
            comments: self.comments(pull),
            folder: log.parent().expect("a folder").to_owned(),
            log: String::from_utf8_lossy(&fs::read(log).expect("a log")).into_owned(),
            worker,
            ran,
        };
        let seen = alice.fetch_pull();
        assert_eq!((&seen["state"], &seen["merged"]), (&json!("open"), &json!(false)), "{attempt:?}");
        assert_eq!(seen["labels"], json!([]), "{attempt:?}");
        assert_eq!(self.reactions(pull), 0, "the claim is given back: {attempt:?}");
        assert_eq!(self.branches(&branch), others, "{attempt:?}");
        assert!(attempt.log.contains("SPAWN:merge:1:\nHANDOFF:1\n"), "its prints are log text: {attempt:?}");
        assert!(
            !format!("{}{}{}", attempt.ran.out, attempt.ran.err, attempt.comments).contains("HANDOFF:1"),
            "{attempt:?}"
        );
        self.assert_no_secret(&attempt);
        attempt
    }

    /// Runs one pass in which the hostile worker does every job.
    fn pass(&self, entry: &str, words: &[&str], args: &[&str]) -> RunOutput {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/worker/hostile.sh");
        let script = script.canonicalize().expect("the script").display().to_string();
        let argv = json!([&[script.as_str()], words].concat());
        let operator = format!("[agents.hostile]\nargv = {argv}\n[workers.hand]\nagent = \"hostile\"\n{entry}");
        fs::write(self.site.path("operator.toml"), operator).expect("a file");
        let [operator, project] = ["operator.toml", "api.yaml"].map(|name| self.site.path(name).display().to_string());
        let args = [&["--operator", &operator, "dispatch", &project, "--run"], args].concat();
        RunOutput::from_output(self.site.referee(&args).env("MODEL_KEY", MODEL_KEY).output().expect("referee runs"))
    }

    /// Returns every branch except one, with its tip.
    fn branches(&self, but: &str) -> Vec<(Value, Value)> {
        let rows: Vec<Value> =
            self.site.repo.as_("alice").send("GET", "/branches?page=1&limit=50", None).json().expect("branches");
        let rows = rows.iter().filter(|row| row["name"] != but);
        rows.map(|row| (row["name"].clone(), row["commit"]["id"].clone())).collect()
    }

    fn reactions(&self, pull: PullNumber) -> usize {
        let path = format!("/issues/{}/reactions", pull.0);
        let rows: Value = self.site.repo.as_("alice").send("GET", &path, None).json().expect("reactions");
        rows.as_array().map_or(0, Vec::len)
    }

    fn comments(&self, pull: PullNumber) -> String {
        let path = format!("/issues/{}/comments", pull.0);
        let rows: Vec<Value> = self.site.repo.as_("alice").send("GET", &path, None).json().expect("comments");
        rows.iter().map(|row| format!("{}\n", row["body"].as_str().unwrap_or_default())).collect()
    }

    /// Asserts that no token is in the output of the pass or the worker, nor in any file left on this machine (SAF-4).
    #[track_caller]
    fn assert_no_secret(&self, attempt: &HostileRun) {
        let texts = format!("{}{}{}{}", attempt.ran.out, attempt.ran.err, attempt.comments, attempt.log);
        let kept = self.site.path("token");
        let files: Vec<(PathBuf, Vec<u8>)> = files(&self.site.path("."))
            .into_iter()
            .filter(|path| *path != kept)
            .map(|path| (path.clone(), fs::read(path).unwrap_or_default()))
            .collect();
        assert!(files.iter().any(|(path, _)| path.ends_with("job/job.json")), "{files:?}");
        for token in self.site.repo.server().tokens() {
            assert!(!texts.contains(token), "{texts}");
            for (path, bytes) in &files {
                let found = bytes.windows(token.len()).any(|part| part == token.as_bytes());
                assert!(!found, "a token is in `{}`", path.display());
            }
        }
    }
}

impl HostileRun {
    /// Asserts that nothing was pushed, and that outcome and reason are on the pull and in the pass document.
    #[track_caller]
    fn assert_refused(&self, outcome: &str, why: &str) {
        assert_eq!(self.heads[0], self.heads[1], "{self:?}");
        assert_eq!((&self.worker["outcome"], &self.worker["pushed"]), (&json!(outcome), &Value::Null), "{self:?}");
        assert_ne!(self.ran.code, 0, "{self:?}");
        assert!(self.worker.to_string().contains(why), "{why}: {self:?}");
        assert!(self.comments.contains(why), "{why}: {self:?}");
    }

    /// Asserts that a value is in nothing that leaves the worker: its log, the texts on the pull, what referee prints.
    #[track_caller]
    fn assert_hides(&self, value: &str) {
        let texts = format!("{}{}{}{}{}", self.worker, self.comments, self.log, self.ran.out, self.ran.err);
        assert!(!texts.contains(value), "{self:?}");
    }

    /// Asserts that the worker's commit was pushed to the pull's branch.
    #[track_caller]
    fn assert_pushed(&self) {
        assert_eq!(self.worker["outcome"], "done", "{self:?}");
        assert_eq!(self.worker["pushed"], self.heads[1].as_str(), "{self:?}");
        assert_ne!(self.heads[0], self.heads[1], "{self:?}");
    }
}

/// Shows only the beginning of each text: a worker may print a lot.
impl fmt::Debug for HostileRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pull, heads, worker, comments, log, folder: _, ran } = self;
        writeln!(f, "{pull:?} {heads:?} {}", ran.code)?;
        [worker.to_string().as_str(), comments, log, &ran.err]
            .iter()
            .try_for_each(|text| writeln!(f, "---\n{text:.2000}"))
    }
}

/// Selects a server's share of the cases: in a plain run every case runs on one of the three servers.
fn share<T>(build: ServerBuild, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let nth = match build {
        ServerBuild::Gitea126 => 0,
        ServerBuild::Gitea127 => 1,
        ServerBuild::Forgejo10 => 2,
    };
    let servers = times(3, 1);
    cases.into_iter().enumerate().filter(move |(at, _)| at % servers == nth % servers).map(|(_, case)| case)
}

/// Returns all files below a folder without following links.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&entry.path()),
            Ok(kind) if kind.is_file() => vec![entry.path()],
            _ => Vec::new(),
        })
        .collect()
}
