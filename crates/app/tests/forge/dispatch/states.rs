//! One pull in each state, with its rule, facts and output line.

use referee_core::model::{Sha, ThreadId};
use referee_testkit::proxy::{ProxyFault, RequestMatcher};
use referee_testkit::server::{ServerBuild, ServerPerson};
use serde_json::json;

use super::{OpenedPull, Project, evaluated, row, why};
use crate::on_each_server;
use crate::site::RunOutput;

on_each_server! { every_state_of_a_pull_prints_its_line }

/// A state: its name; what brings a ready pull there; the rule, what happens next, and on whom or by which worker; and a
/// part of what is document.
type State = (&'static str, fn(&At<'_>), &'static str, &'static str);

/// A pull that something happens to.
struct At<'a> {
    project: &'a Project,
    it: &'a OpenedPull,
}

const TABLE: &str = "| # | Severity | File | Finding |\n|---|---|---|---|\n| 1 | [MINOR] | `a.rs:1` | Too short |\n";

const STATES: [State; 29] = [
    ("ready", |_| (), "ready ready", "head "),
    // Rule 0.
    ("busy", |at| at.as_("referee").label("wip"), "lease wait worker", "work since "),
    (
        "busyred",
        |at| {
            at.as_("referee").label("wip");
            at.red();
        },
        "lease wait worker",
        "checks-failed",
    ),
    ("theirs", |at| at.as_("ruth").label("wip"), "lease wait worker", "work since "),
    // Rules 3 and 4.
    ("torn", |_| (), "conflict spawn rebase", "does not merge into `main`"),
    ("red", |at| at.red(), "checks-failed spawn ci-fix", "failed: ci"),
    (
        "redplan",
        |at| {
            at.red();
            at.plan("");
        },
        "checks-failed wait worker",
        "fix plan of ",
    ),
    (
        "otherplan",
        |at| {
            at.red();
            at.says("alice", "Fix plan for ");
        },
        "checks-failed spawn ci-fix",
        "failed: ci",
    ),
    // Rules 5 and 6.
    ("unread", |at| drop(at.pushed()), "reviews-missing wait sonnet", "not read yet by sonnet"),
    ("pending", |at| at.as_("alice").report_check("ci", "pending"), "checks-pending wait checks", "not done: ci"),
    ("unchecked", |at| at.reads(&at.pushed()), "checks-pending wait checks", "no check has reported"),
    // Rule 7.
    ("selfless", |at| at.passes(&at.pushed()), "self-review spawn self-review", "none by referee"),
    (
        "short",
        |at| at.half(|head| format!("Self-review against {}\n\nAssessment: ✅ Clean", &head[..12])),
        "self-review spawn self-review",
        "none by referee",
    ),
    ("attention", |at| at.assessed("⚠️ two things"), "self-review spawn sr-fix", "needs attention"),
    ("unreadable", |at| at.assessed("fine, I think"), "self-review spawn sr-fix", "needs attention"),
    (
        "attended",
        |at| {
            at.assessed("⚠️ two things");
            at.assessed("✅ Clean");
        },
        "ready ready",
        "",
    ),
    (
        "attending",
        |at| {
            at.assessed("⚠️ two things");
            at.plan("");
        },
        "self-review wait worker",
        "fix plan of ",
    ),
    // Rule 8.
    ("table", |at| at.table(), "findings-unanswered spawn address-feedback", "sonnet finding 1"),
    (
        "tableplan",
        |at| {
            at.table();
            at.plan("I see.");
        },
        "findings-unanswered wait worker",
        "fix plan of ",
    ),
    (
        "answered",
        |at| {
            at.table();
            at.plan("Finding #1: on purpose.");
        },
        "ready ready",
        "",
    ),
    // Rule 9.
    ("asked", |at| drop(at.note()), "threads-unanswered spawn address-feedback", "thread "),
    (
        "askedplan",
        |at| {
            at.note();
            at.plan("");
        },
        "threads-unanswered wait worker",
        "fix plan of ",
    ),
    ("replied", |at| drop(at.as_("alice").reply(&at.note(), "because")), "ready ready", ""),
    ("resolved", |at| at.as_("ruth").resolve(&at.note()), "ready ready", ""),
    ("draft", |at| at.as_("alice").mark_draft(), "draft wait author", ""),
    // The role reviews `role/` only, so it is due here alone (D29: the wait of rule 5).
    ("roleunread", |_| (), "reviews-missing wait alpha", "alpha"),
    // The work of rules 2 to 4 does not wait for it.
    ("roleunreadblocked", |at| drop(at.as_("ruth").block("not like this")), "changes-requested spawn findings", "ruth"),
    ("roleunreadtorn", |_| (), "conflict spawn rebase", "does not merge into `main`"),
    // The review waits for the checks (`start = "ci_green"`), and their repair does not wait for the review.
    ("roleunreadred", |at| at.red(), "checks-failed spawn ci-fix", "failed: ci"),
];

