//! One pull in each state, and the line it gives.

use referee_core::model::{CheckState, PullNumber, Span};
use referee_forge::Gates;
use referee_testkit::dialect::{Dialect, FakeServer};

use super::{Project, evaluated, open};
use crate::adapter::{forge, probed};

/// What a test does to a pull that is ready, and the type of worker it then needs.
type Case = (&'static str, fn(&Project, PullNumber), &'static str);

const TABLE: &str =
    "| # | Severity | File | Finding |\n|---|---|---|---|\n| 1 | [MINOR] | `src/f.rs:1` | Too short |\n";

const CASES: [Case; 15] = [
    ("2: a person asks for changes", |on, pull| drop(on.by("bob", Some(pull)).block("no")), "findings"),
    (
        "2: the bot asks for changes",
        |on, pull| {
            let bot = on.by("sonnet-bot", Some(pull));
            bot.block(&evaluated(bot.head().as_str(), TABLE));
        },
        "findings",
    ),
    (
        "2, before 4: both",
        |on, pull| {
            on.by("bob", Some(pull)).block("no");
            on.by("rodin", Some(pull)).report_check("ci", CheckState::Fail);
        },
        "findings",
    ),
    (
        "3: a conflict",
        |on, pull| drop(on.by("alice", Some(pull)).push_base("src/f.rs", |_| "other\n".into())),
        "rebase",
    ),
    ("4: CI failed", |on, pull| on.by("rodin", Some(pull)).report_check("ci", CheckState::Fail), "ci-fix"),
    (
        "4: CI failed, and a fix plan names the head",
        |on, pull| {
            let rodin = on.by("rodin", Some(pull));
            rodin.report_check("ci", CheckState::Fail);
            rodin.comment(&format!("## Fix plan for {}\n\nThe test is wrong.", &rodin.head().as_str()[..10]));
        },
        "",
    ),
    ("5: no review of this head", |on, pull| drop(on.by("rodin", Some(pull)).push("src/g.rs", |_| "x\n".into())), ""),
    ("6: CI pending", |on, pull| on.by("rodin", Some(pull)).report_check("ci", CheckState::Pending), ""),
    (
        "7: no self-review of this head",
        |on, pull| {
            let rodin = on.by("rodin", Some(pull));
            let head = rodin.push("src/g.rs", |_| "x\n".into());
            rodin.report_check("ci", CheckState::Pass);
            on.by("sonnet-bot", Some(pull)).approve(&evaluated(head.as_str(), ""));
        },
        "self-review",
    ),
    (
        "7: the self-review found something",
        |on, pull| {
            let rodin = on.by("rodin", Some(pull));
            rodin.comment(&format!("Self-review against {}\n\n**Assessment:** ⚠️ two things", rodin.head()));
        },
        "sr-fix",
    ),
    (
        "8: a finding is unanswered",
        |on, pull| {
            let bot = on.by("sonnet-bot", Some(pull));
            bot.approve(&evaluated(bot.head().as_str(), TABLE));
        },
        "address-feedback",
    ),
    (
        "8: a fix plan names the finding",
        |on, pull| {
            let (bot, rodin) = (on.by("sonnet-bot", Some(pull)), on.by("rodin", Some(pull)));
            bot.approve(&evaluated(bot.head().as_str(), TABLE));
            rodin.comment(&format!("Fix plan for {}\n\nFinding #1: it is short on purpose.", rodin.head()));
        },
        "handoff",
    ),
    (
        "9: a thread is unanswered",
        |on, pull| drop(on.by("bob", Some(pull)).open_thread("src/f.rs", 1, "why?")),
        "address-feedback",
    ),
    ("0: somebody works on it", |on, pull| on.by("rodin", Some(pull)).label("wip"), ""),
    ("10: nothing is left", |_, _| {}, "handoff"),
];

#[test]
fn every_state_gives_its_line_on_gitea_127() {
    each(Dialect::Gitea127);
}

#[test]
fn every_state_gives_its_line_on_forgejo_10() {
    each(Dialect::Forgejo10);
}

fn each(dialect: Dialect) {
    let known = probed(dialect);
    for (name, happens, kind) in CASES {
        let project = Project::new(dialect.quirks());
        let pull = project.pull("f");
        happens(&project, pull);
        let head = project.by("rodin", Some(pull)).head();
        let server = FakeServer::open(dialect, &project.world);
        let forge = forge(&server, &project.seat(), &known);
        let expected = match kind {
            "" => Vec::new(),
            "handoff" => vec![format!("HANDOFF:{}", pull.0)],
            kind => vec![format!("SPAWN:{kind}:{}:{head}", pull.0)],
        };
        let dry = project.pass(&forge, &Gates::dry_run()).expect("everything can be read");
        assert_eq!(dry.lines.iter().map(ToString::to_string).collect::<Vec<_>>(), expected, "a dry run, {name}");
        project.world.assert_no_effects_left();
        assert_eq!(project.lines(&forge), expected, "{name}: {:?}", dry.pass.reasons);
        assert_eq!(project.lines(&forge), [""; 0], "twice, {name}");
        assert_eq!(dry.pass.reasons.len(), 1, "{name}");
    }
}

