//! All open pulls of a repository, a few at once. What the list says of a pull need not be asked again.

use referee_core::model::{Completeness, PullNumber, Span};
use referee_http::RouteRequest;

use super::access::AssignableUsers;
use super::pull_rows::PullRows;
use super::run_concurrently;
use crate::gitea::pages::Listing;
use crate::gitea::{GiteaForge, routes, wire};
use crate::{FetchedPull, ForgeError};

/// Sweeps come every few minutes, and whatever is missed has its turn in one of the next.
const SWEEP_MAX_CACHE_AGE: Span = Span::from_minutes(60);

impl GiteaForge {
    /// Every open pull, lowest number first. One that cannot be read does not keep the others from being read.
    pub async fn fetch_open_pulls(&self) -> Result<Vec<(PullNumber, Result<FetchedPull, ForgeError>)>, ForgeError> {
        Ok(self.fetch_listed_pulls(self.list_open_rows().await?).await)
    }

    /// The pulls of these rows, in their order.
    pub(super) async fn fetch_listed_pulls(
        &self,
        rows: Listing<wire::Pull>,
    ) -> Vec<(PullNumber, Result<FetchedPull, ForgeError>)> {
        let (assignable, taken_at) = (AssignableUsers::new(), rows.taken_at);
        let listed = rows.items.into_iter().map(async |row| {
            (PullNumber(row.number), self.fetch_listed_pull(PullRows::new(row, taken_at), &assignable).await)
        });
        run_concurrently(listed).await
    }

    /// A pull of which the list told.
    async fn fetch_listed_pull(
        &self,
        mut raw: PullRows,
        assignable: &AssignableUsers,
    ) -> Result<FetchedPull, ForgeError> {
        // Whether it merges is not looked at anew for a list.
        raw.pull.mergeable = false;
        match self.fetch_incremental(&raw, SWEEP_MAX_CACHE_AGE).await? {
            Some(again) => Ok(again),
            None => self.fetch_full(raw, assignable).await,
        }
    }

    /// The rows of all open pulls, lowest number first. Half of them would pass for all: a list that was cut off is an
    /// error.
    pub(in crate::gitea) async fn list_open_rows(&self) -> Result<Listing<wire::Pull>, ForgeError> {
        let call = RouteRequest::new(&routes::PULLS, self.route_params([])).with_query("state", "open");
        let mut listing =
            self.reader_account()?.read_pages(&call, "the open pulls", |rows: Vec<wire::Pull>| rows).await?;
        if let Completeness::Truncated { what } = listing.complete {
            return Err(ForgeError::Unreadable(format!("{what}: there are too many")));
        }
        listing.items.sort_by_key(|row| row.number);
        Ok(listing)
    }
}
