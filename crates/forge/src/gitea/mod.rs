//! Gitea and Forgejo: one adapter with a flavour. What a server can do is probed, never guessed from its name.
//!
//! `GiteaForge` reads through the first identity and writes through the one that a step names.

mod hand;
mod routes;

use std::fmt;

use hand::Hand;
use referee_core::model::Capabilities;
use serde::{Deserialize, Serialize};

/// Which of the two programs a server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flavour {
    /// Gitea.
    Gitea,
    /// Forgejo.
    Forgejo,
}

/// A repository on a Gitea or Forgejo server.
#[derive(Clone, Debug)]
pub struct GiteaForge {
    owner: String,
    repo: String,
    server: Server,
    /// The first one reads.
    hands: Vec<Hand>,
}

/// What is known of a server: probed once and kept by the shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Which program.
    pub flavour: Flavour,
    /// Its version, as it says.
    pub version: String,
    /// What it and this token can do.
    pub capabilities: Capabilities,
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gitea => "gitea",
            Self::Forgejo => "forgejo",
        })
    }
}
