use std::collections::BTreeSet;

use referee_core::model::{CheckState, CommentId, EditId, NoteId, ReviewId, RoleName, Sha, ThreadId, Verdict};
use referee_core::plan::{Action, CommentTarget};
use referee_core::sanitise::SafeText;
use referee_testkit::scenario::{critical, report};

use crate::{FIX, blocked, security};

/// Returns one action of each kind. A new variant breaks the match and must be added here.
fn vocabulary() -> Vec<Action<String>> {
    let text = || "text".to_owned();
    let (review, edit, thread) = (ReviewId::from("1"), EditId::from("2"), ThreadId::from("3"));
    let all = vec![
        Action::PostReview {
            role: RoleName::from("security"),
            verdict: Verdict::Approve,
            commit: Sha::from("aa"),
            text: text(),
            threads: Vec::new(),
        },
        Action::EditReview { review: review.clone(), edit: edit.clone(), text: text() },
        Action::Supersede { review, successor: None, edit, text: text() },
        Action::OpenThreads { role: RoleName::from("security"), commit: Sha::from("aa"), threads: Vec::new() },
        Action::Reply { thread: thread.clone(), text: text() },
        Action::Resolve { thread, mark: Some((NoteId::from("4"), text())) },
        Action::EnsureComment { existing: Some(CommentId::from("5")), target: CommentTarget::Pull, text: text() },
        Action::SetLabel { name: "ready".to_owned(), on: true },
        Action::Assign { target: CommentTarget::Pull, who: None },
        Action::SetStatus {
            commit: Sha::from("aa"),
            context: "referee/security".to_owned(),
            state: CheckState::Pass,
            text: SafeText::sanitise_line("fine", 10),
        },
    ];
    for action in &all {
        match action {
            Action::PostReview { .. }
            | Action::EditReview { .. }
            | Action::Supersede { .. }
            | Action::OpenThreads { .. }
            | Action::Reply { .. }
            | Action::Resolve { .. }
            | Action::EnsureComment { .. }
            | Action::SetLabel { .. }
            | Action::Assign { .. }
            | Action::SetStatus { .. } => {}
        }
    }
    all
}

// spec: SAF-1 @core
#[test]
fn no_action_merges_closes_dismisses_or_deletes() {
    let names: BTreeSet<&str> = vocabulary().iter().map(Action::name).collect();
    let expected = [
        "assign",
        "edit_review",
        "ensure_comment",
        "open_threads",
        "post_review",
        "reply",
        "resolve",
        "set_label",
        "set_status",
        "supersede",
    ];
    assert_eq!(names, BTreeSet::from(expected));
    for name in &names {
        for banned in ["merge", "close", "dismiss", "delete", "push", "remove", "unresolve"] {
            assert!(!name.contains(banned), "{name}");
        }
    }
}

// spec: SAF-5 @core
#[test]
fn a_dry_run_plans_the_same_and_writes_nothing() {
    let mut s = blocked(security("a dry run"));
    s.by("alice").changes_line("src/a.rs", 4, FIX);
    s.report(report("security").fixed(1).finds(critical("it panics").at("src/a.rs", 4)));
    let (description, writes) = (s.world.describe_pull(s.pull), s.world.calls().writes);
    s.dry_turn();
    let dry = s.plan().clone();
    assert!(s.steps().lines().all(|step| step.ends_with("→ withheld, a dry run")), "{}", s.steps());
    assert_eq!((s.world.describe_pull(s.pull), s.world.calls().writes), (description, writes), "no call may write");
    s.turn().discard_effects();
    assert_eq!(s.last_turn().steps[..dry.steps.len()], dry.steps[..], "the real run performs the steps of the dry run");
    assert!(0 < s.last_turn().writes);
}
