//! The operator comment: when it is posted and what it lists.

use referee_core::decide::build_operator_note;
use referee_core::facts::Facts;
use referee_core::model::*;
use referee_core::render::{OperatorOption, StopReason};
use referee_core::say::Ask;

use crate::support::*;

/// Round 3 of 3: F1 recurs, F2 was fixed, F3 is near the fix of F2.
fn used_up() -> Stage {
    let mut stage = Stage::with_workers();
    let mark = stage.verdict("static", Verdict::RequestChanges);
    mark.rounds = vec![patch("q"), patch("r"), patch("p1")];
    mark.spent = RunCost { tokens: 1_000, micro_usd: 460_000, seconds: 90, runs: 3 };
    stage.finding(1, Severity::Critical, FindingState::Open, "src/auth.rs", 88).rounds = vec![1, 2];
    stage.finding(2, Severity::Critical, FindingState::Fixed, "src/auth.rs", 40).rounds = vec![1];
    stage.finding(9, Severity::Critical, FindingState::Fixed, "src/other.rs", 50);
    stage.finding(3, Severity::Critical, FindingState::Open, "src/auth.rs", 50);
    stage.finding(4, Severity::Suggestion, FindingState::Open, "src/auth.rs", 51);
    stage
}

// spec: LOOP-4 @core
#[test]
fn the_operator_comment_lists_recurring_findings_and_attacks_on_fixes() {
    let stage = used_up();
    let facts = Facts::new(&stage.snapshot, &stage.policy);
    let judged = judge(&facts);
    let note = build_operator_note(&facts, &judged, StopReason::RoundLimit);
    assert_eq!(note.operator, Some(&"carol".into()));
    assert_eq!((note.round, note.max_rounds, note.head), (3, 3, &sha('a')));
    assert_eq!(note.reviewers, ["static"]);
    assert_eq!((note.spent.micro_usd, note.spent.runs, note.budget_micro_usd), (460_000, 3, 2_000_000));
    let listed: Vec<_> = note
        .findings
        .iter()
        .map(|it| (it.id.0, it.title, it.path, it.line, it.rounds.clone(), it.attacks_fix))
        .collect();
    assert_eq!(
        listed,
        [
            (1, "finding 1", "src/auth.rs", Some(88), vec![1, 2, 3], false),
            (3, "finding 3", "src/auth.rs", Some(50), vec![3], true),
        ],
        "gravest first; ten lines is near; a suggestion holds nothing up"
    );
}

