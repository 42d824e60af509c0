//! What a worker left, put where it belongs (DSP-14, DSP-15, DSP-18).
//!
//! | step | what it guards against |
//! |---|---|
//! | look anew, with the result as evidence | a head that moved, a lease that was taken over, a person who stepped in |
//! | say what the change is after it | a worker's own word for what it touched |
//! | push, or open the pull | – : by whoever asked, under the gate `work` |
//! | what could not be pushed: look anew, as a failure | a record that says done of what nobody got |
//! | record how it ended | the next pass starting it again |
//!
//! The push comes first: a record without one would end the cause unanswered, and one without a record is seen as a new
//! head.

use async_trait::async_trait;
use referee_core::decide::{PlanScope, decide, plan_issue_delivery};
use referee_core::mark::{Binding, Topic};
use referee_core::model::snapshot::WorkOutcome;
use referee_core::model::{Answer, Completeness, Evidence, PullNumber, Sha, Snapshot, WorkResult};
use referee_core::plan::{Delivery, Gate, JobKind, Plan, Reason, Refusal, Step};
use referee_core::rule::Rule;
use referee_forge::Permit;

use crate::apply::{HeadCheck, apply_plan, apply_plan_with_binding, snapshot_binding};
use crate::gather::{GatherError, Inbox, compute_changes, gather_snapshot};
use crate::journal::JournalRecord;
use crate::pass::{ClaimedWorker, WorkSubject};
use crate::receipt::Receipt;
use crate::source::Source;
use crate::turn::{Turn, TurnContext, TurnError, fetch_and_decide};

/// What became of a worker's result.
#[derive(Debug)]
pub struct DeliveryOutcome {
    /// What was pushed or opened.
    pub delivery: Option<Delivery>,
    /// How the record says that it ended; none where nothing was to be recorded.
    pub recorded_outcome: Option<WorkOutcome>,
    /// Why that, or something else, was not done.
    pub refused: Vec<Refusal>,
    /// What became of the record and what goes with it.
    pub receipts: Vec<Receipt>,
    /// Something is unknown, or was not done for now: the record says less than what happened.
    pub needs_rerun: bool,
}

/// Why something was not pushed or opened, for people: never a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryFailure(pub String);

/// Where a delivery goes: pushes a commit to a branch, or opens a pull for it.
#[async_trait]
pub trait DeliveryTarget: Send + Sync {
    /// Carries out `delivery` and returns what was really done: a branch may have got another name.
    async fn accept(&self, delivery: &Delivery, permit: &Permit) -> Result<Delivery, DeliveryFailure>;
}

