//! The results of a plan's steps.

use serde::Serialize;

/// The result of one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Receipt {
    /// The index of the step in the plan.
    pub step: usize,
    pub action: &'static str,
    pub outcome: StepOutcome,
    /// Details for people. Contains neither tokens nor the text that was to be sent.
    pub note: String,
}

/// How a step ended; names as in the published schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// Not tried, because an earlier step ended the run.
    Planned,
    Done,
    /// It was done before.
    AlreadySo,
    /// A gate was closed.
    Withheld,
    /// The forge or the token does not allow it; the run continued.
    Refused,
    /// It failed. The run ended, unless later steps do not depend on it.
    Failed,
    /// It was sent, and the result is unknown: read again before sending anything.
    Unknown,
}

impl StepOutcome {
    /// Returns the name in the published schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Done => "done",
            Self::AlreadySo => "already_so",
            Self::Withheld => "withheld",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}