// spec: LOOP-4 @core
#[test]
fn only_options_that_work_are_offered() {
    type Hand = fn(&mut Stage);
    let held = || vec![FindingId(1), FindingId(3)];
    let merge = || OperatorOption::Merge { dismiss: held() };
    let bare = || OperatorOption::Merge { dismiss: Vec::new() };
    let budget = StopReason::BudgetSpent { resource: "tokens" };
    let failed = StopReason::ReviewersFailed { roles: Vec::new() };
    let nothing: Hand = |_| {};
    let own_pull: Hand = |stage| stage.snapshot.pull.author = person("carol");
    let uncounted: Hand = |stage| stage.snapshot.reviews[0].counts = ReviewWeight::No;
    let nobody: Hand = |stage| stage.policy.operator = None;
    let glaziers: Hand = |stage| {
        stage.policy.operator = None;
        stage.policy.break_glass = ["bob".into(), "dora".into()].into();
    };
    let bob: Hand = |stage| drop(stage.review(person("bob"), Verdict::RequestChanges, sha('a')).clone());
    use OperatorOption::{AddRound, Approve, BreakGlass, Pause, PushFix, RaiseBudget, Reopen, Retry};
    let cases: [(&str, StopReason<'_>, Hand, Vec<OperatorOption>); 9] = [
        ("the cap", StopReason::RoundLimit, nothing, vec![merge(), AddRound, Reopen, PushFix, BreakGlass, Pause]),
        ("jobs", StopReason::JobLimit { jobs: 12 }, nothing, vec![merge(), Reopen, PushFix, BreakGlass, Pause]),
        ("budget", budget, nothing, vec![merge(), BreakGlass, RaiseBudget, Pause]),
        ("failed", failed, nothing, vec![merge(), PushFix, Retry, BreakGlass, Pause]),
        ("own pull", StopReason::RoundLimit, own_pull, vec![AddRound, Reopen, PushFix, BreakGlass, Pause]),
        ("no block counts", StopReason::RoundLimit, uncounted, vec![bare(), Approve, AddRound, Reopen, PushFix, Pause]),
        ("no operator", StopReason::RoundLimit, nobody, vec![merge(), Reopen, PushFix, Pause]),
        ("glass breakers", StopReason::RoundLimit, glaziers, vec![merge(), Reopen, PushFix, BreakGlass, Pause]),
        ("a person blocks", StopReason::UnsettledFindings, bob, vec![PushFix, BreakGlass, Pause]),
    ];
    for (name, stop, hand, expected) in cases {
        let mut stage = used_up();
        hand(&mut stage);
        let facts = Facts::new(&stage.snapshot, &stage.policy);
        let judged = judge(&facts);
        assert_eq!(build_operator_note(&facts, &judged, stop).options, expected, "{name}");
    }
}

#[test]
fn enough_warnings_cause_a_block() {
    for (warnings, held) in [(2, vec![]), (3, vec![FindingId(1), FindingId(2), FindingId(3)])] {
        let mut stage = Stage::with_workers();
        stage.verdict("static", Verdict::RequestChanges);
        for id in 1..=warnings {
            stage.finding(id, Severity::Warning, FindingState::Open, "src/a.rs", 3);
        }
        stage.finding(8, Severity::Suggestion, FindingState::Open, "src/a.rs", 3);
        let facts = Facts::new(&stage.snapshot, &stage.policy);
        let judged = judge(&facts);
        let note = build_operator_note(&facts, &judged, StopReason::RoundLimit);
        assert_eq!(note.options[0], OperatorOption::Merge { dismiss: held }, "{warnings} warnings");
    }
}

// spec: LOOP-4, D13 @core
#[test]
fn one_operator_comment_for_each_epoch_and_no_second_one() {
    let mut stage = used_up();
    let outcome = stage.rules();
    assert_eq!(told(&outcome), "changes-requested: blocked roundcap");
    assert_eq!(steps(&outcome.steps), ["operator 0 by referee"]);
    stage.apply(&outcome.steps[0]);
    assert!(stage.rules().steps.is_empty(), "said once");

    stage.snapshot.comments.last_mut().expect("the comment").text.hash = referee_core::hash::Hash::digest("old words");
    assert_eq!(steps(&stage.rules().steps), ["edit operator 0 by referee"], "edited when its words would differ");
    stage.snapshot.comments.last_mut().expect("the comment").author = program("worker");
    stage.snapshot.viewer.holds = ["referee".into()].into();
    assert!(stage.rules().steps.is_empty(), "only its author edits it");

    stage.command(person("carol"), 0, Ask::Resume);
    assert_eq!(steps(&stage.rules().steps), ["operator 1 by referee"], "an answer begins a new epoch");
}

// spec: LOOP-11 @core
#[test]
fn a_failed_reviewer_is_named() {
    let mut stage = Stage::new();
    stage.verdict("static", Verdict::Comment);
    let facts = Facts::new(&stage.snapshot, &stage.policy);
    let judged = judge(&facts);
    let name = RoleName::from("static");
    let note = build_operator_note(&facts, &judged, StopReason::ReviewersFailed { roles: vec![&name] });
    assert_eq!(note.reviewers, [name.as_str()]);
    assert!(note.findings.is_empty());
}

#[test]
fn each_role_that_blocks_or_has_something_open_is_named() {
    let mut stage = used_up();
    stage.policy.roles.extend(["security", "style", "docs"].map(role));
    stage.verdict("security", Verdict::RequestChanges);
    stage.verdict("style", Verdict::Comment);
    stage.verdict("docs", Verdict::Approve);
    let facts = Facts::new(&stage.snapshot, &stage.policy);
    let mut judged = judge(&facts);
    let reviewers = |judged: &[_], stop| {
        build_operator_note(&facts, judged, stop).reviewers.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(reviewers(&judged, StopReason::RoundLimit), ["static", "security"], "with and without a finding");
    let style = judged[0].findings.iter().position(|it| it.id == FindingId(4)).map(|at| judged[0].findings.remove(at));
    let style = style.expect("F4");
    judged[2].findings.push(referee_core::decide::JudgedFinding { needs_human_reason: Some("disputed"), ..style });
    assert_eq!(reviewers(&judged, StopReason::UnsettledFindings), ["static", "security", "style"]);
}

#[test]
fn after_a_reopen_no_round_is_counted_against_a_finding() {
    let mut stage = used_up();
    stage.snapshot.pull.reopens = vec![Time(NOW - HOUR)];
    let facts = Facts::new(&stage.snapshot, &stage.policy);
    let judged = judge(&facts);
    let note = build_operator_note(&facts, &judged, StopReason::UnsettledFindings);
    let rounds: Vec<_> = note.findings.iter().map(|it| (it.id.0, it.rounds.clone())).collect();
    assert_eq!((note.round, rounds), (0, vec![(1, vec![1, 2]), (3, vec![]), (4, vec![])]));
}

#[test]
fn findings_that_only_a_person_can_settle_are_listed_alone() {
    let stage = used_up();
    let facts = Facts::new(&stage.snapshot, &stage.policy);
    let mut judged = judge(&facts);
    judged[0]
        .findings
        .iter_mut()
        .filter(|it| it.id == FindingId(3))
        .for_each(|it| it.needs_human_reason = Some("disputed"));
    let note = build_operator_note(&facts, &judged, StopReason::UnsettledFindings);
    let listed: Vec<_> = note.findings.iter().map(|it| (it.id.0, it.needs_human)).collect();
    assert_eq!(listed, [(3, Some("disputed"))]);
}
