//! One turn over one pull, in two halves: `begin` decides which reviews are due, `finish` applies the plan.

use referee_core::decide::decide;
use referee_core::mark::Keys;
use referee_core::model::{PullNumber, Snapshot};
use referee_core::plan::{Brief, Plan, Step};
use referee_core::policy::Policy;
use referee_forge::{FetchedPull, Forge, ForgeError, Gates, Reuse};
use thiserror::Error;

use crate::apply::{HeadCheck, apply_plan};
use crate::claim::{PublishClaim, PublishMode};
use crate::gather::{GatherError, Inbox, gather_snapshot};
use crate::journal::{Journal, JournalRecord};
use crate::pass::worker_can_push;
use crate::receipt::{Receipt, StepOutcome};
use crate::refresh::refresh_snapshot;
use crate::source::Source;

/// Everything a turn needs besides its input.
#[derive(Clone, Copy)]
pub struct TurnContext<'a> {
    pub forge: &'a dyn Forge,
    pub source: &'a dyn Source,
    pub journal: &'a dyn Journal,
    pub policy: &'a Policy,
    pub gates: &'a Gates,
    /// Sign Marks and Tags.
    pub keys: &'a Keys,
    pub publish_mode: PublishMode<'a>,
}

/// A turn between its two halves.
#[derive(Clone, Debug)]
pub struct BegunTurn {
    pub snapshot: Snapshot,
    pub plan: Plan,
    /// The read that both were made from. The second half uses it to decide whether it has to post.
    fetched: FetchedPull,
}

/// A finished turn.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The snapshot of the last plan.
    pub snapshot: Snapshot,
    /// The last plan.
    pub plan: Plan,
    /// The steps of all plans of the turn, in order.
    pub steps: Vec<Step>,
    /// The result of each step.
    pub receipts: Vec<Receipt>,
    /// An outcome is unknown, or the run ended early: run the turn again later.
    pub needs_rerun: bool,
    /// The number of writes that were sent.
    pub writes: usize,
}

impl Turn {
    /// Joins the records of two turns that ran one after the other.
    fn followed_by(mut self, next: Self) -> Self {
        self.steps.extend(next.steps);
        self.receipts.extend(next.receipts);
        let plan = keep_first_accounting(&self.plan, next.plan);
        Self { plan, steps: self.steps, receipts: self.receipts, writes: self.writes + next.writes, ..next }
    }
}

/// Keeps the counts of the first plan that a turn made at this head: a later one reads the turn's own post, and would count
/// its new findings as known (PUB-23).
fn keep_first_accounting(first: &Plan, mut later: Plan) -> Plan {
    if first.head == later.head {
        for (role, accounting) in &mut later.accounting {
            let counted = first.accounting.iter().find(|(counted, _)| counted == role);
            *accounting = counted.map_or(*accounting, |(_, counted)| *counted);
        }
    }
    later
}

