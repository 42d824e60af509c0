//! What became of each step.

use serde::Serialize;

/// What became of one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Receipt {
    /// The step's number in the plan.
    pub step: usize,
    /// The action's name.
    pub action: &'static str,
    /// How it ended.
    pub outcome: StepOutcome,
    /// More words, for people: never a token, never the text that was to be sent.
    pub note: String,
}

/// How a step ended, as the published schema spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// Not tried: an earlier step ended the run.
    Planned,
    /// Done.
    Done,
    /// It was so already.
    AlreadySo,
    /// A gate was shut.
    Withheld,
    /// The forge or the token does not allow it; the run went on.
    Refused,
    /// It failed. The run ended, unless nothing that followed leaned on it.
    Failed,
    /// It was sent, and nobody knows: read before anything is sent again.
    Unknown,
}

impl StepOutcome {
    /// As the published schema spells it.
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
