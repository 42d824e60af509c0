//! The result of `decide`: steps and refusals with their reasons, the reviews that are due, and what the pull waits
//! for.

mod action;
mod findings;
mod next;
mod unread;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use action::{Action, CommentTarget, DiffLocation, NewThread, TextDraft, Trailer};
pub use findings::{FindingLine, Findings};
pub use next::{BlockedCause, Brief, Delivery, Job, JobKind, Next, Scope, WaitingOn};
pub use unread::UnreadCause;

use crate::hash::Hash;
use crate::mark::{TagKind, Topic};
use crate::model::{EditId, Login, PullNumber, Sha};
use crate::policy::GateSetting;
use crate::rule::Rule;

/// The decision about one pull.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    pub pull: PullNumber,
    /// The head that the plan is for; a moved head needs a new plan (PUB-15).
    pub head: Sha,
    /// Steps, in the order in which they are applied.
    pub steps: Vec<Step>,
    /// Steps that were considered and refused, with the reason.
    pub refused: Vec<Refusal>,
    /// Reviews of this head that are due, independent of `next` (D29).
    pub reviews: Vec<Brief>,
    /// What the pull waits for on the author's side.
    pub next: Next,
    /// The rule that chose `next`, with its facts.
    pub why: Reason,
    /// A worker's result that may be pushed or opened as a pull.
    pub delivery: Option<Delivery>,
    /// The state of every role, for people and for `--json`.
    pub roles: Vec<RoleState>,
    /// Where the results of each report of this turn went (PUB-23).
    #[serde(default)]
    pub accounting: Vec<(crate::model::RoleName, crate::model::Accounting)>,
    pub findings: Findings,
    /// Rounds used.
    pub round: u32,
}

/// One action with its identity, permission and precondition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    pub action: Action,
    /// The login that acts.
    pub by: Login,
    /// The permission it needs.
    pub gate: Gate,
    /// An approving post, which also needs the approve gate.
    pub approves: bool,
    pub reason: Reason,
    /// Checked right before the step is applied.
    pub expect: Precondition,
}

/// A condition that is checked right before a step is applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precondition {
    Nothing,
    /// The pull's head is still the plan's head.
    Head,
    /// The text is by the step's identity (PUB-9) and unchanged since it was read: another process may have edited it
    /// meanwhile.
    OwnText {
        edit: EditId,
        /// Hash of the text when it was read.
        seen: Hash,
    },
}

/// Permission for one kind of action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// Reviews, threads, comments and statuses of referee, and replies in its own threads during `review`.
    Review,
    /// Replies in other people's threads, and all replies of `fix-comments`.
    Reply,
    /// Resolutions of other people's threads, and all resolutions of `fix-comments`.
    Resolve,
    /// Labels and assignees.
    Label,
    /// Starting workers, pushing, opening a pull.
    Work,
}

/// The rule that applied, and the facts it is based on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// Written as the rule's name.
    #[schemars(with = "String")]
    pub rule: Rule,
    /// Short sentences for people.
    pub facts: Vec<String>,
}

/// An action that was considered and refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    pub what: String,
    pub why: Reason,
}

/// The verdicts of a role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleState {
    pub role: crate::model::RoleName,
    /// The role's own verdict; `None` before its first review.
    pub own: Option<crate::model::Verdict>,
    /// The verdict that is enforced for it.
    pub enforced: Option<crate::model::Verdict>,
    /// It has a complete verdict for this change.
    pub at_head: bool,
    /// Why the role, which this run selects, has not read this head completely (D36).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<UnreadCause>,
    /// Its open findings that fit nowhere on the pull (D33).
    #[serde(default)]
    pub overflow: crate::model::Overflow,
}

impl Step {
    /// Returns the topic of the comment that this step writes.
    pub fn topic(&self) -> Option<&Topic> {
        let Action::EnsureComment { text, .. } = &self.action else { return None };
        let Trailer::Tag(tag) = &text.trailer else { return None };
        match &tag.kind {
            TagKind::Topic(topic) => Some(topic),
            _ => None,
        }
    }
}

impl Gate {
    pub const ALL: [Self; 5] = [Self::Review, Self::Reply, Self::Resolve, Self::Label, Self::Work];

    /// Returns the setting that applies without configuration.
    pub fn default_setting(self) -> GateSetting {
        match self {
            Self::Review => GateSetting::On,
            Self::Reply | Self::Resolve | Self::Label | Self::Work => GateSetting::Ask,
        }
    }
}

impl Reason {
    /// Creates a reason without facts.
    pub fn new(rule: Rule) -> Self {
        Self { rule, facts: Vec::new() }
    }

    #[must_use]
    pub fn with_fact(mut self, fact: impl Into<String>) -> Self {
        self.facts.push(fact.into());
        self
    }
}
