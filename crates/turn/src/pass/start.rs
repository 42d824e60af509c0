//! Starting a worker, so that nobody else starts one for the same cause (DSP-16, D8):
//!
//! | step | what it guards against |
//! |---|---|
//! | claim | another process that is about to do the same |
//! | look again, the own claim left out | one that did so between the first look and the claim |
//! | record | a crash from here on, and every pass to come |
//! | look once more, without deciding again | a push, and a claim that ran out unnoticed: its new holder has a higher epoch |
//! | label, or assign | – : it shows people what the record says |
//! | say the line | – |
//! | give the claim back | – : the record speaks from here on, and whoever runs the worker is another process |
//! | or keep it | another worker on the same pull, while the own one runs |
//!
//! Whatever ends this early leaves a claim that runs out, and at most a record without a worker: an hour later a pass
//! starts it a second time.

use referee_core::model::{PullNumber, Span};
use referee_core::plan::Job;
use referee_forge::{ClaimOutcome, ClaimPurpose, ForgeError};

use super::claimed_worker::{ClaimedWorker, WorkSubject, release_work_claim};
use super::{SpawnMode, StartOutcome};
use crate::apply::{ApplyOutcome, apply_plan_with_binding};
use crate::receipt::{Receipt, StepOutcome};
use crate::turn::{TurnContext, TurnError};

/// Records a worker and says its line, if nobody else may do so.
pub(super) async fn start_worker(
    desk: &TurnContext<'_>,
    job: &Job,
    then: SpawnMode,
    say: &mut (impl FnMut() + Send),
) -> (StartOutcome, Option<ClaimedWorker>) {
    let (at, ttl) =
        (PullNumber(job.number), desk.policy.work.as_ref().map_or(Span::from_hours(1), |work| work.wip_max_age));
    let epoch = match desk.forge.acquire_claim(at, ClaimPurpose::Work, ttl).await {
        Ok(ClaimOutcome::Acquired(epoch)) => epoch,
        // If it is ours after all, it runs out by itself.
        Ok(ClaimOutcome::HeldElsewhere) | Err(ForgeError::OutcomeUnknown) => return (StartOutcome::ClaimHeld, None),
        Err(error) => return (StartOutcome::Failed(error.into()), None),
    };
    match start_under_claim(desk, job, epoch, say).await {
        Ok((started, Some(held))) if then == SpawnMode::Run => (started, Some(held)),
        ended => {
            release_work_claim(desk, at, epoch).await;
            (ended.map_or_else(StartOutcome::Failed, |(started, _)| started), None)
        }
    }
}

async fn start_under_claim(
    desk: &TurnContext<'_>,
    job: &Job,
    claim: u64,
    say: &mut (impl FnMut() + Send),
) -> Result<(StartOutcome, Option<ClaimedWorker>), TurnError> {
    let view = WorkSubject::fetch(desk, job).await?;
    let Some(again) = view.recompute_job(desk, claim).filter(|again| is_same_job(again, job)) else {
        return Ok((StartOutcome::CauseChanged, None));
    };
    let epoch = claim.max(again.epoch);
    let again = again.with_epoch(epoch);
    let Some((record, rest)) = again.record.split_first() else { return Ok((StartOutcome::CauseChanged, None)) };
    let applied =
        apply_plan_with_binding(desk, &view.binding(job), &view.build_plan(job, std::slice::from_ref(record))).await;
    let [comment] = applied.comments.as_slice() else {
        return Ok((StartOutcome::Unrecorded(first_receipt(applied)), None));
    };
    let last = WorkSubject::fetch(desk, job).await?;
    if !last.confirms_record(desk, job, comment, epoch) {
        return Ok((StartOutcome::LostRace, None));
    }
    let plan = last.build_plan(job, rest);
    let shown = apply_plan_with_binding(desk, &last.binding(job), &plan).await;
    say();
    let undone = |receipt: &Receipt| !matches!(receipt.outcome, StepOutcome::Done | StepOutcome::AlreadySo);
    let undone = shown.receipts.into_iter().filter(undone).collect();
    Ok((StartOutcome::Started(undone), Some(ClaimedWorker { job: again, claim_epoch: claim, subject: last })))
}

/// The same worker for the same cause; what it is recorded with may differ.
fn is_same_job(one: &Job, other: &Job) -> bool {
    let what = |job: &Job| (job.kind, job.number, job.retry);
    what(one) == what(other) && one.cause == other.cause && one.patch == other.patch && one.head == other.head
}

fn first_receipt(applied: ApplyOutcome) -> Receipt {
    let nothing = Receipt { step: 0, action: "ensure_comment", outcome: StepOutcome::Planned, note: String::new() };
    applied.receipts.into_iter().next().unwrap_or(nothing)
}
