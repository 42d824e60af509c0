//! Webhooks as every forge sends them: a hint where to look, without facts.

use referee_core::model::{Login, PullNumber};
use thiserror::Error;

/// The largest delivery that is read, in bytes.
pub(crate) const MAX_WEBHOOK_BYTES: usize = 10 * 1024 * 1024;

/// A hint to look at a pull or a repository again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookEvent {
    /// `acme/api`, as the sender claims. The receiver checks that this repository may ring here.
    pub repo: String,
    /// `None` where the whole repository is concerned.
    pub pull: Option<PullNumber>,
    pub subject: WebhookSubject,
    /// Who caused it. Actions of referee's own identities cause events too.
    pub sender: Login,
    /// The delivery's id; a repeated id is the same event.
    pub delivery: String,
}

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookSubject {
    /// A pull was opened, pushed to, labelled, assigned, and so on.
    Pull,
    /// A review was submitted.
    Review,
    /// A comment or a summary was written or edited.
    Comment,
    Issue,
    /// A branch moved.
    Push,
    /// A check reported.
    Status,
}

/// Why a webhook delivery is rejected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WebhookError {
    #[error("the webhook is larger than {MAX_WEBHOOK_BYTES} bytes")]
    TooLarge,
    /// An empty secret would let anybody ring.
    #[error("the webhook cannot be verified: its secret is empty")]
    NoSecret,
    #[error("the webhook is not signed")]
    Unsigned,
    #[error("the webhook's signature is wrong")]
    BadSignature,
    /// It is signed correctly and cannot be parsed.
    #[error("the webhook cannot be read: {0}")]
    Unreadable(String),
    #[error("this forge sends no webhooks")]
    Unsupported,
}
