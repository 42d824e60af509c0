//! What a finding is: how grave, what people said of it, what the reviewer now says, where it stands.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ordered mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth considering.
    Suggestion,
    /// A concrete risk; several of them block.
    Warning,
    /// One of them blocks.
    Critical,
}

/// What a person's reply means, read from a fixed list of phrases (LOOP-12). A model never sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    /// Anything else: a question, a remark.
    #[default]
    Silent,
    /// "won't fix", "acknowledged".
    Accepted,
    /// "I disagree".
    Disputed,
    /// "fixed".
    ClaimedFixed,
}

/// What the reviewer now says of its old finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// It is gone.
    Fixed,
    /// It is as it was.
    StillThere,
    /// It is worse.
    Worsened,
    /// The person who argued is right.
    Conceded,
    /// The person who argued is not right, and here is why.
    Stands,
}

/// Where a finding stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// Raised in this turn.
    New,
    /// Open.
    Open,
    /// The fixing side has the last word.
    Answered,
    /// Gone, with evidence.
    Fixed,
    /// Somebody who may said that it stays.
    Accepted,
    /// Somebody disagrees, and nobody has settled it.
    Disputed,
    /// The reviewer was wrong.
    Refuted,
    /// Its place is gone and nobody said anything of it.
    Stale,
}

impl FindingState {
    /// Whether a finding in this state is done with.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Fixed | Self::Accepted | Self::Refuted)
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Suggestion => "suggestion",
            Self::Warning => "warning",
            Self::Critical => "critical",
        })
    }
}
