//! What bars every answer at once (FIX-3). Asked before ids are matched; the preview is made all the same.
//!
//! | # | when | rule | cause |
//! |---|---|---|---|
//! | 1 | not everything was read (D16) | `incomplete` | incomplete |
//! | 2 | the feature is off | `disabled` | |
//! | 3 | the payload is for another pull | `other_pull` | |
//! | 4 | the stored triage is not to be looked at | – | |
//! | 5 | no triage is stored | `no_triage` | |
//! | 6 | it is of another pull | `triage_of_other_pull` | |
//! | 7 | it failed | `triage_failed` | |
//! | 8 | it is incomplete | `triage_incomplete` | incomplete |

use crate::model::{Completeness, PullNumber, Snapshot};
use crate::plan::{BlockedCause, Reason};
use crate::policy::Policy;

/// Why nothing may be sent.
pub(super) struct FailedPrecondition {
    pub(super) why: Reason,
    pub(super) cause: Option<BlockedCause>,
}

pub(super) fn check_preconditions(snapshot: &Snapshot, policy: &Policy) -> Option<FailedPrecondition> {
    let (pull, evidence) = (snapshot.pull.number, &snapshot.evidence);
    let says =
        |rule: &str, fact: String| Some(FailedPrecondition { why: Reason::new(rule).with_fact(fact), cause: None });
    if let Completeness::Truncated { what } = &snapshot.complete {
        return fail_incomplete("incomplete", format!("not everything was read: {what}"));
    }
    if !policy.threads.enabled {
        return says("disabled", "`threads.enabled` is false".to_owned());
    }
    if let Some(other) = evidence.answers_for.filter(|other| *other != pull.0) {
        return says("other_pull", format!("the payload is for {}, this is {pull}", PullNumber(other)));
    }
    if evidence.detached {
        return None;
    }
    let Some(triage) = &evidence.triage else {
        return says("no_triage", "no triage is stored: run `comments`, or use `--detached`".to_owned());
    };
    if triage.pr_number != pull.0 {
        let fact = format!("the stored triage is of {}, this is {pull}", PullNumber(triage.pr_number));
        return says("triage_of_other_pull", fact);
    }
    if triage.failed {
        return says("triage_failed", "the stored triage failed".to_owned());
    }
    if !triage.complete {
        return fail_incomplete("triage_incomplete", "the stored triage is incomplete".to_owned());
    }
    None
}

fn fail_incomplete(rule: &str, fact: String) -> Option<FailedPrecondition> {
    Some(FailedPrecondition { why: Reason::new(rule).with_fact(fact), cause: Some(BlockedCause::Incomplete) })
}
