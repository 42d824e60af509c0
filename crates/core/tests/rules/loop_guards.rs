//! Whether a reviewer runs, and how many rounds the loop may take.

use referee_core::decide::{PlanScope, ReportStatus};
use referee_core::hash::Hash;
use referee_core::model::*;
use referee_core::plan::{JobKind, Scope};
use referee_core::policy::ReviewStart;
use referee_core::say::Ask;

use crate::support::*;

fn briefs(stage: &Stage) -> Vec<referee_core::plan::Brief> {
    stage.rules().reviews
}

#[test]
fn a_first_review_covers_the_whole_change() {
    let stage = Stage::new();
    let briefs = briefs(&stage);
    assert_eq!(briefs.len(), 1);
    assert_eq!((briefs[0].round, &briefs[0].scope, briefs[0].floor), (1, &Scope::Whole, Severity::Suggestion));
    assert_eq!(briefs[0].head, sha('a'));
}

// spec: LOOP-1, LOOP-6, D2 @core
#[test]
fn a_head_with_a_verdict_is_not_reviewed_again() {
    for own in [Verdict::Approve, Verdict::Comment, Verdict::RequestChanges] {
        let mut stage = Stage::new();
        stage.verdict("static", own);
        stage.snapshot.pull.requests =
            vec![ReviewRequest { of: "referee".into(), by: Some("alice".into()), at: Time(NOW - MINUTE) }];
        let outcome = stage.rules();
        assert!(outcome.reviews.is_empty(), "{own}: {}", told(&outcome));
        assert_eq!(outcome.refused[0].what, "another review by static");
        assert_eq!(outcome.refused[0].why.rule, "same-head");
        assert_eq!(outcome.refused[0].why.facts, [format!("{own} at aaaaaaa")]);
    }
}

// spec: LOOP-1, LOOP-6 @core
#[test]
fn stale_heads_other_roles_and_malformed_reviews_are_not_a_verdict_at_this_head() {
    type Hand = fn(&mut Stage);
    fn row(stage: &mut Stage, change: fn(&mut Review)) {
        stage.verdict("static", Verdict::Approve);
        change(&mut stage.snapshot.reviews[0]);
    }
    let cases: [(&str, Hand); 7] = [
        ("other change", |it| drop(it.verdict_at("static", Verdict::Approve, sha('b'), patch("p0")).clone())),
        ("other role", |it| drop(it.verdict("another", Verdict::Approve).clone())),
        ("other user", |it| row(it, |review| review.author = person("mallory"))),
        ("wrapped reply", |it| row(it, |review| review.row = ReviewKind::Wrapper)),
        ("draft", |it| row(it, |review| review.row = ReviewKind::Draft)),
        ("deleted user", |it| row(it, |review| review.author = Author::default())),
        ("incomplete", |it| it.verdict("static", Verdict::Comment).complete = false),
    ];
    for (name, change) in cases {
        let mut stage = Stage::new();
        change(&mut stage);
        assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"static\"]); review static", "{name}");
    }
}

// spec: LOOP-3, INC-16 @core
#[test]
fn a_force_push_that_keeps_the_change_keeps_the_verdict() {
    let mut stage = Stage::new();
    stage.verdict_at("static", Verdict::Approve, sha('b'), patch("p1"));
    assert_eq!(told(&stage.rules()), "ready: ready");
}

// spec: LOOP-1, D2 @core
#[test]
fn only_a_newer_permitted_request_starts_another_review() {
    let cases = [
        (person("bob"), HOUR, Ask::Review, true),
        (person("bob"), HOUR, Ask::FullReview, true),
        (outsider("eve"), HOUR, Ask::Review, false),
        (program("helper"), HOUR, Ask::Review, false),
        (program("referee"), HOUR, Ask::Review, false),
        (person("bob"), 11 * HOUR, Ask::Review, false),
        (person("bob"), 3 * HOUR, Ask::Review, false),
    ];
    for (by, ago, ask, starts) in cases {
        let mut stage = Stage::new();
        stage.verdict("static", Verdict::Comment).asked = Some(Time(NOW - 2 * HOUR));
        stage.command(by.clone(), ago, ask.clone());
        let outcome = stage.rules();
        assert_eq!(!outcome.reviews.is_empty(), starts, "{by:?} {ago} {ask:?}: {}", told(&outcome));
    }
}

