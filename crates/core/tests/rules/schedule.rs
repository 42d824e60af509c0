//! One pass over a repository.

use referee_core::decide::{Pass, schedule};
use referee_core::mark::Topic;
use referee_core::model::*;
use referee_core::plan::{JobKind, Plan};
use referee_core::track::PatchId;

use crate::support::*;

pub(crate) fn issue(number: u64) -> Issue {
    Issue {
        is_unread: false,
        number: IssueNumber(number),
        title: String::new(),
        text: Text::default(),
        labels: Vec::new(),
        assignees: Vec::new(),
        comments: Vec::new(),
    }
}

pub(crate) fn record(number: u64, epoch: u64, ago: i64, outcome: Option<WorkOutcome>, retried: bool) -> Comment {
    let cause = format!("issue:{number}");
    let topic = Topic::Job { kind: JobKind::Impl, cause, patch: PatchId::default(), epoch, outcome, retried };
    let mut comment = said("referee", ago);
    comment.text.reading.tag = Some(Box::new(tag(topic, Sha(String::new()))));
    comment
}

fn said(by: &str, ago: i64) -> Comment {
    Comment {
        id: CommentId(format!("{by}-{ago}")),
        author: person(by),
        at: Time(NOW - ago),
        edited: false,
        text: Text::default(),
        url: String::new(),
    }
}

fn board(issues: Vec<Issue>) -> Board {
    Board { taken_at: Time(NOW), issues, ..Board::default() }
}

fn pass(board: &Board, plans: &[Plan]) -> Pass {
    let stage = Stage::with_workers();
    schedule(board, plans, &stage.policy, &stage.snapshot.viewer)
}

fn lines(pass: &Pass) -> Vec<String> {
    pass.lines.iter().map(ToString::to_string).collect()
}

fn plan(number: u64, mut stage: Stage) -> Plan {
    stage.snapshot.pull.number = PullNumber(number);
    stage.plan()
}

fn blocked() -> Stage {
    let mut stage = Stage::with_workers();
    stage.verdict("static", Verdict::RequestChanges);
    stage
}

fn working() -> Stage {
    let mut stage = blocked();
    stage.label("wip", "worker", MINUTE);
    stage
}

// spec: DSP-3, DSP-10, DSP-17 @core
#[test]
fn one_spawn_and_every_handoff_by_ascending_number() {
    let plans = [
        plan(9, blocked()),
        plan(3, Stage::all_clear()),
        plan(2, working()),
        plan(5, blocked()),
        plan(12, Stage::all_clear()),
    ];
    let mut board = board(vec![issue(1)]);
    board.pulls = [2, 3, 4, 5, 9, 12].map(PullNumber).into();
    let pass = pass(&board, &plans);
    let spawn = format!("SPAWN:findings:5:{}", "a".repeat(40));
    assert_eq!(lines(&pass), ["HANDOFF:3", "HANDOFF:12", spawn.as_str()]);
    assert_eq!(pass.spawn.as_ref().map(|job| job.number), Some(5), "active work on 2 ends nothing");
    let rules: Vec<_> = pass.reasons.iter().map(|(number, why)| (number.0, why.rule.name())).collect();
    let expected = [
        (2, "lease"),
        (3, "ready"),
        (4, "left-aside"),
        (5, "changes-requested"),
        (9, "changes-requested"),
        (12, "ready"),
    ];
    assert_eq!(rules, expected, "a reason for every open pull");
    assert_eq!(pass.issue_reason.facts, ["pulls are open"]);
}

// spec: DSP-3, DSP-10 @core
#[test]
fn a_pull_that_was_handed_off_is_not_handed_off_again() {
    let mut stage = Stage::all_clear();
    for step in &stage.rules().steps {
        stage.apply(step);
    }
    assert!(lines(&pass(&board(Vec::new()), &[plan(3, stage)])).is_empty());
}

// spec: DSP-3 @core
#[test]
fn lines_have_the_format_of_the_dispatch_source() {
    let kinds = [
        (JobKind::SelfReview, "self-review"),
        (JobKind::SrFix, "sr-fix"),
        (JobKind::CiFix, "ci-fix"),
        (JobKind::AddressFeedback, "address-feedback"),
        (JobKind::Findings, "findings"),
        (JobKind::Rebase, "rebase"),
        (JobKind::Impl, "impl"),
    ];
    for (kind, word) in kinds {
        let line = referee_core::decide::ProtocolLine::Spawn { kind, number: 4, sha: Some("abc".into()) };
        assert_eq!(line.to_string(), format!("SPAWN:{word}:4:abc"));
    }
}

// spec: DSP-11 @core
#[test]
fn the_lowest_unassigned_issue_is_taken_bugs_first() {
    let mut taken = issue(1);
    taken.assignees = vec!["bob".into()];
    let mut bug = issue(8);
    bug.labels = vec![Label { name: "bug".into(), by: None, at: None }];
    let pass = pass(&board(vec![issue(5), taken.clone(), issue(3), bug]), &[]);
    assert_eq!(lines(&pass), ["SPAWN:impl:8:"]);
    let job = pass.spawn.expect("a job");
    assert_eq!((job.cause.as_str(), job.head, job.epoch, job.retry), ("issue:8", None, 1, false));
    assert_eq!(steps(&job.record), ["job impl none by worker", "assign worker by worker"]);
    assert_eq!(lines(&super::schedule::pass(&board(vec![issue(5), taken, issue(3)]), &[])), ["SPAWN:impl:3:"]);
}

