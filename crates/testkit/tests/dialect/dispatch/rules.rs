//! The protocol line of a pull in each state.

use referee_core::model::{CheckState, PullNumber, Span};
use referee_forge::Gates;
use referee_testkit::dialect::{Dialect, FakeServer};

use super::{TestProject, bot_review, default_gates};
use crate::adapter::{forge, probe_server};

/// A name, a change to a ready pull, and the kind of worker that it then needs ("handoff", or "" for none).
type RuleCase = (&'static str, fn(&TestProject, PullNumber), &'static str);

const FINDINGS_TABLE: &str =
    "| # | Severity | File | Finding |\n|---|---|---|---|\n| 1 | [MINOR] | `src/f.rs:1` | Too short |\n";

const CASES: [RuleCase; 15] = [
    ("2: a person asks for changes", |project, pull| drop(project.by("bob", Some(pull)).block("no")), "findings"),
    (
        "2: the bot asks for changes",
        |project, pull| {
            let bot = project.by("sonnet-bot", Some(pull));
            bot.block(&bot_review(bot.head().as_str(), FINDINGS_TABLE));
        },
        "findings",
    ),
    (
        "2, before 4: both",
        |project, pull| {
            project.by("bob", Some(pull)).block("no");
            project.by("rodin", Some(pull)).report_check("ci", CheckState::Fail);
        },
        "findings",
    ),
    (
        "3: a conflict",
        |project, pull| drop(project.by("alice", Some(pull)).push_base("src/f.rs", |_| "other\n".into())),
        "rebase",
    ),
    ("4: CI failed", |project, pull| project.by("rodin", Some(pull)).report_check("ci", CheckState::Fail), "ci-fix"),
    (
        "4: CI failed, and a fix plan names the head",
        |project, pull| {
            let rodin = project.by("rodin", Some(pull));
            rodin.report_check("ci", CheckState::Fail);
            rodin.comment(&format!("## Fix plan for {}\n\nThe test is wrong.", &rodin.head().as_str()[..10]));
        },
        "",
    ),
    (
        "5: no review of this head",
        |project, pull| drop(project.by("rodin", Some(pull)).push("src/g.rs", |_| "x\n".into())),
        "",
    ),
    ("6: CI pending", |project, pull| project.by("rodin", Some(pull)).report_check("ci", CheckState::Pending), ""),
    (
        "7: no self-review of this head",
        |project, pull| {
            let rodin = project.by("rodin", Some(pull));
            let head = rodin.push("src/g.rs", |_| "x\n".into());
            rodin.report_check("ci", CheckState::Pass);
            project.by("sonnet-bot", Some(pull)).approve(&bot_review(head.as_str(), ""));
        },
        "self-review",
    ),
    (
        "7: the self-review found something",
        |project, pull| {
            let rodin = project.by("rodin", Some(pull));
            rodin.comment(&format!("Self-review against {}\n\n**Assessment:** ⚠️ two things", rodin.head()));
        },
        "sr-fix",
    ),
    (
        "8: a finding is unanswered",
        |project, pull| {
            let bot = project.by("sonnet-bot", Some(pull));
            bot.approve(&bot_review(bot.head().as_str(), FINDINGS_TABLE));
        },
        "address-feedback",
    ),
    (
        "8: a fix plan names the finding",
        |project, pull| {
            let (bot, rodin) = (project.by("sonnet-bot", Some(pull)), project.by("rodin", Some(pull)));
            bot.approve(&bot_review(bot.head().as_str(), FINDINGS_TABLE));
            rodin.comment(&format!("Fix plan for {}\n\nFinding #1: it is short on purpose.", rodin.head()));
        },
        "handoff",
    ),
    (
        "9: a thread is unanswered",
        |project, pull| drop(project.by("bob", Some(pull)).open_thread("src/f.rs", 1, "why?")),
        "address-feedback",
    ),
    ("0: somebody works on it", |project, pull| project.by("rodin", Some(pull)).label("wip"), ""),
    ("10: nothing is left", |_, _| {}, "handoff"),
];

#[test]
fn every_state_prints_its_line_on_gitea_127() {
    check_every_case(Dialect::Gitea127);
}

#[test]
fn every_state_prints_its_line_on_forgejo_10() {
    check_every_case(Dialect::Forgejo10);
}

fn check_every_case(dialect: Dialect) {
    let probed = probe_server(dialect);
    for (name, apply, kind) in CASES {
        let project = TestProject::new(dialect.quirks());
        let pull = project.open_pull("f");
        apply(&project, pull);
        let head = project.by("rodin", Some(pull)).head();
        let server = FakeServer::open(dialect, &project.world);
        let forge = forge(&server, &project.client(), &probed);
        let expected = match kind {
            "" => Vec::new(),
            "handoff" => vec![format!("HANDOFF:{}", pull.0)],
            kind => vec![format!("SPAWN:{kind}:{}:{head}", pull.0)],
        };
        let dry = project.pass(&forge, &Gates::dry_run()).expect("the pass succeeds");
        assert_eq!(dry.lines.iter().map(ToString::to_string).collect::<Vec<_>>(), expected, "the dry run, {name}");
        project.world.assert_no_effects_left();
        assert_eq!(project.pass_lines(&forge), expected, "{name}: {:?}", dry.pass.reasons);
        assert_eq!(project.pass_lines(&forge), [""; 0], "the second pass, {name}");
        assert_eq!(dry.pass.reasons.len(), 1, "{name}");
    }
}

