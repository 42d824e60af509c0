//! Looks again within a turn: after an approval, in matrix mode after every write, and where something moved
//! (PUB-15, D6). A view that is older than what was just made is no view: deciding on it would post everything twice.

use referee_core::model::Snapshot;
use referee_core::plan::Plan;

use crate::apply::ApplyOutcome;
use crate::gather::Inbox;
use crate::turn::{TurnContext, fetch_and_decide};

/// What is known and decided now, if the forge shows at least what was just made.
pub(crate) async fn refresh_snapshot(
    desk: &TurnContext<'_>,
    inbox: &Inbox,
    before: &Snapshot,
    applied: &ApplyOutcome,
) -> Option<(Snapshot, Plan)> {
    let (snapshot, plan) = fetch_and_decide(desk, before.pull.number, inbox).await.ok()?;
    applied.is_visible_in(&snapshot).then_some((snapshot, plan))
}
