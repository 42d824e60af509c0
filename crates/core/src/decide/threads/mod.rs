//! Reconciles a role's findings with its threads, its report and people's notes: which are open, which are settled and
//! by whom, which replies are needed. A reviewer only states positions; the rules are here.

mod acceptance;
mod doubles;
mod finding_context;
mod known_findings;
mod new_findings;
mod overflow;
mod settled;
mod thread_reply;

use super::judgement::{JudgedFinding, ReportStatus, RoleJudgement};
use crate::facts::known_finding::highest_finding_id;
use crate::facts::{Facts, KnownFinding, RoleFacts};
use crate::model::{FindingId, Overflow, Report, ReportOutcome, Severity};
use crate::plan::{Action, Reason, Refusal, Step};

/// All roles with their judgements, and the steps in their threads.
#[derive(Debug, Default)]
pub(super) struct Reconciliation<'a> {
    /// In the order of the policy.
    pub(super) judgements: Vec<RoleJudgement<'a>>,
    /// Replies and resolutions.
    pub(super) steps: Vec<Step>,
    /// Steps that were considered and refused, with the reason.
    pub(super) refused: Vec<Refusal>,
}

impl Reconciliation<'_> {
    /// Counts the threads that the steps resolve.
    pub(super) fn count_resolutions(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step.action, Action::Resolve { .. })).count()
    }
}

pub(super) fn reconcile<'a>(facts: &'a Facts<'a>) -> Reconciliation<'a> {
    let mut out = Reconciliation::default();
    let mut ids = FindingIdAllocator(None);
    for role in &facts.roles {
        let report = classify_report(role);
        let mut findings = Vec::with_capacity(role.known_findings.len());
        for ruling in known_findings::judge_known_findings(facts, role, report) {
            findings.push(ruling.finding);
            out.steps.extend(ruling.steps);
            out.refused.extend(ruling.refused);
        }
        out.judgements.push(judge_role(facts, role, report, findings, &mut ids));
    }
    thread_reply::cap_resolutions(facts, &mut out);
    out.steps.extend(facts.roles.iter().flat_map(|role| doubles::resolve_doubles(facts, role)));
    for it in &mut out.judgements {
        it.reaches_blocking_threshold = reaches_blocking_threshold(facts, &it.findings, &it.overflow);
        let has_verdict = it.role.standing.is_some() || it.role.report.is_some();
        it.own_verdict = has_verdict.then(|| it.compute_verdict(it.is_current));
    }
    out
}

/// Allocates ids above the highest one in any Mark or Tag of referee. That is looked up only when an id is needed.
struct FindingIdAllocator(Option<FindingId>);

impl FindingIdAllocator {
    fn allocate(&mut self, facts: &Facts<'_>) -> FindingId {
        let last = self.0.unwrap_or_else(|| highest_finding_id(facts.snapshot));
        let next = FindingId(last.0.saturating_add(1));
        self.0 = Some(next);
        next
    }
}

fn judge_role<'a>(
    facts: &'a Facts<'a>,
    role: &'a RoleFacts<'a>,
    fresh: ReportStatus<'a>,
    mut findings: Vec<JudgedFinding<'a>>,
    ids: &mut FindingIdAllocator,
) -> RoleJudgement<'a> {
    let (threads, accounting) = new_findings::raise_findings(facts, role, fresh, ids, &mut findings);
    let overflow = overflow::take_overflow(facts, role, fresh, &mut findings);
    let current = fresh == ReportStatus::Complete || role.is_current_for(&facts.snapshot.changes.patch);
    RoleJudgement {
        role,
        findings,
        own_verdict: None,
        reaches_blocking_threshold: false,
        is_current: current,
        report_status: fresh,
        new_threads: threads,
        accounting,
        overflow,
    }
}

/// Classifies a role's report (INC-15).
fn classify_report<'a>(role: &RoleFacts<'a>) -> ReportStatus<'a> {
    let Some(report) = role.report else { return ReportStatus::Absent };
    if let ReportOutcome::Failed { reason } = &report.outcome {
        return ReportStatus::Failed { reason };
    }
    if !role.report_covers_head {
        return ReportStatus::Incomplete { why: "the report does not cover this head" };
    }
    let unanswered = role
        .known_findings
        .iter()
        .any(|it| !it.state.is_settled() && !is_thread_resolved(it) && !mentions_finding(report, it.id));
    if unanswered && !report.deterministic {
        return ReportStatus::Incomplete { why: "the report has no position on a prior finding" };
    }
    ReportStatus::Complete
}

fn mentions_finding(report: &Report, id: FindingId) -> bool {
    report.position(id).is_some() || report.find_reraised(id).is_some()
}

/// Returns whether somebody resolved a finding's thread: then no position is needed.
fn is_thread_resolved(known: &KnownFinding<'_>) -> bool {
    known.thread.is_some_and(|thread| thread.resolved.is_some())
}

/// Returns whether the counting findings block, with those that fit nowhere: one critical, or `risk_warnings` warnings.
fn reaches_blocking_threshold(facts: &Facts<'_>, findings: &[JudgedFinding<'_>], overflow: &Overflow) -> bool {
    let counting = || findings.iter().filter(|it| it.counts);
    let warnings = counting().filter(|it| it.severity == Severity::Warning).count() + overflow.warning as usize;
    0 < overflow.critical
        || counting().any(|it| it.severity == Severity::Critical)
        || (0 < facts.policy.risk_warnings && facts.policy.risk_warnings <= warnings)
}

fn add_refusal(refused: &mut Vec<Refusal>, what: String, why: Reason) {
    refused.push(Refusal { what, why });
}
