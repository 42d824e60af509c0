//! Makes an HTTP adapter synchronous, so that simulations and suites that poll futures by hand can use it.

use std::sync::Arc;

use referee_core::model::{Board, Login, PullNumber, Sha, Span};
use referee_core::plan::Delivery;
use referee_forge::{
    ActionRequest, ClaimOutcome, ClaimPurpose, FetchedPull, Forge, ForgeError, ForgeInfo, PerformOutcome, Permit,
    Reader, RequestCounts, Reuse,
};
use tokio::runtime::{Builder, Runtime};

/// A forge whose futures complete on the first poll, because each blocks on an internal runtime. Must not be used inside
/// another runtime.
#[derive(Clone, Debug)]
pub struct BlockingForge {
    forge: Arc<dyn Forge>,
    runtime: Arc<Runtime>,
}

impl BlockingForge {
    /// Wraps an adapter.
    ///
    /// # Panics
    ///
    /// Panics if the runtime cannot be created.
    pub fn new(forge: Arc<dyn Forge>) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("create a runtime");
        Self { forge, runtime: Arc::new(runtime) }
    }
}

#[async_trait::async_trait]
impl Reader for BlockingForge {
    fn info(&self) -> ForgeInfo {
        self.forge.info()
    }

    async fn fetch_reusing(&self, pull: PullNumber, reuse: Reuse<'_>) -> Result<FetchedPull, ForgeError> {
        self.runtime.block_on(self.forge.fetch_reusing(pull, reuse))
    }

    async fn fetch_head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        self.runtime.block_on(self.forge.fetch_head(pull))
    }

    async fn fetch_board(&self) -> Result<Board, ForgeError> {
        self.runtime.block_on(self.forge.fetch_board())
    }

    async fn fetch_board_and_pulls(&self, reuse: Reuse<'_>) -> Result<(Board, Vec<FetchedPull>), ForgeError> {
        self.runtime.block_on(self.forge.fetch_board_and_pulls(reuse))
    }

    fn request_counts(&self) -> RequestCounts {
        self.forge.request_counts()
    }
}

#[async_trait::async_trait]
impl Forge for BlockingForge {
    async fn perform(&self, pull: PullNumber, request: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError> {
        self.runtime.block_on(self.forge.perform(pull, request))
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

    async fn open_pull(&self, delivery: &Delivery, by: &Login, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.runtime.block_on(self.forge.open_pull(delivery, by, permit))
    }
}
