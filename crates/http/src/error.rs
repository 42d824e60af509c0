//! Why there is no answer.

use std::time::Duration;

use thiserror::Error;

/// Why there is no answer. No message holds a token, a query or a body.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HttpError {
    /// It is not on the adapter's list, so it did not leave.
    #[error("`{0}` is not something referee sends")]
    NotAllowed(String),
    /// The server could not be reached; nothing was done.
    #[error("`{0}` cannot be reached: {1}")]
    Unreachable(String, String),
    /// It was sent and may have been done: the answer got lost.
    #[error("the answer got lost, and it is not known whether that was done")]
    OutcomeUnknown,
    /// The server, or the pace kept here, asks to come back later.
    #[error("the server asks to come back later")]
    RetryLater {
        /// How long it asks to wait.
        after: Option<Duration>,
    },
    /// The answer cannot be read.
    #[error("the answer cannot be read: {0}")]
    UnreadableResponse(String),
    /// This makes no client.
    #[error("{0}")]
    InvalidOptions(String),
}
