use insta::assert_snapshot;
use referee_core::model::Verdict;
use referee_core::plan::Next;
use referee_testkit::scenario::report;

use crate::{FIX, blocked, posted, security};

// spec: D25, INC-13 @core
#[test]
fn break_glass_lifts_the_block_and_starts_nothing() {
    let mut s = blocked(security("the glass"));
    s.by("carol").commands("break-glass production is down").turn();
    assert_snapshot!(s.explain_lines(), @"
    rule     break-glass: by carol at 2026-11-15 10:40 UTC, production is down
    standing security request changes, enforced as approve, at this head
    threads  1 open (F1 critical)
    plan     post security as approve at 8e14688 (glass: role security, own verdict request changes, enforced approve, posted as approve)
    plan     status referee/security pass: glass broken by carol: production is down (status: glass)
    plan     comment on the pull (break-glass: by carol at 2026-11-15 10:40 UTC)
    refuse   another review by security (same-head: request changes at 8e14688)
    next     wait for the operator
    ");
    assert!(!s.world.decision(s.pull).is_blocked());
    assert_snapshot!(s.own_comments().join("\n"), @"
    **Glass broken** · by carol · `8e14688` · until the next change

    Reason given: production is down

    Not enforced: F1

    No reviewer and no worker starts here, and own blocks are lifted. A person's block still counts.
    ");
    assert_eq!(s.turn().steps(), "nothing to write", "the audit comment is posted once");
}

// spec: D25, INC-13 @core
#[test]
fn a_new_patch_ends_break_glass_before_any_reviewer_runs() {
    let mut s = blocked(security("the glass, then a push"));
    s.by("carol").commands("break-glass production is down").turn().discard_effects();
    s.by("alice").amends().turn().discard_effects();
    assert!(!s.world.decision(s.pull).is_blocked(), "the same patch keeps the glass broken");
    s.by("alice").changes_line("src/a.rs", 7, "fn e() {}").turn();
    assert_snapshot!(s.steps(), @"
    post security as request changes at 730cada (own-block: role security, own verdict request changes, enforced request changes, posted as request changes)
    supersede review 2 (own-block: role security, own verdict request changes, enforced request changes, review 2 no longer holds)
    ");
    assert!(s.world.decision(s.pull).is_blocked());
    assert!(!s.plan().reviews.is_empty(), "the review is requested afterwards");
}

// spec: D25, INC-13 @core
#[test]
fn only_the_operator_breaks_the_glass_and_never_against_a_persons_block() {
    let mut s = blocked(security("who may"));
    s.by("bob")
        .blocks("not without a test")
        .by("alice")
        .commands("break-glass I am in a hurry")
        .turn()
        .discard_effects();
    assert_eq!(posted(&s), [Verdict::RequestChanges]);
    s.by("carol").commands("break-glass production is down").turn().discard_effects();
    assert_eq!(s.world.decision(s.pull).blockers, [referee_core::model::Login::from("bob")]);
    assert_ne!(s.plan().next, Next::Ready);
}

// spec: INC-13 @core
#[test]
fn break_glass_is_checked_before_a_review_is_requested() {
    let mut s = security("broken at once").open_pull();
    s.by("carol").commands("break-glass production is down").turn().discard_effects();
    assert_eq!(s.plan().why.rule, "break-glass");
    assert!(s.plan().reviews.is_empty());
}

// spec: D27 @core
#[test]
fn an_approval_lifts_the_block_of_any_sibling_role() {
    let mut s = security("lifted by a sibling").role("style").open_pull();
    s.report(report("security").finds(crate::leak())).report(report("style")).turn().discard_effects();
    s.by("alice").changes_line("src/a.rs", 4, FIX).report(report("style")).turn().discard_effects();
    assert!(s.world.decision(s.pull).is_blocked(), "security has not reviewed again");
    s.report(report("security").fixed(1)).turn().discard_effects();
    assert_eq!(s.world.decision(s.pull).blockers, []);
    assert!(posted(&s).contains(&Verdict::Approve));
    assert_eq!(s.turn().steps(), "nothing to write");
}

// spec: D1 @core
#[test]
fn guards_read_the_mark_of_the_current_text_not_the_commit_of_the_review() {
    let mut s = blocked(security("edited in place"));
    let row = s.own_reviews()[0].commit.clone();
    s.by("alice")
        .changes_line("src/a.rs", 7, "fn e() {}")
        .report(report("security").still_there(1))
        .turn()
        .discard_effects();
    let standing = &s.own_reviews()[0];
    assert_eq!(standing.commit, row, "the forge still names the first commit");
    assert_eq!(standing.text.trusted_mark().map(|mark| (&mark.head, mark.rounds.len())), Some((&s.plan().head, 2)));
    assert!(s.turn().discard_effects().plan().reviews.is_empty(), "the head counts as reviewed");
}
