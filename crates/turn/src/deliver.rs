//! Delivers a worker's result (DSP-14, DSP-15, DSP-18).
//!
//! | step | protects against |
//! |---|---|
//! | read and decide again, with the result as evidence | a moved head, a lease that was taken over, a person who took over |
//! | compute the change after the commits | a worker's false claim about what it changed |
//! | push, or open the pull, behind the gate `work` | – |
//! | if that failed: decide again, as a failure | a record that says `done` for commits that nobody has |
//! | record the outcome | a second start by the next pass |
//!
//! The push comes before the record: a record without a push would end the job with its cause unanswered, while a push
//! without a record is only seen as a new head.

use async_trait::async_trait;
use referee_core::decide::{PlanScope, decide, plan_issue_delivery};
use referee_core::mark::{Binding, Topic};
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::{Answer, Completeness, Evidence, PullNumber, Sha, Snapshot, WorkResult};
use referee_core::plan::{Delivery, Gate, JobKind, Plan, Reason, Refusal, Step};
use referee_core::rule::Rule;
use referee_forge::Permit;

use crate::apply::{ApplyOutcome, apply_plan_with_binding, snapshot_binding};
use crate::claim::PublishClaim;
use crate::gather::{GatherError, Inbox, compute_changes, gather_snapshot};
use crate::journal::JournalRecord;
use crate::pass::{ClaimedWorker, WorkSubject};
use crate::receipt::Receipt;
use crate::source::Source;
use crate::turn::{Turn, TurnContext, TurnError, finish};

/// The outcome of a delivery.
#[derive(Debug)]
pub struct DeliveryOutcome {
    /// What was pushed or opened; `None` if nothing was.
    pub delivery: Option<Delivery>,
    /// The recorded outcome; `None` if there was nothing to record.
    pub recorded_outcome: Option<WorkOutcome>,
    /// Refused steps, with the reason.
    pub refused: Vec<Refusal>,
    /// The results of the record and the other steps.
    pub receipts: Vec<Receipt>,
    /// An outcome is unknown or a step failed temporarily, so the record may be incomplete.
    pub needs_rerun: bool,
}

/// Why a push or a new pull failed, for people. Contains no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryFailure(pub String);

/// Performs deliveries: pushes a commit to a branch, or opens a pull for it.
#[async_trait]
pub trait DeliveryTarget: Send + Sync {
    /// Performs `delivery` and returns what was done: a branch may get another name.
    async fn accept(&self, delivery: &Delivery, permit: &Permit) -> Result<Delivery, DeliveryFailure>;
}

/// Delivers a worker's result to `target`, and records the outcome. The branch for an issue starts at `base`, the tip
/// of the default branch.
pub async fn deliver(
    context: &TurnContext<'_>,
    worker: &ClaimedWorker,
    result: &WorkResult,
    base: &Sha,
    target: &dyn DeliveryTarget,
) -> Result<DeliveryOutcome, TurnError> {
    let mut due = DeliveryPlan::prepare(context, worker, result.clone(), base).await?;
    if let Some(delivery) = &due.plan.delivery {
        match push_delivery(context, delivery, target).await {
            Ok(done) => due.plan.delivery = Some(done),
            Err(_) if has_arrived(context, worker, delivery).await => {}
            Err(DeliveryFailure(why)) => {
                let failed = WorkResult {
                    outcome: WorkOutcome::Failed,
                    summary: format!("Not delivered: {why}.\n\n{}", result.summary),
                    ..result.clone()
                };
                due = DeliveryPlan::prepare(context, worker, failed, base).await?;
                due.plan.refused.push(build_refusal(result.kind, why));
            }
        }
    }
    let applied = apply_delivery(context, &due).await?;
    if let Some(snapshot) = due.snapshot.as_ref().filter(|_| !context.gates.is_dry_run()) {
        let (scope, plan, receipts) = (&PlanScope::Delivery, &due.plan, &applied.receipts);
        context.journal.record_turn(&JournalRecord { snapshot, scope, plan, receipts });
    }
    let is_truncated = due.snapshot.is_some_and(|snapshot| snapshot.complete != Completeness::Complete);
    let recorded = due.plan.steps.iter().find_map(find_recorded_outcome);
    let Plan { delivery, refused, .. } = due.plan;
    Ok(DeliveryOutcome {
        delivery,
        recorded_outcome: recorded,
        refused,
        receipts: applied.receipts,
        needs_rerun: applied.ended_early || is_truncated,
    })
}

/// Records how a worker ended. The claim of the worker is still held, and no other process writes its record.
async fn apply_delivery(context: &TurnContext<'_>, due: &DeliveryPlan) -> Result<ApplyOutcome, TurnError> {
    if !context.needs_publish_claim(&due.plan.steps) {
        return Ok(apply_plan_with_binding(context, &due.binding, &due.plan).await);
    }
    let claim = PublishClaim::acquire(context, due.plan.pull).await?;
    let applied = apply_plan_with_binding(context, &due.binding, &due.plan).await;
    claim.release(context).await;
    Ok(applied)
}

