//! D29: the reviews that are due and the author's turn are decided independently.

use referee_core::model::*;
use referee_core::policy::Role;
use referee_core::say::Ask;

use crate::support::*;

type Change = fn(&mut Stage);

fn conflict(stage: &mut Stage) {
    stage.snapshot.pull.mergeable = Mergeable::Conflict;
}

fn failed_check(stage: &mut Stage) {
    stage.snapshot.checks.all = vec![check("test", CheckState::Fail)];
}

fn person_blocks(stage: &mut Stage) {
    stage.review(person("bob"), Verdict::RequestChanges, sha('a'));
}

/// Asserts the rule, the worker if one starts, and whether `static` is due.
fn check_stage(mut stage: Stage, change: Change, rule_and_worker: &str, due: bool) {
    change(&mut stage);
    let outcome = stage.rules();
    let said = told(&outcome);
    assert!(said.starts_with(rule_and_worker), "{said}");
    assert_eq!(said.ends_with("; review static"), due, "{said}");
}

// spec: D29, DSP-5, DSP-6 @core
#[test]
fn an_unread_role_does_not_delay_rules_2_to_4() {
    let cases: [(Change, &str); 4] = [
        (person_blocks, "changes-requested: spawn findings person:bob@r1"),
        (conflict, "conflict: spawn rebase"),
        (failed_check, "checks-failed: spawn ci-fix"),
        (|_| {}, "reviews-missing: wait reviewer([\"static\"])"),
    ];
    for (change, expected) in cases {
        check_stage(Stage::with_workers(), change, expected, true);
    }
}

// spec: D29, D4 @core
#[test]
fn a_bots_block_from_an_older_head_lets_only_rebase_and_ci_fix_start() {
    let own = || {
        let mut stage = Stage::with_workers();
        stage.verdict_at("static", Verdict::RequestChanges, sha('b'), patch("p0"));
        stage
    };
    let other = || {
        let mut stage = Stage::all_clear();
        stage.review(program("other"), Verdict::RequestChanges, sha('b'));
        stage
    };
    for (change, expected) in
        [(conflict as Change, "conflict: spawn rebase"), (failed_check, "checks-failed: spawn ci-fix")]
    {
        check_stage(own(), change, expected, true);
        check_stage(other(), change, expected, false);
    }
    check_stage(own(), |_| {}, "reviews-missing: wait reviewer([\"static\"])", true);
    check_stage(other(), |_| {}, "reviews-missing: wait reviewer([\"other\"])", false);
    let mut stage = Stage::all_clear();
    stage.policy.roles.push(Role { ad_hoc: true, ..role("lint") });
    stage.verdict_at("lint", Verdict::RequestChanges, sha('b'), patch("p0"));
    check_stage(stage, |_| {}, "reviews-missing: wait reviewer([\"lint\"])", false);
}

// spec: D29, LOOP-11 @core
#[test]
fn a_reviewer_that_failed_for_good_blocks_at_rule_5() {
    let failed = || {
        let mut stage = Stage::with_workers();
        let mark = stage.verdict("static", Verdict::Comment);
        (mark.complete, mark.attempts, mark.tried_at) = (false, 3, Some(Time(NOW - HOUR)));
        stage
    };
    check_stage(failed(), conflict, "conflict: spawn rebase", false);
    check_stage(failed(), |_| {}, "reviews-missing: blocked reviewerfailed", false);
    let outcome = failed().rules();
    let refusal = outcome.refused.iter().find(|refusal| refusal.what == "review by static").expect("a reason");
    assert_eq!(refusal.why.facts, ["failed 3 times"]);
    let mut beside = failed();
    beside.policy.roles.push(role("security"));
    assert_eq!(
        told(&beside.rules()),
        "reviews-missing: wait reviewer([\"static\", \"security\"]); review security",
        "a role that is due comes before a person's decision"
    );
}

// spec: D29, LOOP-9 @core
#[test]
fn an_exceeded_budget_blocks_at_rule_5_and_no_review_is_due() {
    let over = || {
        let mut stage = Stage::with_workers();
        stage.verdict_at("static", Verdict::Comment, sha('b'), patch("p0")).spent.tokens = 9_000_000;
        stage
    };
    check_stage(over(), failed_check, "checks-failed: spawn ci-fix", false);
    check_stage(over(), |_| {}, "reviews-missing: blocked budget", false);
    let refused = over().rules().refused;
    assert!(
        refused.iter().any(|it| it.what == "review by static" && it.why.facts == ["tokens used up"]),
        "{refused:?}"
    );
}

// spec: D29, D2 @core
#[test]
fn a_review_that_a_person_asked_for_is_due_and_nothing_is_ready_before_it() {
    let mut stage = Stage::all_clear();
    assert_eq!(told(&stage.rules()), "ready: ready");
    stage.command(person("bob"), MINUTE, Ask::Review);
    let outcome = stage.rules();
    assert_eq!(told(&outcome), "reviews-missing: wait reviewer([\"static\"]); review static");
    assert_eq!(outcome.why.facts, ["to be read again by static"]);
    assert_eq!(outcome.reviews[0].why.rule, "review-asked");
}

// spec: D29 @core
#[test]
fn findings_of_an_unread_role_wait_for_its_review_before_a_person_decides() {
    let mut stage = Stage::with_workers();
    stage.verdict_at("static", Verdict::RequestChanges, sha('b'), patch("p0"));
    stage.finding(4, Severity::Critical, FindingState::Open, "src/a.rs", 3);
    let outcome = stage.rules_over(|judged| judged[0].findings[0].needs_human_reason = Some("disputed"));
    assert_eq!(told(&outcome), "reviews-missing: wait reviewer([\"static\"]); review static");
}
