//! The open pulls and issues of a repository.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Comment, IssueNumber, Label, Lease, Login, PullNumber, RepoId, Text, Time, Viewer};

/// The open pulls and issues of a repository at one point in time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Board {
    /// Kind of the forge, such as `gitea`.
    pub forge: String,
    pub repo: RepoId,
    pub viewer: Viewer,
    /// The current time. Core has no other clock.
    pub taken_at: Time,
    /// All open pulls, including those that the pull filter excludes.
    pub pulls: Vec<PullNumber>,
    pub issues: Vec<Issue>,
    /// Leases on issues. A live one means that a worker is active (DSP-18).
    pub leases: Vec<(IssueNumber, Lease)>,
}

/// An open issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Issue {
    pub number: IssueNumber,
    /// For the worker's prompt. Decisions do not use it.
    #[serde(default)]
    pub title: String,
    /// For the worker's prompt. Decisions do not use it.
    #[serde(default)]
    pub text: Text,
    pub labels: Vec<Label>,
    pub assignees: Vec<Login>,
    /// Oldest first. Job records are read from them (DSP-18).
    pub comments: Vec<Comment>,
    /// The comments could not be read whole, so a job record may be missing (D43).
    #[serde(default)]
    pub is_unread: bool,
}
