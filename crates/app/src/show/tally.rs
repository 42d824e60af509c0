//! What was written, counted by kind.

use referee_core::plan::{Action, Step};
use referee_turn::{Receipt, StepOutcome};

/// `2 reviews posted with 6 threads, 2 statuses`.
pub(crate) fn summarize_receipts(steps: &[Step], receipts: &[Receipt]) -> String {
    let done = || {
        let both = steps.iter().zip(receipts);
        both.filter(|(_, receipt)| receipt.outcome == StepOutcome::Done).map(|(step, _)| &step.action)
    };
    let of = |name: &str| done().filter(|action| action.name() == name).count();
    let threads =
        |name: &str| -> usize { done().filter(|action| action.name() == name).map(count_opened_threads).sum() };
    let with = match threads("post_review") {
        0 => String::new(),
        n => format!(" with {}", pluralize(n, "thread")),
    };
    let kinds = [
        (of("post_review"), "review posted", "reviews posted", with.as_str()),
        (of("edit_review"), "review edited", "reviews edited", ""),
        (of("supersede"), "review superseded", "reviews superseded", ""),
        (threads("open_threads"), "thread opened", "threads opened", ""),
        (of("reply"), "reply", "replies", ""),
        (of("resolve"), "thread resolved", "threads resolved", ""),
        (of("ensure_comment"), "comment", "comments", ""),
        (of("set_label"), "label", "labels", ""),
        (of("assign"), "assignee", "assignees", ""),
        (of("set_status"), "status", "statuses", ""),
    ];
    let some = kinds.iter().filter(|(n, ..)| *n > 0);
    let words = some.map(|(n, one, many, more)| format!("{n} {}{more}", if *n == 1 { one } else { many }));
    words.collect::<Vec<_>>().join(", ")
}

/// How many threads an action opens.
fn count_opened_threads(action: &Action) -> usize {
    match action {
        Action::PostReview { threads, .. } | Action::OpenThreads { threads, .. } => threads.len(),
        _ => 0,
    }
}

/// `1 thread`, `2 threads`.
pub(crate) fn pluralize(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
