//! Reviews: rows that a forge counts or does not.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Author, EditId, Login, ReviewId, Sha, Text, Time};

/// Ordered mildest first, so that `max` is worst-wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing blocks.
    Approve,
    /// Nothing decided.
    Comment,
    /// Something blocks.
    RequestChanges,
}

/// A review as the forge lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Review {
    /// The row.
    pub id: ReviewId,
    /// How its summary is edited; `None` where it cannot be.
    pub edit: Option<EditId>,
    /// Who wrote it.
    pub author: Author,
    /// What the row says.
    pub row: ReviewKind,
    /// The current text of its summary, never the first one (PUB-10).
    pub text: Text,
    /// The commit the forge ties it to. Used for people's reviews only (D1).
    pub commit: Option<Sha>,
    /// When it was submitted.
    pub at: Time,
    /// Whether the forge still counts it.
    pub counts: ReviewWeight,
    /// Its page.
    pub url: String,
}

/// What a row of the review list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewKind {
    /// A submitted review.
    Verdict(Verdict),
    /// An own draft that nobody else sees; the adapter completes it (PUB-14).
    Draft,
    /// A reply that the forge wrapped in an empty review: never a review (LOOP-3).
    Wrapper,
}

/// Whether the forge still counts a row, and if not, by whose act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewWeight {
    /// It does.
    Yes,
    /// A newer verdict of the same user took its place.
    Replaced,
    /// Somebody dismissed it.
    Dismissed {
        /// Who; `None` for the forge itself after a push.
        by: Option<Author>,
        /// When.
        at: Time,
    },
    /// A request for the user's review took its weight (PUB-20).
    Requested,
    /// The forge never counted it: no right, own pull, or a comment.
    No,
}

impl Review {
    /// The verdict of a submitted row.
    pub fn verdict(&self) -> Option<Verdict> {
        match self.row {
            ReviewKind::Verdict(verdict) => Some(verdict),
            ReviewKind::Draft | ReviewKind::Wrapper => None,
        }
    }

    /// Whether `login` wrote it.
    pub fn is_by(&self, login: &Login) -> bool {
        self.author.has_login(login)
    }
}

impl Verdict {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Comment => "comment",
            Self::RequestChanges => "request changes",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
