//! Reads and decides again within a turn: after an approval, in matrix mode after every write, and when the head moved
//! (PUB-15, D6). A read that does not show the turn's own writes yet is rejected: deciding on it would post everything
//! twice.

use referee_core::model::Snapshot;
use referee_core::plan::Plan;

use crate::apply::ApplyOutcome;
use crate::gather::Inbox;
use crate::turn::{TurnContext, fetch_and_decide};

/// Returns the new snapshot and plan; `None` if the forge does not show the turn's own writes yet.
pub(crate) async fn refresh_snapshot(
    context: &TurnContext<'_>,
    inbox: &Inbox,
    before: &Snapshot,
    applied: &ApplyOutcome,
) -> Option<(Snapshot, Plan)> {
    let (snapshot, plan) = fetch_and_decide(context, before.pull.number, inbox).await.ok()?;
    applied.is_visible_in(&snapshot).then_some((snapshot, plan))
}
