//! What is wrong with a triage payload: all of it at once, each with a JSON pointer (TRI-5, TRI-6, TRI-11).
//!
//! | fault | where |
//! |---|---|
//! | it is for another pull | `/prNumber` |
//! | a thread is named twice | `/threads/N/threadId`, the second time |
//! | a thread was not selected | `/threads/N/threadId` |
//! | a person must decide, and it may be resolved all the same | `/threads/N/canResolveAfterChecks` |
//! | `valid`, and the draft claims that it is done | `/threads/N/replyBody` |
//! | a selected thread is left out | `/threads` |

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find_completion_claim;
use crate::model::{Class, PullNumber, ThreadId, TriageItem};

/// What a triage hands in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TriagePayload {
    /// Of which pull.
    pub pr_number: u64,
    /// One item a thread.
    pub threads: Vec<TriageItem>,
}

/// One thing that is wrong with a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadFault {
    /// Where.
    pub pointer: String,
    /// Which item, where it is one.
    pub thread: Option<ThreadId>,
    /// What.
    pub message: String,
}

/// The table above; nothing is wrong where nothing comes back.
pub fn validate_triage(payload: &TriagePayload, pull: PullNumber, selected: &[ThreadId]) -> Vec<PayloadFault> {
    let mut faults = Vec::new();
    if payload.pr_number != pull.0 {
        let what = format!("is for pull {}, the scan is of {pull}", PullNumber(payload.pr_number));
        faults.push(PayloadFault { pointer: "/prNumber".to_owned(), thread: None, message: what });
    }
    let selected: BTreeSet<_> = selected.iter().collect();
    let mut seen = BTreeSet::new();
    for (at, item) in payload.threads.iter().enumerate() {
        let id = &item.thread_id;
        let mut fault = |field: &str, what: String| {
            faults.push(PayloadFault {
                pointer: format!("/threads/{at}/{field}"),
                thread: Some(id.clone()),
                message: what,
            });
        };
        if !seen.insert(id) {
            fault("threadId", "is named twice".to_owned());
        }
        if !selected.contains(id) {
            fault("threadId", "is not among the selected threads".to_owned());
        }
        if item.requires_human_decision && item.can_resolve_after_checks {
            fault("canResolveAfterChecks", "must be false where a person must decide".to_owned());
        }
        let draft = item.reply_body.as_deref().filter(|_| item.classification == Class::Valid);
        if let Some(phrase) = draft.and_then(find_completion_claim) {
            fault("replyBody", format!("claims completion (`{phrase}`) before anything was changed"));
        }
    }
    for id in selected.into_iter().filter(|id| !seen.contains(id)) {
        let what = "is selected and left out".to_owned();
        faults.push(PayloadFault { pointer: "/threads".to_owned(), thread: Some(id.clone()), message: what });
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
