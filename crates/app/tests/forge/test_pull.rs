//! A pull by alice on a real server, with helpers for what people and referee do there.

use std::cell::RefCell;

use referee_core::model::PullNumber;
use referee_testkit::server::{ServerBuild, ServerPerson};
use serde_json::{Value, json};

use crate::pull_view::{ServerPullView, string};
use crate::site::TestSite;

/// A pull that adds `a.txt` with forty lines, for roles whose reports are handed in.
pub(crate) struct TestPull {
    pub(crate) site: TestSite,
    pub(crate) pull: PullNumber,
    last: RefCell<Option<(String, Value)>>,
}

impl TestPull {
    /// Opens the pull, with additional config. Checks are optional.
    pub(crate) fn new(build: ServerBuild, roles: &[&str], rest: &str) -> Self {
        let site = TestSite::new(build, &[("README.md", "# shop\n"), ("referee.toml", &config(roles, rest))]);
        let pull = site.open("topic", &[("a.txt", &lines(40, &[]))]);
        Self::on(site, pull)
    }

    /// Wraps an existing pull.
    pub(crate) fn on(site: TestSite, pull: PullNumber) -> Self {
        Self { site, pull, last: RefCell::new(None) }
    }

    /// Returns a person acting on the pull.
    pub(crate) fn as_(&self, login: &str) -> ServerPerson {
        self.site.at(login, self.pull)
    }

    /// Hands in a role's report for the head and returns the document of the run.
    pub(crate) fn report(&self, role: &str, report: Value) -> Value {
        self.site.proxy.forget();
        let turn = self.site.report(self.pull, role, report.clone());
        self.last.replace(Some((role.to_owned(), report)));
        turn
    }

    /// Runs `referee review`.
    pub(crate) fn review(&self) -> Value {
        self.site.proxy.forget();
        self.site.json("review", self.pull, &[])
    }

    /// Runs `referee explain`.
    pub(crate) fn explain(&self) -> Value {
        self.site.json("explain", self.pull, &[])
    }

    /// Asserts that one more run on the same state, without local state, sends no write request (PUB-2, LOOP-7).
    #[track_caller]
    pub(crate) fn assert_quiet(&self) {
        self.site.forget();
        let (role, report) = self.last.borrow().clone().expect("a report before");
        let before = self.talk();
        let turn = self.report(&role, report);
        assert_eq!(self.site.proxy.write_count(), 0, "{:#?}\n{turn:#}", self.site.proxy.log());
        assert_eq!(turn["calls"]["writes"], 0);
        assert_eq!(self.talk(), before);
    }

    /// Reads the pull from the server.
    pub(crate) fn talk(&self) -> ServerPullView {
        ServerPullView::read(&self.as_("alice"))
    }

    /// Pushes `a.txt` as alice, with these lines changed from the original.
    pub(crate) fn push(&self, changed: &[u32]) -> String {
        self.as_("alice").push("a.txt", |_| lines(40, changed)).0
    }
}

/// Returns the config of roles whose reports are handed in.
pub(crate) fn config(roles: &[&str], rest: &str) -> String {
    let role = |name: &&str| format!("[[role]]\nname = \"{name}\"\ncommand = \"{name}\"\n");
    let review = if rest.contains("[review]") { "" } else { "[review]\nci = \"optional\"\n" };
    format!("version = 1\n{review}{rest}\n{}", roles.iter().map(role).collect::<String>())
}

/// Returns a file of `count` distinct lines, some of them changed.
pub(crate) fn lines(count: u32, changed: &[u32]) -> String {
    let line =
        |n: u32| if changed.contains(&n) { format!("line {n}, mended\n") } else { format!("line {n} of the file\n") };
    (1..=count).map(line).collect()
}

/// Builds a finding in `a.txt`.
pub(crate) fn finding(severity: &str, title: &str, line: u32) -> Value {
    json!({ "title": title, "body": format!("{title}, in more words."), "severity": severity, "path": "a.txt",
            "line": line, "rule": title.to_lowercase().replace(' ', "-") })
}

/// Builds a report with a critical finding.
pub(crate) fn critical(line: u32) -> Value {
    json!({ "findings": [finding("critical", "Token is logged", line)] })
}

/// Builds a report with a position on one finding.
pub(crate) fn position(id: &str, position: &str, evidence: &str) -> Value {
    json!({ "positions": [{ "finding": id, "position": position, "evidence": evidence, "reply": evidence }] })
}

/// Returns a role's own and enforced verdict after a run.
pub(crate) fn role_verdicts(turn: &Value, name: &str) -> (String, String) {
    let roles = turn["roles"].as_array().into_iter().flatten();
    let role = { roles }.find(|role| role["role"] == name).unwrap_or_else(|| panic!("no role {name}: {turn:#}"));
    (string(&role["own"]), string(&role["enforced"]))
}

/// Returns the state of a finding, and whether it counts.
pub(crate) fn state(turn: &Value, id: &str) -> (String, bool) {
    let findings = turn["findings"].as_array().into_iter().flatten();
    let line = { findings }.find(|it| it["id"] == id).unwrap_or_else(|| panic!("no {id}: {turn:#}"));
    (string(&line["state"]), line["counts"] == true)
}

/// Returns a pair of owned strings, for comparisons.
pub(crate) fn pair(one: &str, other: &str) -> (String, String) {
    (one.to_owned(), other.to_owned())
}

/// Returns the actions of a run, in order.
pub(crate) fn actions(turn: &Value) -> Vec<String> {
    turn["steps"].as_array().expect("steps").iter().map(|step| string(&step["action"])).collect()
}