fn build_refusal(kind: JobKind, why: String) -> Refusal {
    Refusal { what: format!("deliver the result of {kind}"), why: Reason::new(Rule::Deliver).with_fact(why) }
}

fn find_recorded_outcome(step: &Step) -> Option<WorkOutcome> {
    match step.topic()? {
        Topic::Job { outcome, .. } => *outcome,
        _ => None,
    }
}

/// Posts a worker's answers to threads: replies and resolutions, each behind its gate, and no other steps.
pub async fn post_answers(
    context: &TurnContext<'_>,
    pull: PullNumber,
    answers: Vec<Answer>,
) -> Result<Turn, TurnError> {
    // The worker answers the threads it was given, so a stored triage is ignored.
    let evidence = Evidence { answers, answers_for: Some(pull.0), detached: true, ..Evidence::default() };
    let inbox = Inbox { evidence, scope: PlanScope::Answers, ..Inbox::default() };
    finish(context, pull, &inbox).await
}

async fn push_delivery(
    context: &TurnContext<'_>,
    delivery: &Delivery,
    target: &dyn DeliveryTarget,
) -> Result<Delivery, DeliveryFailure> {
    let permit =
        context.gates.permit_gate(Gate::Work).map_err(|_| DeliveryFailure("the gate `work` is closed".to_owned()))?;
    target.accept(delivery, &permit).await
}

/// Returns whether a push whose response was lost has arrived.
async fn has_arrived(context: &TurnContext<'_>, worker: &ClaimedWorker, delivery: &Delivery) -> bool {
    let Delivery::Push { commit, .. } = delivery else { return false };
    context.forge.fetch_head(PullNumber(worker.job.number)).await.is_ok_and(|head| head == *commit)
}

/// The plan for one result.
struct DeliveryPlan {
    plan: Plan,
    binding: Binding,
    snapshot: Option<Snapshot>,
}

impl DeliveryPlan {
    async fn prepare(
        context: &TurnContext<'_>,
        worker: &ClaimedWorker,
        result: WorkResult,
        base: &Sha,
    ) -> Result<Self, TurnError> {
        if result.kind == JobKind::Impl {
            Self::prepare_for_issue(context, worker, result, base).await
        } else {
            Self::prepare_for_pull(context, worker, result).await
        }
    }

    async fn prepare_for_pull(
        context: &TurnContext<'_>,
        worker: &ClaimedWorker,
        result: WorkResult,
    ) -> Result<Self, TurnError> {
        let fetched = context.forge.fetch(PullNumber(worker.job.number)).await?;
        let result = measure_result(context.source, result, &fetched.pull.base_sha);
        let evidence = Evidence { result: Some(result), ..Evidence::default() };
        let inbox = Inbox { evidence, ..Inbox::default() };
        let snapshot = gather_snapshot(fetched, context.source, &inbox, context.policy, context.keys)?;
        let plan = decide(&snapshot, context.policy, &PlanScope::Delivery);
        Ok(Self { plan, binding: snapshot_binding(&snapshot), snapshot: Some(snapshot) })
    }

    async fn prepare_for_issue(
        context: &TurnContext<'_>,
        worker: &ClaimedWorker,
        result: WorkResult,
        base: &Sha,
    ) -> Result<Self, TurnError> {
        let view = WorkSubject::fetch(context, &worker.job).await?;
        let mut plan = view.build_plan(&worker.job, &[]);
        if let WorkSubject::Issue(board) = &view {
            let issue = board.issues.iter().find(|issue| issue.number.0 == worker.job.number);
            let lease = board.leases.iter().find(|(number, _)| number.0 == worker.job.number).map(|(_, lease)| lease);
            match issue {
                Some(issue) => {
                    let result = measure_result(context.source, result, base);
                    let due = plan_issue_delivery(issue, lease, &result, context.policy, &board.viewer);
                    (plan.delivery, plan.steps, plan.refused) = (due.delivery, due.steps, due.refused);
                }
                None => plan.refused.push(build_refusal(result.kind, "the issue is not open".to_owned())),
            }
        }
        Ok(Self { plan, binding: view.binding(&worker.job), snapshot: None })
    }
}

/// Adds the change after the worker's commits, computed from its merge base with the current base. A change that cannot
/// be read is not pushed.
fn measure_result(source: &dyn Source, result: WorkResult, base: &Sha) -> WorkResult {
    let Some(head) = &result.head else { return result };
    let read: Result<_, GatherError> = compute_changes(source, base, head);
    match read {
        Ok(changes) => WorkResult { patch: Some(changes.patch), files: changes.files, ..result },
        Err(_) if result.outcome != WorkOutcome::Done => WorkResult { patch: None, ..result },
        Err(error) => WorkResult {
            outcome: WorkOutcome::Failed,
            summary: format!("Not delivered: {error}.\n\n{}", result.summary),
            head: None,
            patch: None,
            ..result
        },
    }
}
