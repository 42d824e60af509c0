//! The policy of one repository with all defaults resolved. Parsing the config file is not done here.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::model::{Class, Login, RoleName, Severity, Span};
use crate::plan::{Gate, JobKind};

/// The settings that decisions use, for one repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// The roles, in publishing order.
    pub roles: Vec<Role>,
    /// What starts a review.
    pub start: ReviewStart,
    /// Maximum new findings that get a thread in one post.
    pub max_inline: usize,
    /// Whether verdicts are also written as commit statuses (PUB-19).
    pub status: bool,
    /// Whether a comment announces a change of the blocking findings (PUB-18).
    pub notify: bool,
    /// Lowest severity of new findings in round 1, in round 2, and from round 3 on (LOOP-5).
    pub floor: [Severity; 3],
    /// How many warnings block (INC-12).
    pub risk_warnings: usize,
    /// Whether a pull without any CI check counts as not passing (D15).
    pub ci_required: bool,
    /// Maximum rounds (LOOP-2).
    pub rounds: u32,
    /// Who is asked when the rounds are used up.
    pub operator: Option<Login>,
    /// How approving verdicts are posted (D27).
    pub approve: ApprovalMode,
    /// Which actions this run may take. A dry run has all gates off.
    pub gates: BTreeMap<Gate, GateSetting>,
    /// How threads are answered and resolved.
    pub threads: ThreadPolicy,
    /// What one pull may cost (LOOP-9).
    pub budget: Budget,
    /// Who may use `break-glass`. Empty: the operator.
    pub break_glass: BTreeSet<Login>,
    /// Whether the author may accept critical findings. On a local pull author and operator are the same person (D10).
    pub author_may_accept: bool,
    /// People who count as having write access if the forge does not say (D10).
    #[serde(default)]
    pub people_write: BTreeSet<Login>,
    /// Patterns of logins that belong to programs, with `*` as wildcard (D31).
    #[serde(default = "default_bots")]
    pub bots: Vec<String>,
    /// Glob patterns of files that a worker may not change.
    pub protected: Vec<String>,
    /// Workers and dispatch. `None`: referee waits for the author.
    pub work: Option<DispatchPolicy>,
}

/// A role: a reviewer with a name, an identity and a scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Role {
    pub name: RoleName,
    /// The account that posts for it. `None`: the viewer.
    pub identity: Option<Login>,
    /// Whether its verdict may block.
    pub blocks: bool,
    /// Glob patterns of the files it reviews. Empty: all files.
    pub paths: Vec<String>,
    /// Named on the command line only. Shown as ad hoc, never blocks.
    #[serde(default)]
    pub ad_hoc: bool,
    /// Whether its reviewer costs nothing, so that no budget of runs, tokens or money stops it (LOOP-13).
    #[serde(default)]
    pub free: bool,
    /// Hash of its configured inputs: rules, guidance, command (D34). `None` if unknown.
    #[serde(default)]
    pub inputs: Option<Hash>,
}

/// The accounts that may post for a role.
#[derive(Clone, Copy, Debug)]
pub enum RoleAccounts<'a> {
    One(&'a Login),
    /// Any of these. The Marks on a pull show which one it is there.
    ReviewUsers(&'a BTreeSet<Login>),
}

/// What starts a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewStart {
    /// Every push.
    Push,
    /// Passing checks.
    CiGreen,
    /// A person's request.
    Request,
}

/// How approving verdicts are posted (D27).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    /// As an approval.
    On,
    /// As a comment, unless the approval lifts an earlier block of the same role.
    Lift,
    /// As a comment. Blocks are posted as comments too.
    Off,
}

/// Whether a kind of action is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateSetting {
    Off,
    /// Only if the command line asks for it.
    Ask,
    On,
}

/// How threads are answered and resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadPolicy {
    /// Whether threads are answered at all.
    pub enabled: bool,
    /// Classes whose threads may be resolved, besides `valid`.
    pub auto_resolve: BTreeSet<Class>,
    /// Whether `invalid` threads may be resolved.
    pub resolve_invalid: bool,
    /// Whether `needs_human` threads get a reply.
    pub reply_needs_human: bool,
    /// Whether checks must pass before a thread is resolved.
    pub require_checks: bool,
    /// Maximum resolutions in one run. More need a person (D9).
    pub max_resolve: usize,
    /// Template of a reply. `None`: the built-in text.
    pub reply_template: Option<String>,
}

