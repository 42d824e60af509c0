//! Starting a worker, so that nobody else starts one for the same cause (DSP-16, D8):
//!
//! | step | what it guards against |
//! |---|---|
//! | claim | another process that is about to do the same |
//! | look again, the own claim left out | one that did so between the first look and the claim |
//! | record | a crash from here on, and every pass to come |
//! | look once more, own claim and record left out | a claim that ran out unnoticed: its new holder has a higher epoch |
//! | label, or assign | – : it shows people what the record says |
//! | say the line | – |
//! | give the claim back | – : the record speaks from here on, and whoever runs the worker is another process |
//! | or keep it | another worker on the same pull, while the own one runs |
//!
//! Whatever ends this early leaves a claim that runs out, and at most a record without a worker: an hour later a pass
//! starts it a second time.

use referee_core::model::{PullNumber, Span};
use referee_core::plan::Job;
use referee_forge::{Claimed, ForgeError, Purpose};

use super::held::{Held, View, give_back};
use super::{Started, Then};
use crate::apply::{Applied, apply_bound};
use crate::receipt::{Outcome, Receipt};
use crate::turn::{Desk, TurnError};

/// Records a worker and says its line, if nobody else may do so.
pub(super) async fn start(
    desk: &Desk<'_>,
    job: &Job,
    then: Then,
    say: &mut (impl FnMut() + Send),
) -> (Started, Option<Held>) {
    let (at, ttl) = (PullNumber(job.number), desk.policy.work.as_ref().map_or(Span::hours(1), |work| work.wip_max_age));
    let epoch = match desk.forge.claim(at, Purpose::Work, ttl).await {
        Ok(Claimed::Mine(epoch)) => epoch,
        // If it is ours after all, it runs out by itself.
        Ok(Claimed::Held) | Err(ForgeError::Unknown) => return (Started::Held, None),
        Err(error) => return (Started::Failed(error.into()), None),
    };
    match under_claim(desk, job, epoch, say).await {
        Ok((started, Some(held))) if then == Then::Run => (started, Some(held)),
        ended => {
            give_back(desk, at, epoch).await;
            (ended.map_or_else(Started::Failed, |(started, _)| started), None)
        }
    }
}

async fn under_claim(
    desk: &Desk<'_>,
    job: &Job,
    claim: u64,
    say: &mut (impl FnMut() + Send),
) -> Result<(Started, Option<Held>), TurnError> {
    let view = View::of(desk, job).await?;
    let Some(again) = view.next(desk, claim, None).filter(|again| is_same(again, job)) else {
        return Ok((Started::Changed, None));
    };
    let epoch = claim.max(again.epoch);
    let again = again.at_epoch(epoch);
    let Some((record, rest)) = again.record.split_first() else { return Ok((Started::Changed, None)) };
    let applied = apply_bound(
        desk.forge,
        desk.journal,
        desk.gates,
        desk.keys,
        &view.binding(job),
        &view.plan(job, std::slice::from_ref(record)),
    )
    .await;
    let [comment] = applied.comments.as_slice() else { return Ok((Started::Unrecorded(first(applied)), None)) };
    let last = View::of(desk, job).await?;
    let mine = last.next(desk, claim, Some(comment)).is_some_and(|last| is_same(&last, job));
    if !mine || !last.shows(desk, job, comment, epoch) {
        return Ok((Started::Outrun, None));
    }
    let plan = last.plan(job, rest);
    let shown = apply_bound(desk.forge, desk.journal, desk.gates, desk.keys, &last.binding(job), &plan).await;
    say();
    let undone = |receipt: &Receipt| !matches!(receipt.outcome, Outcome::Done | Outcome::AlreadySo);
    let undone = shown.receipts.into_iter().filter(undone).collect();
    Ok((Started::Yes(undone), Some(Held { job: again, claim, view: last })))
}

/// The same worker for the same cause; what it is recorded with may differ.
fn is_same(one: &Job, other: &Job) -> bool {
    let what = |job: &Job| (job.kind, job.number, job.retry);
    what(one) == what(other) && one.cause == other.cause && one.patch == other.patch && one.head == other.head
}

fn first(applied: Applied) -> Receipt {
    let nothing = Receipt { step: 0, action: "ensure_comment", outcome: Outcome::Planned, note: String::new() };
    applied.receipts.into_iter().next().unwrap_or(nothing)
}