// spec: D2 @core
#[test]
fn full_requests_another_review_and_its_report_answers_it() {
    let mut stage = Stage::new();
    stage.verdict("static", Verdict::Approve);
    stage.snapshot.evidence.full = true;
    assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"static\"]); review static");
    stage.report("static", ReportOutcome::Clean(Coverage::default()));
    assert_eq!(told(&stage.rules()), "ready: ready");
}

#[test]
fn only_selected_applying_roles_with_a_token_are_started() {
    let mut stage = Stage::new();
    stage.policy.roles.push(role("security"));
    assert_eq!(
        told(&stage.rules()),
        "reviews-missing: wait reviewer([\"static\", \"security\"]); review static; review security"
    );
    stage.scope = PlanScope::from_roles(["security".into()]);
    assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"static\", \"security\"]); review security");
    stage.verdict("security", Verdict::Approve);
    assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"static\"])");

    let mut stage = Stage::new();
    stage.policy.roles[0].identity = Some("elsewhere".into());
    assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"static\"])");

    let mut stage = Stage::new();
    stage.policy.roles[0].paths = vec!["docs/**".into()];
    assert_eq!(told(&stage.rules()), "ready: ready");
    stage.policy.roles[0] = referee_core::policy::Role { ad_hoc: true, ..role("lint") };
    assert_eq!(told(&stage.rules()), "ready: ready");
}

// spec: DSP-7 @core
#[test]
fn a_review_starts_when_the_policy_says_so() {
    use CheckState::{Fail, None, Pass, Pending};
    let cases = [
        (ReviewStart::Push, Pending, false, "reviews-missing: wait reviewer([\"static\"]); review static"),
        (ReviewStart::CiGreen, Pass, false, "reviews-missing: wait reviewer([\"static\"]); review static"),
        (ReviewStart::CiGreen, Pending, false, "reviews-missing: wait checks"),
        (ReviewStart::CiGreen, Fail, false, "checks-failed: wait author"),
        (ReviewStart::CiGreen, None, false, "reviews-missing: wait checks"),
        (ReviewStart::CiGreen, Pending, true, "reviews-missing: wait reviewer([\"static\"]); review static"),
        (ReviewStart::Request, Pass, false, "reviews-missing: wait author"),
        (ReviewStart::Request, Pass, true, "reviews-missing: wait reviewer([\"static\"]); review static"),
    ];
    for (start, checks, asked, expected) in cases {
        let mut stage = Stage::new();
        stage.policy.start = start;
        stage.snapshot.checks.all = if checks == None { Vec::new() } else { vec![check("test", checks)] };
        if asked {
            stage.command(person("bob"), HOUR, Ask::Review);
        }
        assert_eq!(told(&stage.rules()), expected, "{start:?} {checks:?} {asked}");
    }
    let mut stage = Stage::new();
    stage.policy.start = ReviewStart::Request;
    stage.verdict("static", Verdict::Comment).complete = false;
    assert_eq!(told(&stage.rules()), "reviews-missing: wait author", "not asked for, not tried");
    stage.report("static", ReportOutcome::Failed { reason: "timeout".into() });
    assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"static\"])", "tried now");
    let mut elsewhere = Stage::new();
    elsewhere.policy.start = ReviewStart::Request;
    elsewhere.policy.roles[0].identity = Some("elsewhere".into());
    assert_eq!(told(&elsewhere.rules()), "reviews-missing: wait author");
    let mark = elsewhere.verdict("static", Verdict::Comment);
    (mark.complete, mark.attempts) = (false, 1);
    assert_eq!(told(&elsewhere.rules()), "reviews-missing: wait reviewer([\"static\"])", "tried before");
    let mut stage = Stage::new();
    (stage.policy.start, stage.policy.ci_required) = (ReviewStart::CiGreen, false);
    stage.snapshot.checks.all.clear();
    assert_eq!(
        told(&stage.rules()),
        "reviews-missing: wait reviewer([\"static\"]); review static",
        "no CI passes where none is required (D15)"
    );
}

