//! What a decision is: steps and refusals with their reasons, the reviews that are due, and whose turn it is.

mod action;
mod findings;
mod next;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use action::{Action, CommentTarget, DiffLocation, NewThread, TextDraft, Trailer};
pub use findings::{FindingLine, Findings};
pub use next::{BlockedCause, Brief, Delivery, Job, JobKind, Next, Scope, WaitingOn};

use crate::hash::Hash;
use crate::mark::{TagKind, Topic};
use crate::model::{EditId, Login, PullNumber, Sha};
use crate::policy::GateSetting;
use crate::rule::Rule;

/// What to do about one pull.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Which pull.
    pub pull: PullNumber,
    /// At which head: a moved one means a new plan (PUB-15).
    pub head: Sha,
    /// What to do, in this order.
    pub steps: Vec<Step>,
    /// What was considered and not done.
    pub refused: Vec<Refusal>,
    /// Roles that should read this head now, whatever `next` says (D29).
    pub reviews: Vec<Brief>,
    /// Whose turn it is on the author's side.
    pub next: Next,
    /// The rule that chose `next`, with its facts.
    pub why: Reason,
    /// What a worker left that may be pushed or opened.
    pub delivery: Option<Delivery>,
    /// How every role stands, for people and for `--json`.
    pub roles: Vec<RoleState>,
    /// How every finding stands.
    pub findings: Findings,
    /// Rounds used.
    pub round: u32,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// What.
    pub action: Action,
    /// Who does it.
    pub by: Login,
    /// Which permission it needs.
    pub gate: Gate,
    /// Needs the approve gate too: it is an approving post.
    pub approves: bool,
    /// Why.
    pub reason: Reason,
    /// What must still be so right before it is done.
    pub expect: Precondition,
}

/// What must still be so right before a step is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precondition {
    /// Nothing in particular.
    Nothing,
    /// The pull's head is the plan's.
    Head,
    /// That text is by the step's identity (PUB-9), and still the one that was planned on: another process may have
    /// written it meanwhile.
    OwnText {
        /// The text.
        edit: EditId,
        /// Its words when they were read.
        seen: Hash,
    },
}

/// Permission for one kind of action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// Own reviews, threads, comments and statuses, and what `review` says in own threads.
    Review,
    /// Replies in threads of others, and all of `fix-comments`.
    Reply,
    /// Resolving threads of others, and all of `fix-comments`.
    Resolve,
    /// Labels and assignees.
    Label,
    /// Workers, push, opening a pull.
    Work,
}

/// The rule that applied, and the facts it used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// Written as the rule's name.
    #[schemars(with = "String")]
    pub rule: Rule,
    /// The facts in plain words.
    pub facts: Vec<String>,
}

/// Something that was considered and not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    /// What.
    pub what: String,
    /// Why not.
    pub why: Reason,
}

/// How a role stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoleState {
    /// Which role.
    pub role: crate::model::RoleName,
    /// Its own verdict now.
    pub own: Option<crate::model::Verdict>,
    /// What is enforced.
    pub enforced: Option<crate::model::Verdict>,
    /// It has a complete verdict for this very change.
    pub at_head: bool,
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
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Review, Self::Reply, Self::Resolve, Self::Label, Self::Work];

    /// What holds where nothing is configured.
    pub fn default_setting(self) -> GateSetting {
        match self {
            Self::Review => GateSetting::On,
            Self::Reply | Self::Resolve | Self::Label | Self::Work => GateSetting::Ask,
        }
    }
}

impl Reason {
    /// Names a rule, without facts.
    pub fn new(rule: Rule) -> Self {
        Self { rule, facts: Vec::new() }
    }

    /// Adds a fact.
    #[must_use]
    pub fn with_fact(mut self, fact: impl Into<String>) -> Self {
        self.facts.push(fact.into());
        self
    }
}
