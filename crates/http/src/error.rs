//! Errors of the client.

use std::time::Duration;

use thiserror::Error;

/// Why a request has no response. Messages never contain a token, a query or a body.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HttpError {
    /// The request is not on the allow-list and was not sent.
    #[error("`{0}` is not on the list of requests that referee may send")]
    NotAllowed(String),
    /// The server gave no response to a read, or a write was never sent. Holds host and reason.
    #[error("`{0}` cannot be reached: {1}")]
    Unreachable(String, String),
    /// The write was sent, but its response was lost: the server may have performed it.
    #[error("the response was lost, so referee does not know whether the server performed the request")]
    OutcomeUnknown,
    /// The server rate-limits the client, or is unavailable for longer than the client waits.
    #[error("the server asks to retry later")]
    RetryLater {
        /// The server's `Retry-After`.
        after: Option<Duration>,
    },
    /// The response to a read is longer than the client accepts.
    #[error("the response is longer than {max_bytes} bytes")]
    ResponseTooLong { max_bytes: usize },
    /// The response is not the expected JSON.
    #[error("the response cannot be read: {0}")]
    UnreadableResponse(String),
    /// [`Client::new`](crate::Client::new) rejects the options.
    #[error("{0}")]
    InvalidOptions(String),
}
