//! Parses people's texts: commands in the first line of a comment (LOOP-12), stances of replies, texts of other bots.

mod bot_text;
mod command;
mod demand;
mod nearest_word;
mod openings;
mod prose;
mod stance;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use bot_text::parse_bot_text;
pub use command::{CommandPrefixes, parse_command};
pub use nearest_word::find_nearest_word;
pub use stance::{mentions_acceptance, parse_stance};

use crate::model::{FindingId, RoleName};

/// A person's command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// `review`: review what changed.
    Review,
    /// `full review`: review everything.
    FullReview,
    /// `explain`.
    Explain,
    /// `dismiss F4 [F5 …] <reason>`: accept these findings as they are.
    Dismiss {
        /// With the role if the text says `role/F4`.
        findings: Vec<Named>,
        reason: String,
    },
    /// `dismiss overflow <reason>`: accept the findings that fit nowhere on the pull (D33).
    DismissOverflow { reason: String },
    /// `reopen F4`: undo a dismissal.
    Reopen { findings: Vec<Named> },
    /// `rounds +N`: allow more rounds.
    Rounds { more: u32 },
    /// `retry`: run a failed reviewer again.
    Retry,
    /// `pause`.
    Pause,
    /// `resume`.
    Resume,
    /// `break-glass <reason>`.
    BreakGlass { reason: String },
    /// `help`.
    Help,
    /// Not a known command.
    Unknown {
        /// The text, shortened.
        verb: String,
        /// The most similar verb, for a "did you mean" hint.
        nearest: Option<String>,
        /// The missing argument of a known verb.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing: Option<Missing>,
    },
}

/// A missing argument of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    Finding,
    Reason,
    /// No number, or one out of range.
    Number,
}

/// A finding as people refer to it: `F4` or `security/F4`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Named {
    pub role: Option<RoleName>,
    pub id: FindingId,
}

/// Completes the sentence "`dismiss` needs …".
impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finding => "a finding, as in `F4`",
            Self::Reason => "a reason",
            Self::Number => "a number from 1 to 9, as in `+1`",
        })
    }
}