/// Why a turn could not run.
#[derive(Debug, Error)]
pub enum TurnError {
    #[error(transparent)]
    Forge(#[from] ForgeError),
    #[error(transparent)]
    Gather(#[from] GatherError),
    /// Another process holds the claim.
    #[error("another process is posting on this pull")]
    ClaimHeld,
}

/// The number of plans in one turn; what remains is left to the next turn.
const MAX_PLANS: usize = 4;

/// Runs the first half of a turn: gathers and decides. It writes nothing, so the pull may come from a cached read. A
/// review whose report is in `inbox` is not due.
#[tracing::instrument(skip_all, fields(pull = %fetched.pull.number))]
pub async fn begin(context: &TurnContext<'_>, fetched: FetchedPull, inbox: &Inbox) -> Result<BegunTurn, TurnError> {
    let (mut snapshot, mut plan) = gather_and_decide(context, fetched.clone(), inbox)?;
    if !worker_can_push(context.forge, context.policy, &plan, &mut snapshot).await? {
        plan = decide(&snapshot, context.policy, &inbox.scope);
    }
    let is_reported = |brief: &Brief| inbox.reports.iter().any(|report| report.role == brief.role);
    plan.reviews.retain(|brief| !is_reported(brief));
    tracing::info!(rule = %plan.why.rule, reviews_due = plan.reviews.len(), "decided");
    Ok(BegunTurn { snapshot, plan, fetched })
}

/// Runs the second half: reads again what may have changed, decides with the reports in `inbox`, and applies the plan.
/// Decides again if the head moved, an outcome is unknown, an approval was posted, or a step links a review that was just
/// posted, at most `MAX_PLANS` times.
#[tracing::instrument(skip_all, fields(%pull))]
pub async fn finish(context: &TurnContext<'_>, pull: PullNumber, inbox: &Inbox) -> Result<Turn, TurnError> {
    let (snapshot, plan) = fetch_and_decide(context, pull, inbox).await?;
    finish_plan(context, pull, inbox, snapshot, plan).await
}

/// Runs the second half after [`begin`]. A post is decided from a read under the claim, so the read of the first half
/// is sufficient to find out that the claim is needed.
#[tracing::instrument(skip_all, fields(pull = %begun.snapshot.pull.number))]
pub async fn finish_begun(context: &TurnContext<'_>, begun: &BegunTurn, inbox: &Inbox) -> Result<Turn, TurnError> {
    let pull = begun.snapshot.pull.number;
    let (snapshot, plan) = gather_and_decide(context, begun.fetched.clone(), inbox)?;
    if context.needs_publish_claim(&plan.steps) {
        return finish_plan(context, pull, inbox, snapshot, plan).await;
    }
    finish(context, pull, inbox).await
}

async fn finish_plan(
    context: &TurnContext<'_>,
    pull: PullNumber,
    inbox: &Inbox,
    snapshot: Snapshot,
    plan: Plan,
) -> Result<Turn, TurnError> {
    if !context.needs_publish_claim(&plan.steps) {
        return apply_until_settled(context, inbox, snapshot, plan, HeadCheck::Due).await;
    }
    let (turn, kept_claim) = finish_claimed(context, pull, inbox, &snapshot).await?;
    let other_roles_run = matches!(context.publish_mode, PublishMode::Matrix(_));
    if kept_claim || !other_roles_run || turn.writes == 0 || context.is_interrupted() {
        return Ok(turn);
    }
    // Two processes that wrote at the same time did not see each other's verdict. The one that lost the claim decides
    // again after the other one.
    let (next, kept_claim) = finish_claimed(context, pull, inbox, &turn.snapshot).await?;
    let needs_rerun = next.needs_rerun || !kept_claim;
    Ok(Turn { needs_rerun, ..turn.followed_by(next) })
}

/// Takes the claim, reads everything again past every cache, decides and applies. Only this read shows what another
/// process posted before. Returns `false` beside the turn if another process took the claim over meanwhile.
async fn finish_claimed(
    context: &TurnContext<'_>,
    pull: PullNumber,
    inbox: &Inbox,
    before: &Snapshot,
) -> Result<(Turn, bool), TurnError> {
    let claim = PublishClaim::acquire(context, pull).await?;
    let turn = async {
        let fetched = context.forge.fetch(pull).await?;
        let head = HeadCheck::after_read(&fetched, before);
        let (snapshot, plan) = gather_and_decide(context, fetched, inbox)?;
        apply_until_settled(context, inbox, snapshot, plan, head).await
    };
    let turn = turn.await;
    let kept_claim = claim.release(context).await;
    Ok((turn?, kept_claim))
}

pub(crate) async fn fetch_and_decide(
    context: &TurnContext<'_>,
    pull: PullNumber,
    inbox: &Inbox,
) -> Result<(Snapshot, Plan), TurnError> {
    let fetched = context.forge.fetch_reusing(pull, Reuse::Cached).await?;
    let is_fresh = fetched.is_fresh;
    let (snapshot, plan) = gather_and_decide(context, fetched, inbox)?;
    // A cached read may prove that nothing has to be done. Before a write, everything is read again (LOOP-7).
    if is_fresh || plan.steps.iter().all(|step| context.gates.permit_step(step).is_err()) {
        return Ok((snapshot, plan));
    }
    fetch_fresh_and_decide(context, pull, inbox).await
}

async fn fetch_fresh_and_decide(
    context: &TurnContext<'_>,
    pull: PullNumber,
    inbox: &Inbox,
) -> Result<(Snapshot, Plan), TurnError> {
    gather_and_decide(context, context.forge.fetch(pull).await?, inbox)
}

fn gather_and_decide(
    context: &TurnContext<'_>,
    fetched: FetchedPull,
    inbox: &Inbox,
) -> Result<(Snapshot, Plan), TurnError> {
    let snapshot = gather_snapshot(fetched, context.source, inbox, context.policy, context.keys)?;
    let plan = decide(&snapshot, context.policy, &inbox.scope);
    Ok((snapshot, plan))
}

async fn apply_until_settled(
    context: &TurnContext<'_>,
    inbox: &Inbox,
    mut snapshot: Snapshot,
    mut plan: Plan,
    mut head: HeadCheck,
) -> Result<Turn, TurnError> {
    let (mut steps, mut receipts) = (Vec::new(), Vec::new());
    let mut writes = 0;
    for round in 1..=MAX_PLANS {
        let applied = apply_plan(context, &snapshot, &plan, head).await;
        head = HeadCheck::Due;
        tracing::info!(rule = %plan.why.rule, steps = plan.steps.len(), writes = applied.writes, "plan applied");
        if !context.gates.is_dry_run() {
            let receipts = &applied.receipts;
            context.journal.record_turn(&JournalRecord {
                snapshot: &snapshot,
                scope: &inbox.scope,
                plan: &plan,
                receipts,
            });
        }
        writes += applied.writes;
        let unknown = applied.receipts.iter().any(|receipt| receipt.outcome == StepOutcome::Unknown);
        // Read again after an approval: a sibling may have blocked meanwhile, because taking over a claim is not atomic
        // (D6). No other post would have to be revoked.
        let unfinished = (applied.ended_early && !applied.gave_up) || applied.awaits_address;
        let again = (unfinished || applied.approved) && !unknown && round < MAX_PLANS && !context.is_interrupted();
        steps.extend(plan.steps.iter().take(applied.receipts.len()).cloned());
        receipts.extend(applied.receipts.iter().cloned());
        if !again {
            return Ok(Turn { snapshot, plan, steps, receipts, needs_rerun: unfinished, writes });
        }
        match refresh_snapshot(context, inbox, &snapshot, &applied).await {
            Some((fresh, next)) => (snapshot, plan) = (fresh, keep_first_accounting(&plan, next)),
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
