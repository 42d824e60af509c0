//! Preconditions of every answer (FIX-3), checked before threads are looked up. The preview is built in any case.
//!
//! | rule | when | blocked |
//! |---|---|---|
//! | `incomplete` | the forge's response was truncated (D16) | incomplete |
//! | `disabled` | `threads.enabled` is false | |
//! | `other_pull` | the payload is for another pull | |
//! | – | `--detached`: the stored triage is not read | |
//! | `no_triage` | no triage is stored | |
//! | `triage_of_other_pull` | the stored triage is of another pull | |
//! | `triage_failed` | the stored triage failed | |
//! | `triage_incomplete` | the stored triage is incomplete | incomplete |

use crate::model::{Completeness, PullNumber, Snapshot};
use crate::plan::{BlockedCause, Reason};
use crate::policy::Policy;
use crate::rule::Rule;

/// The precondition that prevents every answer.
pub(super) struct FailedPrecondition {
    pub(super) why: Reason,
    pub(super) cause: Option<BlockedCause>,
}

pub(super) fn check_preconditions(snapshot: &Snapshot, policy: &Policy) -> Option<FailedPrecondition> {
    let (pull, evidence) = (snapshot.pull.number, &snapshot.evidence);
    let fail =
        |rule: Rule, fact: String| Some(FailedPrecondition { why: Reason::new(rule).with_fact(fact), cause: None });
    if let Completeness::Truncated { what, .. } = &snapshot.complete {
        return fail_incomplete(Rule::Incomplete, format!("not everything was read: {what}"));
    }
    if !policy.threads.enabled {
        return fail(Rule::ThreadsDisabled, "`threads.enabled` is false".to_owned());
    }
    if let Some(other) = evidence.answers_for.filter(|other| *other != pull.0) {
        return fail(Rule::OtherPull, format!("the payload is for {}, this is {pull}", PullNumber(other)));
    }
    if evidence.detached {
        return None;
    }
    let Some(triage) = &evidence.triage else {
        return fail(Rule::NoTriage, "no triage is stored: run `comments`, or use `--detached`".to_owned());
    };
    if triage.pr_number != pull.0 {
        let fact = format!("the stored triage is of {}, this is {pull}", PullNumber(triage.pr_number));
        return fail(Rule::TriageOfOtherPull, fact);
    }
    if triage.failed {
        return fail(Rule::TriageFailed, "the stored triage failed".to_owned());
    }
    if !triage.complete {
        return fail_incomplete(Rule::TriageIncomplete, "the stored triage is incomplete".to_owned());
    }
    None
}

fn fail_incomplete(rule: Rule, fact: String) -> Option<FailedPrecondition> {
    Some(FailedPrecondition { why: Reason::new(rule).with_fact(fact), cause: Some(BlockedCause::Incomplete) })
}
