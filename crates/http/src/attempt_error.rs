//! What can become of one try, and what follows from it.
//!
//! | a try | tried again | in the end |
//! |---|---|---|
//! | never left | always | unreachable |
//! | left, and the answer got lost | where repeating is safe | a read is unreachable, a write is unknown |
//! | 429 | always, after the wait it asks for | later |
//! | 502, 503, 504 | where repeating is safe, after the wait it asks for | the answer; later, if it asks for a wait |
//! | any other 5xx | never | the answer |
//! | anything else, and a server that is left alone | never | as it is |

use std::time::Duration;

use crate::checked_request::CheckedRequest;
use crate::error::HttpError;
use crate::response::Response;
use crate::route::Idempotency;

/// Why a try gave no answer to hand on.
#[derive(Debug)]
pub(crate) enum AttemptError {
    /// It surely never left, for this reason.
    Unsent(String),
    /// It left, and no whole answer came back, for this reason.
    ResponseLost(String),
    /// The server is not well, or asks to come back.
    Unavailable(Response),
    /// Another try would end the same.
    Fatal(HttpError),
}

impl AttemptError {
    /// Whether it says that the server is in trouble, rather than the request.
    pub(crate) fn is_server_trouble(&self) -> bool {
        match self {
            Self::Unsent(_) | Self::ResponseLost(_) => true,
            Self::Unavailable(answer) => answer.status >= 500,
            Self::Fatal(_) => false,
        }
    }

    /// Whether the request may be sent again.
    pub(crate) fn is_retryable(&self, repeat: Idempotency) -> bool {
        match self {
            Self::Unsent(_) => true,
            Self::ResponseLost(_) => repeat == Idempotency::Idempotent,
            Self::Unavailable(answer) if answer.status == 429 => true,
            Self::Unavailable(answer) => repeat == Idempotency::Idempotent && matches!(answer.status, 502..=504),
            Self::Fatal(_) => false,
        }
    }

    /// How long to wait before that: what the server asks for, unless that is too long.
    pub(crate) fn retry_delay(&self, usual: Option<Duration>, longest: Duration) -> Option<Duration> {
        let usual = usual?;
        match self.requested_delay() {
            Some(asked) if asked > longest => None,
            Some(asked) => Some(asked.max(usual)),
            None => Some(usual),
        }
    }

    /// Whether a write may have been done all the same.
    pub(crate) fn may_have_taken_effect(&self) -> bool {
        matches!(self, Self::ResponseLost(_)) || matches!(self, Self::Unavailable(answer) if answer.status != 429)
    }

    /// What the caller is told when there is no further try.
    pub(crate) fn into_result(self, parcel: &CheckedRequest, host: &str) -> Result<Response, HttpError> {
        let after = self.requested_delay();
        match self {
            Self::Unsent(why) => Err(HttpError::Unreachable(host.to_owned(), why)),
            Self::ResponseLost(why) if parcel.is_read() => Err(HttpError::Unreachable(host.to_owned(), why)),
            Self::ResponseLost(_) => Err(HttpError::OutcomeUnknown),
            Self::Unavailable(answer) if answer.status == 429 || after.is_some() => {
                Err(HttpError::RetryLater { after })
            }
            Self::Unavailable(answer) => Ok(answer),
            Self::Fatal(error) => Err(error),
        }
    }

    fn requested_delay(&self) -> Option<Duration> {
        match self {
            Self::Unavailable(answer) if matches!(answer.status, 429 | 503) => answer.retry_after(),
            _ => None,
        }
    }
}
