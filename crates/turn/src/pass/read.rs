//! Reading for a pass: the board, then every open pull, then what git says of all their changes.

use referee_core::decide::decide;
use referee_core::facts::Facts;
use referee_core::model::{Board, Sha, Snapshot};
use referee_core::plan::{Next, Plan};
use referee_core::policy::Policy;
use referee_forge::{Fetched, ForgeError, Reader};

use super::{Looked, is_of_a_pass};
use crate::gather::words::read_board;
use crate::gather::{GatherError, Inbox, gather};
use crate::turn::{Desk, TurnError};

/// Everything that a pass decides on.
pub(super) async fn read(desk: &Desk<'_>) -> Result<(Board, Vec<Looked>), TurnError> {
    let (mut board, fetched) = desk.forge.survey().await?;
    read_board(&mut board, desk.policy, desk.keys);
    let changes: Vec<(&Sha, &Sha)> = fetched.iter().map(|it| (&it.pull.base_sha, &it.pull.head)).collect();
    desk.source.bring(&changes).map_err(GatherError::from)?;
    let mut pulls = Vec::with_capacity(fetched.len());
    for fetched in fetched {
        let (number, whole) = (fetched.pull.number, fetched.whole);
        let mut looked = look(desk, fetched)?;
        // That there is nothing to do may be known from less; what is written leans on all of it (LOOP-7).
        if !whole && looked.plan.steps.iter().any(|step| desk.gates.permit(step).is_ok()) {
            looked = look(desk, desk.forge.fetch_anew(number).await?)?;
        }
        pulls.push(looked);
    }
    leave_to_authors(desk, &mut pulls).await?;
    Ok((board, pulls))
}

fn look(desk: &Desk<'_>, fetched: Fetched) -> Result<Looked, GatherError> {
    let snapshot = gather(fetched, desk.source, &Inbox::default(), desk.policy, desk.keys)?;
    let takes_part = takes_part(&snapshot, desk.policy);
    let plan = plan(&snapshot, desk.policy);
    Ok(Looked { snapshot, plan, takes_part, receipts: Vec::new() })
}

fn plan(snapshot: &Snapshot, policy: &Policy) -> Plan {
    let (mut plan, takes_part) = (decide(snapshot, policy), takes_part(snapshot, policy));
    plan.steps.retain(|step| takes_part && is_of_a_pass(step));
    plan
}

/// Leaves those to their authors whose branch takes no push of a worker (DSP-5). Asked for the worker that would start,
/// and for the next if it turns out so.
async fn leave_to_authors(desk: &Desk<'_>, pulls: &mut [Looked]) -> Result<(), TurnError> {
    for looked in pulls.iter_mut().filter(|it| it.takes_part && matches!(it.plan.next, Next::Spawn(_))) {
        if takes_worker(desk.forge, desk.policy, &looked.plan, &mut looked.snapshot).await? {
            break;
        }
        looked.plan = plan(&looked.snapshot, desk.policy);
    }
    Ok(())
}

/// Whether the branch takes a push of the worker that would start, which a pull does not tell (DSP-5). If not, what is
/// known of the pull says so, for another decision.
pub async fn takes_worker(
    forge: &dyn Reader,
    policy: &Policy,
    plan: &Plan,
    snapshot: &mut Snapshot,
) -> Result<bool, ForgeError> {
    let (Some(work), Next::Spawn(_)) = (&policy.work, &plan.next) else { return Ok(true) };
    let takes = forge.may_push(plan.pull, &work.user).await?;
    if !takes {
        snapshot.pull.pushable = Some(false);
    }
    Ok(takes)
}

/// The board, with what is written on its issues.
pub(super) async fn board(desk: &Desk<'_>) -> Result<Board, TurnError> {
    let mut board = desk.forge.board().await?;
    read_board(&mut board, desk.policy, desk.keys);
    Ok(board)
}

/// Whether the project looks at a pull.
pub(super) fn takes_part(snapshot: &Snapshot, policy: &Policy) -> bool {
    Facts::new(snapshot, policy).work_here().is_some()
}
