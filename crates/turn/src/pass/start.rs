//! Starts a worker such that no other process starts one for the same cause (DSP-16, D8):
//!
//! | step | protects against |
//! |---|---|
//! | claim the work, then the right to post | another process that does the same now |
//! | read again, ignoring this claim | one that did so between the first read and the claim |
//! | record | a crash from here on, and later passes |
//! | read once more, without deciding again | a push, and a claim that expired unnoticed or belongs to another identity: any record that was written since |
//! | label, or assign | – (shows the record to people) |
//! | print the line | – |
//! | release the claim, if another process runs the worker | – (the record is sufficient) |
//! | or keep it while the worker runs | another worker on the same pull |
//!
//! A crash leaves a claim that expires, and at most a record without a worker: an hour later a pass starts it a second
//! time.

use referee_core::model::{PullNumber, Span};
use referee_core::plan::Job;
use referee_forge::{ClaimOutcome, ClaimPurpose, ForgeError};

use super::claimed_worker::{ClaimedWorker, WorkSubject, release_work_claim};
use super::{SpawnMode, StartOutcome};
use crate::apply::{ApplyOutcome, apply_plan_with_binding};
use crate::claim::PublishClaim;
use crate::receipt::{Receipt, StepOutcome};
use crate::turn::{TurnContext, TurnError};

/// Records a worker and prints its line, unless another process may do so.
pub(super) async fn start_worker(
    context: &TurnContext<'_>,
    job: &Job,
    mode: SpawnMode,
    print_line: &mut (impl FnMut() + Send),
) -> (StartOutcome, Option<ClaimedWorker>) {
    let (at, ttl) =
        (PullNumber(job.number), context.policy.work.as_ref().map_or(Span::from_hours(1), |work| work.wip_max_age));
    let epoch = match context.forge.acquire_claim(at, ClaimPurpose::Work, ttl).await {
        Ok(ClaimOutcome::Acquired(epoch)) => epoch,
        // If the claim was taken after all, it expires by itself.
        Ok(ClaimOutcome::HeldElsewhere(_)) | Err(ForgeError::OutcomeUnknown) => return (StartOutcome::ClaimHeld, None),
        Err(error) => return (StartOutcome::Failed(error.into()), None),
    };
    match start_under_claims(context, job, epoch, print_line).await {
        Ok((started, Some(worker))) if mode == SpawnMode::Run => (started, Some(worker)),
        ended => {
            release_work_claim(context, at, epoch).await;
            let started = match ended {
                Ok((started, _)) => started,
                Err(TurnError::ClaimHeld) => StartOutcome::ClaimHeld,
                Err(error) => StartOutcome::Failed(error),
            };
            (started, None)
        }
    }
}

/// Takes the claim for posting too, if the record is a new comment.
async fn start_under_claims(
    context: &TurnContext<'_>,
    job: &Job,
    claim: u64,
    print_line: &mut (impl FnMut() + Send),
) -> Result<(StartOutcome, Option<ClaimedWorker>), TurnError> {
    if !context.needs_publish_claim(&job.record) {
        return start_under_claim(context, job, claim, print_line).await;
    }
    let publish = PublishClaim::acquire(context, PullNumber(job.number)).await?;
    let started = start_under_claim(context, job, claim, print_line).await;
    publish.release(context).await;
    started
}

async fn start_under_claim(
    context: &TurnContext<'_>,
    job: &Job,
    claim: u64,
    print_line: &mut (impl FnMut() + Send),
) -> Result<(StartOutcome, Option<ClaimedWorker>), TurnError> {
    let view = WorkSubject::fetch(context, job).await?;
    let Some(again) = view.recompute_job(context, claim).filter(|again| is_same_job(again, job)) else {
        return Ok((StartOutcome::CauseChanged, None));
    };
    let epoch = claim.max(again.epoch);
    let again = again.with_epoch(epoch);
    let Some((record, rest)) = again.record.split_first() else { return Ok((StartOutcome::CauseChanged, None)) };
    let applied =
        apply_plan_with_binding(context, &view.binding(job), &view.build_plan(job, std::slice::from_ref(record))).await;
    let [comment] = applied.comments.as_slice() else {
        return Ok((StartOutcome::Unrecorded(first_receipt(applied)), None));
    };
    let last = WorkSubject::fetch(context, job).await?;
    if !last.confirms_record(context, job, (comment, epoch), (&view, claim)) {
        return Ok((StartOutcome::LostRace, None));
    }
    let plan = last.build_plan(job, rest);
    let shown = apply_plan_with_binding(context, &last.binding(job), &plan).await;
    print_line();
    let undone = |receipt: &Receipt| !matches!(receipt.outcome, StepOutcome::Done | StepOutcome::AlreadySo);
    let undone = shown.receipts.into_iter().filter(undone).collect();
    Ok((StartOutcome::Started(undone), Some(ClaimedWorker { job: again, claim_epoch: claim, subject: last })))
}

/// Compares kind, number and cause of two jobs; their records may differ.
fn is_same_job(one: &Job, other: &Job) -> bool {
    let what = |job: &Job| (job.kind, job.number, job.retry);
    what(one) == what(other) && one.cause == other.cause && one.patch == other.patch && one.head == other.head
}

fn first_receipt(applied: ApplyOutcome) -> Receipt {
    let nothing = Receipt { step: 0, action: "ensure_comment", outcome: StepOutcome::Planned, note: String::new() };
    applied.receipts.into_iter().next().unwrap_or(nothing)
}
