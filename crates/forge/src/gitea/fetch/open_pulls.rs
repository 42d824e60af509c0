//! All open pulls of a repository, several at a time. The list already contains the row of each pull.

use referee_core::model::Completeness;
use referee_http::RouteRequest;

use super::access::AssignableUsers;
use super::pull_rows::PullRows;
use super::run_concurrently;
use crate::gitea::pages::Listing;
use crate::gitea::{GiteaForge, routes, wire};
use crate::{FetchedPull, ForgeError, Reuse};

impl GiteaForge {
    /// Reads the pulls of these rows, in their order.
    pub(super) async fn fetch_listed_pulls(
        &self,
        rows: Listing<wire::Pull>,
        reuse: Reuse<'_>,
    ) -> Result<Vec<FetchedPull>, ForgeError> {
        let (assignable, taken_at) = (AssignableUsers::new(), rows.taken_at);
        let reads = rows.items.into_iter().map(|row| {
            let mut raw = PullRows::new(row, taken_at);
            // The server does not check for conflicts when it makes a list.
            raw.pull.mergeable = false;
            self.fetch_rest(raw, reuse, &assignable)
        });
        run_concurrently(reads).await.into_iter().collect()
    }

    /// Reads the rows of all open pulls, lowest number first. A list that was cut off is an error: the missing pulls would
    /// look closed.
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