/// What one pull may cost (LOOP-9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// Tokens of all runs.
    pub tokens: u64,
    /// Cost of all runs, in millionths of a dollar.
    pub micro_usd: u64,
    /// Number of reviewer runs.
    pub runs: u32,
    /// Number of texts written.
    pub writes: u32,
}

/// Settings of workers and dispatch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchPolicy {
    /// The account of the workers.
    pub user: Login,
    /// Label that shows people a lease.
    pub wip: String,
    /// Label that says a person may take over.
    pub ready: String,
    /// Label of issues that are picked first.
    pub bug: String,
    /// Who is assigned a ready pull.
    pub assign: Option<Login>,
    /// Maximum age of a `wip` label.
    pub wip_max_age: Span,
    /// Roles, or sentinel names of another bot, that must have reviewed (rule 5).
    pub review_bots: Vec<String>,
    /// Accounts whose reviews count as those bots'. Empty: everyone with write access except the author.
    pub review_users: BTreeSet<Login>,
    /// Job kinds that have a worker. Jobs of other kinds are only printed.
    pub workers: BTreeSet<JobKind>,
    /// Maximum jobs on one pull (LOOP-2).
    pub max_jobs: u32,
    pub pulls: PullFilter,
}

/// Which pulls dispatch looks at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PullFilter {
    All,
    /// Pulls of the dispatch user.
    Own,
    /// Pulls with this label.
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
            bots: default_bots(),
            protected: Vec::new(),
            work: None,
        }
    }
}

impl Policy {
    pub fn role(&self, name: &RoleName) -> Option<&Role> {
        self.roles.iter().find(|role| role.name == *name)
    }

    /// Returns whether `login` may use `break-glass`: the listed accounts, or the operator if none is listed.
    pub fn may_break_glass(&self, login: &Login) -> bool {
        if self.break_glass.is_empty() { self.is_operator(login) } else { self.break_glass.contains(login) }
    }

    /// Returns whether an account may post for a role: the one that the role names, otherwise the viewer. For dispatch
    /// with another account than the reviewers', any of `review_users` (PUB-12).
    pub fn may_post_for(&self, role: &Role, viewer: &Login, login: &Login) -> bool {
        match self.accounts_of(role, viewer) {
            RoleAccounts::One(identity) => identity == login,
            RoleAccounts::ReviewUsers(users) => users.contains(login),
        }
    }

    pub fn accounts_of<'a>(&'a self, role: &'a Role, viewer: &'a Login) -> RoleAccounts<'a> {
        match (&role.identity, self.work.as_ref().map(|work| &work.review_users)) {
            (None, Some(users)) if !users.is_empty() && !users.contains(viewer) => RoleAccounts::ReviewUsers(users),
            _ => RoleAccounts::One(role.identity_or(viewer)),
        }
    }

    pub fn is_operator(&self, login: &Login) -> bool {
        self.operator.as_ref() == Some(login)
    }

    /// Returns whether `login` is a program by configuration (D31). Accounts that the forge marks as bots are programs too.
    pub fn is_program(&self, login: &Login) -> bool {
        self.bots.iter().any(|pattern| matches_wildcard(pattern, login.as_str()))
            || self.roles.iter().any(|role| role.identity.as_ref() == Some(login))
            || self.work.as_ref().is_some_and(|work| work.user == *login || work.review_users.contains(login))
    }
}

fn default_bots() -> Vec<String> {
    ["*[bot]", "*-bot", "*_bot", "bot-*"].map(str::to_owned).into()
}

/// Matches a login, ignoring case. Only `*` is special: in glob syntax, `[bot]` would be a set of letters.
fn matches_wildcard(pattern: &str, login: &str) -> bool {
    let (pattern, login) = (pattern.to_ascii_lowercase(), login.to_ascii_lowercase());
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == login };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(inner) = login.strip_prefix(start).and_then(|login| login.strip_suffix(end)) else { return false };
    let mut remaining = inner;
    middle.split('*').all(|part| {
        let found = remaining.find(part);
        remaining = found.map_or("", |at| &remaining[at + part.len()..]);
        found.is_some()
    })
}

impl Role {
    /// Creates a blocking role that reviews all files and posts as the viewer.
    pub fn new(name: impl Into<RoleName>) -> Self {
        Self {
            name: name.into(),
            identity: None,
            blocks: true,
            paths: Vec::new(),
            ad_hoc: false,
            free: false,
            inputs: None,
        }
    }

    /// Returns the account that posts for this role.
    pub fn identity_or<'a>(&'a self, viewer: &'a Login) -> &'a Login {
        self.identity.as_ref().unwrap_or(viewer)
    }
}
