//! Dispatch on real servers: one pull in each state, and concurrent passes, without local state.

mod at_once;
mod authors;
mod blocks;
mod bulk;
mod crashes;
mod handoff;
mod invariants;
mod issues;
mod lost;
mod reviewers;
mod states;

use std::process::Command;

use referee_core::model::{PullNumber, Sha};
use referee_testkit::server::{OWNER, ServerBuild};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::site::{RunOutput, TestSite};

/// A repository with a project: `referee` fixes, `sec` reviews for the bot `sonnet`, `ruth` takes over. The role `alpha`
/// reads what is in `role/`.
struct Project {
    site: TestSite,
    file: String,
}

/// A pull and its head.
#[derive(Clone, Debug)]
struct OpenedPull {
    pull: PullNumber,
    head: Sha,
}

const ROLE: &str = "version = 1\n[review]\nstart = \"ci_green\"\n\
                    [[role]]\nname = \"alpha\"\nbuiltin = true\npaths = [\"role/**\"]\n";

impl Project {
    fn new(build: ServerBuild) -> Self {
        let site = TestSite::new(build, &[("README.md", "# shop\n"), ("referee.toml", ROLE)]);
        let owner = site.repo.as_(OWNER);
        for name in ["wip", "ready", "bug"] {
            owner.send("POST", "/labels", Some(&json!({"name": name, "color": "#ee0701"})));
        }
        std::fs::write(site.path("token"), site.repo.server().token("referee")).expect("a file");
        let mut project = Self { site, file: String::new() };
        project.file = project.write_project_file("api", "");
        project
    }

    /// One more file of the project, with more lines.
    fn write_project_file(&self, name: &str, more: &str) -> String {
        let labels: Vec<Value> =
            self.site.repo.as_(OWNER).send("GET", "/labels?page=1&limit=50", None).json().expect("labels");
        let id = |name: &str| labels.iter().find(|label| label["name"] == name).expect("a label")["id"].clone();
        let text = format!(
            "repo: {}\napi_base: {}/api/v1\ntoken_path: token\nuser: referee\nlabels:\n  wip: {}\n  ready: {}\n\
             review_bots: [sonnet, alpha]\nreview_users: [sec, referee]\nassign: ruth\n{more}",
            self.site.repo.full_name(),
            self.site.proxy.url(),
            id("wip"),
            id("ready"),
        );
        let path = self.site.path(&format!("{name}.yaml"));
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    }

    /// Pulls of alice's that are ready but for what a test does to them next.
    fn pulls<const N: usize>(&self, names: [&str; N]) -> [OpenedPull; N] {
        let mut heads = self.branches(&names).into_iter();
        names.map(|name| {
            let it = self.open(name, heads.next().expect("a head"));
            self.settle(&it);
            it
        })
    }

    /// Branches of alice's, each with `src/<name>.rs`; with one push, as a server takes its time over each.
    fn branches(&self, names: &[&str]) -> Vec<Sha> {
        let folder = TempDir::new().expect("a folder");
        let git = |args: &[&str]| {
            let who = ["-c", "user.name=alice", "-c", "user.email=alice@example.org"];
            let mut git = Command::new("git");
            git.args(who).args(args).current_dir(folder.path()).env("HOME", folder.path());
            let ran = RunOutput::from_output(git.output().expect("git runs"));
            assert_eq!(ran.code, 0, "git {args:?}: {}", ran.err);
            ran.out.trim().to_owned()
        };
        let token = self.site.repo.server().token("alice");
        let url = self.site.repo.url().replacen("://", &format!("://alice:{token}@"), 1);
        git(&["clone", "--quiet", &url, "."]);
        let head = |name: &&str| {
            let path = folder.path().join(if name.starts_with("role") { "role" } else { "src" });
            git(&["checkout", "--quiet", "--detach", "origin/main"]);
            std::fs::create_dir_all(&path).expect("a folder");
            std::fs::write(path.join(format!("{name}.rs")), "fn a() {}\n").expect("a file");
            git(&["add", "."]);
            git(&["commit", "--quiet", "--message", name]);
            git(&["branch", name]);
            Sha::from(git(&["rev-parse", "HEAD"]).as_str())
        };
        let heads = names.iter().map(head).collect();
        git(&[&["push", "--quiet", "origin"], names].concat());
        heads
    }

    /// Opens a pull by alice from a branch, without any review.
    fn open(&self, branch: &str, head: Sha) -> OpenedPull {
        let body = json!({ "title": branch, "head": branch, "base": "main" });
        let pull: Value = self.site.repo.as_("alice").send("POST", "/pulls", Some(&body)).json().expect("a pull");
        let number = pull["number"].as_u64().unwrap_or_else(|| panic!("{branch}: {pull}"));
        OpenedPull { pull: PullNumber(number), head }
    }

