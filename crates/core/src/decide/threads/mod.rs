//! Reconciles a role's findings with its threads, its report and what people said: which are open, which are
//! settled and by whom, what is said where. The reviewer may only *say*; the rules are here.

mod known;
mod raised;
mod settled;
mod voice;

use super::judged::{Fresh, Judged, Judgement};
use crate::facts::ledger::highest;
use crate::facts::{Facts, Known, RoleFacts};
use crate::model::{FindingId, Outcome, Report, Severity};
use crate::plan::{Action, Reason, Refusal, Step};

/// All roles judged, with what is to be said in their threads.
#[derive(Debug, Default)]
pub(super) struct Reconciled<'a> {
    /// The roles, in the policy's order.
    pub(super) judged: Vec<Judgement<'a>>,
    /// Replies and resolutions.
    pub(super) steps: Vec<Step>,
    /// What was considered and not done.
    pub(super) refused: Vec<Refusal>,
}

impl Reconciled<'_> {
    /// How many threads are resolved.
    pub(super) fn resolutions(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step.action, Action::Resolve { .. })).count()
    }
}

/// Reconciles every role.
pub(super) fn reconcile<'a>(facts: &'a Facts<'a>) -> Reconciled<'a> {
    let mut out = Reconciled::default();
    let mut ids = Ids(None);
    for role in &facts.roles {
        let judgement = judge(facts, role, &mut ids, &mut out.steps, &mut out.refused);
        out.judged.push(judgement);
    }
    voice::cap_resolutions(facts, &mut out);
    for it in &mut out.judged {
        it.grave = grave(facts, &it.findings);
        let spoke = it.role.standing.is_some() || it.role.report.is_some();
        it.own = spoke.then(|| it.verdict(it.current));
    }
    out
}

/// Gives ids above the highest in any own Mark or Tag; looked up only when one is needed.
struct Ids(Option<FindingId>);

impl Ids {
    fn next(&mut self, facts: &Facts<'_>) -> FindingId {
        let last = self.0.unwrap_or_else(|| highest(facts.snapshot));
        let next = FindingId(last.0.saturating_add(1));
        self.0 = Some(next);
        next
    }
}

fn judge<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    ids: &mut Ids,
    steps: &mut Vec<Step>,
    refused: &mut Vec<Refusal>,
) -> Judgement<'a> {
    let fresh = fresh(role);
    let mut findings = known::judge(facts, role, fresh, steps, refused);
    let (threads, held_back) = raised::raise(facts, role, fresh, ids, &mut findings);
    let current = fresh == Fresh::Complete || role.current(&facts.snapshot.changes.patch);
    Judgement { role, findings, own: None, grave: false, current, fresh, threads, held_back }
}

/// What a report amounts to (INC-15).
fn fresh<'a>(role: &RoleFacts<'a>) -> Fresh<'a> {
    let Some(report) = role.report else { return Fresh::None };
    if let Outcome::Failed { reason } = &report.outcome {
        return Fresh::Failed { reason };
    }
    if !role.covers {
        return Fresh::Incomplete { why: "it does not cover this head" };
    }
    let unanswered = role.known.iter().any(|it| !it.state.settled() && !is_resolved(it) && !speaks_of(report, it.id));
    if unanswered && !report.deterministic {
        return Fresh::Incomplete { why: "it leaves a prior finding without a position" };
    }
    Fresh::Complete
}

fn speaks_of(report: &Report, id: FindingId) -> bool {
    report.position(id).is_some() || report.raised_as(id).is_some()
}

/// Whether a finding's thread was resolved by somebody: then no position is asked for.
fn is_resolved(known: &Known<'_>) -> bool {
    known.thread.is_some_and(|thread| thread.resolved.is_some())
}

/// Whether the findings that count block: one critical, or `risk_warnings` warnings.
fn grave(facts: &Facts<'_>, findings: &[Judged<'_>]) -> bool {
    let counting = || findings.iter().filter(|it| it.counts);
    let warnings = counting().filter(|it| it.severity == Severity::Warning).count();
    counting().any(|it| it.severity == Severity::Critical)
        || (0 < facts.policy.risk_warnings && facts.policy.risk_warnings <= warnings)
}

fn refuse(refused: &mut Vec<Refusal>, what: String, why: Reason) {
    refused.push(Refusal { what, why });
}
