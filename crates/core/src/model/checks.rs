//! CI checks of the pull's head.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// State of one check or of all checks together. No checks at all is neither "pending" nor "passed" (D15).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    Pass,
    Fail,
    /// Not finished, or in a state that referee does not know.
    Pending,
    /// There are no checks.
    #[default]
    None,
}

/// One check at the pull's head. Referee's own statuses (`referee/…`) are not included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    pub name: String,
    pub state: CheckState,
}

/// The checks at the pull's head.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checks {
    /// The latest check of each name.
    pub all: Vec<Check>,
    /// Referee's own statuses, so that an unchanged one is not written again (PUB-2).
    #[serde(default)]
    pub own: Vec<OwnStatus>,
}

/// A status that referee wrote at the pull's head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnStatus {
    /// `referee/<role>`.
    pub context: String,
    pub state: CheckState,
    /// The description shown to people.
    pub text: String,
}

impl Checks {
    /// Returns the worst state of all checks.
    pub fn combined_state(&self) -> CheckState {
        let mut worst = CheckState::None;
        for check in &self.all {
            worst = match (worst, check.state) {
                (CheckState::Fail, _) | (_, CheckState::Fail) => CheckState::Fail,
                (CheckState::Pending, _) | (_, CheckState::Pending | CheckState::None) => CheckState::Pending,
                (CheckState::Pass | CheckState::None, CheckState::Pass) => CheckState::Pass,
            };
        }
        worst
    }

    /// Returns the names of the checks in `state`.
    pub fn names_in_state(&self, state: CheckState) -> Vec<&str> {
        self.all.iter().filter(|check| check.state == state).map(|check| check.name.as_str()).collect()
    }
}
