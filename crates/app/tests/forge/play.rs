//! A pull of alice's on a real server, and what everybody does there.

use std::cell::RefCell;

use referee_core::model::PullNumber;
use referee_testkit::server::{ServerBuild, ServerPerson};
use serde_json::{Value, json};

use crate::site::Site;
use crate::talk::{Talk, word};

/// A pull that brings `a.txt` of forty lines, for roles whose reports are handed in.
pub(crate) struct Play {
    pub(crate) site: Site,
    pub(crate) pull: PullNumber,
    last: RefCell<Option<(String, Value)>>,
}

impl Play {
    /// With more lines of config; no checks are needed to be ready.
    pub(crate) fn new(build: ServerBuild, roles: &[&str], rest: &str) -> Self {
        let site = Site::new(build, &[("README.md", "# shop\n"), ("referee.toml", &config(roles, rest))]);
        let pull = site.open("topic", &[("a.txt", &lines(40, &[]))]);
        Self::on(site, pull)
    }

    /// On any pull.
    pub(crate) fn on(site: Site, pull: PullNumber) -> Self {
        Self { site, pull, last: RefCell::new(None) }
    }

    /// Somebody at the pull.
    pub(crate) fn as_(&self, login: &str) -> ServerPerson {
        self.site.at(login, self.pull)
    }

    /// The role's report at the head, handed in; the document of the run.
    pub(crate) fn report(&self, role: &str, report: Value) -> Value {
        self.site.proxy.forget();
        let turn = self.site.report(self.pull, role, report.clone());
        self.last.replace(Some((role.to_owned(), report)));
        turn
    }

    /// `referee review`.
    pub(crate) fn review(&self) -> Value {
        self.site.proxy.forget();
        self.site.told("review", self.pull, &[])
    }

    /// `referee explain`.
    pub(crate) fn explain(&self) -> Value {
        self.site.told("explain", self.pull, &[])
    }

    /// One more run on the same state by a machine that remembers nothing: not one write leaves (PUB-2, LOOP-7).
    #[track_caller]
    pub(crate) fn quiet(&self) {
        self.site.forget();
        let (role, report) = self.last.borrow().clone().expect("a report before");
        let before = self.talk();
        let turn = self.report(&role, report);
        assert_eq!(self.site.proxy.write_count(), 0, "{:#?}\n{turn:#}", self.site.proxy.log());
        assert_eq!(turn["calls"]["writes"], 0);
        assert_eq!(self.talk(), before);
    }

    /// What stands there.
    pub(crate) fn talk(&self) -> Talk {
        Talk::of(&self.as_("alice"))
    }

    /// Alice changes lines of `a.txt`: all of these differ now from what they were at first.
    pub(crate) fn push(&self, changed: &[u32]) -> String {
        self.as_("alice").push("a.txt", |_| lines(40, changed)).0
    }
}

/// Roles whose reports are handed in.
pub(crate) fn config(roles: &[&str], rest: &str) -> String {
    let role = |name: &&str| format!("[[role]]\nname = \"{name}\"\ncommand = \"{name}\"\n");
    let review = if rest.contains("[review]") { "" } else { "[review]\nci = \"optional\"\n" };
    format!("version = 1\n{review}{rest}\n{}", roles.iter().map(role).collect::<String>())
}

/// A file of so many lines, each its own, some of them changed.
pub(crate) fn lines(count: u32, changed: &[u32]) -> String {
    let line =
        |n: u32| if changed.contains(&n) { format!("line {n}, mended\n") } else { format!("line {n} of the file\n") };
    (1..=count).map(line).collect()
}

/// A finding in `a.txt`.
pub(crate) fn finding(severity: &str, title: &str, line: u32) -> Value {
    json!({ "title": title, "body": format!("{title}, in more words."), "severity": severity, "path": "a.txt",
            "line": line, "rule": title.to_lowercase().replace(' ', "-") })
}

/// A report of a critical finding.
pub(crate) fn critical(line: u32) -> Value {
    json!({ "findings": [finding("critical", "Token is logged", line)] })
}

/// A report with a position on one finding.
pub(crate) fn position(id: &str, position: &str, evidence: &str) -> Value {
    json!({ "positions": [{ "finding": id, "position": position, "evidence": evidence, "reply": evidence }] })
}

/// How a role stands after a run: its own verdict, and what is enforced.
pub(crate) fn role(turn: &Value, name: &str) -> (String, String) {
    let roles = turn["roles"].as_array().into_iter().flatten();
    let role = { roles }.find(|role| role["role"] == name).unwrap_or_else(|| panic!("no role {name}: {turn:#}"));
    (word(&role["own"]), word(&role["enforced"]))
}

/// The state of a finding, and whether it counts.
pub(crate) fn state(turn: &Value, id: &str) -> (String, bool) {
    let findings = turn["findings"].as_array().into_iter().flatten();
    let line = { findings }.find(|it| it["id"] == id).unwrap_or_else(|| panic!("no {id}: {turn:#}"));
    (word(&line["state"]), line["counts"] == true)
}

/// Pairs of words, to compare with.
pub(crate) fn pair(one: &str, other: &str) -> (String, String) {
    (one.to_owned(), other.to_owned())
}

/// The actions of a run, in order.
pub(crate) fn actions(turn: &Value) -> Vec<String> {
    turn["steps"].as_array().expect("steps").iter().map(|step| word(&step["action"])).collect()
}
