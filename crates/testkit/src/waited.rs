//! An adapter over a wire, made as prompt as a world: plays and suites that drive futures by hand can use it.

use std::sync::Arc;

use referee_core::model::{Board, PullNumber, Sha, Span};
use referee_core::plan::Delivery;
use referee_forge::{Claimed, Errand, Fetched, Forge, ForgeError, Performed, Permit, Purpose, Reader};
use tokio::runtime::{Builder, Runtime};

/// A forge whose futures are ready at once: each waits for its answer inside. It must not be used within a runtime.
#[derive(Clone, Debug)]
pub struct Waited<F> {
    forge: F,
    runtime: Arc<Runtime>,
}

impl<F> Waited<F> {
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
impl<F: Forge> Reader for Waited<F> {
    async fn fetch(&self, pull: PullNumber) -> Result<Fetched, ForgeError> {
        self.runtime.block_on(self.forge.fetch(pull))
    }

    async fn head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        self.runtime.block_on(self.forge.head(pull))
    }

    async fn board(&self) -> Result<Board, ForgeError> {
        self.runtime.block_on(self.forge.board())
    }

    async fn survey(&self) -> Result<(Board, Vec<Fetched>), ForgeError> {
        self.runtime.block_on(self.forge.survey())
    }
}

#[async_trait::async_trait]
impl<F: Forge> Forge for Waited<F> {
    async fn perform(&self, pull: PullNumber, errand: &Errand<'_>) -> Result<Performed, ForgeError> {
        self.runtime.block_on(self.forge.perform(pull, errand))
    }

    async fn claim(&self, pull: PullNumber, purpose: Purpose, ttl: Span) -> Result<Claimed, ForgeError> {
        self.runtime.block_on(self.forge.claim(pull, purpose, ttl))
    }

    async fn release(&self, pull: PullNumber, purpose: Purpose, epoch: u64) -> Result<(), ForgeError> {
        self.runtime.block_on(self.forge.release(pull, purpose, epoch))
    }

    async fn open_pull(&self, delivery: &Delivery, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.runtime.block_on(self.forge.open_pull(delivery, permit))
    }
}
