//! How a forge fails, and what that asks of the caller.

use thiserror::Error;

/// How a forge fails. Messages never hold a token or a text that was to be sent (SAF-4, FIX-9).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ForgeError {
    /// There is no such pull, or this token may not see it.
    #[error("`{0}` was not found, or this token may not see it")]
    NotFound(String),
    /// The token is missing or wrong.
    #[error("the forge does not accept this token")]
    Unauthenticated,
    /// The token may not do that.
    #[error("this token may not {0}")]
    Forbidden(String),
    /// This forge has no such thing.
    #[error("this forge cannot {0}")]
    Unsupported(String),
    /// What was expected is no longer so: plan again.
    #[error("{0} changed meanwhile")]
    Conflict(String),
    /// The forge refuses the request itself.
    #[error("the forge refused: {0}")]
    Refused(String),
    /// Not now.
    #[error("the forge asks to come back later")]
    RetryLater,
    /// It cannot be reached; nothing was done.
    #[error("{0}")]
    Unreachable(String),
    /// It was sent, and nobody knows whether it happened.
    #[error("it is not known whether that was done")]
    OutcomeUnknown,
    /// The forge answered what nobody can read.
    #[error("the forge's answer cannot be read: {0}")]
    Unreadable(String),
}

/// What an error asks of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Read everything again, then decide again.
    Reread,
    /// Come back later.
    RetryLater,
    /// Say so; trying again is of no use.
    Report,
}

impl ForgeError {
    /// What this error asks of the caller.
    pub fn recovery(&self) -> Recovery {
        match self {
            Self::Conflict(_) | Self::OutcomeUnknown => Recovery::Reread,
            Self::RetryLater | Self::Unreachable(_) => Recovery::RetryLater,
            Self::NotFound(_)
            | Self::Unauthenticated
            | Self::Forbidden(_)
            | Self::Unsupported(_)
            | Self::Refused(_)
            | Self::Unreadable(_) => Recovery::Report,
        }
    }
}
