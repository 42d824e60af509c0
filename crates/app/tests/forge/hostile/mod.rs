//! A worker that does every wrong thing, run on real servers. Whatever it tries, its pull's branch is all that can move, and
//! what it tried is told.

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
use crate::site::{Ran, Site};

/// A repository whose jobs are all done by `hostile.sh`.
struct Den {
    site: Site,
    pulls: Cell<u32>,
}

/// What came of one run of it.
struct Fate {
    pull: PullNumber,
    /// The pull's head before and after.
    heads: [Sha; 2],
    /// The pass's `worker`.
    worker: Value,
    /// The pull's comments.
    said: String,
    /// What the worker printed.
    log: String,
    /// Its folder.
    folder: PathBuf,
    ran: Ran,
}

/// The tier that keeps in whoever wants out, and the one below it.
const SEALED: &str = "timeout = \"5m\"\nsandbox = 2\n";
const APART: &str = "timeout = \"5m\"\nsandbox = 1\n";

/// What a worker gets whose entry names it.
const MODEL_KEY: &str = "a-key-that-is-made-up";

impl Den {
    fn new(build: ServerBuild) -> Self {
        let site = Site::new(build, &[("README.md", "# shop\n")]);
        for name in ["wip", "ready"] {
            site.repo.as_("owner").send("POST", "/labels", Some(&json!({"name": name, "color": "#ee0701"})));
        }
        fs::write(site.path("token"), site.repo.server().token("referee")).expect("a file");
        let project = format!(
            "repo: {}\napi_base: {}/api/v1\ntoken_path: token\nuser: referee\nassign: ruth\n\
             workers: {{ ci-fix: hand, findings: hand }}\n",
            site.repo.full_name(),
            site.proxy.url(),
        );
        fs::write(site.path("api.yaml"), project).expect("a file");
        Self { site, pulls: Cell::new(0) }
    }

    /// The worker's run on a new pull whose check is red.
    #[track_caller]
    fn send(&self, entry: &str, words: &[&str]) -> Fate {
        let pull = self.open();
        self.site.at("alice", pull).report_check("ci", "failure");
        let fate = self.send_to(pull, entry, words);
        self.site.at("alice", pull).close();
        fate
    }

    fn open(&self) -> PullNumber {
        let number = self.pulls.get() + 1;
        self.pulls.set(number);
        self.site.open(&format!("topic-{number}"), &[(&format!("src/topic_{number}.rs"), "fn a() {}\n")])
    }

    /// The worker's run on a pull. What holds after every one of them is asserted here.
    #[track_caller]
    fn send_to(&self, pull: PullNumber, entry: &str, words: &[&str]) -> Fate {
        let alice = self.site.at("alice", pull);
        let branch = format!("topic-{}", self.pulls.get());
        let (before, others) = (alice.head(), self.branches(&branch));
        let ran = self.pass(entry, words, &["--json"]);
        let document: Value = serde_json::from_str(&ran.out)
            .unwrap_or_else(|error| panic!("the pass prints its document alone: {error}\n{}\n{}", ran.out, ran.err));
        let worker = document["worker"].clone();
        assert_eq!(worker["number"], pull.0, "{}\n{}", ran.out, ran.err);
        let log = PathBuf::from(worker["log"].as_str().expect("it was started"));
        let fate = Fate {
            pull,
            heads: [before, alice.head()],
            said: self.comments(pull),
            folder: log.parent().expect("a folder").to_owned(),
            log: String::from_utf8_lossy(&fs::read(log).expect("a log")).into_owned(),
            worker,
            ran,
        };
        let seen = alice.fetch_pull();
        assert_eq!((&seen["state"], &seen["merged"]), (&json!("open"), &json!(false)), "{fate:?}");
        assert_eq!(seen["labels"], json!([]), "{fate:?}");
        assert_eq!(self.reactions(pull), 0, "the claim is given back: {fate:?}");
        assert_eq!(self.branches(&branch), others, "{fate:?}");
        assert!(fate.log.contains("SPAWN:merge:1:\nHANDOFF:1\n"), "its prints are log text: {fate:?}");
        assert!(!format!("{}{}{}", fate.ran.out, fate.ran.err, fate.said).contains("HANDOFF:1"), "{fate:?}");
        self.nothing_secret(&fate);
        fate
    }

