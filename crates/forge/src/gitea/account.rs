//! An identity at the server: how it asks, and what the server's answers mean.
//!
//! | answer | a read | a write |
//! |---|---|---|
//! | 401 | the token is not accepted | the same |
//! | 403 | the token may not | the same |
//! | 404 | not found | the same |
//! | 405, and 404 in plain text | this server has no such route | the same |
//! | 409 | changed meanwhile | the same |
//! | 429, 503 | later | later |
//! | any other 5xx | later | unknown: it may be stored all the same |
//! | success that nobody can read | unreadable | unknown: it is stored, and what became of it is read back |
//! | anything else | refused, in the server's words | the same |

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
    /// Asks, and reads the answer. `what` is what people call it: `the reviews of #7`.
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

    /// Sends, and hands the answer over if it is one of success.
    pub(super) async fn send(&self, call: &RouteRequest<'_>, what: &str) -> Result<Response, ForgeError> {
        let answer = self.client.send(call).await.map_err(|error| error_from_http(error, what))?;
        if answer.is_success() { Ok(answer) } else { Err(error_from_status(&answer, call, what)) }
    }
}

/// Reads an answer.
pub(super) fn parse_response<T: DeserializeOwned>(answer: &Response, what: &str) -> Result<T, ForgeError> {
    wire::parse_json(&answer.body).map_err(|error| ForgeError::Unreadable(format!("{what}: {error}")))
}

/// The server's clock, as its answer says; the own one where it does not.
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
        HttpError::UnreadableResponse(why) => ForgeError::Unreadable(format!("{what}: {why}")),
    }
}