// spec: DSP-1, DSP-2, DSP-3, DSP-4, DSP-6, DSP-7, DSP-8, DSP-9, DSP-10, DSP-12, DSP-16 @gitea
// spec: DSP-1, DSP-2, DSP-3, DSP-4, DSP-6, DSP-7, DSP-8, DSP-9, DSP-10, DSP-12, DSP-16 @forgejo
fn every_state_of_a_pull_prints_its_line(build: ServerBuild) {
    let project = Project::new(build);
    let mut pulls = project.pulls(STATES.map(|(name, ..)| name));
    let at = |name: &str| STATES.iter().position(|state| state.0 == name).expect("a state");
    for torn in ["src/torn.rs", "role/roleunreadtorn.rs"] {
        project.site.at("alice", pulls[0].pull).push_base(torn, |_| "fn other() {}\n".to_owned());
    }
    for ((_, happens, ..), it) in STATES.iter().zip(&pulls) {
        happens(&At { project: &project, it });
    }
    for it in &mut pulls {
        it.head = project.site.at("alice", it.pull).head();
    }

    project.site.proxy.forget();
    let document = project.json(&project.file);
    for ((name, _, outcome, fact), it) in STATES.iter().zip(&pulls) {
        let [rule, kind, on, facts] = why(&document, it.pull);
        assert_eq!(format!("{rule} {kind} {on}").trim_end(), *outcome, "{name}: {facts}");
        assert!(facts.contains(fact), "{name}: {facts}");
    }
    // D29: which of the roles' reviews are due, beside whose turn it is.
    for (name, due) in [("roleunread", 1), ("roleunreadblocked", 1), ("roleunreadtorn", 1), ("roleunreadred", 0)] {
        let reviews = &row(&document, pulls[at(name)].pull)["reviews"];
        assert_eq!(reviews.as_array().map(Vec::len), Some(due), "{name}: {reviews}");
    }
    // Of one alone, by the project's rules.
    for name in ["busyred", "attention", "table"] {
        let (_, _, outcome, fact) = STATES[at(name)];
        let rule = outcome.split(' ').next().unwrap_or_default();
        let explained = project.site.on("explain", pulls[at(name)].pull, &["--project", &project.file]);
        assert!(explained.code == 0 && explained.out.contains(rule) && explained.out.contains(fact), "{explained:?}");
    }
    let line = |(name, _, outcome, _): &State| match outcome.split(' ').collect::<Vec<_>>()[..] {
        [_, "spawn", worker] => Some(pulls[at(name)].spawn(worker)),
        [_, "ready"] => Some(format!("HANDOFF:{}", pulls[at(name)].pull.0)),
        _ => None,
    };
    let expected: Vec<String> = STATES.iter().filter_map(line).collect();
    let mut spawns = expected.iter().filter(|line| line.starts_with("SPAWN"));
    let handoffs = expected.iter().filter(|line| line.starts_with("HANDOFF"));
    let mut first: Vec<String> = handoffs.chain(spawns.next()).cloned().collect();
    first.sort();
    let mut lines: Vec<_> =
        document["lines"].as_array().expect("lines").iter().filter_map(|line| line.as_str()).collect();
    lines.sort_unstable();
    assert_eq!((lines, &document["schema"]), (first.iter().map(String::as_str).collect(), &json!("referee/pass-1")));
    let dry = RunOutput::from_output(project.command(&[]).env("DRY_RUN", "1").output().expect("referee runs"));
    assert_eq!((dry.code, dry.out.lines().count()), (0, first.len()), "{}", dry.err);
    assert_eq!(project.site.proxy.write_count(), 0, "{:?}", project.site.proxy.log());

    // S5: a server that stops answering ends the pass: no line, no write. (One unreadable pull is blocked alone: D43.)
    let outage = RequestMatcher::nth_read(1).with_path("/timeline").and_following();
    project.site.proxy.inject_fault(ProxyFault::RateLimited(3600), outage);
    let failed = project.ran(&[]);
    assert_eq!((failed.code, failed.out.as_str()), (75, ""), "{}", failed.err);
    assert_eq!(project.site.proxy.write_count(), 0, "{:?}", project.site.proxy.log());
    project.site.proxy.forget();

    assert_eq!(project.lines(&[]), first);
    let ready = pulls[at("ready")].pull;
    assert_eq!(project.labels(ready), ["ready"]);
    assert_eq!(project.site.at("alice", ready).fetch_pull()["assignee"]["login"], "ruth");
    // Nothing on this machine is needed, and no label.
    let torn = pulls[at("torn")].pull;
    assert_eq!(project.labels(torn), ["wip"]);
    project.site.forget();
    project.site.at("alice", torn).unlabel("wip");
    for spawn in spawns {
        assert_eq!(project.lines(&[]), [spawn.as_str()]);
    }
    project.site.proxy.forget();
    assert_eq!(project.lines(&[]), [""; 0]);
    assert_eq!(project.site.proxy.write_count(), 0, "{:?}", project.site.proxy.log());

    project.site.at("alice", ready).push("src/ready.rs", |_| "fn z() {}\n".to_owned());
    assert_eq!(project.lines(&[]), [""; 0]);
    assert_eq!(project.labels(ready), [""; 0], "withdrawn after a push");
}

