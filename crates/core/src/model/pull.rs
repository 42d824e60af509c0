//! Pull requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Author, Login, PullNumber, RepoId, Sha, Time};

/// A pull request as the forge reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pull {
    /// Kind of the forge, such as `gitea` or `local`. Marks are bound to it.
    pub forge: String,
    pub repo: RepoId,
    /// Such as `acme/api`, for people.
    pub repo_name: String,
    pub number: PullNumber,
    /// Shown to people. Not part of a reviewer's prompt for a verdict.
    pub title: String,
    pub author: Author,
    pub state: PullState,
    /// A draft is not ready for review, and never rebased (D15).
    pub draft: bool,
    /// The newest commit of the pull's branch.
    pub head: Sha,
    /// When the forge first reported this head.
    pub head_since: Time,
    /// The target branch.
    pub base: String,
    /// The commit of the target branch.
    pub base_sha: Sha,
    pub mergeable: Mergeable,
    /// Whether the author identity may push to the pull's branch. `None`: unknown.
    pub pushable: Option<bool>,
    pub labels: Vec<Label>,
    /// Labels that somebody removed and nobody added again, with who removed them and when.
    #[serde(default)]
    pub removed_labels: Vec<Label>,
    pub assignees: Vec<Login>,
    /// Open review requests.
    pub requests: Vec<ReviewRequest>,
    pub opened_at: Time,
    /// Times of reopening. The last one resets the rounds (LOOP-2).
    pub reopens: Vec<Time>,
    /// Oldest first, as far as the forge keeps them.
    pub pushes: Vec<Push>,
    /// Web page of the pull.
    pub url: String,
}

/// The state of a pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PullState {
    Open,
    /// Closed without a merge.
    Closed,
    Merged,
}

/// Whether a pull merges cleanly (D15). A forge's `mergeable: false` alone does not prove a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mergeable {
    Clean,
    /// A confirmed conflict.
    Conflict,
    /// A draft, still being checked, or not checked.
    Unknown,
}

/// A label of a pull or an issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Label {
    pub name: String,
    /// Who applied or removed it last, according to the timeline.
    pub by: Option<Login>,
    /// When it was applied or removed last.
    pub at: Option<Time>,
}

/// A request for a review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewRequest {
    /// The requested reviewer.
    pub of: Login,
    /// Who made the request.
    pub by: Option<Login>,
    pub at: Time,
}

/// A push to the pull's branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Push {
    /// The head after the push.
    pub head: Sha,
    pub by: Option<Login>,
    pub at: Time,
}

impl Pull {
    /// Returns the time of the last reopening. Earlier rounds do not count (LOOP-2).
    pub fn reopened_at(&self) -> Option<Time> {
        self.reopens.iter().copied().max()
    }

    pub fn label(&self, name: &str) -> Option<&Label> {
        self.labels.iter().find(|label| label.name == name)
    }
}