    /// One pass with the worker as its only hand.
    fn pass(&self, entry: &str, words: &[&str], args: &[&str]) -> Ran {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/worker/hostile.sh");
        let script = script.canonicalize().expect("the script").display().to_string();
        let argv = json!([&[script.as_str()], words].concat());
        let operator = format!("[agents.hostile]\nargv = {argv}\n[workers.hand]\nagent = \"hostile\"\n{entry}");
        fs::write(self.site.path("operator.toml"), operator).expect("a file");
        let [operator, project] = ["operator.toml", "api.yaml"].map(|name| self.site.path(name).display().to_string());
        let args = [&["--operator", &operator, "dispatch", &project, "--run"], args].concat();
        Ran::of(self.site.referee(&args).env("MODEL_KEY", MODEL_KEY).output().expect("referee runs"))
    }

    /// Every branch but one, and where it is.
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

    /// No token is in what the pass or the worker said, nor in any file that was left on this machine (SAF-4).
    #[track_caller]
    fn nothing_secret(&self, fate: &Fate) {
        let told = format!("{}{}{}{}", fate.ran.out, fate.ran.err, fate.said, fate.log);
        let kept = self.site.path("token");
        let files: Vec<(PathBuf, Vec<u8>)> = files(&self.site.path("."))
            .into_iter()
            .filter(|path| *path != kept)
            .map(|path| (path.clone(), fs::read(path).unwrap_or_default()))
            .collect();
        assert!(files.iter().any(|(path, _)| path.ends_with("job/job.json")), "{files:?}");
        for token in self.site.repo.server().tokens() {
            assert!(!told.contains(token), "{told}");
            for (path, bytes) in &files {
                let found = bytes.windows(token.len()).any(|part| part == token.as_bytes());
                assert!(!found, "a token is in `{}`", path.display());
            }
        }
    }
}

impl Fate {
    /// Nothing was pushed, and how it ended and why is on the pull and in what the pass says.
    #[track_caller]
    fn refused(&self, outcome: &str, why: &str) {
        assert_eq!(self.heads[0], self.heads[1], "{self:?}");
        assert_eq!((&self.worker["outcome"], &self.worker["pushed"]), (&json!(outcome), &Value::Null), "{self:?}");
        assert_ne!(self.ran.code, 0, "{self:?}");
        assert!(self.worker.to_string().contains(why), "{why}: {self:?}");
        assert!(self.said.contains(why), "{why}: {self:?}");
    }

    /// What it left was pushed to the pull's branch.
    #[track_caller]
    fn pushed(&self) {
        assert_eq!(self.worker["outcome"], "done", "{self:?}");
        assert_eq!(self.worker["pushed"], self.heads[1].as_str(), "{self:?}");
        assert_ne!(self.heads[0], self.heads[1], "{self:?}");
    }
}

/// The beginnings: a worker may say a lot.
impl fmt::Debug for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pull, heads, worker, said, log, folder: _, ran } = self;
        writeln!(f, "{pull:?} {heads:?} {}", ran.code)?;
        [worker.to_string().as_str(), said, log, &ran.err].iter().try_for_each(|text| writeln!(f, "---\n{text:.2000}"))
    }
}

/// A server's share of the cases: in a plain run every case is tried on one of the three.
fn share<T>(build: ServerBuild, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let nth = match build {
        ServerBuild::Gitea126 => 0,
        ServerBuild::Gitea127 => 1,
        ServerBuild::Forgejo10 => 2,
    };
    let servers = times(3, 1);
    cases.into_iter().enumerate().filter(move |(at, _)| at % servers == nth % servers).map(|(_, case)| case)
}

/// All files of a folder, links left out.
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
