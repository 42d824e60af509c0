//! Rules 3, 4 and 6: whether the pull merges, and the state of its checks (DSP-6, DSP-7, D15).
//!
//! | row | when | next |
//! |---|---|---|
//! | `conflict` | the forge confirmed a merge conflict, and the pull is not a draft | spawn `rebase`, cause `conflict:<base>` |
//! | `checks-failed` | a check failed | spawn `ci-fix`, cause `ci:<hash of the failing names>` |
//! | `checks-pending` | a check is not done | wait for the checks |
//! | `checks-pending` | no check has reported, and the policy requires one | wait for the checks |

use super::worker::decide_worker;
use super::{MatchedRule, RuleContext};
use crate::hash::Hash;
use crate::model::{CheckState, Mergeable};
use crate::plan::{JobKind, WaitingOn};
use crate::rule::Rule;

pub(super) fn match_conflict<'a>(context: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let pull = &context.facts.snapshot.pull;
    if pull.mergeable != Mergeable::Conflict || pull.draft {
        return None;
    }
    let cause = format!("conflict:{}", pull.base_sha.short());
    let record = context.facts.work.find_at_change(&cause, &context.facts.snapshot.changes.patch);
    let matched = decide_worker(context, Rule::Conflict, JobKind::Rebase, cause.clone(), record);
    Some(matched.fact(format!("does not merge into `{}` at {}", pull.base, pull.base_sha.short())))
}

pub(super) fn match_failed_checks<'a>(context: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let checks = &context.facts.snapshot.checks;
    if checks.combined_state() != CheckState::Fail {
        return None;
    }
    let mut names = checks.names_in_state(CheckState::Fail);
    names.sort_unstable();
    let hash = Hash::digest_parts(names.iter().copied());
    let cause = format!("ci:{}", hash.0.get(..12).unwrap_or_default());
    let record = context.facts.work.find_at_change(&cause, &context.facts.snapshot.changes.patch);
    let matched = decide_worker(context, Rule::ChecksFailed, JobKind::CiFix, cause.clone(), record);
    Some(matched.fact(format!("failed: {}", names.join(", "))))
}

pub(super) fn match_pending_checks<'a>(context: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let checks = &context.facts.snapshot.checks;
    let fact = match checks.combined_state() {
        CheckState::Pending => {
            let mut names = checks.names_in_state(CheckState::Pending);
            names.extend(checks.names_in_state(CheckState::None));
            format!("not done: {}", names.join(", "))
        }
        CheckState::None if context.facts.policy.ci_required => {
            "no check has reported, and policy requires one".to_owned()
        }
        CheckState::None | CheckState::Pass | CheckState::Fail => return None,
    };
    Some(MatchedRule::wait(Rule::ChecksPending, WaitingOn::Checks).fact(fact))
}
