//! Authors of texts and their access rights.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Login;

/// The author of a text or an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Author {
    /// `None` for a deleted user, whose texts still count.
    pub login: Option<Login>,
    /// Whether the account is a program: the forge marks it as a bot, or the configuration does (D31).
    #[serde(default)]
    pub bot: bool,
    /// Access rights, from the forge or from `[people] write`.
    #[serde(default)]
    pub access: Access,
}

/// Access to the repository. `Unknown` counts as no write access (D10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// May push, or is listed as if.
    Write,
    /// May only read and comment.
    Read,
    /// The forge does not say.
    #[default]
    Unknown,
}

impl Author {
    pub fn has_login(&self, login: &Login) -> bool {
        self.login.as_ref() == Some(login)
    }

    /// Returns whether the author is known to have write access.
    pub fn may_write(&self) -> bool {
        self.access == Access::Write
    }

    /// Returns the name to print: `ghost` for a deleted user.
    pub fn display_name(&self) -> &str {
        self.login.as_ref().map_or("ghost", Login::as_str)
    }
}
