//! Reading from a forge.

use std::collections::BTreeMap;
use std::fmt;

use async_trait::async_trait;
use referee_core::model::{Board, Login, Pull, PullNumber, Sha};
use referee_http::RequestCounts;

use crate::{BranchTip, FetchedPull, ForgeError, ForgeInfo, ListedPull, Reuse, ServerFacts};

/// The reading half of a forge. Read-only commands hold nothing else, so they cannot write.
#[async_trait]
pub trait Reader: fmt::Debug + Send + Sync {
    /// Describes the forge and the identities it was opened with. Sends no request.
    fn info(&self) -> ForgeInfo;

    /// Reads one pull, as far as `reuse` asks for it.
    async fn fetch_reusing(&self, pull: PullNumber, reuse: Reuse<'_>) -> Result<FetchedPull, ForgeError>;

    /// Reads one pull completely. Every write is decided on such a read (LOOP-7).
    async fn fetch(&self, pull: PullNumber) -> Result<FetchedPull, ForgeError> {
        self.fetch_reusing(pull, Reuse::Nothing).await
    }

    /// Reads the pull's head alone: the check right before a write (PUB-15).
    async fn fetch_head(&self, pull: PullNumber) -> Result<Sha, ForgeError>;

    /// Reads the repository's open pulls and issues.
    async fn fetch_board(&self) -> Result<Board, ForgeError>;

    /// Reads the board and every pull on it, lowest number first, in as few requests as the forge allows. The board may
    /// lack issues where a pull is open: dispatch takes none up then (DSP-11).
    async fn fetch_board_and_pulls(&self, reuse: Reuse<'_>) -> Result<(Board, Vec<FetchedPull>), ForgeError> {
        let board = self.fetch_board().await?;
        let mut numbers = board.pulls.clone();
        numbers.sort();
        let mut pulls = Vec::with_capacity(numbers.len());
        for number in numbers {
            pulls.push(self.fetch_reusing(number, reuse).await?);
        }
        Ok((board, pulls))
    }

    /// Returns whether `by` may push to the head of a pull that was just read. A pull reports rights in the repository;
    /// a protected branch can still refuse the push (DSP-5).
    async fn may_push(&self, pull: PullNumber, by: &Login, reuse: Reuse<'_>) -> Result<bool, ForgeError> {
        let _ = (pull, by, reuse);
        Ok(true)
    }

    /// Lists the open pulls, newest first.
    async fn list_open_pulls(&self) -> Result<Vec<ListedPull>, ForgeError> {
        Err(ForgeError::Unsupported("list open pulls".to_owned()))
    }

    /// Reads the default branch. Its config applies where no single pull is concerned.
    async fn fetch_default_branch(&self) -> Result<BranchTip, ForgeError> {
        Err(ForgeError::Unsupported("name its default branch".to_owned()))
    }

    /// Returns the branch whose config and guidance apply to a pull (SAF-2): its base if only people with write access
    /// change that branch, otherwise the default branch.
    async fn fetch_trusted_base(&self, pull: &Pull) -> Result<BranchTip, ForgeError> {
        let _ = pull;
        self.fetch_default_branch().await
    }

    /// Reads the repository's label names by id.
    async fn fetch_labels(&self) -> Result<BTreeMap<u64, String>, ForgeError> {
        Err(ForgeError::Unsupported("list its labels".to_owned()))
    }

    /// Counts the requests sent so far, by all identities.
    fn request_counts(&self) -> RequestCounts {
        RequestCounts::default()
    }

    /// Returns what was learned about the server when the connection was opened, to be stored and handed back as
    /// `ServerSite::known`. `None` where there is no server.
    fn server_facts(&self) -> Option<ServerFacts> {
        None
    }
}
