//! What people command by a comment's first line (LOOP-12), and what a reply means.

mod bot_text;
mod command;
mod nearest_word;
mod prose;
mod stance;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use bot_text::parse_bot_text;
pub use command::{CommandPrefixes, parse_command};
pub use nearest_word::find_nearest_word;
pub use stance::parse_stance;

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
        /// What a known verb lacks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<Missing>,
    },
}

/// What a command lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// It names no finding.
    Finding,
    /// It gives no reason.
    Reason,
    /// It gives no number, or one out of bounds.
    Number,
}

/// A finding as people name it: `F4`, or `security/F4`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Named {
    /// The role, where it was said.
    pub role: Option<RoleName>,
    /// The id.
    pub id: FindingId,
}

/// As a hint says it: `dismiss` needs …
impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finding => "a finding, as in `F4`",
            Self::Reason => "a reason",
            Self::Number => "a number from 1 to 9, as in `+1`",
        })
    }
}
