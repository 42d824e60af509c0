//! Validates a triage payload and reports all faults at once, each with a JSON pointer (TRI-5, TRI-6, TRI-11).
//!
//! | fault | pointer |
//! |---|---|
//! | wrong pull | `/prNumber` |
//! | duplicate thread | `/threads/N/threadId` of the second one |
//! | thread that was not selected | `/threads/N/threadId` |
//! | needs a person's decision, but may be resolved | `/threads/N/canResolveAfterChecks` |
//! | `valid`, but the draft claims completion | `/threads/N/replyBody` |
//! | selected thread is missing | `/threads` |

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find_completion_claim;
use crate::model::{Class, PullNumber, ThreadId, TriageItem};

/// A triage payload as submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TriagePayload {
    /// Number of the pull.
    pub pr_number: u64,
    /// One item per thread.
    pub threads: Vec<TriageItem>,
}

/// A fault of a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadFault {
    /// JSON pointer.
    pub pointer: String,
    /// The thread of the faulty item.
    pub thread: Option<ThreadId>,
    pub message: String,
}

/// Returns all faults according to the table above.
pub fn validate_triage(payload: &TriagePayload, pull: PullNumber, selected: &[ThreadId]) -> Vec<PayloadFault> {
    let mut faults = Vec::new();
    if payload.pr_number != pull.0 {
        let message = format!("is {}, but the scan is of {pull}", PullNumber(payload.pr_number));
        faults.push(PayloadFault { pointer: "/prNumber".to_owned(), thread: None, message });
    }
    let selected: BTreeSet<_> = selected.iter().collect();
    let mut seen = BTreeSet::new();
    for (index, item) in payload.threads.iter().enumerate() {
        let id = &item.thread_id;
        let mut add_fault = |field: &str, message: String| {
            faults.push(PayloadFault {
                pointer: format!("/threads/{index}/{field}"),
                thread: Some(id.clone()),
                message,
            });
        };
        if !seen.insert(id) {
            add_fault("threadId", "is listed twice".to_owned());
        }
        if !selected.contains(id) {
            add_fault("threadId", "is not among the selected threads".to_owned());
        }
        if item.requires_human_decision && item.can_resolve_after_checks {
            add_fault(
                "canResolveAfterChecks",
                "requires a person's decision, so `canResolveAfterChecks` must be false".to_owned(),
            );
        }
        let draft = item.reply_body.as_deref().filter(|_| item.classification == Class::Valid);
        if let Some(phrase) = draft.and_then(find_completion_claim) {
            add_fault("replyBody", format!("claims completion (`{phrase}`) before anything was changed"));
        }
    }
    for id in selected.into_iter().filter(|id| !seen.contains(id)) {
        let message = "is selected but missing".to_owned();
        faults.push(PayloadFault { pointer: "/threads".to_owned(), thread: Some(id.clone()), message });
    }
    faults
}

impl fmt::Display for PayloadFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.thread {
            Some(thread) => write!(f, "{}: thread `{thread}` {}", self.pointer, self.message),
            None => write!(f, "{}: {}", self.pointer, self.message),
        }
    }
}
