//! One look at the threads of a pull, and what is kept of it (TRI-3, TRI-7). What is kept is bounded: beyond the
//! bound the scan is incomplete, never shorter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Filter, Own, PhaseNow, ThreadView, TriagePayload, phase};
use crate::model::{Class, Completeness, NoteId, Snapshot, Thread, ThreadId, Triage, TriageItem};
use crate::policy::Policy;

/// How many threads one scan keeps.
const THREADS: usize = 500;
/// How many entries of a list are kept.
const ENTRIES: usize = 20;
/// How much of a text is kept, in characters.
const CHARS: usize = 500;

/// One look at the threads of a pull.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Scan {
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
pub struct Seen {
    /// Which thread.
    pub thread_id: ThreadId,
    /// Its latest note then.
    pub latest_comment: Option<NoteId>,
    /// It was resolved then.
    pub is_resolved: bool,
}

/// Looks at the threads that the filter takes.
pub fn scan(snapshot: &Snapshot, policy: &Policy, filter: &Filter, source: &str) -> Scan {
    let own = Own::of(snapshot, policy);
    let (mut taken, left): (Vec<&Thread>, Vec<&Thread>) =
        snapshot.threads.iter().partition(|thread| filter.takes(thread, &own));
    // Forges list threads in any order.
    taken.sort_by_key(|thread| (&thread.path, thread.line, &thread.id));
    Scan {
        pr_number: snapshot.pull.number.0,
        complete: snapshot.complete == Completeness::Complete,
        filtered: left.iter().any(|thread| own.closed(thread).is_none()),
        phase: phase(snapshot, policy, filter),
        threads: taken.into_iter().map(|thread| ThreadView::of(thread, snapshot, policy, source)).collect(),
    }
}

impl Scan {
    /// The ids that a triage of this scan must cover, each once.
    pub fn selected(&self) -> Vec<ThreadId> {
        self.threads.iter().map(|thread| thread.thread_id.clone()).collect()
    }

    /// What is kept of the threads themselves.
    pub fn seen(&self) -> Vec<Seen> {
        let seen = self.threads.iter().take(THREADS).map(|thread| Seen {
            thread_id: thread.thread_id.clone(),
            latest_comment: thread.latest_comment.as_ref().map(|note| note.id.clone()),
            is_resolved: thread.is_resolved,
        });
        seen.collect()
    }
}

/// What is kept of a triage: bounded texts, no drafts, the latest note of each thread. A person who was asked before
/// about a thread that is still open and that this triage does not mention is still asked.
pub fn remember(payload: TriagePayload, scan: &Scan, before: Option<&Triage>) -> Triage {
    let mut threads: Vec<_> = payload.threads.into_iter().map(|item| bounded(item, scan)).collect();
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
    let complete = scan.complete && threads.len() <= THREADS;
    threads.truncate(THREADS);
    Triage { pr_number: scan.pr_number, complete, failed: false, filtered: scan.filtered, threads }
}

fn bounded(item: TriageItem, scan: &Scan) -> TriageItem {
    let thread = scan.threads.iter().find(|thread| thread.thread_id == item.thread_id);
    let latest_note = thread.and_then(|thread| thread.latest_comment.as_ref()).map(|note| note.id.clone());
    TriageItem {
        reason: short(&item.reason),
        recommended_action: short(&item.recommended_action),
        files_to_inspect: few(item.files_to_inspect),
        files_to_change: few(item.files_to_change),
        checks_to_run: few(item.checks_to_run),
        reply_body: None,
        latest_note,
        ..item
    }
}

fn few(list: Vec<String>) -> Vec<String> {
    list.into_iter().take(ENTRIES).map(|entry| short(&entry)).collect()
}

fn short(text: &str) -> String {
    text.chars().take(CHARS).collect()
}
