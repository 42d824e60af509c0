//! A pull: a branch that wants into another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Author, Login, PullNumber, RepoId, Sha, Time};

/// A pull as the forge tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pull {
    /// Which forge kind this is on, as Marks are bound to it: `gitea`, `local`.
    pub forge: String,
    /// The repository's own number.
    pub repo: RepoId,
    /// `acme/api`, for people.
    pub repo_name: String,
    /// The pull's number.
    pub number: PullNumber,
    /// Its title: shown to people, never given to a verdict pass.
    pub title: String,
    /// Who opened it.
    pub author: Author,
    /// Open, closed or merged.
    pub state: PullState,
    /// Not meant for review yet; never rebased (D15).
    pub draft: bool,
    /// The newest commit of its branch.
    pub head: Sha,
    /// When the forge first saw that head.
    pub head_since: Time,
    /// The name of the branch it wants into.
    pub base: String,
    /// That branch's commit.
    pub base_sha: Sha,
    /// Whether it merges cleanly, as far as is known.
    pub mergeable: Mergeable,
    /// Whether the author identity may push to its head; `None` where nobody could say.
    pub pushable: Option<bool>,
    /// Labels with who applied them and when.
    pub labels: Vec<Label>,
    /// Who it is assigned to.
    pub assignees: Vec<Login>,
    /// Open requests for somebody's review.
    pub requests: Vec<ReviewRequest>,
    /// When it was opened.
    pub opened_at: Time,
    /// Each time it was reopened: the last one starts the rounds anew (LOOP-2).
    pub reopens: Vec<Time>,
    /// What was pushed, oldest first, as far as the forge still tells.
    pub pushes: Vec<Push>,
    /// Its page.
    pub url: String,
}

/// Whether a pull still takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PullState {
    /// It does.
    Open,
    /// Somebody closed it.
    Closed,
    /// Somebody merged it.
    Merged,
}

/// Three-valued (D15): a forge's `false` alone is no conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mergeable {
    /// Merges.
    Clean,
    /// Does not, and that was confirmed.
    Conflict,
    /// Draft, still checking, or not asked.
    Unknown,
}

/// A label that is on the pull.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// Who applied it last, by the timeline.
    pub by: Option<Login>,
    /// When it was applied last.
    pub at: Option<Time>,
}

/// Somebody is asked for a review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewRequest {
    /// Who is asked.
    pub of: Login,
    /// Who asks.
    pub by: Option<Login>,
    /// When.
    pub at: Time,
}

/// A push to the pull's branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Push {
    /// The head after it.
    pub head: Sha,
    /// Who pushed.
    pub by: Option<Login>,
    /// When.
    pub at: Time,
}

impl Pull {
    /// The latest reopen, if any: what happened before it is history (LOOP-2).
    pub fn reopened_at(&self) -> Option<Time> {
        self.reopens.iter().copied().max()
    }

    /// The label of that name, if the pull carries it.
    pub fn label(&self, name: &str) -> Option<&Label> {
        self.labels.iter().find(|label| label.name == name)
    }
}
