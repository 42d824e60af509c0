//! What the checks say of the head. The server's own sum is of one page and differs by version: it is not used.

use referee_core::model::checks::OwnStatus;
use referee_core::model::{Check, CheckState, Checks};
use referee_http::Call;

use crate::ForgeError;
use crate::gitea::hand::Hand;
use crate::gitea::pages::Listing;
use crate::gitea::wire::{Status, Statuses};
use crate::gitea::{GiteaForge, routes};

/// Contexts with this prefix are referee's own, never part of the checks (D15).
const OWN: &str = "referee/";

impl GiteaForge {
    /// The latest word of each context at a commit.
    pub(super) async fn statuses(&self, hand: &Hand, sha: &str) -> Result<Listing<Status>, ForgeError> {
        let call = Call::new(&routes::STATUS, self.places([&sha]));
        hand.pages(&call, "the checks", |page: Statuses| page.statuses).await
    }
}

pub(super) fn told(statuses: &[Status]) -> Checks {
    let mut checks = Checks::default();
    for Status { context, status, description } in statuses {
        let (context, state) = (context.clone(), state(status));
        if context.starts_with(OWN) {
            checks.own.push(OwnStatus { context, state, text: description.clone() });
        } else {
            checks.all.push(Check { name: context, state });
        }
    }
    checks
}

/// A word that nobody knows is pending: the servers take any, and count it each in their way. A warning is a failure on
/// one of them and not on the other, so it is one here.
fn state(word: &str) -> CheckState {
    match word {
        "success" | "skipped" => CheckState::Pass,
        "failure" | "error" | "warning" => CheckState::Fail,
        _ => CheckState::Pending,
    }
}
