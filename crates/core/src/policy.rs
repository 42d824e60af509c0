//! The rules of one repository, every default already resolved. The file is config; this is what decides.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Class, Login, RoleName, Severity, Span};
use crate::plan::{Gate, JobKind};

/// The rules of one repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// The roles, in the order in which they are published.
    pub roles: Vec<Role>,
    /// When a review starts.
    pub start: ReviewStart,
    /// How many new findings get a thread in one post.
    pub max_inline: usize,
    /// Verdicts are written as statuses too (PUB-19).
    pub status: bool,
    /// A change of the blocking set is said in a comment (PUB-18).
    pub notify: bool,
    /// The lowest severity raised anew in round 1, 2, 3 and later (LOOP-5).
    pub floor: [Severity; 3],
    /// That many warnings block (INC-12).
    pub risk_warnings: usize,
    /// No CI at all does not pass (D15).
    pub ci_required: bool,
    /// The round cap (LOOP-2).
    pub rounds: u32,
    /// Who is asked at the cap.
    pub operator: Option<Login>,
    /// How approving verdicts are posted (D27).
    pub approve: ApprovalMode,
    /// What this run may do. Shut gates are a dry run.
    pub gates: BTreeMap<Gate, GateSetting>,
    /// Rules for answering threads.
    pub threads: ThreadPolicy,
    /// What one pull may take (LOOP-9).
    pub budget: Budget,
    /// Who may break glass.
    pub break_glass: BTreeSet<Login>,
    /// The author may accept critical findings: on a local pull author and operator are one (D10).
    pub author_may_accept: bool,
    /// People who count as having write access where the forge does not say (D10).
    #[serde(default)]
    pub people_write: BTreeSet<Login>,
    /// Files that a worker may not touch.
    pub protected: Vec<String>,
    /// Workers and dispatch; without it the author is waited for.
    pub work: Option<DispatchPolicy>,
}

/// A role: one reviewer's place in the loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Role {
    /// Its name.
    pub name: RoleName,
    /// Who speaks for it; `None` is the viewer.
    pub identity: Option<Login>,
    /// Its verdict may block.
    pub blocks: bool,
    /// Files it looks at; empty is all.
    pub paths: Vec<String>,
    /// Named on the command line only: shown as ad hoc, never blocks.
    #[serde(default)]
    pub ad_hoc: bool,
}

/// When a review starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewStart {
    /// With each new change.
    Push,
    /// Once the checks passed.
    CiGreen,
    /// When a person asks.
    Request,
}

/// How approving verdicts are posted (D27).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    /// As approvals.
    On,
    /// As comments, but for lifting an own block.
    Lift,
    /// As comments; blocks too.
    Off,
}

/// Whether a kind of action may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateSetting {
    /// Never.
    Off,
    /// Only when the command line asks for it.
    Ask,
    /// Without asking.
    On,
}

/// Rules for answering threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadPolicy {
    /// The feature as a whole.
    pub enabled: bool,
    /// Classes that may be resolved beyond `valid`.
    pub auto_resolve: BTreeSet<Class>,
    /// `invalid` may be resolved.
    pub resolve_invalid: bool,
    /// `needs_human` gets a reply.
    pub reply_needs_human: bool,
    /// Checks must have passed before anything is resolved.
    pub require_checks: bool,
    /// More resolutions in one run go to a person (D9).
    pub max_resolve: usize,
    /// The reply's template; `None` is the built-in text.
    pub reply_template: Option<String>,
}

/// What one pull may take (LOOP-9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// Tokens of all runs.
    pub tokens: u64,
    /// Millionths of a dollar of all runs.
    pub micro_usd: u64,
    /// Reviewer runs.
    pub runs: u32,
    /// Texts written.
    pub writes: u32,
}

/// Dispatch of one project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchPolicy {
    /// The fixing side's identity.
    pub user: Login,
    /// Shows a lease to people.
    pub wip: String,
    /// Says that a person may take over.
    pub ready: String,
    /// Issues picked first.
    pub bug: String,
    /// Who gets a ready pull.
    pub assign: Option<Login>,
    /// How old a `wip` may grow.
    pub wip_max_age: Span,
    /// Roles or sentinel names of another bot that must have spoken (rule 5).
    pub review_bots: Vec<String>,
    /// Logins whose reviews count as those bots'; empty is anyone with write access but the author.
    pub review_users: BTreeSet<Login>,
    /// Types that a worker exists for; others are only printed.
    pub workers: BTreeSet<JobKind>,
    /// All workers on one pull (LOOP-2).
    pub max_jobs: u32,
    /// Which pulls take part.
    pub pulls: PullFilter,
}

/// Which pulls dispatch looks at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PullFilter {
    /// All.
    All,
    /// Those of the own user.
    Own,
    /// Those with a label.
    Label(String),
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            roles: Vec::new(),
            start: ReviewStart::Push,
            max_inline: 15,
            status: true,
            notify: true,
            floor: [Severity::Suggestion, Severity::Warning, Severity::Critical],
            risk_warnings: 3,
            ci_required: true,
            rounds: 3,
            operator: None,
            approve: ApprovalMode::Lift,
            gates: Gate::ALL.iter().map(|gate| (*gate, gate.default_setting())).collect(),
            threads: ThreadPolicy {
                enabled: true,
                auto_resolve: BTreeSet::new(),
                resolve_invalid: false,
                reply_needs_human: false,
                require_checks: true,
                max_resolve: 20,
                reply_template: None,
            },
            budget: Budget { tokens: 2_000_000, micro_usd: 2_000_000, runs: 20, writes: 100 },
            break_glass: BTreeSet::new(),
            author_may_accept: false,
            people_write: BTreeSet::new(),
            protected: Vec::new(),
            work: None,
        }
    }
}

impl Policy {
    /// The role of that name.
    pub fn role(&self, name: &RoleName) -> Option<&Role> {
        self.roles.iter().find(|role| role.name == *name)
    }

    /// Whether somebody may break glass: the named ones, by default the operator.
    pub fn may_break_glass(&self, login: &Login) -> bool {
        if self.break_glass.is_empty() { self.is_operator(login) } else { self.break_glass.contains(login) }
    }

    /// Whether this is the operator.
    pub fn is_operator(&self, login: &Login) -> bool {
        self.operator.as_ref() == Some(login)
    }
}

impl Role {
    /// Who speaks for this role.
    pub fn identity_or<'a>(&'a self, viewer: &'a Login) -> &'a Login {
        self.identity.as_ref().unwrap_or(viewer)
    }
}