/// Delivers what a worker left to `target`, and records how it ended. The branch for an issue starts at `base`, the
/// last commit of the default branch.
pub async fn deliver(
    desk: &TurnContext<'_>,
    held: &ClaimedWorker,
    result: &WorkResult,
    base: &Sha,
    target: &dyn DeliveryTarget,
) -> Result<DeliveryOutcome, TurnError> {
    let mut due = DeliveryPlan::prepare(desk, held, result.clone(), base).await?;
    if let Some(delivery) = &due.plan.delivery {
        match push_delivery(desk, delivery, target).await {
            Ok(done) => due.plan.delivery = Some(done),
            Err(_) if has_landed(desk, held, delivery).await => {}
            Err(DeliveryFailure(why)) => {
                let failed = WorkResult {
                    outcome: WorkOutcome::Failed,
                    summary: format!("Not delivered: {why}.\n\n{}", result.summary),
                    ..result.clone()
                };
                due = DeliveryPlan::prepare(desk, held, failed, base).await?;
                due.plan.refused.push(build_refusal(result.kind, why));
            }
        }
    }
    let applied = apply_plan_with_binding(desk, &due.binding, &due.plan).await;
    if let Some(snapshot) = due.snapshot.as_ref().filter(|_| !desk.gates.is_dry_run()) {
        let (scope, plan, receipts) = (&PlanScope::Delivery, &due.plan, &applied.receipts);
        desk.journal.record_turn(&JournalRecord { snapshot, scope, plan, receipts });
    }
    let cut_off = due.snapshot.is_some_and(|snapshot| snapshot.complete != Completeness::Complete);
    let recorded = due.plan.steps.iter().find_map(find_recorded_outcome);
    let Plan { delivery, refused, .. } = due.plan;
    Ok(DeliveryOutcome {
        delivery,
        recorded_outcome: recorded,
        refused,
        receipts: applied.receipts,
        needs_rerun: applied.ended_early || cut_off,
    })
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

/// Says in the threads what a worker answers: replies and resolutions, each behind its gate, and nothing else of a
/// turn.
pub async fn post_answers(desk: &TurnContext<'_>, pull: PullNumber, answers: Vec<Answer>) -> Result<Turn, TurnError> {
    // What the worker was given was read then; the triage that somebody stored is another matter.
    let evidence = Evidence { answers, answers_for: Some(pull.0), detached: true, ..Evidence::default() };
    let inbox = Inbox { evidence, scope: PlanScope::Answers, ..Inbox::default() };
    let (snapshot, plan) = fetch_and_decide(desk, pull, &inbox).await?;
    let applied = apply_plan(desk, &snapshot, &plan, HeadCheck::Due).await;
    if !desk.gates.is_dry_run() {
        let receipts = &applied.receipts;
        desk.journal.record_turn(&JournalRecord { snapshot: &snapshot, scope: &inbox.scope, plan: &plan, receipts });
    }
    let (steps, receipts) = (plan.steps.clone(), applied.receipts);
    Ok(Turn { snapshot, plan, steps, receipts, needs_rerun: applied.ended_early, writes: applied.writes })
}

async fn push_delivery(
    desk: &TurnContext<'_>,
    delivery: &Delivery,
    target: &dyn DeliveryTarget,
) -> Result<Delivery, DeliveryFailure> {
    let permit =
        desk.gates.permit_gate(Gate::Work).map_err(|_| DeliveryFailure("the gate `work` is shut".to_owned()))?;
    target.accept(delivery, &permit).await
}

/// Whether a push that nobody answered got there.
async fn has_landed(desk: &TurnContext<'_>, held: &ClaimedWorker, delivery: &Delivery) -> bool {
    let Delivery::Push { commit, .. } = delivery else { return false };
    desk.forge.fetch_head(PullNumber(held.job.number)).await.is_ok_and(|head| head == *commit)
}

/// What is to be done about a result, and nothing else.
struct DeliveryPlan {
    plan: Plan,
    binding: Binding,
    snapshot: Option<Snapshot>,
}

impl DeliveryPlan {
    async fn prepare(
        desk: &TurnContext<'_>,
        held: &ClaimedWorker,
        result: WorkResult,
        base: &Sha,
    ) -> Result<Self, TurnError> {
        if result.kind == JobKind::Impl {
            Self::prepare_for_issue(desk, held, result, base).await
        } else {
            Self::prepare_for_pull(desk, held, result).await
        }
    }

    async fn prepare_for_pull(
        desk: &TurnContext<'_>,
        held: &ClaimedWorker,
        result: WorkResult,
    ) -> Result<Self, TurnError> {
        let fetched = desk.forge.fetch(PullNumber(held.job.number)).await?;
        let result = measure_result(desk.source, result, &fetched.pull.base_sha);
        let evidence = Evidence { result: Some(result), ..Evidence::default() };
        let inbox = Inbox { evidence, ..Inbox::default() };
        let snapshot = gather_snapshot(fetched, desk.source, &inbox, desk.policy, desk.keys)?;
        let plan = decide(&snapshot, desk.policy, &PlanScope::Delivery);
        Ok(Self { plan, binding: snapshot_binding(&snapshot), snapshot: Some(snapshot) })
    }

    async fn prepare_for_issue(
        desk: &TurnContext<'_>,
        held: &ClaimedWorker,
        result: WorkResult,
        base: &Sha,
    ) -> Result<Self, TurnError> {
        let view = WorkSubject::fetch(desk, &held.job).await?;
        let mut plan = view.build_plan(&held.job, &[]);
        if let WorkSubject::Issue(board) = &view {
            let issue = board.issues.iter().find(|issue| issue.number.0 == held.job.number);
            let lease = board.leases.iter().find(|(number, _)| number.0 == held.job.number).map(|(_, lease)| lease);
            match issue {
                Some(issue) => {
                    let result = measure_result(desk.source, result, base);
                    let due = plan_issue_delivery(issue, lease, &result, desk.policy, &board.viewer);
                    (plan.delivery, plan.steps, plan.refused) = (due.delivery, due.steps, due.refused);
                }
                None => plan.refused.push(build_refusal(result.kind, "the issue is not open".to_owned())),
            }
        }
        Ok(Self { plan, binding: view.binding(&held.job), snapshot: None })
    }
}

/// The result with the change as it would be: of the commit it leaves, since that left the base as it is now. A change
/// that nobody can read is none that may be pushed.
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