// spec: LOOP-11 @core
#[test]
fn a_failed_reviewer_is_retried_twice_with_backoff_and_then_a_person_decides() {
    let cases = [
        (1, 4 * MINUTE, "reviews-missing: wait reviewer([\"static\"])"),
        (1, 5 * MINUTE, "reviews-missing: wait reviewer([\"static\"]); review static"),
        (2, 9 * MINUTE, "reviews-missing: wait reviewer([\"static\"])"),
        (2, 10 * MINUTE, "reviews-missing: wait reviewer([\"static\"]); review static"),
        (3, 24 * HOUR, "reviews-missing: blocked reviewerfailed"),
        (9, 24 * HOUR, "reviews-missing: blocked reviewerfailed"),
    ];
    for (attempts, ago, expected) in cases {
        let mut stage = Stage::new();
        let mark = stage.verdict("static", Verdict::Comment);
        (mark.complete, mark.attempts, mark.tried_at) = (false, attempts, Some(Time(NOW - ago)));
        let outcome = stage.rules();
        assert_eq!(told(&outcome), expected, "{attempts} attempts, {ago} s ago");
        let asks = steps(&outcome.steps) == ["operator 0 by referee"];
        assert_eq!(asks, 3 <= attempts, "one operator comment");
    }
}

// spec: LOOP-11 @core
#[test]
fn a_retry_or_a_new_change_lets_a_failed_reviewer_start_again() {
    let failed = || {
        let mut stage = Stage::new();
        let mark = stage.verdict("static", Verdict::Comment);
        (mark.complete, mark.attempts, mark.tried_at) = (false, 3, Some(Time(NOW - HOUR)));
        stage
    };
    let mut stage = failed();
    stage.command(person("bob"), MINUTE, Ask::Retry);
    assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"static\"]); review static");
    let mut stage = failed();
    stage.command(person("bob"), HOUR, Ask::Retry);
    assert_eq!(
        told(&stage.rules()),
        "reviews-missing: wait reviewer([\"static\"]); review static",
        "in the second of the failure too"
    );
    let mark = stage.snapshot.reviews[0].text.reading.mark.as_mut().expect("a verdict");
    mark.data.asked = Some(Time(NOW - HOUR));
    assert_eq!(told(&stage.rules()), "reviews-missing: blocked reviewerfailed", "an answered retry is used up");
    let mut stage = failed();
    stage.snapshot.changes.patch = patch("p2");
    assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"static\"]); review static");
}

// spec: LOOP-11 @core
#[test]
fn the_third_failure_blocks_in_the_turn_that_sees_it_and_counts_once() {
    let failed = |attempts, told_before: Option<&str>| {
        let mut stage = Stage::new();
        let mark = stage.verdict("static", Verdict::Comment);
        (mark.complete, mark.attempts, mark.tried_at) = (false, attempts, Some(Time(NOW)));
        mark.report = told_before.map(referee_core::hash::Hash::digest);
        stage.report("static", ReportOutcome::Failed { reason: "timeout".into() });
        told(&stage.rules())
    };
    assert_eq!(failed(2, None), "reviews-missing: blocked reviewerfailed");
    assert_eq!(failed(2, Some("another")), "reviews-missing: blocked reviewerfailed");
    assert_eq!(
        failed(2, Some("report")),
        "reviews-missing: wait reviewer([\"static\"])",
        "handed in twice, failed once"
    );
    assert_eq!(failed(0, None), "reviews-missing: wait reviewer([\"static\"])");
}

