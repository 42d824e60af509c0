//! Decides what to do about a pull. This file calls the stages in their order.
//!
//! | stage | question | result |
//! |---|---|---|
//! | guard | may anything be decided from this snapshot? | what `unreadable` withdraws, if it may not |
//! | `threads` | which findings are open, settled, new? | judgements, replies, resolutions |
//! | `publish` | what does each identity post, edit, supersede? | reviews, statuses, a notice |
//! | `settle` | which threads does the fixing side answer? | replies, resolutions |
//! | `deliver` | may a worker's result be pushed? | a delivery, its record |
//! | `rules` | who reviews this head, and whose turn is next? | reviews, next, labels, the operator comment |
//! | `command_replies` | which commands of people need a reply? | comments |
//!
//! Blocking reviews come first, whatever else the plan contains (D5, PUB-20). Edits come last, so that a summary never
//! reports something that has not happened yet. `schedule` applies limits across the pulls of a repository.

mod command_replies;
mod deliver;
mod forged_marks;
mod judgement;
mod lease;
mod operator;
pub mod publish;
mod rules;
mod schedule;
mod scope;
pub mod settle;
mod step;
mod threads;
mod topic_comment;
mod unreadable;
mod write_budget;

pub use command_replies::answer_commands;
pub use deliver::{IssueDelivery, TreeEntry, find_protected_links, plan_delivery, plan_issue_delivery};
pub use judgement::{FindingChange, FindingRemark, JudgedFinding, ReportStatus, RoleJudgement};
pub use lease::{LeaseDecision, check_lease};
pub use operator::build_operator_note;
pub use rules::{RulesOutcome, apply_rules};
pub use schedule::{Pass, ProtocolLine, schedule};
pub use scope::PlanScope;

use crate::facts::Facts;
use crate::mark::Trust;
use crate::model::{Accounting, Completeness, PullState, Review, RoleName, Snapshot, ThreadId};
use crate::plan::{BlockedCause, FindingLine, Findings, Next, Plan, Reason};
use crate::policy::Policy;
use crate::rule::Rule;

/// Decides what to do about one pull, limited to `scope`. Total: every snapshot gives a plan.
pub fn decide(snapshot: &Snapshot, policy: &Policy, scope: &PlanScope) -> Plan {
    if let Some((next, why)) = check_guards(snapshot) {
        let steps = unreadable::plan_withdrawal(snapshot, policy);
        let mut plan = Plan { steps, ..empty_plan(snapshot, next, why) };
        let facts = Facts::new(snapshot, policy);
        plan.steps.retain(|step| scope.includes_step(&facts, step));
        return plan;
    }
    let facts = Facts::new(snapshot, policy);
    let reconciled = threads::reconcile(&facts);
    let published = publish::plan_publishing(&facts, &reconciled.judgements);
    let settled = settle::settle_with_others(snapshot, policy, reconciled.count_resolutions());
    let (delivery, delivered, undelivered) = plan_delivery(&facts);
    let ruled = apply_rules(&facts, &reconciled.judgements, scope);
    let mut plan = Plan {
        pull: snapshot.pull.number,
        head: snapshot.pull.head.clone(),
        steps: published.blocks,
        refused: reconciled.refused,
        reviews: ruled.reviews,
        next: ruled.next,
        why: ruled.why,
        delivery,
        roles: published.roles,
        accounting: collect_accounting(&reconciled.judgements),
        findings: collect_finding_lines(&reconciled.judgements),
        round: ruled.round,
    };
    for (role, cause) in ruled.unread {
        plan.roles.iter_mut().filter(|state| state.role == role).for_each(|state| state.unread = Some(cause.clone()));
    }
    if let (Some(blocked), false) = (settled.blocked, matches!(plan.next, Next::Blocked(_))) {
        plan.next = Next::Blocked(blocked.cause);
        plan.why = blocked.why;
    }
    plan.refused.extend(published.refused);
    plan.refused.extend(settled.refused);
    plan.refused.extend(undelivered);
    plan.refused.extend(ruled.refused);
    plan.refused.extend(forged_marks::report_forged_marks(snapshot));
    plan.steps.extend(published.posts);
    plan.steps.extend(reconciled.steps);
    plan.steps.extend(settled.steps);
    plan.steps.extend(published.follow_ups);
    plan.steps.extend(delivered);
    plan.steps.extend(ruled.steps);
    let answers = answer_commands(&facts, &plan);
    plan.steps.extend(answers);
    write_budget::enforce_write_budget(&facts, &reconciled.judgements, &mut plan);
    plan.steps.retain(|step| scope.includes_step(&facts, step));
    plan
}

/// Checks for snapshots from which nothing may be decided.
///
/// | rule | when | next |
/// |---|---|---|
/// | `incomplete` | a part of the pull could not be read whole | blocked (D16, D43, TRI-3) |
/// | `newer-mark` | a newer version of referee wrote a Mark on the pull | blocked |
/// | `closed` | the pull is not open | idle |
fn check_guards(snapshot: &Snapshot) -> Option<(Next, Reason)> {
    if let Completeness::Truncated { what, .. } = &snapshot.complete {
        return Some((
            Next::Blocked(BlockedCause::Incomplete),
            Reason::new(Rule::Incomplete).with_fact(format!("{what} could not be read whole")),
        ));
    }
    if let Some(review) = find_newer_mark(snapshot) {
        let why =
            Reason::new(Rule::NewerMark).with_fact(format!("review {} was written by a newer referee", review.id));
        return Some((Next::Blocked(BlockedCause::NewerMark), why));
    }
    match snapshot.pull.state {
        PullState::Open => None,
        PullState::Closed | PullState::Merged => Some((Next::Idle, Reason::new(Rule::Closed))),
    }
}

/// Returns a review that a newer version of referee wrote.
fn find_newer_mark(snapshot: &Snapshot) -> Option<&Review> {
    let is_newer = |review: &&Review| review.text.reading.mark.as_ref().is_some_and(|mark| mark.trust == Trust::Newer);
    snapshot.reviews.iter().find(is_newer)
}

/// Builds a plan without steps.
fn empty_plan(snapshot: &Snapshot, next: Next, why: Reason) -> Plan {
    Plan {
        pull: snapshot.pull.number,
        head: snapshot.pull.head.clone(),
        steps: Vec::new(),
        refused: Vec::new(),
        reviews: Vec::new(),
        next,
        why,
        delivery: None,
        roles: Vec::new(),
        accounting: Vec::new(),
        findings: Findings::default(),
        round: 0,
    }
}

fn collect_accounting(judged: &[RoleJudgement<'_>]) -> Vec<(RoleName, Accounting)> {
    let reported = judged.iter().filter(|it| it.role.report.is_some());
    reported.map(|it| (it.name().clone(), it.accounting)).collect()
}

fn collect_finding_lines(judged: &[RoleJudgement<'_>]) -> Findings {
    let mut lines = Findings::with_capacity(judged.iter().map(|judgement| judgement.findings.len()).sum());
    for judgement in judged {
        lines.extend(judgement.findings.iter().map(|it| FindingLine {
            id: it.id,
            role: judgement.name().as_str(),
            severity: it.severity,
            path: it.path,
            line: it.line,
            title: it.title,
            rule: it.rule,
            detail: it.detail,
            fingerprint: &it.fingerprint.0,
            state: it.state,
            counts: it.counts,
            thread: it.thread.map(ThreadId::as_str),
        }));
    }
    lines
}
