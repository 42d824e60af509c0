//! Rule 0: whether a worker or a person works on this pull now (DSP-4, D8, D22). The lease decides; the `wip` label
//! shows it to people.
//!
//! | lease | `wip` label | meaning | step |
//! |---|---|---|---|
//! | live | any | active work | – |
//! | – | none | no work | – |
//! | – | of unknown age | no work, reported | – |
//! | – | not older than `wip_max_age` | active work | – |
//! | – | older, set by referee | a worker that disappeared | remove the label |
//! | – | older, set by somebody else | no work, reported | – |
//!
//! While work is active, no second worker starts and nothing is handed off; all other rules apply.

use super::step::{plan_remove_label, worker_identity};
use crate::facts::Facts;
use crate::model::{Label, Time};
use crate::plan::{Reason, Refusal, Step};
use crate::rule::Rule;

const RULE: Rule = Rule::Lease;

/// Whether somebody works on a pull now.
#[derive(Debug, Default)]
pub struct LeaseDecision {
    /// Start of the active work; `None` if there is none.
    pub active_since: Option<Time>,
    /// Removes a stale label.
    pub steps: Vec<Step>,
    /// A label that is left alone, with the reason.
    pub refused: Vec<Refusal>,
}

/// Decides whether somebody works on this pull now.
pub fn check_lease(facts: &Facts<'_>) -> LeaseDecision {
    let snapshot = facts.snapshot;
    if let Some(lease) = snapshot.live_lease() {
        return LeaseDecision { active_since: Some(lease.since), ..LeaseDecision::default() };
    }
    let Some(work) = &facts.policy.work else { return LeaseDecision::default() };
    let Some(label) = snapshot.pull.label(&work.wip) else { return LeaseDecision::default() };
    let Some(at) = label.at else {
        return leave_label(label, "its age is unknown");
    };
    if snapshot.taken_at - at <= work.wip_max_age {
        return LeaseDecision { active_since: Some(at), ..LeaseDecision::default() };
    }
    if !is_own_label(facts, label) {
        return leave_label(label, "somebody else set it");
    }
    let reason = Reason::new(RULE).with_fact(format!("`{}` since {at}, no lease", label.name));
    LeaseDecision {
        steps: vec![plan_remove_label(worker_identity(facts), &label.name, reason)],
        ..LeaseDecision::default()
    }
}

/// Returns whether referee or the fixing side set a label.
pub(super) fn is_own_label(facts: &Facts<'_>, label: &Label) -> bool {
    let user = facts.policy.work.as_ref().map(|work| &work.user);
    label.by.as_ref().is_some_and(|by| facts.is_own_login(by) || user == Some(by))
}

fn leave_label(label: &Label, why: &str) -> LeaseDecision {
    let mut reason = Reason::new(RULE).with_fact(why);
    if let Some(by) = &label.by {
        reason = reason.with_fact(format!("by {by}"));
    }
    let refusal = Refusal { what: format!("remove `{}`", label.name), why: reason };
    LeaseDecision { refused: vec![refusal], ..LeaseDecision::default() }
}
