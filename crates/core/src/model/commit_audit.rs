//! What git says about a worker's commits (D44). The worker itself is not asked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Sha;

/// The commits of a worker, compared with the commit that it started from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitAudit {
    /// Whether the worker's head contains the commit that the worker started from.
    pub descends: bool,
    /// New commits whose author or committer is not the fixing identity. A rebased commit is listed if its author changed.
    #[serde(default)]
    pub foreign: Vec<Sha>,
    /// Changed paths that a symbolic link connects with a protected path.
    #[serde(default)]
    pub protected_links: Vec<ProtectedLink>,
    /// For the job kind `rebase` only.
    #[serde(default)]
    pub rebase: Option<RebaseAudit>,
}

/// A path that a symbolic link connects with a protected path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProtectedLink {
    /// The changed link, or the changed file that a link leads to.
    pub path: String,
    pub protected: String,
}

/// The result of a rebase, compared with a merge of the old head and the base by referee itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RebaseAudit {
    /// Whether the worker's head contains the base that the worker was given.
    pub contains_base: bool,
    /// Commits of the pull that have no counterpart in the result.
    #[serde(default)]
    pub dropped: Vec<Sha>,
    /// Paths where a change of the pull is missing, although git merges it without a conflict.
    #[serde(default)]
    pub lost: Vec<String>,
    /// Paths where git's merge conflicts. Only there the result may differ from the merge.
    #[serde(default)]
    pub conflicts: Vec<String>,
}
