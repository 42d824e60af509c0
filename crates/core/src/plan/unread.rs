//! Why a role that a run selects has not read a head completely (D36).

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a role that this run selects has not read this head completely.
///
/// | cause | is a shortcoming |
/// |---|---|
/// | the reviewer failed, now or at every attempt | yes |
/// | the report is incomplete | yes |
/// | a budget is used up | yes |
/// | it is due, and no report came | yes |
/// | it waits for the checks or for a request (`review.start`) | no |
/// | the pull is paused, or the glass is broken | no |
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnreadCause {
    /// The reviewer failed in this run; its report says how.
    Failed,
    /// The report may add findings, but neither resolves nor approves (INC-15).
    Incomplete {
        missing: String,
    },
    /// The reviewer failed as often as it may (LOOP-11).
    GaveUp {
        attempts: u8,
    },
    /// The reviewer failed and is tried again later.
    BackingOff,
    /// The named budget of the pull is used up (LOOP-13).
    OverBudget {
        resource: String,
    },
    /// No report came yet.
    Due,
    WaitsForChecks,
    WaitsForRequest,
    Paused,
    GlassBroken,
}

impl UnreadCause {
    /// Returns whether the run should have read this head: then it ends with exit code 14.
    pub fn is_shortcoming(&self) -> bool {
        match self {
            Self::Failed
            | Self::Incomplete { .. }
            | Self::GaveUp { .. }
            | Self::BackingOff
            | Self::OverBudget { .. }
            | Self::Due => true,
            Self::WaitsForChecks | Self::WaitsForRequest | Self::Paused | Self::GlassBroken => false,
        }
    }
}

impl fmt::Display for UnreadCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed => f.write_str("the reviewer failed"),
            Self::Incomplete { missing } => write!(f, "the report is incomplete: {missing}"),
            Self::GaveUp { attempts } => write!(f, "the reviewer failed {attempts} times"),
            Self::BackingOff => f.write_str("the reviewer failed and is tried again later"),
            Self::OverBudget { resource } => write!(f, "the budget of {resource} is used up"),
            Self::Due => f.write_str("no report yet"),
            Self::WaitsForChecks => f.write_str("waits for the checks"),
            Self::WaitsForRequest => f.write_str("waits for a request: say `review`"),
            Self::Paused => f.write_str("the pull is paused"),
            Self::GlassBroken => f.write_str("the glass is broken"),
        }
    }
}
