//! One turn over one pull.

use referee_core::decide::decide;
use referee_core::mark::Keys;
use referee_core::model::{PullNumber, Snapshot, Span};
use referee_core::plan::{Action, Brief, Plan, Step};
use referee_core::policy::Policy;
use referee_forge::{ClaimOutcome, ClaimPurpose, FetchedPull, Forge, ForgeError, Gates, Reuse};
use thiserror::Error;

use crate::apply::{HeadCheck, apply_plan};
use crate::gather::{GatherError, Inbox, gather_snapshot};
use crate::journal::{Journal, JournalRecord};
use crate::pass::worker_can_push;
use crate::receipt::{Receipt, StepOutcome};
use crate::refresh::refresh_snapshot;
use crate::source::Source;

/// What a turn is played with.
#[derive(Clone, Copy)]
pub struct TurnContext<'a> {
    /// The forge.
    pub forge: &'a dyn Forge,
    /// The texts of changes.
    pub source: &'a dyn Source,
    /// What is written down.
    pub journal: &'a dyn Journal,
    /// The rules.
    pub policy: &'a Policy,
    /// What may be done.
    pub gates: &'a Gates,
    /// What seals Marks.
    pub keys: &'a Keys,
    /// Who else may post meanwhile.
    pub publish_mode: PublishMode,
}

/// Who else may post for this pull and identity at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishMode {
    /// Nobody: one writer, by whatever the shell keeps.
    SingleWriter,
    /// Other processes, one for each role (D6): posts go one after the other, under a claim on the forge.
    Matrix,
}

/// A turn between its two halves.
#[derive(Clone, Debug)]
pub struct BegunTurn {
    pub snapshot: Snapshot,
    pub plan: Plan,
    /// The read that both were made of; the second half decides on it whether it has to post.
    fetched: FetchedPull,
}

/// A turn that was played.
#[derive(Clone, Debug)]
pub struct Turn {
    /// What was known when the last plan was made.
    pub snapshot: Snapshot,
    /// That plan.
    pub plan: Plan,
    /// The steps of all plans of the turn, in order.
    pub steps: Vec<Step>,
    /// What became of each.
    pub receipts: Vec<Receipt>,
    /// Something is unknown, or could not be read to its end: play again later.
    pub needs_rerun: bool,
    /// How many writes left.
    pub writes: usize,
}