// spec: DSP-3, DSP-10 @core
#[test]
fn a_pass_hands_off_every_pull_that_is_ready_and_starts_one_worker() {
    let project = Project::new(Dialect::Gitea127.quirks());
    let pulls: Vec<_> = ["a", "b", "c", "d"].map(|branch| project.pull(branch)).into();
    for pull in [pulls[1], pulls[2]] {
        project.by("rodin", Some(pull)).report_check("ci", CheckState::Fail);
    }
    let head = project.by("rodin", Some(pulls[1])).head();
    let seat = project.seat();
    let mut lines = project.lines(&seat);
    lines.sort();
    let expected = [
        format!("HANDOFF:{}", pulls[0].0),
        format!("HANDOFF:{}", pulls[3].0),
        format!("SPAWN:ci-fix:{}:{head}", pulls[1].0),
    ];
    assert_eq!(lines, expected);
    let fetched = |pull| project.world.describe_pull(pull);
    assert!(fetched(pulls[0]).contains("label ready"), "{}", fetched(pulls[0]));
    assert!(fetched(pulls[1]).contains("label wip"), "{}", fetched(pulls[1]));
    let next = project.by("rodin", Some(pulls[2])).head();
    assert_eq!(project.lines(&seat), [format!("SPAWN:ci-fix:{}:{next}", pulls[2].0)]);
    assert_eq!(project.lines(&seat), [""; 0]);

    project.by("rodin", Some(pulls[0])).push("src/a.rs", |_| "fn b() {}\n".into());
    assert_eq!(project.lines(&seat), [""; 0]);
    assert!(!fetched(pulls[0]).contains("label ready"), "withdrawn after a push: {}", fetched(pulls[0]));
    project.passes_all(pulls[0]);
    assert_eq!(project.lines(&seat), [format!("HANDOFF:{}", pulls[0].0)]);
}

// spec: DSP-16 @core
#[test]
fn a_lost_label_starts_nobody_a_second_time_and_a_lost_worker_is_started_once_more() {
    let project = Project::new(Dialect::Gitea127.quirks());
    let pull = project.pull("f");
    let rodin = project.by("rodin", Some(pull));
    rodin.report_check("ci", CheckState::Fail);
    let seat = project.seat();
    let line = format!("SPAWN:ci-fix:{}:{}", pull.0, rodin.head());
    assert_eq!(project.lines(&seat), std::slice::from_ref(&line));
    rodin.unlabel("wip");
    assert_eq!(project.lines(&seat), [""; 0]);
    project.world.wait(Span::from_hours(2));
    assert_eq!(project.lines(&project.world.client("rodin")), [line], "its worker went away");
    project.world.wait(Span::from_hours(2));
    assert_eq!(project.lines(&seat), [""; 0], "twice is enough");
    let passed = project.pass(&seat, &open()).expect("everything can be read");
    assert_eq!(passed.pass.reasons[0].1.rule, "checks-failed");
    let _ = project.world.take_effects();
}

// spec: DSP-11, DSP-18 @core
#[test]
fn an_issue_is_taken_when_no_pull_is_open() {
    for dialect in [Dialect::Gitea127, Dialect::Forgejo10] {
        let project = Project::new(dialect.quirks());
        let alice = project.by("alice", None);
        let (plain, bug) = (alice.open_issue(&[]), alice.open_issue(&["bug"]));
        let server = FakeServer::open(dialect, &project.world);
        let forge = forge(&server, &project.seat(), &probed(dialect));
        assert_eq!(project.lines(&forge), [format!("SPAWN:impl:{}:", bug.0)], "{dialect:?}");
        assert_eq!(project.lines(&forge), [""; 0], "work is under way");
        alice.close_issue(bug);
        project.world.wait(Span::from_hours(2));
        assert_eq!(project.lines(&forge), [format!("SPAWN:impl:{}:", plain.0)], "{dialect:?}");
    }
}

// spec: DSP-5 @core
#[test]
fn a_pull_that_nobody_here_can_push_to_waits_for_its_author() {
    let project = Project::new(Dialect::Gitea127.quirks());
    let pull = project.by("mallory", None).open_from_fork("f", &[("src/f.rs", "x\n")]);
    project.by("rodin", Some(pull)).report_check("ci", CheckState::Fail);
    let passed = project.pass(&project.seat(), &open()).expect("everything can be read");
    assert_eq!(passed.lines, []);
    assert!(passed.pass.reasons[0].1.facts.iter().any(|fact| fact.contains("no worker may push here")));
    let _ = project.world.take_effects();
}
