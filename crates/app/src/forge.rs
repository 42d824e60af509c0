//! The forge of a pull, whichever it is.

use referee_core::model::{Board, Login, PullNumber, Sha, Span};
use referee_core::plan::Delivery;
use referee_forge::{
    ActionRequest, ClaimOutcome, ClaimPurpose, FetchedPull, Forge, ForgeError, LocalForge, PerformOutcome, Permit,
    Reader,
};

use crate::hosted::Hosted;

/// The forge of a pull.
#[derive(Debug)]
pub(crate) enum AnyForge {
    /// The git folder.
    Local(Box<LocalForge>),
    /// A server.
    Hosted(Box<Hosted>),
}

#[async_trait::async_trait]
impl Reader for AnyForge {
    async fn fetch(&self, pull: PullNumber) -> Result<FetchedPull, ForgeError> {
        match self {
            Self::Local(forge) => forge.fetch(pull).await,
            Self::Hosted(forge) => forge.fetch(pull).await,
        }
    }

    async fn fetch_fresh(&self, pull: PullNumber) -> Result<FetchedPull, ForgeError> {
        match self {
            Self::Local(forge) => forge.fetch_fresh(pull).await,
            Self::Hosted(forge) => forge.fetch_fresh(pull).await,
        }
    }

    async fn fetch_head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        match self {
            Self::Local(forge) => forge.fetch_head(pull).await,
            Self::Hosted(forge) => forge.fetch_head(pull).await,
        }
    }

    async fn fetch_board(&self) -> Result<Board, ForgeError> {
        match self {
            Self::Local(forge) => forge.fetch_board().await,
            Self::Hosted(forge) => forge.fetch_board().await,
        }
    }

    async fn fetch_board_and_pulls(&self) -> Result<(Board, Vec<FetchedPull>), ForgeError> {
        match self {
            Self::Local(forge) => forge.fetch_board_and_pulls().await,
            Self::Hosted(forge) => forge.fetch_board_and_pulls().await,
        }
    }

    async fn may_push(&self, pull: PullNumber, by: &Login) -> Result<bool, ForgeError> {
        match self {
            Self::Local(forge) => forge.may_push(pull, by).await,
            Self::Hosted(forge) => forge.may_push(pull, by).await,
        }
    }
}

#[async_trait::async_trait]
impl Forge for AnyForge {
    async fn perform(&self, pull: PullNumber, errand: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError> {
        match self {
            Self::Local(forge) => forge.perform(pull, errand).await,
            Self::Hosted(forge) => forge.perform(pull, errand).await,
        }
    }

    async fn acquire_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError> {
        match self {
            Self::Local(forge) => forge.acquire_claim(pull, purpose, ttl).await,
            Self::Hosted(forge) => forge.acquire_claim(pull, purpose, ttl).await,
        }
    }

    async fn release_claim(&self, pull: PullNumber, purpose: ClaimPurpose, epoch: u64) -> Result<(), ForgeError> {
        match self {
            Self::Local(forge) => forge.release_claim(pull, purpose, epoch).await,
            Self::Hosted(forge) => forge.release_claim(pull, purpose, epoch).await,
        }
    }

    async fn open_pull(&self, delivery: &Delivery, permit: &Permit) -> Result<PullNumber, ForgeError> {
        match self {
            Self::Local(forge) => forge.open_pull(delivery, permit).await,
            Self::Hosted(forge) => forge.open_pull(delivery, permit).await,
        }
    }
}