/// Why no turn was played.
#[derive(Debug, Error)]
pub enum TurnError {
    /// The forge.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// The texts of changes.
    #[error(transparent)]
    Gather(#[from] GatherError),
    /// Another process holds the claim.
    #[error("another process is posting on this pull")]
    ClaimHeld,
}

/// How long a claim for posting lives (D6).
const PUBLISH_CLAIM_TTL: Span = Span(120);

/// How often a turn plans anew before it leaves the rest to the next one.
const MAX_PLANS: usize = 4;

/// First half of a turn: gathers and decides. It writes nothing, so the pull may come from a cached read. No review is due
/// of which `inbox` has the report.
#[tracing::instrument(skip_all, fields(pull = %fetched.pull.number))]
pub async fn begin(context: &TurnContext<'_>, fetched: FetchedPull, inbox: &Inbox) -> Result<BegunTurn, TurnError> {
    let (mut snapshot, mut plan) = gather_and_decide(context, fetched.clone(), inbox)?;
    if !worker_can_push(context.forge, context.policy, &plan, &mut snapshot).await? {
        plan = decide(&snapshot, context.policy, &inbox.scope);
    }
    let is_reported = |brief: &Brief| inbox.reports.iter().any(|report| report.role == brief.role);
    plan.reviews.retain(|brief| !is_reported(brief));
    Ok(BegunTurn { snapshot, plan, fetched })
}

/// Second half: reads again what may have moved, decides with the reports in `inbox`, and applies the plan. Decides again if
/// the head moved, an outcome is unknown, or an approval was posted, at most `MAX_PLANS` times.
#[tracing::instrument(skip_all, fields(%pull))]
pub async fn finish(desk: &TurnContext<'_>, pull: PullNumber, inbox: &Inbox) -> Result<Turn, TurnError> {
    let (snapshot, plan) = fetch_and_decide(desk, pull, inbox).await?;
    finish_plan(desk, pull, inbox, snapshot, plan).await
}

/// The same after [`begin`]. A post is decided on a read under the claim, so the one of the first half is enough to know
/// that the claim is needed.
#[tracing::instrument(skip_all, fields(pull = %begun.snapshot.pull.number))]
pub async fn finish_begun(desk: &TurnContext<'_>, begun: &BegunTurn, inbox: &Inbox) -> Result<Turn, TurnError> {
    let pull = begun.snapshot.pull.number;
    let (snapshot, plan) = gather_and_decide(desk, begun.fetched.clone(), inbox)?;
    if desk.publish_mode == PublishMode::Matrix && needs_publish_claim(desk, &plan) {
        return finish_plan(desk, pull, inbox, snapshot, plan).await;
    }
    finish(desk, pull, inbox).await
}

async fn finish_plan(
    desk: &TurnContext<'_>,
    pull: PullNumber,
    inbox: &Inbox,
    snapshot: Snapshot,
    plan: Plan,
) -> Result<Turn, TurnError> {
    if desk.publish_mode == PublishMode::SingleWriter || !needs_publish_claim(desk, &plan) {
        return apply_until_settled(desk, inbox, snapshot, plan, HeadCheck::Due).await;
    }
    let ClaimOutcome::Acquired(epoch) =
        desk.forge.acquire_claim(pull, ClaimPurpose::Publish, PUBLISH_CLAIM_TTL).await?
    else {
        return Err(TurnError::ClaimHeld);
    };
    // Under the claim everything is read again: only this read shows what another process posted before (D6).
    let played = finish_under_claim(desk, pull, inbox, &snapshot).await;
    // A claim that cannot be given back runs out by itself.
    let _ = desk.forge.release_claim(pull, ClaimPurpose::Publish, epoch).await;
    played
}

async fn finish_under_claim(
    desk: &TurnContext<'_>,
    pull: PullNumber,
    inbox: &Inbox,
    before: &Snapshot,
) -> Result<Turn, TurnError> {
    let fetched = desk.forge.fetch(pull).await?;
    // The texts of an unchanged head are known, so gathering takes no time in which the head could move.
    let is_same_head = fetched.pull.head == before.pull.head;
    let head = if fetched.head_read_last && is_same_head { HeadCheck::JustRead } else { HeadCheck::Due };
    let (snapshot, plan) = gather_and_decide(desk, fetched, inbox)?;
    apply_until_settled(desk, inbox, snapshot, plan, head).await
}

pub(crate) async fn fetch_and_decide(
    desk: &TurnContext<'_>,
    pull: PullNumber,
    inbox: &Inbox,
) -> Result<(Snapshot, Plan), TurnError> {
    let fetched = desk.forge.fetch_reusing(pull, Reuse::Cached).await?;
    let whole = fetched.is_fresh;
    let (snapshot, plan) = gather_and_decide(desk, fetched, inbox)?;
    // A cached read may prove that nothing has to be done. Before a write, everything is read again (LOOP-7).
    if whole || plan.steps.iter().all(|step| desk.gates.permit_step(step).is_err()) {
        return Ok((snapshot, plan));
    }
    fetch_fresh_and_decide(desk, pull, inbox).await
}

async fn fetch_fresh_and_decide(
    desk: &TurnContext<'_>,
    pull: PullNumber,
    inbox: &Inbox,
) -> Result<(Snapshot, Plan), TurnError> {
    gather_and_decide(desk, desk.forge.fetch(pull).await?, inbox)
}

fn gather_and_decide(
    desk: &TurnContext<'_>,
    fetched: FetchedPull,
    inbox: &Inbox,
) -> Result<(Snapshot, Plan), TurnError> {
    let snapshot = gather_snapshot(fetched, desk.source, inbox, desk.policy, desk.keys)?;
    let plan = decide(&snapshot, desk.policy, &inbox.scope);
    Ok((snapshot, plan))
}

/// Whether a plan posts what another process of the same identity might post too.
fn needs_publish_claim(desk: &TurnContext<'_>, plan: &Plan) -> bool {
    plan.steps.iter().any(|step| {
        matches!(
            step.action,
            Action::PostReview { .. }
                | Action::OpenThreads { .. }
                | Action::EditReview { .. }
                | Action::Supersede { .. }
        ) && desk.gates.permit_step(step).is_ok()
    })
}

async fn apply_until_settled(
    desk: &TurnContext<'_>,
    inbox: &Inbox,
    mut snapshot: Snapshot,
    mut plan: Plan,
    mut head: HeadCheck,
) -> Result<Turn, TurnError> {
    let (mut steps, mut receipts) = (Vec::new(), Vec::new());
    let mut writes = 0;
    for round in 1..=MAX_PLANS {
        let applied = apply_plan(desk, &snapshot, &plan, head).await;
        head = HeadCheck::Due;
        if !desk.gates.is_dry_run() {
            let receipts = &applied.receipts;
            desk.journal.record_turn(&JournalRecord {
                snapshot: &snapshot,
                scope: &inbox.scope,
                plan: &plan,
                receipts,
            });
        }
        writes += applied.writes;
        let unknown = applied.receipts.iter().any(|receipt| receipt.outcome == StepOutcome::Unknown);
        // An approval is followed by a look: a sibling may have blocked meanwhile, since taking over a claim is not atomic
        // (D6). After any other post there is nothing to take back.
        let again = (applied.ended_early || applied.approved) && !unknown && round < MAX_PLANS;
        steps.extend(plan.steps.iter().cloned());
        receipts.extend(applied.receipts.iter().cloned());
        if !again {
            return Ok(Turn { snapshot, plan, steps, receipts, needs_rerun: applied.ended_early, writes });
        }
        match refresh_snapshot(desk, inbox, &snapshot, &applied).await {
            Some(fresh) => (snapshot, plan) = fresh,
            None => break,
        }
    }
    Ok(Turn { snapshot, plan, steps, receipts, needs_rerun: true, writes })
}

#[cfg(test)]
mod tests {
    use referee_core::model::PullNumber;

    use super::{BegunTurn, TurnContext, begin, finish, finish_begun};
    use crate::gather::Inbox;
    use crate::pass::{SpawnMode, run_pass};

    fn assert_send<T: Send>(_: T) {}

    /// Compiles only if a daemon may move turns between threads.
    #[expect(dead_code, reason = "the compiler is the test")]
    fn futures_of_a_turn_are_send(context: &TurnContext<'_>, inbox: &Inbox, begun: &BegunTurn) {
        assert_send(begin(context, begun.fetched.clone(), inbox));
        assert_send(finish_begun(context, begun, inbox));
        assert_send(finish(context, PullNumber(1), inbox));
        assert_send(run_pass(context, SpawnMode::Print, |_| {}));
    }
}
