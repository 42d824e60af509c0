//! What people command by a comment's first line (LOOP-12), and what a reply means.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{FindingId, RoleName};

/// What a person's command asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// `review`: look at what changed.
    Review,
    /// `full review`: look at everything.
    FullReview,
    /// `explain`.
    Explain,
    /// `dismiss F4 [F5 …] <reason>`: these findings stay as they are.
    Dismiss {
        /// Which, with the role where the text says `role/F4`.
        findings: Vec<Named>,
        /// Why.
        reason: String,
    },
    /// `reopen F4`: take a dismissal back.
    Reopen {
        /// Which.
        findings: Vec<Named>,
    },
    /// `rounds +N`.
    Rounds {
        /// How many more.
        more: u32,
    },
    /// `retry`: a failed reviewer may try again.
    Retry,
    /// `pause`.
    Pause,
    /// `resume`.
    Resume,
    /// `break-glass <reason>`.
    BreakGlass {
        /// Why.
        reason: String,
    },
    /// `help`.
    Help,
    /// Nothing that referee knows.
    Unknown {
        /// What was written, cut short.
        verb: String,
        /// The nearest verb, if one is near.
        nearest: Option<String>,
    },
}

/// A finding as people name it: `F4`, or `security/F4`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Named {
    /// The role, where it was said.
    pub role: Option<RoleName>,
    /// The id.
    pub id: FindingId,
}
