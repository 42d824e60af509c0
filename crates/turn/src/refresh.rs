//! Looks again within a turn: after an approval, in matrix mode after every write, and where something moved
//! (PUB-15, D6). A view that is older than what was just made is no view: deciding on it would post everything twice.

use referee_core::model::Snapshot;
use referee_core::plan::Plan;

use crate::apply::Applied;
use crate::gather::Inbox;
use crate::turn::{Desk, look};

/// What is known and decided now, if the forge shows at least what was just made.
pub(crate) async fn refresh(
    desk: &Desk<'_>,
    inbox: &Inbox,
    before: &Snapshot,
    applied: &Applied,
) -> Option<(Snapshot, Plan)> {
    let (snapshot, plan) = look(desk, before.pull.number, inbox).await.ok()?;
    applied.is_in(&snapshot).then_some((snapshot, plan))
}