// spec: DSP-3, DSP-10 @core
#[test]
fn a_pass_hands_off_every_ready_pull_and_starts_one_worker() {
    let project = TestProject::new(Dialect::Gitea127.quirks());
    let pulls: Vec<_> = ["a", "b", "c", "d"].map(|branch| project.open_pull(branch)).into();
    for pull in [pulls[1], pulls[2]] {
        project.by("rodin", Some(pull)).report_check("ci", CheckState::Fail);
    }
    let head = project.by("rodin", Some(pulls[1])).head();
    let client = project.client();
    let mut lines = project.pass_lines(&client);
    lines.sort();
    let expected = [
        format!("HANDOFF:{}", pulls[0].0),
        format!("HANDOFF:{}", pulls[3].0),
        format!("SPAWN:ci-fix:{}:{head}", pulls[1].0),
    ];
    assert_eq!(lines, expected);
    let describe = |pull| project.world.describe_pull(pull);
    assert!(describe(pulls[0]).contains("label ready"), "{}", describe(pulls[0]));
    assert!(describe(pulls[1]).contains("label wip"), "{}", describe(pulls[1]));
    let next = project.by("rodin", Some(pulls[2])).head();
    assert_eq!(project.pass_lines(&client), [format!("SPAWN:ci-fix:{}:{next}", pulls[2].0)]);
    assert_eq!(project.pass_lines(&client), [""; 0]);

    project.by("rodin", Some(pulls[0])).push("src/a.rs", |_| "fn b() {}\n".into());
    assert_eq!(project.pass_lines(&client), [""; 0]);
    assert!(!describe(pulls[0]).contains("label ready"), "withdrawn after a push: {}", describe(pulls[0]));
    project.make_pass(pulls[0]);
    assert_eq!(project.pass_lines(&client), [format!("HANDOFF:{}", pulls[0].0)]);
}

// spec: DSP-16 @core
#[test]
fn a_removed_label_starts_no_second_worker_and_a_lost_worker_is_restarted_once() {
    let project = TestProject::new(Dialect::Gitea127.quirks());
    let pull = project.open_pull("f");
    let rodin = project.by("rodin", Some(pull));
    rodin.report_check("ci", CheckState::Fail);
    let client = project.client();
    let line = format!("SPAWN:ci-fix:{}:{}", pull.0, rodin.head());
    assert_eq!(project.pass_lines(&client), std::slice::from_ref(&line));
    rodin.unlabel("wip");
    assert_eq!(project.pass_lines(&client), [""; 0]);
    project.world.wait(Span::from_hours(2));
    assert_eq!(project.pass_lines(&project.world.client("rodin")), [line], "the lease of its worker expired");
    project.world.wait(Span::from_hours(2));
    assert_eq!(project.pass_lines(&client), [""; 0], "no third worker");
    let outcome = project.pass(&client, &default_gates()).expect("the pass succeeds");
    assert_eq!(outcome.pass.reasons[0].1.rule, "checks-failed");
    let _ = project.world.take_effects();
}

// spec: DSP-11, DSP-18 @core
#[test]
fn an_issue_is_taken_when_no_pull_is_default_gates() {
    for dialect in [Dialect::Gitea127, Dialect::Forgejo10] {
        let project = TestProject::new(dialect.quirks());
        let alice = project.by("alice", None);
        let (plain, bug) = (alice.open_issue(&[]), alice.open_issue(&["bug"]));
        let server = FakeServer::open(dialect, &project.world);
        let forge = forge(&server, &project.client(), &probe_server(dialect));
        assert_eq!(project.pass_lines(&forge), [format!("SPAWN:impl:{}:", bug.0)], "{dialect:?}");
        assert_eq!(project.pass_lines(&forge), [""; 0], "a worker holds the issue");
        alice.close_issue(bug);
        project.world.wait(Span::from_hours(2));
        assert_eq!(project.pass_lines(&forge), [format!("SPAWN:impl:{}:", plain.0)], "{dialect:?}");
    }
}

// spec: DSP-5 @core
#[test]
fn a_pull_from_a_fork_waits_for_its_author() {
    let project = TestProject::new(Dialect::Gitea127.quirks());
    let pull = project.by("mallory", None).open_from_fork("f", &[("src/f.rs", "x\n")]);
    project.by("rodin", Some(pull)).report_check("ci", CheckState::Fail);
    let outcome = project.pass(&project.client(), &default_gates()).expect("the pass succeeds");
    assert_eq!(outcome.lines, []);
    assert!(outcome.pass.reasons[0].1.facts.iter().any(|fact| fact.contains("no worker may push here")));
    let _ = project.world.take_effects();
}
