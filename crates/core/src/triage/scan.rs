//! Scans the threads of a pull, and builds the stored triage (TRI-3, TRI-7). Stored data is bounded: a triage with more
//! threads is marked incomplete instead of silently shortened.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{OwnIdentities, PhaseNow, ThreadFilter, ThreadView, TriagePayload, compute_phase};
use crate::model::{Class, Completeness, NoteId, Snapshot, Thread, ThreadId, Triage, TriageItem};
use crate::policy::Policy;

/// Maximum threads of a stored triage.
const MAX_THREADS: usize = 500;
/// Maximum entries of a stored list.
const MAX_LIST_ENTRIES: usize = 20;
/// Maximum characters of a stored text.
const MAX_TEXT_CHARS: usize = 500;

/// The result of a scan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadScan {
    /// Number of the pull.
    pub pr_number: u64,
    /// Whether all threads were read. If not, an empty list means nothing.
    pub complete: bool,
    /// Whether the filter excluded unresolved threads.
    pub filtered: bool,
    /// Phase of the pull.
    pub phase: PhaseNow,
    /// The selected threads.
    pub threads: Vec<ThreadView>,
}

/// The state of a thread at the time of a scan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeenThreads {
    pub thread_id: ThreadId,
    pub latest_comment: Option<NoteId>,
    pub is_resolved: bool,
}

/// Scans the threads that match the filter.
pub fn scan_threads(snapshot: &Snapshot, policy: &Policy, filter: &ThreadFilter, source: &str) -> ThreadScan {
    let own = OwnIdentities::new(snapshot, policy);
    let (mut selected, excluded): (Vec<&Thread>, Vec<&Thread>) =
        snapshot.threads.iter().partition(|thread| filter.matches(thread, &own));
    // Forges return threads in any order.
    selected.sort_by_key(|thread| (&thread.path, thread.line, &thread.id));
    ThreadScan {
        pr_number: snapshot.pull.number.0,
        complete: snapshot.complete == Completeness::Complete,
        filtered: excluded.iter().any(|thread| own.thread_closure(thread).is_none()),
        phase: compute_phase(snapshot, policy, filter),
        threads: selected.into_iter().map(|thread| ThreadView::from_thread(thread, snapshot, policy, source)).collect(),
    }
}

impl ThreadScan {
    /// Returns the threads that a triage of this scan must cover, each once.
    pub fn selected_thread_ids(&self) -> Vec<ThreadId> {
        self.threads.iter().map(|thread| thread.thread_id.clone()).collect()
    }

    /// Returns the state of the threads, for storage.
    pub fn to_seen_threads(&self) -> Vec<SeenThreads> {
        let seen = self.threads.iter().take(MAX_THREADS).map(|thread| SeenThreads {
            thread_id: thread.thread_id.clone(),
            latest_comment: thread.latest_comment.as_ref().map(|note| note.id.clone()),
            is_resolved: thread.is_resolved,
        });
        seen.collect()
    }
}

/// Builds the stored triage: bounded texts, no drafts, the latest note of each thread. Keeps earlier items that require
/// a person's decision if their thread is still open and the payload does not cover it.
pub fn build_triage(payload: TriagePayload, scan: &ThreadScan, before: Option<&Triage>) -> Triage {
    let mut threads: Vec<_> = payload.threads.into_iter().map(|item| bound_item(item, scan)).collect();
    let earlier = before.into_iter().filter(|before| before.pr_number == scan.pr_number).flat_map(|b| &b.threads);
    let is_resolved = |id: &ThreadId| scan.threads.iter().any(|thread| thread.thread_id == *id && thread.is_resolved);
    for item in earlier.filter(|item| !is_resolved(&item.thread_id)) {
        if !(item.requires_human_decision || item.classification == Class::NeedsHuman) {
            continue;
        }
        if !threads.iter().any(|new| new.thread_id == item.thread_id) {
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
