//! The forge of a pull, whichever it is.

use referee_core::model::{Board, Login, PullNumber, Sha, Span};
use referee_core::plan::Delivery;
use referee_forge::{Claimed, Errand, Fetched, Forge, ForgeError, LocalForge, Performed, Permit, Purpose, Reader};

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
    async fn fetch(&self, pull: PullNumber) -> Result<Fetched, ForgeError> {
        match self {
            Self::Local(forge) => forge.fetch(pull).await,
            Self::Hosted(forge) => forge.fetch(pull).await,
        }
    }

    async fn fetch_anew(&self, pull: PullNumber) -> Result<Fetched, ForgeError> {
        match self {
            Self::Local(forge) => forge.fetch_anew(pull).await,
            Self::Hosted(forge) => forge.fetch_anew(pull).await,
        }
    }

    async fn head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        match self {
            Self::Local(forge) => forge.head(pull).await,
            Self::Hosted(forge) => forge.head(pull).await,
        }
    }

    async fn board(&self) -> Result<Board, ForgeError> {
        match self {
            Self::Local(forge) => forge.board().await,
            Self::Hosted(forge) => forge.board().await,
        }
    }

    async fn survey(&self) -> Result<(Board, Vec<Fetched>), ForgeError> {
        match self {
            Self::Local(forge) => forge.survey().await,
            Self::Hosted(forge) => forge.survey().await,
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
    async fn perform(&self, pull: PullNumber, errand: &Errand<'_>) -> Result<Performed, ForgeError> {
        match self {
            Self::Local(forge) => forge.perform(pull, errand).await,
            Self::Hosted(forge) => forge.perform(pull, errand).await,
        }
    }

    async fn claim(&self, pull: PullNumber, purpose: Purpose, ttl: Span) -> Result<Claimed, ForgeError> {
        match self {
            Self::Local(forge) => forge.claim(pull, purpose, ttl).await,
            Self::Hosted(forge) => forge.claim(pull, purpose, ttl).await,
        }
    }

    async fn release(&self, pull: PullNumber, purpose: Purpose, epoch: u64) -> Result<(), ForgeError> {
        match self {
            Self::Local(forge) => forge.release(pull, purpose, epoch).await,
            Self::Hosted(forge) => forge.release(pull, purpose, epoch).await,
        }
    }

    async fn open_pull(&self, delivery: &Delivery, permit: &Permit) -> Result<PullNumber, ForgeError> {
        match self {
            Self::Local(forge) => forge.open_pull(delivery, permit).await,
            Self::Hosted(forge) => forge.open_pull(delivery, permit).await,
        }
    }
}
