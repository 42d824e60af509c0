//! What is done about a pull that could not be read whole (D16, D43): nothing is decided, but an approval does not outlive
//! a push that nobody could read.
//!
//! | the approval of a role is for | own reviews | then |
//! |---|---|---|
//! | any, on a pull that is closed or has a Mark of a newer referee | any | it stays |
//! | this head, or a head with the same change | any | it stays |
//! | another change | not read | it stays: nothing is written without knowing them |
//! | another change | read | a red status; then, if the forge counts it, a block in its place, which supersedes it |

use super::publish::{self, STATUS_CONTEXT_PREFIX};
use super::{find_newer_mark, threads};
use crate::facts::{Facts, RoleFacts};
use crate::hash::Hash;
use crate::model::{
    CheckState, Completeness, Evidence, PullState, Report, ReportOutcome, RunCost, Snapshot, Support, Verdict,
};
use crate::plan::{Action, Gate, Precondition, Reason, Step};
use crate::policy::Policy;
use crate::render;
use crate::rule::Rule;

/// Plans the withdrawal of own approvals on a pull that could not be read whole.
pub(super) fn plan_withdrawal(snapshot: &Snapshot, policy: &Policy) -> Vec<Step> {
    let Completeness::Truncated { what, own_reviews_read: true } = &snapshot.complete else { return Vec::new() };
    if snapshot.pull.state != PullState::Open || find_newer_mark(snapshot).is_some() {
        return Vec::new();
    }
    let facts = Facts::new(snapshot, policy);
    let reports = facts.roles.iter().filter(|role| approves_another_change(&facts, role));
    let reports: Vec<Report> = reports.map(|role| build_failed_report(snapshot, role, what)).collect();
    let mut steps: Vec<Step> = Vec::new();
    for report in &reports {
        steps.extend(facts.role(&report.role).and_then(|role| plan_red_status(&facts, role)));
    }
    // The block is that of a role whose reviewer failed at this head (PUB-6).
    let unread = Snapshot {
        complete: Completeness::Complete,
        evidence: Evidence { reports, ..Evidence::default() },
        ..snapshot.clone()
    };
    let facts = Facts::new(&unread, policy);
    let reconciled = threads::reconcile(&facts);
    let published = publish::plan_publishing(&facts, &reconciled.judgements);
    let withdraws = |step: &Step| is_withdrawal(&facts, step);
    steps.extend(published.blocks.into_iter().filter(withdraws));
    steps.extend(published.follow_ups.into_iter().filter(withdraws));
    steps
}

/// Returns whether a step posts the block of a role with a report, or marks an approval as superseded by such a block, now
/// or after an interrupted run.
fn is_withdrawal(facts: &Facts<'_>, step: &Step) -> bool {
    let mut withdrawn = facts.roles.iter().filter(|role| role.report.is_some());
    match &step.action {
        Action::PostReview { role, .. } => withdrawn.any(|it| it.role.name == *role),
        Action::Supersede { successor: Some(_), .. } => true,
        Action::Supersede { review, .. } => {
            withdrawn.any(|it| it.standing.is_some_and(|standing| standing.review.id == *review))
        }
        _ => false,
    }
}

/// Returns whether the role's standing verdict approves, and nobody knows whether it holds for this head.
fn approves_another_change(facts: &Facts<'_>, role: &RoleFacts<'_>) -> bool {
    let Some(standing) = role.standing else { return false };
    let approves = standing.posted_as == Verdict::Approve || standing.mark.enforced == Verdict::Approve;
    let is_current = role.is_current_for(&facts.snapshot.changes.patch);
    role.has_token && approves && standing.mark.head != facts.snapshot.pull.head && !is_current
}

fn build_failed_report(snapshot: &Snapshot, role: &RoleFacts<'_>, what: &str) -> Report {
    let (name, head) = (role.role.name.clone(), snapshot.pull.head.clone());
    let reason = format!("{what} could not be read whole");
    Report {
        digest: Hash::digest_parts([name.as_str(), head.as_str(), reason.as_str()]),
        role: name,
        head,
        outcome: ReportOutcome::Failed { reason },
        summary: String::new(),
        findings: Vec::new(),
        pre_existing: Vec::new(),
        positions: Vec::new(),
        deterministic: role.is_deterministic(),
        intake: Default::default(),
        tool: None,
        figures: RunCost::default(),
    }
}

/// Plans the status first: it needs no claim, and it holds where posting does not work.
fn plan_red_status(facts: &Facts<'_>, role: &RoleFacts<'_>) -> Option<Step> {
    let snapshot = facts.snapshot;
    let context = format!("{STATUS_CONTEXT_PREFIX}{}", role.role.name);
    let (state, text) = (CheckState::Fail, render::render_unread_status());
    let is_set =
        snapshot.checks.own.iter().any(|own| own.context == context && own.state == state && own.text == text.as_str());
    if !facts.policy.status || snapshot.capabilities.status == Support::Unsupported || is_set {
        return None;
    }
    Some(Step {
        action: Action::SetStatus { commit: snapshot.pull.head.clone(), context, state, text },
        by: role.identity.clone(),
        gate: Gate::Review,
        approves: false,
        reason: Reason::new(Rule::Status).with_fact(Rule::Incomplete.name()),
        expect: Precondition::Head,
    })
}
