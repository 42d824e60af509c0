//! The checks of the head. The combined state that the server computes covers one page only and differs by version, so it
//! is not used.
//!
//! There are two routes: all statuses of a commit, and the latest of each context. The first takes the server half the
//! time, since it does not load the commit; the second is used where the first does not fit on one page.

use referee_core::model::checks::OwnStatus;
use referee_core::model::{Check, CheckState, Checks};
use referee_http::RouteRequest;

use crate::ForgeError;
use crate::gitea::account::GiteaAccount;
use crate::gitea::pages::Listing;
use crate::gitea::wire::{Status, Statuses};
use crate::gitea::{GiteaForge, routes};

/// Contexts with this prefix are written by referee and never count as checks (D15).
const OWN_STATUS_PREFIX: &str = "referee/";
const CHECKS_LABEL: &str = "the checks";

impl GiteaForge {
    /// Reads the latest status of each context at a commit.
    pub(in crate::gitea) async fn read_statuses(
        &self,
        account: &GiteaAccount,
        sha: &str,
    ) -> Result<Listing<Status>, ForgeError> {
        let call = RouteRequest::new(&routes::STATUSES, self.route_params([&sha]));
        let written = match account.read_single_page(&call, CHECKS_LABEL).await? {
            Some(all) => all,
            None => {
                let call = RouteRequest::new(&routes::STATUS, self.route_params([&sha]));
                account.read_pages(&call, CHECKS_LABEL, |page: Statuses| page.statuses).await?
            }
        };
        Ok(written.map_items(latest_per_context))
    }
}

fn latest_per_context(mut written: Vec<Status>) -> Vec<Status> {
    written.sort_by(|one, other| (&one.context, other.id).cmp(&(&other.context, one.id)));
    written.dedup_by(|one, other| one.context == other.context);
    written
}

pub(super) fn build_checks(statuses: &[Status]) -> Checks {
    let mut checks = Checks::default();
    for Status { context, status, description, .. } in statuses {
        let (context, state) = (context.clone(), parse_check_state(status));
        if context.starts_with(OWN_STATUS_PREFIX) {
            checks.own.push(OwnStatus { context, state, text: description.clone() });
        } else {
            checks.all.push(Check { name: context, state });
        }
    }
    checks
}

/// Maps a status to a state. Servers accept any word and treat unknown ones differently: here they are pending. A warning
/// is a failure on one of the two, so it is one here.
fn parse_check_state(word: &str) -> CheckState {
    match word {
        "success" | "skipped" => CheckState::Pass,
        "failure" | "error" | "warning" => CheckState::Fail,
        _ => CheckState::Pending,
    }
}

#[cfg(test)]
mod tests {
    use super::{Status, latest_per_context};

    #[test]
    fn the_latest_status_of_each_context_counts_in_any_order() {
        let said = |id, context: &str, status: &str| Status {
            id,
            context: context.to_owned(),
            status: status.to_owned(),
            ..Status::default()
        };
        let [slow, first, second] = [said(1, "slow", "pending"), said(2, "ci", "pending"), said(3, "ci", "success")];
        for written in [[&slow, &first, &second], [&second, &slow, &first], [&first, &second, &slow]] {
            assert_eq!(latest_per_context(written.into_iter().cloned().collect()), [second.clone(), slow.clone()]);
        }
    }
}
