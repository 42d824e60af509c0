//! How one attempt can fail, whether it is retried, and what the caller gets in the end.
//!
//! | attempt | retried | final result |
//! |---|---|---|
//! | not sent | always | `Unreachable` |
//! | sent, response lost | if idempotent | read: `Unreachable`; write: `OutcomeUnknown` |
//! | 429 | always, after `Retry-After` | `RetryLater` |
//! | 502, 503, 504 | if idempotent, 503 after `Retry-After` | the response; 503 with `Retry-After`: `RetryLater` |
//! | any other 5xx | never | the response |
//! | any other error, and an open circuit breaker | never | the error |

use std::time::Duration;

use crate::checked_request::CheckedRequest;
use crate::error::HttpError;
use crate::response::Response;
use crate::route::Idempotency;

/// Why an attempt produced no final response.
#[derive(Debug)]
pub(crate) enum AttemptError {
    /// The request provably never reached the server. Holds the reason.
    Unsent(String),
    /// The request was sent, but no complete response came back. Holds the reason.
    ResponseLost(String),
    /// The server answered with 429 or 5xx.
    Unavailable(Response),
    /// A retry would fail the same way.
    Fatal(HttpError),
}

impl AttemptError {
    /// Returns whether the circuit breaker counts this as a failure of the server.
    pub(crate) fn is_server_trouble(&self) -> bool {
        match self {
            Self::Unsent(_) | Self::ResponseLost(_) => true,
            Self::Unavailable(response) => response.status >= 500,
            Self::Fatal(_) => false,
        }
    }

    pub(crate) fn is_retryable(&self, idempotency: Idempotency) -> bool {
        match self {
            Self::Unsent(_) => true,
            Self::ResponseLost(_) => idempotency == Idempotency::Idempotent,
            Self::Unavailable(response) if response.status == 429 => true,
            Self::Unavailable(response) => {
                idempotency == Idempotency::Idempotent && matches!(response.status, 502..=504)
            }
            Self::Fatal(_) => false,
        }
    }

    /// Returns the delay before the next attempt: the longer of `backoff` and the server's `Retry-After`. `None` ends
    /// the retries: attempts are used up, or the server asks for more than `max_backoff`.
    pub(crate) fn retry_delay(&self, backoff: Option<Duration>, max_backoff: Duration) -> Option<Duration> {
        let backoff = backoff?;
        match self.requested_delay() {
            Some(requested) if requested > max_backoff => None,
            Some(requested) => Some(requested.max(backoff)),
            None => Some(backoff),
        }
    }

    /// Returns whether the server may have performed the write although the attempt failed.
    pub(crate) fn may_have_taken_effect(&self) -> bool {
        matches!(self, Self::ResponseLost(_)) || matches!(self, Self::Unavailable(response) if response.status != 429)
    }

    /// Returns what the caller gets when there are no more attempts.
    pub(crate) fn into_result(self, request: &CheckedRequest, host: &str) -> Result<Response, HttpError> {
        let after = self.requested_delay();
        match self {
            Self::Unsent(reason) => Err(HttpError::Unreachable(host.to_owned(), reason)),
            Self::ResponseLost(reason) if request.is_read() => Err(HttpError::Unreachable(host.to_owned(), reason)),
            Self::ResponseLost(_) => Err(HttpError::OutcomeUnknown),
            Self::Unavailable(response) if response.status == 429 || after.is_some() => {
                Err(HttpError::RetryLater { after })
            }
            Self::Unavailable(response) => Ok(response),
            Self::Fatal(error) => Err(error),
        }
    }

    fn requested_delay(&self) -> Option<Duration> {
        match self {
            Self::Unavailable(response) if matches!(response.status, 429 | 503) => response.retry_after(),
            _ => None,
        }
    }
}
