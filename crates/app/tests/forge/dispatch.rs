//! Dispatch on real servers: one pull in each state, two dispatchers at once, nothing kept on this machine.

use std::process::Command;

use referee_core::model::PullNumber;
use referee_testkit::proxy::{Fault, When};
use referee_testkit::server::Build;
use serde_json::{Value, json};

use crate::on_each_server;
use crate::site::{Ran, Site};

on_each_server! { every_state_gives_its_line two_at_once_name_one_worker an_issue_is_taken_when_no_pull_is_open }

/// A repository with a project: `referee` fixes, `sec` reviews for the bot `sonnet`, `ruth` takes over.
struct Project {
    site: Site,
    file: String,
}

impl Project {
    fn new(build: Build) -> Self {
        let site = Site::new(build, &[("README.md", "# shop\n")]);
        let owner = site.repo.as_("owner");
        for name in ["wip", "ready", "bug"] {
            owner.ask("POST", "/labels", Some(&json!({"name": name, "color": "#ee0701"})));
        }
        let labels: Vec<Value> = owner.ask("GET", "/labels?page=1&limit=50", None).json().expect("labels");
        let id = |name: &str| labels.iter().find(|label| label["name"] == name).expect("a label")["id"].clone();
        std::fs::write(site.path("token"), site.repo.server().token("referee")).expect("a file");
        let text = format!(
            "repo: {}\napi_base: {}/api/v1\ntoken_path: token\nuser: referee\nlabels:\n  wip: {}\n  ready: {}\n\
             review_bots: [sonnet]\nreview_users: [sec]\nassign: ruth\n",
            site.repo.full_name(),
            site.proxy.url(),
            id("wip"),
            id("ready"),
        );
        std::fs::write(site.path("api.yaml"), text).expect("a file");
        let file = site.path("api.yaml").display().to_string();
        Self { site, file }
    }

    /// A pull that is ready but for what the test does to it next.
    fn pull(&self, branch: &str) -> PullNumber {
        let path = format!("src/{branch}.rs");
        let pull = self.site.open(branch, &[(path.as_str(), "fn a() {}\n")]);
        let head = self.site.at("alice", pull).head();
        self.site.at("alice", pull).check("ci", "success");
        self.site
            .at("sec", pull)
            .remark(&format!("<!-- review-bot:sonnet -->\n\nEvaluated against {}\n", &head.as_str()[..8]));
        self.site.at("referee", pull).comment(&format!("Self-review against {head}\n\nAssessment: ✅ Clean\n"));
        pull
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.site.referee(&[&["dispatch", self.file.as_str()], args].concat());
        command.env_remove("REFEREE_TOKEN");
        command
    }

