//! A client that runs scheduled closures in the middle of a turn.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use referee_core::model::{Board, Login, PullNumber, Sha, Span, Verdict};
use referee_core::plan::{Action, Delivery};
use referee_forge::{
    ActionRequest, ClaimOutcome, ClaimPurpose, FetchedPull, Forge, ForgeError, ForgeInfo, PerformOutcome, Permit,
    Reader, Reuse,
};

use crate::world::{World, WorldClient};

/// A moment within a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnMoment {
    /// After the pull was read, before the head is checked again.
    BeforePosting,
    /// After a review with that verdict was sent, before the forge stores it.
    BeforePostLands(Verdict),
    /// Right after the forge stored a review with that verdict.
    AfterPost(Verdict),
}

pub(super) type Interruption = Box<dyn FnOnce(&World) + Send>;

/// A forge that runs the pending closures when their moment comes.
pub(super) struct InterruptingForge<'a> {
    pub(super) client: &'a WorldClient,
    pub(super) pending: Mutex<Vec<(TurnMoment, Interruption)>>,
}

impl fmt::Debug for InterruptingForge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterruptingForge").field("client", self.client).finish_non_exhaustive()
    }
}

impl InterruptingForge<'_> {
    fn run_due(&self, moment: TurnMoment) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = pending.iter().position(|(when, _)| *when == moment) {
            let (_, event) = pending.remove(index);
            drop(pending);
            event(self.client.world());
        }
    }
}

#[async_trait::async_trait]
impl Reader for InterruptingForge<'_> {
    fn info(&self) -> ForgeInfo {
        self.client.info()
    }

    async fn fetch_reusing(&self, pull: PullNumber, reuse: Reuse<'_>) -> Result<FetchedPull, ForgeError> {
        self.client.fetch_reusing(pull, reuse).await
    }

    async fn fetch_head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        self.run_due(TurnMoment::BeforePosting);
        self.client.fetch_head(pull).await
    }

    async fn fetch_board(&self) -> Result<Board, ForgeError> {
        self.client.fetch_board().await
    }
}

#[async_trait::async_trait]
impl Forge for InterruptingForge<'_> {
    async fn perform(&self, pull: PullNumber, request: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError> {
        let verdict = match request.action {
            Action::PostReview { verdict, .. } => Some(*verdict),
            _ => None,
        };
        verdict.into_iter().for_each(|verdict| self.run_due(TurnMoment::BeforePostLands(verdict)));
        let performed = self.client.perform(pull, request).await;
        verdict.into_iter().for_each(|verdict| self.run_due(TurnMoment::AfterPost(verdict)));
        performed
    }

    async fn acquire_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError> {
        self.client.acquire_claim(pull, purpose, ttl).await
    }

    async fn release_claim(&self, pull: PullNumber, purpose: ClaimPurpose, epoch: u64) -> Result<(), ForgeError> {
        self.client.release_claim(pull, purpose, epoch).await
    }

    async fn open_pull(&self, delivery: &Delivery, by: &Login, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.client.open_pull(delivery, by, permit).await
    }
}
