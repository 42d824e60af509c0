//! An adapter over a wire, made as prompt as a world: plays and suites that drive futures by hand can use it.

use std::sync::Arc;

use referee_core::model::{Board, PullNumber, Sha, Span};
use referee_core::plan::Delivery;
use referee_forge::{
    ActionRequest, ClaimOutcome, ClaimPurpose, FetchedPull, Forge, ForgeError, PerformOutcome, Permit, Reader,
};
use tokio::runtime::{Builder, Runtime};

/// A forge whose futures are ready at once: each waits for its answer inside. It must not be used within a runtime.
#[derive(Clone, Debug)]
pub struct BlockingForge<F> {
    forge: F,
    runtime: Arc<Runtime>,
}

impl<F> BlockingForge<F> {
    /// Around an adapter.
    ///
    /// # Panics
    ///
    /// When there can be no runtime.
    pub fn new(forge: F) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { forge, runtime: Arc::new(runtime) }
    }

    /// The adapter itself.
    pub fn inner(&self) -> &F {
        &self.forge
    }
}

#[async_trait::async_trait]
impl<F: Forge> Reader for BlockingForge<F> {
    async fn fetch(&self, pull: PullNumber) -> Result<FetchedPull, ForgeError> {
        self.runtime.block_on(self.forge.fetch(pull))
    }

    async fn fetch_head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        self.runtime.block_on(self.forge.fetch_head(pull))
    }

    async fn fetch_board(&self) -> Result<Board, ForgeError> {
        self.runtime.block_on(self.forge.fetch_board())
    }

    async fn fetch_board_and_pulls(&self) -> Result<(Board, Vec<FetchedPull>), ForgeError> {
        self.runtime.block_on(self.forge.fetch_board_and_pulls())
    }
}

#[async_trait::async_trait]
impl<F: Forge> Forge for BlockingForge<F> {
    async fn perform(&self, pull: PullNumber, errand: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError> {
        self.runtime.block_on(self.forge.perform(pull, errand))
    }

    async fn acquire_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError> {
        self.runtime.block_on(self.forge.acquire_claim(pull, purpose, ttl))
    }

    async fn release_claim(&self, pull: PullNumber, purpose: ClaimPurpose, epoch: u64) -> Result<(), ForgeError> {
        self.runtime.block_on(self.forge.release_claim(pull, purpose, epoch))
    }

    async fn open_pull(&self, delivery: &Delivery, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.runtime.block_on(self.forge.open_pull(delivery, permit))
    }
}
