//! What the forge's checks say of the head.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Four-valued (D15): no checks at all is not "pending" and not "passed".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// All passed.
    Pass,
    /// One failed.
    Fail,
    /// One is not done, or says something nobody knows.
    Pending,
    /// There are none.
    #[default]
    None,
}

/// One check at the pull's head. Own statuses (`referee/…`) are never among them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// How it stands.
    pub state: CheckState,
}

/// The checks at the pull's head.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checks {
    /// The latest of each name.
    pub all: Vec<Check>,
    /// What the own statuses say, by context, so that an unchanged one is not written again (PUB-2).
    #[serde(default)]
    pub own: Vec<OwnStatus>,
}

/// A status that referee wrote at the pull's head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnStatus {
    /// `referee/<role>`.
    pub context: String,
    /// What it says.
    pub state: CheckState,
    /// In words.
    pub text: String,
}

impl Checks {
    /// All of them as one: the worst wins.
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

    /// The names of those in that state.
    pub fn names_in_state(&self, state: CheckState) -> Vec<&str> {
        self.all.iter().filter(|check| check.state == state).map(|check| check.name.as_str()).collect()
    }
}
