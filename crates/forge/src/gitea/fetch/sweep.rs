//! All open pulls of a repository, one after the other. What the list says of a pull need not be asked again.

use referee_core::model::{Completeness, PullNumber, Span};
use referee_http::Call;

use super::raw::Raw;
use crate::gitea::pages::Listing;
use crate::gitea::{GiteaForge, routes, wire};
use crate::{Fetched, ForgeError, Reader};

/// Sweeps come every few minutes, and whatever is missed has its turn in one of the next.
const STALE: Span = Span::minutes(60);

impl GiteaForge {
    /// Every open pull, lowest number first. One that cannot be read does not keep the others from being read.
    pub async fn sweep(&self) -> Result<Vec<(PullNumber, Result<Fetched, ForgeError>)>, ForgeError> {
        let listing = self.open_rows().await?;
        let mut swept = Vec::with_capacity(listing.items.len());
        for row in listing.items {
            let number = PullNumber(row.number);
            swept.push((number, self.listed(Raw::new(row, listing.taken_at)).await));
        }
        Ok(swept)
    }

    /// A pull of which the list told.
    async fn listed(&self, mut raw: Raw) -> Result<Fetched, ForgeError> {
        // Whether it merges is not looked at anew for a list.
        raw.pull.mergeable = false;
        match self.briefly(&raw, STALE).await? {
            Some(again) => Ok(again),
            None => self.fetch_anew(PullNumber(raw.pull.number)).await,
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
