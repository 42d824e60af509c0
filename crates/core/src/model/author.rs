//! Who wrote something, and what they may do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Login;

/// Who wrote something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Author {
    /// The name; a deleted user has none, and its words still stand.
    pub login: Option<Login>,
    /// The forge says that this is a program.
    #[serde(default)]
    pub bot: bool,
    /// What the forge, or `[people] write`, says of their rights.
    #[serde(default)]
    pub access: Access,
}

/// What somebody may do in the repository. Unknown is no (D10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// May push, or counts as one who may.
    Write,
    /// May only read and comment.
    Read,
    /// Nobody could be asked.
    #[default]
    Unknown,
}

impl Author {
    /// Whether this is `login`.
    pub fn has_login(&self, login: &Login) -> bool {
        self.login.as_ref() == Some(login)
    }

    /// Whether they are known to have write access.
    pub fn may_write(&self) -> bool {
        self.access == Access::Write
    }

    /// The name to print: a deleted user is `ghost`.
    pub fn display_name(&self) -> &str {
        self.login.as_ref().map_or("ghost", Login::as_str)
    }
}