// spec: LOOP-9 @core
#[test]
fn over_budget_nothing_starts_and_a_person_is_asked() {
    let base = || {
        let mut stage = Stage::new();
        stage.verdict_at("static", Verdict::Comment, sha('b'), patch("p0"));
        stage
    };
    let spend = |figures: RunCost| {
        let mut stage = base();
        let mark = &mut stage.snapshot.reviews[0].text.reading.mark;
        mark.as_mut().expect("a verdict").data.spent = figures;
        stage
    };
    let none = RunCost::default();
    let cases = [
        (none, None),
        (RunCost { tokens: 1_999_999, ..none }, None),
        (RunCost { tokens: 2_000_000, ..none }, Some("tokens used up")),
        (RunCost { micro_usd: 2_000_000, ..none }, Some("money used up")),
        (RunCost { runs: 19, ..none }, None),
        (RunCost { runs: 20, ..none }, Some("runs used up")),
    ];
    for (figures, over) in cases {
        let outcome = spend(figures).rules();
        match over {
            None => {
                assert_eq!(told(&outcome), "reviews-missing: wait reviewer([\"static\"]); review static", "{figures:?}")
            }
            Some(over) => {
                assert_eq!(told(&outcome), "reviews-missing: blocked budget", "{figures:?}");
                assert_eq!(outcome.why.facts, [over]);
                assert_eq!(steps(&outcome.steps), ["operator 0 by referee"]);
            }
        }
    }
    for (writes, expected) in
        [(3, "reviews-missing: blocked budget"), (4, "reviews-missing: wait reviewer([\"static\"]); review static")]
    {
        let mut stage = base();
        stage.policy.budget.writes = writes;
        stage.finding_thread("static", 1, &[person("bob"), program("referee")]);
        stage.self_review(true);
        stage.comment(program("referee"), HOUR);
        stage.review(program("referee"), Verdict::Comment, sha('a'));
        stage.review(program("referee"), Verdict::Comment, sha('a'));
        assert_eq!(told(&stage.rules()), expected, "a summary, a root and a topic are three own texts");
    }
    let mut stage = base();
    (stage.policy.budget.tokens, stage.policy.budget.micro_usd) = (0, 0);
    assert_eq!(
        told(&stage.rules()),
        "reviews-missing: wait reviewer([\"static\"]); review static",
        "a reviewer that costs nothing needs no budget"
    );
}

// spec: LOOP-13 @core
#[test]
fn no_budget_stops_a_reviewer_that_costs_nothing() {
    let mut stage = Stage::new();
    stage.verdict_at("static", Verdict::Comment, sha('b'), patch("p0")).spent =
        RunCost { tokens: 9_000_000, micro_usd: 9_000_000, seconds: 0, runs: 99 };
    stage.policy.roles[0].free = true;
    assert_eq!(told(&stage.rules()), "reviews-missing: wait reviewer([\"static\"]); review static");
    stage.policy.roles.push(role("security"));
    let due = "reviews-missing: wait reviewer([\"static\", \"security\"]); review static; review security";
    assert_eq!(told(&stage.rules()), due, "what the free role spent is nobody's budget");
}

// spec: LOOP-9 @core
#[test]
fn a_block_is_not_withheld_for_budget() {
    let mut stage = Stage::new();
    stage.verdict("static", Verdict::RequestChanges).spent.tokens = 9_000_000;
    assert_eq!(told(&stage.rules()), "changes-requested: wait author");
}

