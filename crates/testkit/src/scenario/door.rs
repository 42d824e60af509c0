//! A process at the forge to whom something happens in the middle of a turn.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use referee_core::model::{Board, PullNumber, Sha, Span, Verdict};
use referee_core::plan::{Action, Delivery};
use referee_forge::{Claimed, Errand, Fetched, Forge, ForgeError, Performed, Permit, Purpose, Reader};

use crate::world::{Seat, World};

/// When something happens within a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// After everything was read, before the head is looked at again.
    BeforePosting,
    /// While a review with that verdict is on its way: right before it lands.
    AsLands(Verdict),
    /// Right after a review with that verdict landed.
    AfterPost(Verdict),
}

pub(super) type Deed = Box<dyn FnOnce(&World) + Send>;

/// A seat to whom things happen.
pub(super) struct Door<'a> {
    pub(super) seat: &'a Seat,
    pub(super) coming: Mutex<Vec<(Moment, Deed)>>,
}

impl fmt::Debug for Door<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").field("seat", self.seat).finish_non_exhaustive()
    }
}

impl Door<'_> {
    fn pass(&self, moment: Moment) {
        let mut coming = self.coming.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = coming.iter().position(|(when, _)| *when == moment) {
            let (_, deed) = coming.remove(at);
            drop(coming);
            deed(self.seat.world());
        }
    }
}

#[async_trait::async_trait]
impl Reader for Door<'_> {
    async fn fetch(&self, pull: PullNumber) -> Result<Fetched, ForgeError> {
        self.seat.fetch(pull).await
    }

    async fn head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        self.pass(Moment::BeforePosting);
        self.seat.head(pull).await
    }

    async fn board(&self) -> Result<Board, ForgeError> {
        self.seat.board().await
    }
}

#[async_trait::async_trait]
impl Forge for Door<'_> {
    async fn perform(&self, pull: PullNumber, errand: &Errand<'_>) -> Result<Performed, ForgeError> {
        let verdict = match errand.action {
            Action::PostReview { verdict, .. } => Some(*verdict),
            _ => None,
        };
        verdict.into_iter().for_each(|verdict| self.pass(Moment::AsLands(verdict)));
        let performed = self.seat.perform(pull, errand).await;
        verdict.into_iter().for_each(|verdict| self.pass(Moment::AfterPost(verdict)));
        performed
    }

    async fn claim(&self, pull: PullNumber, purpose: Purpose, ttl: Span) -> Result<Claimed, ForgeError> {
        self.seat.claim(pull, purpose, ttl).await
    }

    async fn release(&self, pull: PullNumber, purpose: Purpose, epoch: u64) -> Result<(), ForgeError> {
        self.seat.release(pull, purpose, epoch).await
    }

    async fn open_pull(&self, delivery: &Delivery, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.seat.open_pull(delivery, permit).await
    }
}
