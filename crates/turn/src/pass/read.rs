//! Reading for a pass: the board, then every open pull, then what git says of all their changes.

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

/// Everything that a pass decides on.
pub(super) async fn read_repository(desk: &TurnContext<'_>) -> Result<(Board, Vec<PassPull>), TurnError> {
    let (mut board, fetched) = desk.forge.fetch_board_and_pulls(Reuse::Cached).await?;
    parse_board_texts(&mut board, desk.policy, desk.keys);
    let changes: Vec<(&Sha, &Sha)> = fetched.iter().map(|it| (&it.pull.base_sha, &it.pull.head)).collect();
    desk.source.prefetch(&changes).map_err(GatherError::from)?;
    let mut pulls = Vec::with_capacity(fetched.len());
    for fetched in fetched {
        let (number, whole) = (fetched.pull.number, fetched.is_fresh);
        let mut looked = plan_pull(desk, fetched)?;
        // That there is nothing to do may be known from less; what is written leans on all of it (LOOP-7).
        if !whole && looked.plan.steps.iter().any(|step| desk.gates.permit_step(step).is_ok()) {
            looked = plan_pull(desk, desk.forge.fetch(number).await?)?;
        }
        pulls.push(looked);
    }
    skip_unpushable_pulls(desk, &mut pulls).await?;
    Ok((board, pulls))
}

fn plan_pull(desk: &TurnContext<'_>, fetched: FetchedPull) -> Result<PassPull, GatherError> {
    let snapshot = gather_snapshot(fetched, desk.source, &Inbox::default(), desk.policy, desk.keys)?;
    let takes_part = is_eligible(&snapshot, desk.policy);
    let plan = decide(&snapshot, desk.policy, &PlanScope::Pass);
    Ok(PassPull { snapshot, plan, is_eligible: takes_part, receipts: Vec::new() })
}

/// Leaves those to their authors whose branch takes no push of a worker (DSP-5). Asked for the worker that would start,
/// and for the next if it turns out so.
async fn skip_unpushable_pulls(desk: &TurnContext<'_>, pulls: &mut [PassPull]) -> Result<(), TurnError> {
    for looked in pulls.iter_mut().filter(|it| it.is_eligible && matches!(it.plan.next, Next::Spawn(_))) {
        if worker_can_push(desk.forge, desk.policy, &looked.plan, &mut looked.snapshot).await? {
            break;
        }
        looked.plan = decide(&looked.snapshot, desk.policy, &PlanScope::Pass);
    }
    Ok(())
}

/// Whether the branch takes a push of the worker that would start, which a pull does not tell (DSP-5). If not, what is
/// known of the pull says so, for another decision.
pub async fn worker_can_push(
    forge: &dyn Reader,
    policy: &Policy,
    plan: &Plan,
    snapshot: &mut Snapshot,
) -> Result<bool, ForgeError> {
    let (Some(work), Next::Spawn(_)) = (&policy.work, &plan.next) else { return Ok(true) };
    let takes = forge.may_push(plan.pull, &work.user, Reuse::Cached).await?;
    if !takes {
        snapshot.pull.pushable = Some(false);
    }
    Ok(takes)
}

/// The board, with what is written on its issues.
pub(super) async fn fetch_board(desk: &TurnContext<'_>) -> Result<Board, TurnError> {
    let mut board = desk.forge.fetch_board().await?;
    parse_board_texts(&mut board, desk.policy, desk.keys);
    Ok(board)
}

/// Whether the project looks at a pull.
pub(super) fn is_eligible(snapshot: &Snapshot, policy: &Policy) -> bool {
    Facts::new(snapshot, policy).dispatch_policy().is_some()
}
