//! Writing on a forge.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use referee_core::model::{CommentId, Login, PullNumber, Review, ReviewId, ReviewKind, Span, ThreadId, Time};
use referee_core::plan::{Action, Delivery, Precondition};

use crate::{ForgeError, Identity, Permit, Reader, SealedText, WebhookError, WebhookEvent};

/// A forge: a reader that also performs actions, keeps claims and decodes its webhooks.
#[async_trait]
pub trait Forge: Reader {
    /// Performs one action. Performing it twice has the effect of once and reports `AlreadySo`.
    ///
    /// A lost response is `ForgeError::OutcomeUnknown`; the caller reads again before it sends again.
    async fn perform(&self, pull: PullNumber, request: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError>;

    /// Takes the claim of that purpose on a pull, unless another process holds it (D8).
    async fn acquire_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError>;

    /// Releases a claim. `ForgeError::Conflict` means that it was lost: it expired, and another process took it.
    async fn release_claim(&self, pull: PullNumber, purpose: ClaimPurpose, epoch: u64) -> Result<(), ForgeError>;

    /// Opens a pull for a worker's branch, as the identity `by`. Only the delivery of a worker's result calls this.
    async fn open_pull(&self, delivery: &Delivery, by: &Login, permit: &Permit) -> Result<PullNumber, ForgeError>;

    /// Returns the same forge, also writing as these identities, and their logins in order. Existing connections, with
    /// their counters and caches, are reused.
    async fn with_identities(&self, identities: Vec<Identity>) -> Result<(Arc<dyn Forge>, Vec<Login>), ForgeError> {
        let _ = identities;
        Err(ForgeError::Unsupported("write as several identities".to_owned()))
    }

    /// Verifies and decodes a webhook delivery: `None` for an event that concerns no pull. Header names are in lower
    /// case. The signature is checked over the bytes as received, before they are parsed.
    fn decode_webhook(
        &self,
        headers: &BTreeMap<String, String>,
        body: &[u8],
        secret: &[u8],
    ) -> Result<Option<WebhookEvent>, WebhookError> {
        let _ = (headers, body, secret);
        Err(WebhookError::Unsupported)
    }
}

/// One action with everything needed to perform it.
#[derive(Clone, Copy, Debug)]
pub struct ActionRequest<'a> {
    pub action: &'a Action<SealedText>,
    /// The identity whose token performs it.
    pub by: &'a Login,
    /// What must still hold. The adapter checks what only it can see (PUB-9).
    pub expect: &'a Precondition,
    pub permit: &'a Permit,
    pub basis: PlanBasis<'a>,
}

/// What the plan behind an action was made on. The default knows nothing: the adapter reads everything it needs itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanBasis<'a> {
    /// The reviews the plan knows. Where it posts a review although an equal one is among them, that one no longer has
    /// the effect it should have, and core decided so (D17, PUB-20); an equal one that is not among them is the same post.
    pub reviews: &'a [Review],
    /// The identity that read everything; set while the forge still is as the plan saw it: the read was complete, under
    /// the claim or by the only writer, and no write of this plan failed since. That identity's drafts are in `reviews`.
    pub current_for: Option<&'a Login>,
    /// Whether the head was read right before, so that `Precondition::Head` needs no second read.
    pub head_is_checked: bool,
}

impl PlanBasis<'_> {
    /// Returns whether the plan knows everything that `login` has on the pull, so that it need not be read again.
    pub fn is_current_for(&self, login: &Login) -> bool {
        let is_draft = |review: &Review| review.row == ReviewKind::Draft && review.author.login.as_ref() == Some(login);
        self.current_for == Some(login) && !self.reviews.iter().any(is_draft)
    }
}

/// How an action ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PerformOutcome {
    /// It was performed.
    Done(CreatedIds),
    /// The forge already was in that state; nothing was written.
    AlreadySo,
    /// The forge cannot resolve threads: the root note now says that the thread is settled (FIX-12).
    MarkedInText,
    /// The token lacks the right; the run continues.
    NotPermitted,
}

/// The ids of what an action created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreatedIds {
    pub review: Option<ReviewId>,
    pub comment: Option<CommentId>,
    /// Threads, in the order of the action; not those of which the forge's answer gave only the number.
    pub threads: Vec<ThreadId>,
}

/// What a claim is for. Claims of different purposes do not exclude each other (D8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClaimPurpose {
    /// Posting reviews while other processes may post too.
    Publish,
    /// Running a worker.
    Work,
}

/// How a request for a claim ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// This process holds it, under this epoch.
    Acquired(u64),
    /// Another process holds it. Where the response to an own request was lost, that process may be this one.
    HeldElsewhere(ClaimHolder),
}

/// Who holds a claim, and how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimHolder {
    /// The identity that wrote the claim, which may be the own one.
    pub by: Login,
    /// When it expires, by the forge's clock.
    pub until: Time,
    /// The time from now until then.
    pub left: Span,
}

impl ClaimHolder {
    /// The holder of a claim that expires after `until`, asked for at `now`.
    pub fn new(by: Login, until: Time, now: Time) -> Self {
        Self { by, until, left: until - now }
    }
}
