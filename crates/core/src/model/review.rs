//! Reviews and verdicts.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Author, EditId, Login, ReviewId, Sha, Text, Time};

/// A verdict, ordered mildest first, so that `max` is worst-wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing blocks.
    Approve,
    /// Neither approves nor blocks.
    Comment,
    /// Blocks.
    RequestChanges,
}

/// A review as the forge lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Review {
    pub id: ReviewId,
    /// Id for editing the summary. `None` if it cannot be edited.
    pub edit: Option<EditId>,
    pub author: Author,
    pub row: ReviewKind,
    /// The current summary, not the original one (PUB-10).
    pub text: Text,
    /// The commit that the forge ties it to. Used for people's reviews only (D1).
    pub commit: Option<Sha>,
    /// Time of submission.
    pub at: Time,
    /// Whether the forge still counts it.
    pub counts: ReviewWeight,
    /// Web page of the review.
    pub url: String,
}

/// The kind of an entry in the forge's list of reviews.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewKind {
    /// A submitted review.
    Verdict(Verdict),
    /// A draft of the viewer, invisible to others. The adapter completes it (PUB-14).
    Draft,
    /// An empty review in which the forge wraps a reply. Does not count as a review (LOOP-3).
    Wrapper,
}

/// Whether the forge counts a review, and why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewWeight {
    Yes,
    /// A newer verdict of the same user replaced it.
    Replaced,
    Dismissed {
        /// `None`: the forge itself, after a push.
        by: Option<Author>,
        at: Time,
    },
    /// A new review request to the same user suspended it (PUB-20).
    Requested,
    /// The forge never counted it: no permission, the author's own pull, or a comment.
    No,
}

impl Review {
    /// Returns the verdict of a submitted review.
    pub fn verdict(&self) -> Option<Verdict> {
        match self.row {
            ReviewKind::Verdict(verdict) => Some(verdict),
            ReviewKind::Draft | ReviewKind::Wrapper => None,
        }
    }

    pub fn is_by(&self, login: &Login) -> bool {
        self.author.has_login(login)
    }
}

impl Verdict {
    /// Returns the verdict as people read it.
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
