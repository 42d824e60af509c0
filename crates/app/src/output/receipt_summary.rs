//! A one-line summary of what a turn wrote, counted by kind of action.

use referee_core::plan::{Action, Step};
use referee_turn::{Receipt, StepOutcome};

/// Renders the completed steps, such as `2 reviews posted with 6 threads, 2 statuses`.
pub(super) fn summarize_receipts(steps: &[Step], receipts: &[Receipt]) -> String {
    let done_actions = || {
        let pairs = steps.iter().zip(receipts);
        pairs.filter(|(_, receipt)| receipt.outcome == StepOutcome::Done).map(|(step, _)| &step.action)
    };
    let count = |name: &str| done_actions().filter(|action| action.name() == name).count();
    let count_threads =
        |name: &str| -> usize { done_actions().filter(|action| action.name() == name).map(count_opened_threads).sum() };
    let with_threads = match count_threads("post_review") {
        0 => String::new(),
        threads => format!(" with {}", pluralize(threads, "thread")),
    };
    let kinds = [
        (count("post_review"), "review posted", "reviews posted", with_threads.as_str()),
        (count("edit_review"), "review edited", "reviews edited", ""),
        (count("supersede"), "review superseded", "reviews superseded", ""),
        (count_threads("open_threads"), "thread opened", "threads opened", ""),
        (count("reply"), "reply", "replies", ""),
        (count("resolve"), "thread resolved", "threads resolved", ""),
        (count("ensure_comment"), "comment", "comments", ""),
        (count("set_label"), "label", "labels", ""),
        (count("assign"), "assignee", "assignees", ""),
        (count("set_status"), "status", "statuses", ""),
    ];
    let present = kinds.iter().filter(|(n, ..)| *n > 0);
    let parts = present.map(|(n, one, many, suffix)| format!("{n} {}{suffix}", if *n == 1 { one } else { many }));
    parts.collect::<Vec<_>>().join(", ")
}

fn count_opened_threads(action: &Action) -> usize {
    match action {
        Action::PostReview { threads, .. } | Action::OpenThreads { threads, .. } => threads.len(),
        _ => 0,
    }
}

/// Renders a count with its noun: `1 thread`, `2 threads`.
pub(crate) fn pluralize(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