// spec: LOOP-5 @core
#[test]
fn later_rounds_read_the_delta_and_raise_the_floor() {
    let at_round = |rounds: &[&str]| {
        let mut stage = Stage::new();
        let mark = stage.verdict_at("static", Verdict::RequestChanges, sha('b'), patch("p0"));
        mark.rounds = rounds.iter().map(|round| patch(round)).collect();
        stage.finding(4, Severity::Critical, FindingState::Open, "src/a.rs", 3);
        stage.finding(5, Severity::Critical, FindingState::Fixed, "src/a.rs", 9);
        stage.finding(6, Severity::Suggestion, FindingState::Answered, "src/a.rs", 30);
        stage
    };
    for (rounds, floor) in [
        (&["p0"][..], Severity::Warning),
        (&["q", "p0"], Severity::Critical),
        (&["q", "r", "s", "t", "p0"], Severity::Critical),
    ] {
        let brief = briefs(&at_round(rounds)).remove(0);
        assert_eq!((brief.scope, brief.floor), (Scope::Since(sha('b')), floor));
        assert_eq!(brief.round as usize, rounds.len() + 1);
        assert_eq!(brief.priors, [FindingId(4), FindingId(6)], "each unsettled finding must be answered");
    }
    let mut approved = at_round(&["p0"]);
    let mark = approved.snapshot.reviews[0].text.reading.mark.as_mut().expect("a verdict");
    (mark.data.own, mark.data.rounds) = (Verdict::Approve, Vec::new());
    assert_eq!(briefs(&approved)[0].scope, Scope::Since(sha('b')), "whatever the verdict was (D34)");
    let mut overflowing = at_round(&["p0"]);
    let mark = overflowing.snapshot.reviews[0].text.reading.mark.as_mut().expect("a verdict");
    mark.data.overflow.suggestion = 1;
    assert_eq!(briefs(&overflowing)[0].scope, Scope::Whole, "a finding fits nowhere (D33)");
    let mut widened = at_round(&["p0"]);
    let mark = widened.snapshot.reviews[0].text.reading.mark.as_mut().expect("a verdict");
    mark.data.configured = Some(Hash::digest("ten rules"));
    widened.policy.roles[0].inputs = Some(Hash::digest("ten rules"));
    assert_eq!(briefs(&widened)[0].scope, Scope::Since(sha('b')));
    widened.policy.roles[0].inputs = Some(Hash::digest("twenty rules"));
    assert_eq!(briefs(&widened)[0].scope, Scope::Whole, "another rule set (D34)");
    let mut gone = at_round(&["p0"]);
    gone.snapshot.changes.unreachable = [sha('b')].into();
    assert_eq!(briefs(&gone)[0].scope, Scope::Whole);
    let mut asked = at_round(&["p0"]);
    asked.command(person("bob"), HOUR, Ask::FullReview);
    assert_eq!(briefs(&asked)[0].scope, Scope::Whole);
    let mark = asked.verdict("static", Verdict::RequestChanges);
    (mark.complete, mark.reviewed, mark.attempts) = (false, Some(sha('b')), 1);
    (mark.asked, mark.tried_at) = (Some(Time(NOW - HOUR)), Some(Time(NOW - HOUR)));
    assert_eq!(briefs(&asked)[0].scope, Scope::Whole, "its retry too");
    let mut full = at_round(&["p0"]);
    full.snapshot.evidence.full = true;
    assert_eq!(briefs(&full)[0].scope, Scope::Whole);
}

fn blocked_at(rounds: usize, cap: u32) -> Stage {
    let mut stage = Stage::with_workers();
    stage.policy.rounds = cap;
    let earlier = (1..rounds).map(|round| patch(&format!("q{round}")));
    let mark = stage.verdict("static", Verdict::RequestChanges);
    mark.rounds = earlier.chain([patch("p1")]).collect();
    stage.finding(1, Severity::Critical, FindingState::Open, "src/a.rs", 3);
    stage
}

// spec: LOOP-2, LOOP-6 @core
#[test]
fn at_the_cap_no_worker_is_started() {
    for (rounds, expected) in [
        (2, "changes-requested: spawn findings role:static"),
        (3, "changes-requested: blocked roundcap"),
        (5, "changes-requested: blocked roundcap"),
    ] {
        let outcome = blocked_at(rounds, 3).rules();
        assert_eq!(told(&outcome), expected, "{rounds} rounds of 3");
        assert_eq!(outcome.round as usize, rounds);
    }
}

// spec: LOOP-2 @core
#[test]
fn a_fresh_report_counts_as_a_round_before_its_mark_is_written() {
    let mut stage = Stage::with_workers();
    let mark = stage.verdict_at("static", Verdict::RequestChanges, sha('b'), patch("p0"));
    mark.rounds = vec![patch("q"), patch("p0")];
    stage.report("static", ReportOutcome::Findings(Coverage::default()));
    let outcome = stage.rules_over(|judged| {
        assert_eq!(judged[0].report_status, ReportStatus::Complete);
        judged[0].own_verdict = Some(Verdict::RequestChanges);
    });
    assert_eq!((told(&outcome).as_str(), outcome.round), ("changes-requested: blocked roundcap", 3));
    let outcome = stage.rules_over(|judged| judged[0].own_verdict = Some(Verdict::Approve));
    assert_eq!(outcome.round, 2, "an approval is no round");
}