impl At<'_> {
    fn as_(&self, login: &str) -> ServerPerson {
        self.project.site.at(login, self.it.pull)
    }

    fn red(&self) {
        self.as_("alice").report_check("ci", "failure");
    }

    fn pushed(&self) -> Sha {
        self.as_("alice").push("src/more.rs", |_| format!("fn of_{}() {{}}\n", self.it.pull.0))
    }

    /// The bot has read that head.
    fn reads(&self, head: &Sha) {
        self.as_("sec").review_without_verdict(&evaluated(head, ""));
    }

    fn passes(&self, head: &Sha) {
        self.reads(head);
        self.as_("alice").report_check("ci", "success");
    }

    /// Another head, all but for what the fixing side says of it.
    fn half(&self, says: impl FnOnce(&str) -> String) {
        let head = self.pushed();
        self.passes(&head);
        self.as_("referee").comment(&says(head.as_str()));
    }

    fn says(&self, login: &str, words: &str) {
        self.as_(login).comment(&format!("{words}{}", self.it.head));
    }

    fn plan(&self, words: &str) {
        self.as_("referee").comment(&format!("## Fix Plan\n\nFor {}:\n\n{words}", &self.it.head.as_str()[..7]));
    }

    fn assessed(&self, assessment: &str) {
        self.as_("referee").comment(&format!("Self-review against {}\n\n**Assessment:** {assessment}", self.it.head));
    }

    fn table(&self) {
        self.as_("sec").review_without_verdict(&evaluated(&self.it.head, TABLE));
    }

    fn note(&self) -> ThreadId {
        let branch = self.as_("alice").fetch_pull()["head"]["ref"].as_str().unwrap_or_default().to_owned();
        self.as_("ruth").open_thread(&format!("src/{branch}.rs"), 1, "why?")
    }
}
