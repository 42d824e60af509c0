use insta::assert_snapshot;
use referee_core::model::Verdict;
use referee_core::plan::{Next, WaitingOn};
use referee_testkit::Quirks;
use referee_testkit::scenario::report;

use crate::{FIX, blocked, posted, security};

// spec: PUB-20 @core
#[test]
fn a_block_cleared_by_the_authors_request_is_posted_again_once() {
    let mut s = blocked(security("asked again"));
    s.by("alice").requests_review_again();
    assert!(!s.world.decision(s.pull).is_blocked(), "the forge no longer counts the block");
    assert_snapshot!(s.turn().explain_lines(), @"
    rule     changes-requested: security asks for changes, no worker may push here
    standing security request changes, at this head
    threads  1 open (F1 critical)
    plan     post security as request changes at 8e14688 (own-block: role security, own verdict request changes, enforced request changes, posted as request changes)
    refuse   another review by security (same-head: request changes at 8e14688)
    next     wait for the author: a push or an answer
    ");
    assert!(s.world.decision(s.pull).is_blocked(), "before any reviewer runs");
    assert!(s.summary().contains("review"), "{}", s.summary());
    assert_eq!(s.turn().steps(), "nothing to write");
    s.by("alice").requests_review_again().turn().discard_effects();
    assert_eq!(posted(&s), [Verdict::RequestChanges; 3], "once per request");
}

// spec: PUB-20 @core
#[test]
fn an_open_request_is_answered_with_the_current_verdict() {
    let mut s = security("asked while approved").open_pull();
    s.report(report("security")).turn().discard_effects();
    s.by("bob").requests_review_again();
    assert_snapshot!(s.turn().steps(), @"post security as comment at 8e14688 (answers: role security, own verdict approve, enforced approve, posted as comment)");
    assert_eq!(s.turn().steps(), "nothing to write");
}

// spec: PUB-20 @core
#[test]
fn a_dismissal_by_a_maintainer_is_respected_until_the_next_change() {
    let mut s = blocked(security("dismissed by bob"));
    s.by("bob").dismisses().turn();
    assert_snapshot!(s.steps(), @"edit review 1 (own-block: role security, own verdict request changes, enforced request changes, its text or Mark would differ)");
    assert_eq!(posted(&s), [Verdict::RequestChanges], "nothing is posted again");
    s.by("alice")
        .pushes("src/b.rs", "fn later() {}\n")
        .report(report("security").still_there(1))
        .turn()
        .discard_effects();
    assert!(s.world.decision(s.pull).is_blocked(), "a new change is judged again");
}

// spec: PUB-20 @core
#[test]
fn a_dismissal_by_the_author_is_not_respected() {
    let mut s = blocked(security("dismissed by alice"));
    s.by("alice").dismisses().turn();
    assert_snapshot!(s.steps(), @"post security as request changes at 8e14688 (own-block: role security, own verdict request changes, enforced request changes, posted as request changes)");
    assert!(s.world.decision(s.pull).is_blocked());
    assert!(s.summary().contains("alice"), "the summary says why: {}", s.summary());
    assert_eq!(s.turn().steps(), "nothing to write");
}

// spec: D17 @core
#[test]
fn two_blocking_roles_on_one_identity_do_not_repost_each_other() {
    let mut s = security("two blocks").role("style").open_pull();
    let found = |role: &str, line| {
        report(role).finds(referee_testkit::scenario::critical(&format!("{role} objects")).at("src/a.rs", line))
    };
    s.report(found("security", 4)).report(found("style", 1)).turn().discard_effects();
    assert_eq!(posted(&s), [Verdict::RequestChanges; 2]);
    for _ in 0..3 {
        assert_eq!(s.turn().steps(), "nothing to write");
    }
}

// spec: D17 @core
#[test]
fn a_block_that_the_forge_no_longer_counts_is_posted_again() {
    let quirks = Quirks { stale_rows_ignored: true, stale_flags: true, ..Quirks::plain() };
    let mut s = blocked(security("stale rows do not count").with_quirks(quirks));
    s.by("alice").changes_line("src/a.rs", 7, "fn e() {}").report(report("security").still_there(1)).turn();
    assert_snapshot!(s.steps(), @"post security as request changes at 19f6a95 (own-block: role security, own verdict request changes, enforced request changes, posted as request changes)");
    assert!(s.world.decision(s.pull).is_blocked());
}

// spec: D21 @core
#[test]
fn a_new_post_opens_no_thread_for_a_finding_that_has_one() {
    let quirks = Quirks { stale_rows_ignored: true, stale_flags: true, ..Quirks::plain() };
    let mut s = blocked(security("posted again").with_quirks(quirks));
    s.by("alice")
        .changes_line("src/a.rs", 7, "fn e() {}")
        .report(report("security").still_there(1))
        .turn()
        .discard_effects();
    assert_eq!(s.snapshot().threads.len(), 1);
    let link = s.snapshot().threads[0].url.clone();
    assert!(s.summary().contains(&link), "the summary links to it: {}", s.summary());
}

// spec: D28 @core
#[test]
fn an_edited_summary_is_rewritten_once_for_each_edit() {
    let mut s = blocked(security("bob scribbles"));
    let before = s.summary();
    s.by("bob").edits_summary("All fine, merge it.").turn();
    assert_snapshot!(s.steps(), @"edit review 1 (own-block: role security, own verdict request changes, enforced request changes, somebody edited it)");
    assert_eq!(s.summary(), before);
    assert_eq!(s.turn().steps(), "nothing to write");
}

// spec: D19 @core
#[test]
fn no_approval_is_posted_before_every_blocking_role_has_reviewed() {
    let mut s = security("one has not spoken")
        .role("style")
        .role_for_paths("docs", "docs/**")
        .with_policy(|policy| policy.approve = referee_core::policy::ApprovalMode::On)
        .open_pull();
    s.report(report("security")).turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     reviews-missing: not read yet by style
    standing security approve, enforced as comment, at this head
    standing style has no verdict yet
    standing docs has no verdict yet
    threads  no findings
    plan     post security as comment at 8e14688 (waiting: role security, own verdict approve, enforced comment, posted as comment)
    plan     status referee/security pending: nothing blocking · waiting for style (status: waiting)
    review   style reads everything, round 1 (review-due: no complete verdict for 8e14688)
    next     wait for reviews by style
    ");
    assert!(s.summary().contains("waiting for style"), "{}", s.summary());
    s.report(report("style")).turn().discard_effects();
    assert!(s.world.decision(s.pull).is_approved(), "docs has no matching files, so nobody waits for it");
}

// spec: D19, D4 @core
#[test]
fn no_approval_is_posted_against_a_persons_block() {
    let mut s = security("bob blocks")
        .with_policy(|policy| policy.approve = referee_core::policy::ApprovalMode::On)
        .open_pull();
    s.by("bob").blocks("not without a test").report(report("security")).turn().discard_effects();
    assert_eq!(posted(&s), [Verdict::Comment]);
    assert_eq!(s.plan().next, Next::Wait(WaitingOn::Author));
    s.by("bob").approves().turn().discard_effects();
    assert_eq!(posted(&s), [Verdict::Comment, Verdict::Approve]);
}

// spec: D27 @core
#[test]
fn an_approving_verdict_is_posted_as_the_policy_says() {
    use referee_core::policy::ApprovalMode;
    for (approve, clean, lifted) in [
        (ApprovalMode::On, Verdict::Approve, Some(Verdict::Approve)),
        (ApprovalMode::Lift, Verdict::Comment, Some(Verdict::Approve)),
        (ApprovalMode::Off, Verdict::Comment, None),
    ] {
        let mut s = security("clean at once").with_policy(|policy| policy.approve = approve).open_pull();
        s.report(report("security")).turn().discard_effects();
        assert_eq!(posted(&s), [clean], "{approve:?}");

        let mut s = blocked(security("clean after a block").with_policy(|policy| policy.approve = approve));
        s.by("alice").changes_line("src/a.rs", 4, FIX).report(report("security").fixed(1)).turn().discard_effects();
        let block = if approve == ApprovalMode::Off { Verdict::Comment } else { Verdict::RequestChanges };
        let expected: Vec<Verdict> = std::iter::once(block).chain(lifted).collect();
        assert_eq!(posted(&s), expected, "{approve:?}");
        assert!(!s.world.decision(s.pull).is_blocked(), "{approve:?}");
    }
}
