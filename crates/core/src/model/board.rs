//! What only a whole repository knows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Comment, IssueNumber, Label, Lease, Login, PullNumber, RepoId, Text, Time, Viewer};

/// A repository's open pulls and issues at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Board {
    /// The forge's own name.
    pub forge: String,
    /// The repository, as the forge numbers it.
    pub repo: RepoId,
    /// Whose token this is.
    pub viewer: Viewer,
    /// The only clock.
    pub taken_at: Time,
    /// All open pulls, those that the project leaves aside included.
    pub pulls: Vec<PullNumber>,
    /// Open issues.
    pub issues: Vec<Issue>,
    /// Leases on issues: a live one is active work (DSP-18).
    pub leases: Vec<(IssueNumber, Lease)>,
}

/// An open issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Issue {
    /// Its number.
    pub number: IssueNumber,
    /// What it is called: for whoever begins it, nothing is decided by it.
    #[serde(default)]
    pub title: String,
    /// What it says, likewise.
    #[serde(default)]
    pub text: Text,
    /// Its labels.
    pub labels: Vec<Label>,
    /// Who has it.
    pub assignees: Vec<Login>,
    /// What was said on it, in its order: job records are read here (DSP-18).
    pub comments: Vec<Comment>,
}