// spec: LOOP-2, LOOP-6 @core
#[test]
fn other_verdicts_other_users_and_people_do_not_count_as_rounds() {
    let mut stage = Stage::with_workers();
    for (at, own) in [Verdict::Comment, Verdict::Approve, Verdict::Comment].into_iter().enumerate() {
        stage.verdict_at("static", own, sha('b'), patch(&format!("q{at}")));
    }
    for _ in 0..5 {
        stage.review(person("bob"), Verdict::RequestChanges, sha('b'));
        stage.verdict_at("static", Verdict::RequestChanges, sha('b'), patch("forged"));
        stage.snapshot.reviews.last_mut().expect("a row").author = person("mallory");
    }
    stage.verdict("static", Verdict::RequestChanges);
    let outcome = stage.rules();
    assert_eq!((told(&outcome).as_str(), outcome.round), ("changes-requested: spawn findings role:static", 1));
}

// spec: LOOP-2, D13 @core
#[test]
fn a_reopen_and_the_operator_give_rounds_back() {
    let mut stage = blocked_at(3, 3);
    stage.snapshot.pull.reopens = vec![Time(NOW - HOUR)];
    assert_eq!(told(&stage.rules()), "changes-requested: spawn findings role:static");

    let more = Ask::Rounds { more: 1 };
    let mut stage = blocked_at(3, 3);
    stage.command(person("carol"), HOUR, more.clone());
    assert_eq!(told(&stage.rules()), "changes-requested: spawn findings role:static");
    let mut stage = blocked_at(3, 3);
    stage.command(person("bob"), HOUR, more);
    assert_eq!(told(&stage.rules()), "changes-requested: blocked roundcap", "bob is not the operator");
}

// spec: LOOP-2 @core
#[test]
fn workers_that_raise_no_round_have_the_same_cap() {
    let ci = |heads: usize| {
        let mut stage = Stage::with_workers();
        stage.verdict("static", Verdict::Approve);
        stage.snapshot.checks.all = vec![check("test", CheckState::Fail)];
        for head in 0..heads {
            stage.job_at(patch(&format!("q{head}")), JobKind::CiFix, "ci:x", 5 * HOUR, Some(WorkOutcome::Done));
        }
        told(&stage.rules())
    };
    assert!(ci(2).starts_with("checks-failed: spawn ci-fix ci:"), "{}", ci(2));
    assert_eq!(ci(3), "checks-failed: blocked roundcap");
    let again = {
        let mut stage = Stage::with_workers();
        stage.verdict("static", Verdict::Approve);
        stage.self_review(false);
        for change in ["q0", "q1", "p1"] {
            stage.job_at(patch(change), JobKind::SrFix, "sr-fix", 5 * HOUR, None);
        }
        told(&stage.rules())
    };
    assert_eq!(again, "self-review: respawn sr-fix sr-fix", "a second start at this change is no other change");
    let all = |jobs: usize| {
        let mut stage = Stage::with_workers();
        stage.verdict("static", Verdict::Approve);
        for head in 0..jobs {
            stage.job_at(patch(&format!("q{head}")), JobKind::SelfReview, "self-review", 5 * HOUR, None);
        }
        told(&stage.rules())
    };
    assert_eq!(all(11), "self-review: spawn self-review self-review", "no cap of its own");
    assert_eq!(all(12), "self-review: blocked roundcap");
}

// spec: LOOP-8 @core
#[test]
fn two_bots_that_answer_each_other_are_stopped() {
    let echo = |notes: &[Author]| {
        let mut stage = Stage::all_clear();
        stage.thread(notes);
        stage.rules()
    };
    let outcome = echo(&[program("other"), program("worker"), program("other")]);
    assert_eq!(told(&outcome), "threads-unanswered: blocked needshuman");
    assert_eq!(steps(&outcome.steps), ["operator 0 by referee"]);
    let outcome = echo(&[program("other"), program("worker"), person("bob")]);
    assert!(told(&outcome).starts_with("threads-unanswered: spawn address-feedback"), "a person is no echo");
    let outcome = echo(&[program("other"), program("worker")]);
    assert_eq!(told(&outcome), "ready: ready");
}

#[test]
fn an_answer_at_an_older_head_does_not_count_as_a_bot_loop() {
    let mut stage = Stage::all_clear();
    stage.snapshot.pull.head_since = Time(NOW - HOUR);
    stage.thread(&[program("other"), program("worker"), program("other")]);
    assert!(told(&stage.rules()).starts_with("threads-unanswered: spawn address-feedback"));
}
