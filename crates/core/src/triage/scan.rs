//! One look at the threads of a pull, and what is kept of it (TRI-3, TRI-7). What is kept is bounded: beyond the
//! bound the scan is incomplete, never shorter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{OwnIdentities, PhaseNow, ThreadFilter, ThreadView, TriagePayload, compute_phase};
use crate::model::{Class, Completeness, NoteId, Snapshot, Thread, ThreadId, Triage, TriageItem};
use crate::policy::Policy;

/// How many threads one scan keeps.
const MAX_THREADS: usize = 500;
/// How many entries of a list are kept.
const MAX_LIST_ENTRIES: usize = 20;
/// How much of a text is kept, in characters.
const MAX_TEXT_CHARS: usize = 500;

/// One look at the threads of a pull.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadScan {
    /// Of which pull.
    pub pr_number: u64,
    /// Everything was read. Where it was not, an empty list means nothing.
    pub complete: bool,
    /// Unresolved threads were left out by a filter or a default.
    pub filtered: bool,
    /// Where the pull is.
    pub phase: PhaseNow,
    /// The threads that were looked at.
    pub threads: Vec<ThreadView>,
}

/// What is kept of a thread that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeenThreads {
    /// Which thread.
    pub thread_id: ThreadId,
    /// Its latest note then.
    pub latest_comment: Option<NoteId>,
    /// It was resolved then.
    pub is_resolved: bool,
}

/// Looks at the threads that the filter takes.
pub fn scan_threads(snapshot: &Snapshot, policy: &Policy, filter: &ThreadFilter, source: &str) -> ThreadScan {
    let own = OwnIdentities::new(snapshot, policy);
    let (mut taken, left): (Vec<&Thread>, Vec<&Thread>) =
        snapshot.threads.iter().partition(|thread| filter.matches(thread, &own));
    // Forges list threads in any order.
    taken.sort_by_key(|thread| (&thread.path, thread.line, &thread.id));
    ThreadScan {
        pr_number: snapshot.pull.number.0,
        complete: snapshot.complete == Completeness::Complete,
        filtered: left.iter().any(|thread| own.thread_closure(thread).is_none()),
        phase: compute_phase(snapshot, policy, filter),
        threads: taken.into_iter().map(|thread| ThreadView::from_thread(thread, snapshot, policy, source)).collect(),
    }
}

impl ThreadScan {
    /// The ids that a triage of this scan must cover, each once.
    pub fn selected_thread_ids(&self) -> Vec<ThreadId> {
        self.threads.iter().map(|thread| thread.thread_id.clone()).collect()
    }

    /// What is kept of the threads themselves.
    pub fn to_seen_threads(&self) -> Vec<SeenThreads> {
        let seen = self.threads.iter().take(MAX_THREADS).map(|thread| SeenThreads {
            thread_id: thread.thread_id.clone(),
            latest_comment: thread.latest_comment.as_ref().map(|note| note.id.clone()),
            is_resolved: thread.is_resolved,
        });
        seen.collect()
    }
}

/// What is kept of a triage: bounded texts, no drafts, the latest note of each thread. A person who was asked before
/// about a thread that is still open and that this triage does not mention is still asked.
pub fn build_triage(payload: TriagePayload, scan: &ThreadScan, before: Option<&Triage>) -> Triage {
    let mut threads: Vec<_> = payload.threads.into_iter().map(|item| bound_item(item, scan)).collect();
    let asked = before.into_iter().filter(|before| before.pr_number == scan.pr_number).flat_map(|b| &b.threads);
    let resolved = |id: &ThreadId| scan.threads.iter().any(|thread| thread.thread_id == *id && thread.is_resolved);
    for item in asked.filter(|item| !resolved(&item.thread_id)) {
        if !(item.requires_human_decision || item.classification == Class::NeedsHuman) {
            continue;
        }
        if !threads.iter().any(|fresh| fresh.thread_id == item.thread_id) {
            threads.push(item.clone());
        }
    }
    let complete = scan.complete && threads.len() <= MAX_THREADS;
    threads.truncate(MAX_THREADS);
    Triage { pr_number: scan.pr_number, complete, failed: false, filtered: scan.filtered, threads }
}

fn bound_item(item: TriageItem, scan: &ThreadScan) -> TriageItem {
    let thread = scan.threads.iter().find(|thread| thread.thread_id == item.thread_id);
    let latest_note = thread.and_then(|thread| thread.latest_comment.as_ref()).map(|note| note.id.clone());
    TriageItem {
        reason: bound_text(&item.reason),
        recommended_action: bound_text(&item.recommended_action),
        files_to_inspect: bound_list(item.files_to_inspect),
        files_to_change: bound_list(item.files_to_change),
        checks_to_run: bound_list(item.checks_to_run),
        reply_body: None,
        latest_note,
        ..item
    }
}

fn bound_list(list: Vec<String>) -> Vec<String> {
    list.into_iter().take(MAX_LIST_ENTRIES).map(|entry| bound_text(&entry)).collect()
}

fn bound_text(text: &str) -> String {
    text.chars().take(MAX_TEXT_CHARS).collect()
}
