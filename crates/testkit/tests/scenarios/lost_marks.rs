//! A person edits a summary of the bot and removes its Mark.

use insta::assert_snapshot;
use referee_core::mark::strip_hidden_comments;
use referee_core::model::Verdict;
use referee_core::plan::{BlockedCause, Next};
use referee_testkit::scenario::{ScenarioRun, critical, report};

use crate::{blocked, leak, posted, security};

/// Blocks a second head with a second finding.
fn blocked_twice(title: &'static str) -> ScenarioRun {
    let mut s = blocked(security(title));
    s.by("alice")
        .changes_line("src/a.rs", 7, "fn e(x: &str) { run(x) }")
        .report(report("security").still_there(1).finds(critical("it runs its input").at("src/a.rs", 7)))
        .turn()
        .discard_effects();
    s
}

// spec: PUB-12, LOOP-2 @core
#[test]
fn a_summary_without_its_mark_is_found_again_and_no_second_review_is_posted() {
    let mut s = blocked_twice("bob removes the Mark");
    assert!(s.summary().contains("round 2 of 3"), "{}", s.summary());
    s.by("bob").replaces_summary(|text| strip_hidden_comments(text).into_owned()).turn();
    assert_snapshot!(s.steps(), @"edit review 1 (own-block: role security, own verdict request changes, enforced request changes, somebody edited it)");
    assert_eq!(posted(&s), [Verdict::RequestChanges], "edited in place");
    assert!(s.summary().contains("round 2 of 3"), "{}", s.summary());
    s.report(report("security").still_there(1).still_there(2)).turn().discard_effects();
    assert_eq!(s.turn().steps(), "nothing to write");
    assert!(s.summary().contains("round 2 of 3"), "the same change is read again: {}", s.summary());
    assert_eq!(posted(&s), [Verdict::RequestChanges]);
}

// spec: PUB-12, LOOP-2 @core
#[test]
fn a_summary_whose_whole_text_is_replaced_is_found_by_its_threads() {
    let mut s = blocked_twice("bob replaces the text");
    s.by("bob").replaces_summary(|_| "All fine, merge it.".to_owned()).turn().discard_effects();
    assert_eq!(posted(&s), [Verdict::RequestChanges], "edited in place");
    assert!(s.summary().contains("round 2 of 3"), "{}", s.summary());
    s.by("alice")
        .changes_line("src/a.rs", 6, "fn f() {}")
        .report(report("security").still_there(1).still_there(2))
        .turn()
        .discard_effects();
    assert!(s.summary().contains("round 3 of 3"), "{}", s.summary());
    assert_eq!(s.plan().next, Next::Blocked(BlockedCause::RoundCap));
    assert_eq!(s.turn().steps(), "nothing to write");
}

// spec: LOOP-2 @core
#[test]
fn rounds_are_cross_checked_with_the_blocking_reviews_of_the_account() {
    let mut s = security("no thread, no text").with_policy(|policy| policy.max_inline = 0).open_pull();
    s.report(report("security").finds(leak())).turn().discard_effects();
    s.by("bob").replaces_summary(|_| "All fine, merge it.".to_owned());
    s.by("alice")
        .changes_line("src/a.rs", 7, "fn e() {}")
        .report(report("security").finds(leak()))
        .turn()
        .discard_effects();
    assert!(s.summary().contains("round 2 of 3"), "{}", s.summary());
    assert_eq!(s.turn().steps(), "nothing to write");
}