    fn ran(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().expect("referee runs"))
    }

    fn lines(&self, args: &[&str]) -> Vec<String> {
        let ran = self.ran(args);
        assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
        let mut lines: Vec<String> = ran.out.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    fn labels(&self, pull: PullNumber) -> Vec<String> {
        let labels = self.site.at("alice", pull).look()["labels"].clone();
        let names = labels.as_array().expect("labels").iter();
        names.map(|label| label["name"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

// spec: DSP-1, DSP-2, DSP-3, DSP-6, DSP-7, DSP-10, DSP-16 @gitea
// spec: DSP-1, DSP-2, DSP-3, DSP-6, DSP-7, DSP-10, DSP-16 @forgejo
fn every_state_gives_its_line(build: Build) {
    let project = Project::new(build);
    let names = ["ready", "blocked", "red", "torn", "unread", "pending", "unreviewed", "asked"];
    let [ready, blocked, red, torn, unread, pending, unreviewed, asked] = names.map(|name| project.pull(name));
    project.site.at("alice", torn).push_base("src/torn.rs", |_| "fn other() {}\n".to_owned());
    project.site.at("ruth", blocked).block("not like this");
    project.site.at("alice", red).check("ci", "failure");
    project.site.at("alice", unread).push("src/more.rs", |_| "fn b() {}\n".to_owned());
    project.site.at("alice", pending).check("ci", "pending");
    project.site.at("ruth", asked).note("src/asked.rs", 1, "why?");
    let head = project.site.at("alice", unreviewed).push("src/more.rs", |_| "fn c() {}\n".to_owned());
    project.site.at("alice", unreviewed).check("ci", "success");
    let evaluated = format!("<!-- review-bot:sonnet -->\n\nEvaluated against {}\n", &head.as_str()[..8]);
    project.site.at("sec", unreviewed).remark(&evaluated);

    let spawn = |kind: &str, pull: PullNumber| {
        vec![format!("SPAWN:{kind}:{}:{}", pull.0, project.site.at("alice", pull).head())]
    };
    let first = [vec![format!("HANDOFF:{}", ready.0)], spawn("findings", blocked)].concat();
    project.site.proxy.forget();
    assert_eq!(project.lines(&["--dry-run"]), first);
    let dry = Ran::of(project.command(&[]).env("DRY_RUN", "1").output().expect("referee runs"));
    assert_eq!((dry.code, dry.out.lines().count()), (0, 2), "{}", dry.err);
    assert_eq!(project.site.proxy.writes(), 0, "{:?}", project.site.proxy.log());

    // A read that fails ends the pass: no line, no write.
    project.site.proxy.fault(Fault::WrongJson, When::nth_read(1).at("/timeline"));
    let failed = project.ran(&[]);
    assert_eq!((failed.code, failed.out.as_str()), (75, ""), "{}", failed.err);
    assert_eq!(project.site.proxy.writes(), 0, "{:?}", project.site.proxy.log());
    project.site.proxy.forget();

    assert_eq!(project.lines(&[]), first);
    assert_eq!(project.labels(ready), ["ready"]);
    assert_eq!(project.site.at("alice", ready).look()["assignee"]["login"], "ruth");
    assert_eq!(project.labels(blocked), ["wip"]);
    // Nothing on this machine is needed, and no label.
    project.site.forget();
    project.site.at("alice", blocked).unlabel("wip");
    assert_eq!(project.lines(&[]), spawn("ci-fix", red));
    assert_eq!(project.lines(&[]), spawn("rebase", torn));
    assert_eq!(project.lines(&[]), spawn("self-review", unreviewed));
    assert_eq!(project.lines(&[]), spawn("address-feedback", asked));
    project.site.proxy.forget();
    let quiet = project.ran(&["--json"]);
    assert_eq!(project.site.proxy.writes(), 0, "{:?}", project.site.proxy.log());
    let document: Value = serde_json::from_str(&quiet.out).expect("a document");
    assert_eq!(document["schema"], "referee/pass-1");
    assert_eq!(document["lines"], json!([]));
    let rule = |pull: PullNumber| {
        let pulls = document["pulls"].as_array().expect("pulls");
        let row = pulls.iter().find(|row| row["number"] == pull.0).expect("every open pull");
        row["reason"]["rule"].as_str().expect("a rule").to_owned()
    };
    assert_eq!(
        [ready, blocked, unread, pending].map(rule),
        ["ready", "changes-requested", "reviews-missing", "checks-pending"]
    );

    project.site.at("alice", ready).push("src/ready.rs", |_| "fn z() {}\n".to_owned());
    assert_eq!(project.lines(&[]), [""; 0]);
    assert_eq!(project.labels(ready), [""; 0], "withdrawn after a push");
}

// spec: DSP-16 @gitea @forgejo
fn two_at_once_name_one_worker(build: Build) {
    let project = Project::new(build);
    for round in 0..3 {
        let pull = project.pull(&format!("red{round}"));
        project.site.at("alice", pull).check("ci", "failure");
        let started: Vec<_> = (0..2)
            .map(|_| {
                let mut command = project.command(&[]);
                command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
                command.spawn().expect("referee runs")
            })
            .collect();
        let ended = started.into_iter().map(|child| Ran::of(child.wait_with_output().expect("it ends")));
        let lines: String = ended.map(|ran| ran.out).collect();
        let line = format!("SPAWN:ci-fix:{}:", pull.0);
        assert!(lines.matches(&line).count() <= 1, "{lines}");
        assert_eq!(lines.matches("SPAWN:").count(), lines.matches(&line).count(), "{lines}");
    }
}

// spec: DSP-11 @gitea @forgejo
fn an_issue_is_taken_when_no_pull_is_open(build: Build) {
    let project = Project::new(build);
    let alice = project.site.repo.as_("alice");
    let issue: Value = alice.ask("POST", "/issues", Some(&json!({"title": "Do it"}))).json().expect("an issue");
    let number = issue["number"].as_u64().expect("a number");
    assert_eq!(project.lines(&[]), [format!("SPAWN:impl:{number}:")]);
    assert_eq!(project.lines(&[]), [""; 0], "work is under way");
    let now: Value = alice.ask("GET", &format!("/issues/{number}"), None).json().expect("the issue");
    assert_eq!(now["assignee"]["login"], "referee");
}
