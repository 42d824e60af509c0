//! An identity on a server, and what the server's status codes mean.
//!
//! | response | to a read | to a write |
//! |---|---|---|
//! | 401 | the token is not accepted | the same |
//! | 403 | forbidden | the same |
//! | 404 | not found | the same |
//! | 405 | unsupported: the server has no such route | the same |
//! | 409 | conflict | the same |
//! | 429, 503 | retry later | the same |
//! | any other 5xx | retry later | outcome unknown: it may be stored |
//! | longer than the client accepts | too large | outcome unknown |
//! | 2xx that cannot be parsed | unreadable | outcome unknown: it is stored, and has to be read back |
//! | anything else | refused, with the server's message | the same |

use jiff::Timestamp;
use referee_core::model::{Login, Time};
use referee_http::{Client, HttpError, Response, RouteRequest};
use serde::de::DeserializeOwned;

use super::wire;
use crate::ForgeError;

/// An identity and the client that holds its token.
#[derive(Clone, Debug)]
pub(super) struct GiteaAccount {
    pub(super) login: Login,
    pub(super) client: Client,
}

impl GiteaAccount {
    /// Sends a request and parses the response. `what` names the thing for error messages: `the reviews of #7`.
    pub(super) async fn send_and_parse<T: DeserializeOwned>(
        &self,
        call: &RouteRequest<'_>,
        what: &str,
    ) -> Result<T, ForgeError> {
        match parse_response(&self.send(call, what).await?, what) {
            Err(ForgeError::Unreadable(_)) if !call.route.method.is_read() => Err(ForgeError::OutcomeUnknown),
            read => read,
        }
    }

    /// Sends a request and returns a successful response.
    pub(super) async fn send(&self, call: &RouteRequest<'_>, what: &str) -> Result<Response, ForgeError> {
        let answer = self.client.send(call).await.map_err(|error| error_from_http(error, what))?;
        if answer.is_success() { Ok(answer) } else { Err(error_from_status(&answer, call, what)) }
    }
}

pub(super) fn parse_response<T: DeserializeOwned>(answer: &Response, what: &str) -> Result<T, ForgeError> {
    wire::parse_json(&answer.body).map_err(|error| ForgeError::Unreadable(format!("{what}: {error}")))
}

/// Returns the time in the response's `Date` header, or this machine's time without one.
pub(super) fn server_time(answer: &Response) -> Time {
    let now = || Time(Timestamp::now().as_second());
    answer.header("date").and_then(wire::parse_http_date).unwrap_or_else(now)
}

pub(super) fn error_from_status(answer: &Response, call: &RouteRequest<'_>, what: &str) -> ForgeError {
    let named = || match answer.message() {
        words if words.is_empty() => format!("{what}: status {}", answer.status),
        words => format!("{what}: {words}"),
    };
    match answer.status {
        401 => ForgeError::Unauthenticated,
        403 => ForgeError::Forbidden(named()),
        404 => ForgeError::NotFound(what.to_owned()),
        405 => ForgeError::Unsupported(what.to_owned()),
        409 => ForgeError::Conflict(what.to_owned()),
        429 | 503 => ForgeError::RetryLater,
        500.. if call.route.method.is_read() => ForgeError::RetryLater,
        500.. => ForgeError::OutcomeUnknown,
        _ => ForgeError::Refused(named()),
    }
}

pub(super) fn error_from_http(error: HttpError, what: &str) -> ForgeError {
    match error {
        HttpError::NotAllowed(_) | HttpError::InvalidOptions(_) => ForgeError::Refused(error.to_string()),
        HttpError::Unreachable(..) => ForgeError::Unreachable(error.to_string()),
        HttpError::OutcomeUnknown => ForgeError::OutcomeUnknown,
        HttpError::RetryLater { .. } => ForgeError::RetryLater,
        HttpError::ResponseTooLong { .. } => ForgeError::TooLarge(what.to_owned()),
        HttpError::UnreadableResponse(why) => ForgeError::Unreadable(format!("{what}: {why}")),
    }
}
