//! Reads a repository for a pass: the board, every open pull, and the changes of all pulls from git.

use referee_core::decide::{PlanScope, decide};
use referee_core::facts::Facts;
use referee_core::model::{Board, Sha, Snapshot};
use referee_core::plan::{Next, Plan};
use referee_core::policy::Policy;
use referee_forge::{FetchedPull, ForgeError, Reader, Reuse};

use super::PassPull;
use crate::gather::texts::parse_board_texts;
use crate::gather::{GatherError, Inbox, gather_snapshot};
use crate::turn::{TurnContext, TurnError};

/// Reads everything that a pass decides on.
pub(super) async fn read_repository(context: &TurnContext<'_>) -> Result<(Board, Vec<PassPull>), TurnError> {
    let (mut board, fetched) = context.forge.fetch_board_and_pulls(Reuse::Cached).await?;
    parse_board_texts(&mut board, context.policy, context.keys);
    let changes: Vec<(&Sha, &Sha)> = fetched.iter().map(|it| (&it.pull.base_sha, &it.pull.head)).collect();
    context.source.prefetch(&changes).map_err(GatherError::from)?;
    let mut pulls = Vec::with_capacity(fetched.len());
    for fetched in fetched {
        let (number, is_fresh) = (fetched.pull.number, fetched.is_fresh);
        let mut pull = plan_pull(context, fetched)?;
        // A cached read may prove that there is nothing to do. Before a write, everything is read again (LOOP-7).
        if !is_fresh && pull.plan.steps.iter().any(|step| context.gates.permit_step(step).is_ok()) {
            pull = plan_pull(context, context.forge.fetch(number).await?)?;
        }
        pulls.push(pull);
    }
    skip_unpushable_pulls(context, &mut pulls).await?;
    Ok((board, pulls))
}

pub(super) fn plan_pull(context: &TurnContext<'_>, fetched: FetchedPull) -> Result<PassPull, GatherError> {
    let snapshot = gather_snapshot(fetched, context.source, &Inbox::default(), context.policy, context.keys)?;
    let takes_part = is_eligible(&snapshot, context.policy);
    let plan = decide(&snapshot, context.policy, &PlanScope::Pass);
    Ok(PassPull { snapshot, plan, is_eligible: takes_part, receipts: Vec::new() })
}

/// Decides again for pulls whose branch the workers may not push to; they wait for their author (DSP-5). Only the pull
/// whose worker would start is checked, then the next one.
async fn skip_unpushable_pulls(context: &TurnContext<'_>, pulls: &mut [PassPull]) -> Result<(), TurnError> {
    for pull in pulls.iter_mut().filter(|it| it.is_eligible && matches!(it.plan.next, Next::Spawn(_))) {
        if worker_can_push(context.forge, context.policy, &pull.plan, &mut pull.snapshot).await? {
            break;
        }
        pull.plan = decide(&pull.snapshot, context.policy, &PlanScope::Pass);
    }
    Ok(())
}

/// Returns whether the workers may push to the pull's branch (DSP-5); the forge does not report that with the pull. If
/// not, updates the snapshot for another decision.
pub async fn worker_can_push(
    forge: &dyn Reader,
    policy: &Policy,
    plan: &Plan,
    snapshot: &mut Snapshot,
) -> Result<bool, ForgeError> {
    let (Some(work), Next::Spawn(_)) = (&policy.work, &plan.next) else { return Ok(true) };
    let can_push = forge.may_push(plan.pull, &work.user, Reuse::Cached).await?;
    if !can_push {
        snapshot.pull.pushable = Some(false);
    }
    Ok(can_push)
}

/// Reads the board and parses the texts of its issues.
pub(super) async fn fetch_board(context: &TurnContext<'_>) -> Result<Board, TurnError> {
    let mut board = context.forge.fetch_board().await?;
    parse_board_texts(&mut board, context.policy, context.keys);
    Ok(board)
}

/// Returns whether the pull takes part in dispatch.
pub(super) fn is_eligible(snapshot: &Snapshot, policy: &Policy) -> bool {
    Facts::new(snapshot, policy).dispatch_policy().is_some()
}
