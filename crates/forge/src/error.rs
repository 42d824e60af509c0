//! Errors of a forge, and how a caller recovers from them.

use thiserror::Error;

/// An error of a forge. Messages never contain a token or a text that was to be sent (SAF-4, FIX-9).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ForgeError {
    #[error("`{0}` was not found, or this token may not see it")]
    NotFound(String),
    #[error("the forge does not accept this token")]
    Unauthenticated,
    /// The token lacks the right.
    #[error("this token may not {0}")]
    Forbidden(String),
    /// The forge has no such operation.
    #[error("this forge cannot {0}")]
    Unsupported(String),
    /// A precondition no longer holds: the plan has to be made again.
    #[error("{0} changed meanwhile")]
    Conflict(String),
    /// The forge rejects the request as invalid.
    #[error("the forge refused: {0}")]
    Refused(String),
    /// The forge is overloaded or limits the rate.
    #[error("the forge is overloaded or limits requests; try again later")]
    RetryLater,
    /// The forge cannot be reached; nothing was sent.
    #[error("{0}")]
    Unreachable(String),
    /// A write was sent and its response was lost.
    #[error("the response was lost, so the outcome is unknown")]
    OutcomeUnknown,
    /// A part of the pull or the repository is larger than referee reads (D43). A forge that works well can say this.
    #[error("{0} is too large to be read")]
    TooLarge(String),
    /// The response cannot be parsed.
    #[error("the forge's response cannot be parsed: {0}")]
    Unreadable(String),
}

/// How a caller recovers from an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Read everything again, then decide again.
    Reread,
    /// Try again later.
    RetryLater,
    /// Report it; a retry would fail the same way.
    Report,
}

impl ForgeError {
    /// Returns how the caller recovers.
    pub fn recovery(&self) -> Recovery {
        match self {
            Self::Conflict(_) | Self::OutcomeUnknown => Recovery::Reread,
            Self::RetryLater | Self::Unreachable(_) => Recovery::RetryLater,
            Self::NotFound(_)
            | Self::Unauthenticated
            | Self::Forbidden(_)
            | Self::Unsupported(_)
            | Self::Refused(_)
            | Self::TooLarge(_)
            | Self::Unreadable(_) => Recovery::Report,
        }
    }
}
