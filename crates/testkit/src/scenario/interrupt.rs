//! A process at the forge to whom something happens in the middle of a turn.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use referee_core::model::{Board, PullNumber, Sha, Span, Verdict};
use referee_core::plan::{Action, Delivery};
use referee_forge::{
    ActionRequest, ClaimOutcome, ClaimPurpose, FetchedPull, Forge, ForgeError, PerformOutcome, Permit, Reader,
};

use crate::world::{World, WorldClient};

/// When something happens within a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnMoment {
    /// After everything was read, before the head is looked at again.
    BeforePosting,
    /// While a review with that verdict is on its way: right before it lands.
    BeforePostLands(Verdict),
    /// Right after a review with that verdict landed.
    AfterPost(Verdict),
}

pub(super) type Interruption = Box<dyn FnOnce(&World) + Send>;

/// A seat to whom things happen.
pub(super) struct InterruptingForge<'a> {
    pub(super) client: &'a WorldClient,
    pub(super) pending: Mutex<Vec<(TurnMoment, Interruption)>>,
}

impl fmt::Debug for InterruptingForge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").field("seat", self.client).finish_non_exhaustive()
    }
}

impl InterruptingForge<'_> {
    fn run_due(&self, moment: TurnMoment) {
        let mut coming = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = coming.iter().position(|(when, _)| *when == moment) {
            let (_, deed) = coming.remove(at);
            drop(coming);
            deed(self.client.world());
        }
    }
}

#[async_trait::async_trait]
impl Reader for InterruptingForge<'_> {
    async fn fetch(&self, pull: PullNumber) -> Result<FetchedPull, ForgeError> {
        self.client.fetch(pull).await
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
    async fn perform(&self, pull: PullNumber, errand: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError> {
        let verdict = match errand.action {
            Action::PostReview { verdict, .. } => Some(*verdict),
            _ => None,
        };
        verdict.into_iter().for_each(|verdict| self.run_due(TurnMoment::BeforePostLands(verdict)));
        let performed = self.client.perform(pull, errand).await;
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

    async fn open_pull(&self, delivery: &Delivery, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.client.open_pull(delivery, permit).await
    }
}
