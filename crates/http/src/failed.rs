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

use crate::answer::Answer;
use crate::error::HttpError;
use crate::parcel::Parcel;
use crate::route::Repeat;

/// Why a try gave no answer to hand on.
#[derive(Debug)]
pub(crate) enum Failed {
    /// It surely never left, for this reason.
    Unsent(String),
    /// It left, and no whole answer came back, for this reason.
    Lost(String),
    /// The server is not well, or asks to come back.
    Unwell(Answer),
    /// Another try would end the same.
    Final(HttpError),
}

impl Failed {
    /// Whether it says that the server is in trouble, rather than the request.
    pub(crate) fn is_trouble(&self) -> bool {
        match self {
            Self::Unsent(_) | Self::Lost(_) => true,
            Self::Unwell(answer) => answer.status >= 500,
            Self::Final(_) => false,
        }
    }

    /// Whether the request may be sent again.
    pub(crate) fn may_repeat(&self, repeat: Repeat) -> bool {
        match self {
            Self::Unsent(_) => true,
            Self::Lost(_) => repeat == Repeat::Safe,
            Self::Unwell(answer) if answer.status == 429 => true,
            Self::Unwell(answer) => repeat == Repeat::Safe && matches!(answer.status, 502..=504),
            Self::Final(_) => false,
        }
    }

    /// How long to wait before that: what the server asks for, unless that is too long.
    pub(crate) fn wait(&self, usual: Option<Duration>, longest: Duration) -> Option<Duration> {
        let usual = usual?;
        match self.asked() {
            Some(asked) if asked > longest => None,
            Some(asked) => Some(asked.max(usual)),
            None => Some(usual),
        }
    }

    /// Whether a write may have been done all the same.
    pub(crate) fn may_be_done(&self) -> bool {
        matches!(self, Self::Lost(_)) || matches!(self, Self::Unwell(answer) if answer.status != 429)
    }

    /// What the caller is told when there is no further try.
    pub(crate) fn end(self, parcel: &Parcel, host: &str) -> Result<Answer, HttpError> {
        let after = self.asked();
        match self {
            Self::Unsent(why) => Err(HttpError::Unreachable(host.to_owned(), why)),
            Self::Lost(why) if parcel.reads() => Err(HttpError::Unreachable(host.to_owned(), why)),
            Self::Lost(_) => Err(HttpError::Unknown),
            Self::Unwell(answer) if answer.status == 429 || after.is_some() => Err(HttpError::Later { after }),
            Self::Unwell(answer) => Ok(answer),
            Self::Final(error) => Err(error),
        }
    }

    fn asked(&self) -> Option<Duration> {
        match self {
            Self::Unwell(answer) if matches!(answer.status, 429 | 503) => answer.retry_after(),
            _ => None,
        }
    }
}
