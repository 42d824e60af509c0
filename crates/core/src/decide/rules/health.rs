//! Rules 3, 4 and 6: whether it merges, and what the checks say (DSP-6, DSP-7, D15).
//!
//! | row | when | next |
//! |---|---|---|
//! | `conflict` | it was confirmed that it does not merge, and it is no draft | spawn `rebase`, cause `conflict:<base>` |
//! | `checks-failed` | one failed | spawn `ci-fix`, cause `ci:<the failing names>` |
//! | `checks-pending` | one is not done | wait for the checks |
//! | `checks-pending` | there are none, and policy requires some | wait for the checks |

use super::worker::decide_worker;
use super::{MatchedRule, RuleContext};
use crate::hash::Hash;
use crate::model::{CheckState, Mergeable};
use crate::plan::{JobKind, WaitingOn};
use crate::rule::Rule;

pub(super) fn match_conflict<'a>(case: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let pull = &case.facts.snapshot.pull;
    if pull.mergeable != Mergeable::Conflict || pull.draft {
        return None;
    }
    let cause = format!("conflict:{}", pull.base_sha.short());
    let record = case.facts.work.find_at_change(&cause, &case.facts.snapshot.changes.patch);
    let ruled = decide_worker(case, Rule::Conflict, JobKind::Rebase, cause.clone(), record);
    Some(ruled.fact(format!("does not merge into `{}` at {}", pull.base, pull.base_sha.short())))
}

pub(super) fn match_failed_checks<'a>(case: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let checks = &case.facts.snapshot.checks;
    if checks.combined_state() != CheckState::Fail {
        return None;
    }
    let mut names = checks.names_in_state(CheckState::Fail);
    names.sort_unstable();
    let hash = Hash::digest_parts(names.iter().copied());
    let cause = format!("ci:{}", hash.0.get(..12).unwrap_or_default());
    let record = case.facts.work.find_at_change(&cause, &case.facts.snapshot.changes.patch);
    let ruled = decide_worker(case, Rule::ChecksFailed, JobKind::CiFix, cause.clone(), record);
    Some(ruled.fact(format!("failed: {}", names.join(", "))))
}

pub(super) fn match_pending_checks<'a>(case: &RuleContext<'a>) -> Option<MatchedRule<'a>> {
    let checks = &case.facts.snapshot.checks;
    let told = match checks.combined_state() {
        CheckState::Pending => {
            let mut names = checks.names_in_state(CheckState::Pending);
            names.extend(checks.names_in_state(CheckState::None));
            format!("not done: {}", names.join(", "))
        }
        CheckState::None if case.facts.policy.ci_required => {
            "no check has reported, and policy requires one".to_owned()
        }
        CheckState::None | CheckState::Pass | CheckState::Fail => return None,
    };
    Some(MatchedRule::wait(Rule::ChecksPending, WaitingOn::Checks).fact(told))
}
