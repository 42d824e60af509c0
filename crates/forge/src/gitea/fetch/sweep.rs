//! All open pulls of a repository, a few at once. What the list says of a pull need not be asked again.

use referee_core::model::{Completeness, PullNumber, Span};
use referee_http::Call;

use super::people::Assignable;
use super::raw::Raw;
use super::together;
use crate::gitea::pages::Listing;
use crate::gitea::{GiteaForge, routes, wire};
use crate::{Fetched, ForgeError};

/// Sweeps come every few minutes, and whatever is missed has its turn in one of the next.
const STALE: Span = Span::minutes(60);

impl GiteaForge {
    /// Every open pull, lowest number first. One that cannot be read does not keep the others from being read.
    pub async fn sweep(&self) -> Result<Vec<(PullNumber, Result<Fetched, ForgeError>)>, ForgeError> {
        Ok(self.swept(self.open_rows().await?).await)
    }

    /// The pulls of these rows, in their order.
    pub(super) async fn swept(&self, rows: Listing<wire::Pull>) -> Vec<(PullNumber, Result<Fetched, ForgeError>)> {
        let (assignable, taken_at) = (Assignable::new(), rows.taken_at);
        let listed = rows
            .items
            .into_iter()
            .map(async |row| (PullNumber(row.number), self.listed(Raw::new(row, taken_at), &assignable).await));
        together(listed).await
    }

    /// A pull of which the list told.
    async fn listed(&self, mut raw: Raw, assignable: &Assignable) -> Result<Fetched, ForgeError> {
        // Whether it merges is not looked at anew for a list.
        raw.pull.mergeable = false;
        match self.briefly(&raw, STALE).await? {
            Some(again) => Ok(again),
            None => self.whole(raw, assignable).await,
        }
    }

    /// The rows of all open pulls, lowest number first. Half of them would pass for all: a list that was cut off is an
    /// error.
    pub(in crate::gitea) async fn open_rows(&self) -> Result<Listing<wire::Pull>, ForgeError> {
        let call = Call::new(&routes::PULLS, self.places([])).with("state", "open");
        let mut listing = self.reader()?.pages(&call, "the open pulls", |rows: Vec<wire::Pull>| rows).await?;
        if let Completeness::Truncated { what } = listing.complete {
            return Err(ForgeError::Unreadable(format!("{what}: there are too many")));
        }
        listing.items.sort_by_key(|row| row.number);
        Ok(listing)
    }
}