    /// Checks, the bot and the fixing side are content with the head.
    fn settle(&self, it: &OpenedPull) {
        let (alice, head) = (self.site.at("alice", it.pull), &it.head);
        alice.report_check("ci", "success");
        self.site.at("sec", it.pull).review_without_verdict(&evaluated(head, ""));
        self.site.at("referee", it.pull).comment(&format!("Self-review against {head}\n\nAssessment: ✅ Clean\n"));
    }

    /// `referee dispatch`, not started yet.
    fn command(&self, args: &[&str]) -> Command {
        self.command_for(&self.file, args)
    }

    /// The same for another file of the project.
    fn command_for(&self, file: &str, args: &[&str]) -> Command {
        let mut command = self.site.referee(&[&["dispatch", file], args].concat());
        command.env_remove("REFEREE_TOKEN");
        command
    }

    fn ran(&self, args: &[&str]) -> RunOutput {
        RunOutput::from_output(self.command(args).output().expect("referee runs"))
    }

    /// The lines of a pass that must go well, in order of their words.
    #[track_caller]
    fn lines(&self, args: &[&str]) -> Vec<String> {
        self.lines_for(&self.file, args)
    }

    #[track_caller]
    fn lines_for(&self, file: &str, args: &[&str]) -> Vec<String> {
        let ran = RunOutput::from_output(self.command_for(file, args).output().expect("referee runs"));
        assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
        let mut lines: Vec<String> = ran.out.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    /// What a dry run tells of everything.
    #[track_caller]
    fn json(&self, file: &str) -> Value {
        let ran =
            RunOutput::from_output(self.command_for(file, &["--dry-run", "--json"]).output().expect("referee runs"));
        assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
        serde_json::from_str(&ran.out).expect("a document")
    }

    /// S1, S9: whatever was done since the proxy began to count, nothing that merges, closes or takes away left, but for
    /// an own label and an own claim; and everybody's pulls are where they were.
    #[track_caller]
    fn assert_harmless(&self) {
        for seen in self.site.proxy.log().iter().filter(|seen| !seen.is_read()) {
            let path = seen.path.split_once(&self.site.repo.full_name()).expect("a path in the repository").1;
            let parts: Vec<&str> = path.split('/').skip(1).collect();
            let known = matches!(
                (seen.method.as_str(), parts.as_slice()),
                ("POST", ["issues", _, "comments" | "labels" | "reactions"])
                    | ("PATCH", ["issues", "comments", _] | ["issues", _])
                    | ("DELETE", ["issues", _, "reactions"] | ["issues", _, "labels", _])
            );
            assert!(known, "{seen:?}");
        }
    }

    fn labels(&self, pull: PullNumber) -> Vec<String> {
        let labels = self.site.at("alice", pull).fetch_pull()["labels"].clone();
        let names = labels.as_array().expect("labels").iter();
        names.map(|label| label["name"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

impl OpenedPull {
    /// The line for a worker at this head.
    fn spawn(&self, kind: &str) -> String {
        format!("SPAWN:{kind}:{}:{}", self.pull.0, self.head)
    }
}

/// A review in the words of the bot `sonnet`.
fn evaluated(head: &Sha, more: &str) -> String {
    format!("# Review\n\n<!-- review-bot:sonnet -->\n\nEvaluated against {}\n\n{more}", &head.as_str()[..8])
}

/// A row of a pass.
fn row(document: &Value, pull: PullNumber) -> &Value {
    let pulls = document["pulls"].as_array().expect("pulls");
    pulls.iter().find(|row| row["number"] == pull.0).unwrap_or_else(|| panic!("{pull} is missing: {document:#}"))
}

/// Why a pull is where it is: rule, what happens next, on whom or which worker, all facts.
fn why(document: &Value, pull: PullNumber) -> [String; 4] {
    let row = row(document, pull);
    let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let next = &row["next"];
    let on = if next["cause"].is_null() { &next["on"] } else { &next["cause"] };
    let facts = row["reason"]["facts"].as_array().expect("facts").iter().map(string).collect::<Vec<_>>();
    [string(&row["reason"]["rule"]), string(&next["kind"]), string(on), facts.join("; ")]
}

/// Retries until there is a result: the server's clock has a resolution of seconds.
#[track_caller]
fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    (0..60).find_map(|_| look()).expect("it comes within many looks")
}
