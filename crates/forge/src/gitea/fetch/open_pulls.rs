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
            self.fetch_listed_pull(raw, reuse, &assignable)
        });
        run_concurrently(reads).await.into_iter().collect()
    }

    /// Reads the rest of a listed pull. One that cannot be read is reported as such and leaves the others alone (D43).
    async fn fetch_listed_pull(
        &self,
        raw: PullRows,
        reuse: Reuse<'_>,
        assignable: &AssignableUsers,
    ) -> Result<FetchedPull, ForgeError> {
        let row = PullRows::new(raw.pull.clone(), raw.taken_at);
        match self.fetch_rest(raw, reuse, assignable).await {
            Err(ForgeError::Unreadable(what) | ForgeError::TooLarge(what)) => {
                let unread = PullRows { complete: Completeness::truncated(what), ..row };
                Ok(unread.to_fetched(&self.server, self.viewer()))
            }
            read => read,
        }
    }

    /// Reads the rows of all open pulls, lowest number first. A list that was cut off is an error: the missing pulls would
    /// look closed.
    pub(in crate::gitea) async fn list_open_rows(&self) -> Result<Listing<wire::Pull>, ForgeError> {
        let call = RouteRequest::new(&routes::PULLS, self.route_params([])).with_query("state", "open");
        let mut listing =
            self.reader_account()?.read_pages(&call, "the open pulls", |rows: Vec<wire::Pull>| rows).await?;
        if let Completeness::Truncated { what, .. } = listing.complete {
            return Err(ForgeError::TooLarge(what));
        }
        listing.items.sort_by_key(|row| row.number);
        Ok(listing)
    }
}
