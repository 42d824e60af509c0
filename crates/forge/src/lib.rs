//! What a forge is to referee: something that can be read, and something that does one action at a time.
//!
//! Adapters translate and do nothing else. They decide nothing, print nothing and read no environment.

mod error;
mod fetched_pull;
mod gate;
mod gitea;
mod local;
mod shelf;

use std::fmt;

use async_trait::async_trait;

pub use error::{ForgeError, Recovery};
pub use fetched_pull::FetchedPull;
pub use gate::{Gates, Permit, RequestedGates, WithheldReason};
pub use gitea::{
    CapabilityRow, Flavour, GiteaForge, GiteaServerInfo, HealthStatus, Inspection, InspectionItem, OpenPullSummary,
    ProbedServer, RepoAddress, Ring, RingSubject, VersionRange, VersionSupport, WebhookError, capability_rows, inspect,
    known_versions, parse_webhook, probe_server,
};
pub use local::{LocalError, LocalForge, LocalPull, LocalUser, format_local_name, login_from_git_user};
pub use referee_core::mark::SealedText;
use referee_core::model::{Board, CommentId, Login, PullNumber, ReviewId, Sha, Span, ThreadId};
use referee_core::plan::{Action, Delivery, Precondition};
pub use shelf::Shelf;

/// Reading: all that read-only commands ever hold, so they cannot write.
#[async_trait]
pub trait Reader: fmt::Debug + Send + Sync {
    /// Everything about one pull, as the forge tells it now.
    async fn fetch(&self, pull: PullNumber) -> Result<FetchedPull, ForgeError>;

    /// The same, and all of it read now: what is written leans on nothing that was kept (LOOP-7).
    async fn fetch_fresh(&self, pull: PullNumber) -> Result<FetchedPull, ForgeError> {
        self.fetch(pull).await
    }

    /// The pull's head alone: asked right before something is posted (PUB-15).
    async fn fetch_head(&self, pull: PullNumber) -> Result<Sha, ForgeError>;

    /// The repository's open pulls and issues.
    async fn fetch_board(&self) -> Result<Board, ForgeError>;

    /// The board and every pull on it, lowest number first, in as few requests as the forge allows. Its issues may be left
    /// out where a pull is open: none is taken then (DSP-11).
    async fn fetch_board_and_pulls(&self) -> Result<(Board, Vec<FetchedPull>), ForgeError> {
        let board = self.fetch_board().await?;
        let mut numbers = board.pulls.clone();
        numbers.sort();
        let mut pulls = Vec::with_capacity(numbers.len());
        for number in numbers {
            pulls.push(self.fetch(number).await?);
        }
        Ok((board, pulls))
    }

    /// Whether that identity may push to the head of a pull that was just read. A pull tells rights in a repository; a
    /// branch may be protected beside them (DSP-5).
    async fn may_push(&self, pull: PullNumber, by: &Login) -> Result<bool, ForgeError> {
        let _ = (pull, by);
        Ok(true)
    }
}

/// A forge: reading, doing, and leases kept on the forge.
#[async_trait]
pub trait Forge: Reader {
    /// Does one action, once: doing it twice is doing it once, reported as `AlreadySo`.
    ///
    /// A reply that got lost is `ForgeError::Unknown`; whoever calls reads again before sending again.
    async fn perform(&self, pull: PullNumber, errand: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError>;

    /// Takes the claim of that purpose on a pull, if nobody holds it (D8).
    async fn acquire_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError>;

    /// Gives a claim back.
    async fn release_claim(&self, pull: PullNumber, purpose: ClaimPurpose, epoch: u64) -> Result<(), ForgeError>;

    /// Opens a pull for a worker's branch. Called by the worker's shell alone.
    async fn open_pull(&self, delivery: &Delivery, permit: &Permit) -> Result<PullNumber, ForgeError>;
}

/// One action with all it takes to do it.
#[derive(Clone, Copy, Debug)]
pub struct ActionRequest<'a> {
    /// What, sealed.
    pub action: &'a Action<SealedText>,
    /// Whose token does it.
    pub by: &'a Login,
    /// What must still be so: checked by the adapter where only it can see (PUB-9).
    pub expect: &'a Precondition,
    /// The open gate.
    pub permit: &'a Permit,
}

/// How an action ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PerformOutcome {
    /// It was done.
    Done(CreatedIds),
    /// It was so already: nothing was written.
    AlreadySo,
    /// The forge cannot resolve: the own root says that it is settled (FIX-12).
    MarkedInText,
    /// The token may not do it; the run goes on.
    NotPermitted,
}

/// What an action made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreatedIds {
    /// A review.
    pub review: Option<ReviewId>,
    /// A comment.
    pub comment: Option<CommentId>,
    /// Threads, in the order of the action.
    pub threads: Vec<ThreadId>,
}

/// What a claim is for. One set of reaction words per purpose (D8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClaimPurpose {
    /// Posting in matrix mode.
    Publish,
    /// A worker.
    Work,
}

/// How asking for a claim ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// It is ours, under this epoch.
    Acquired(u64),
    /// Somebody holds it.
    HeldElsewhere,
}
