//! What a forge says about itself and its repository, as plain data.

use std::fmt;

use referee_core::model::{Capabilities, Login, PullNumber, Sha};
use serde::{Deserialize, Serialize};

/// The software that runs a forge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForgeKind {
    Github,
    Gitlab,
    Gitea,
    Forgejo,
    /// No server: pulls live in the git directory.
    Local,
}

/// A forge and the identities it was opened with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgeInfo {
    pub kind: ForgeKind,
    /// The server's version as it reports it; empty without a server.
    pub version: String,
    /// The identity that reads.
    pub login: Login,
    /// All identities whose tokens are held, the reading one first.
    pub held_logins: Vec<Login>,
    pub capabilities: Capabilities,
    /// Distinguishes repository and reading identity from all others. Stored mementos are keyed by it.
    pub cache_scope: String,
}

/// What a probe learned about a server. Storing it saves the next run the probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerFacts {
    pub kind: ForgeKind,
    pub version: String,
    /// The login of the token that reads.
    pub login: Login,
    /// Whatever else the adapter found; only the adapter reads it.
    pub details: serde_json::Value,
}

/// The newest commit of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchTip {
    pub name: String,
    pub commit: Sha,
}

/// An open pull, as a list names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPull {
    pub number: PullNumber,
    pub title: String,
    pub head_branch: String,
    /// The repository of the head branch, `acme/api`; `None` once a fork is deleted.
    pub head_repo: Option<String>,
    /// The newest commit of the head branch.
    pub head: Sha,
    /// The branch it merges into.
    pub base: String,
}

impl fmt::Display for ForgeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Gitea => "gitea",
            Self::Forgejo => "forgejo",
            Self::Local => "local",
        })
    }
}