// spec: DSP-11, DSP-17, DSP-18 @core
#[test]
fn no_issue_is_taken_while_a_pull_is_open_or_work_is_under_way() {
    let mut open = board(vec![issue(3)]);
    open.pulls = vec![PullNumber(7)];
    assert!(lines(&pass(&open, &[])).is_empty(), "one that the project leaves aside");
    let waiting = plan(7, working());
    assert!(lines(&pass(&board(vec![issue(3)]), &[waiting])).is_empty());

    let lease = |until| Lease { by: "host".into(), epoch: 4, since: Time(0), until: Time(NOW + until) };
    let mut leased = board(vec![issue(3), issue(4)]);
    leased.leases = vec![(IssueNumber(4), lease(MINUTE))];
    assert!(lines(&pass(&leased, &[])).is_empty());
    leased.leases = vec![(IssueNumber(3), lease(0))];
    let expired = pass(&leased, &[]);
    assert_eq!(lines(&expired), ["SPAWN:impl:3:"], "an expired lease is none");
    assert_eq!(expired.spawn.map(|job| job.epoch), Some(5), "but its epoch is used up");

    for (ago, active) in [(MINUTE, true), (HOUR, true), (HOUR + 1, false)] {
        let mut recorded = issue(4);
        recorded.comments = vec![record(4, 1, ago, None, false)];
        let lines = lines(&pass(&board(vec![issue(3), recorded]), &[]));
        assert_eq!(lines.is_empty(), active, "started {ago} s ago and not ended");
    }
}

// spec: DSP-18 @core
#[test]
fn a_failed_issue_is_taken_once_more_and_then_passed_over_until_a_person_writes() {
    use WorkOutcome::{Done, Failed, NeedsHuman, NothingToDo};
    let cases = [
        (2 * HOUR, None, false, false, Some(true)),
        (2 * HOUR, None, true, false, None),
        (MINUTE, Some(Failed), false, false, Some(true)),
        (MINUTE, Some(Failed), true, false, None),
        (MINUTE, Some(NeedsHuman), false, false, None),
        (MINUTE, Some(NothingToDo), false, false, None),
        (MINUTE, Some(Done), false, false, None),
        (2 * HOUR, Some(Failed), true, true, Some(false)),
        (2 * HOUR, Some(NeedsHuman), false, true, Some(false)),
    ];
    for (ago, outcome, retried, wrote, expected) in cases {
        let mut failed = issue(3);
        failed.comments = vec![record(3, 1, ago, outcome, retried)];
        if wrote {
            failed.comments.push(said("bob", MINUTE));
        }
        failed.assignees = vec!["worker".into()];
        let job = pass(&board(vec![failed]), &[]).spawn;
        assert_eq!(job.map(|job| job.retry), expected, "{ago} {outcome:?} {retried} {wrote}");
    }
    let speaks =
        [("worker", MINUTE, "its own words"), ("referee", MINUTE, "our words"), ("sec-bot", MINUTE, "a role's words")];
    for (by, ago, why) in speaks {
        let mut failed = issue(3);
        failed.comments = vec![record(3, 1, HOUR, Some(Failed), true), said(by, ago)];
        let mut stage = Stage::with_workers();
        stage.policy.roles[0].identity = Some("sec-bot".into());
        stage.policy.roles.push(role("style"));
        let pass = schedule(&board(vec![failed]), &[], &stage.policy, &stage.snapshot.viewer);
        assert!(lines(&pass).is_empty(), "{why}");
    }
    let mut before = issue(3);
    before.comments = vec![said("bob", HOUR), record(3, 1, HOUR, Some(Failed), true)];
    assert!(lines(&pass(&board(vec![before.clone()]), &[])).is_empty(), "bob wrote before it");
    before.comments.reverse();
    assert!(pass(&board(vec![before]), &[]).spawn.is_some(), "bob wrote after it, in its second");
    let mut shared = issue(3);
    shared.comments = vec![record(3, 1, MINUTE, Some(Failed), false)];
    shared.assignees = vec!["worker".into(), "bob".into()];
    assert!(lines(&pass(&board(vec![shared]), &[])).is_empty(), "bob has it");
    let mut by_bot = issue(3);
    by_bot.comments = vec![record(3, 1, HOUR, Some(Failed), true), said("other", MINUTE)];
    by_bot.comments[1].author.bot = true;
    assert!(lines(&pass(&board(vec![by_bot]), &[])).is_empty(), "a program's words");
}

// spec: DSP-18 @core
#[test]
fn a_strangers_job_record_is_ignored() {
    let mut forged = issue(3);
    forged.comments = vec![record(3, 1, MINUTE, None, false)];
    forged.comments[0].author = person("mallory");
    assert_eq!(lines(&pass(&board(vec![forged]), &[])), ["SPAWN:impl:3:"]);
}

#[test]
fn an_issue_assigned_to_the_worker_by_a_person_is_skipped() {
    let mut given = issue(3);
    given.assignees = vec!["worker".into()];
    assert!(lines(&pass(&board(vec![given]), &[])).is_empty());
}

#[test]
fn without_dispatch_the_schedule_is_empty() {
    let stage = Stage::new();
    let pass = schedule(&board(vec![issue(3)]), &[], &stage.policy, &stage.snapshot.viewer);
    assert!(pass.lines.is_empty() && pass.spawn.is_none());
}
