//! What follows from a snapshot before any rule is asked: derived once, total, borrowed from the evidence.

mod bots;
mod commands;
mod fixing;
pub(crate) mod known_finding;
pub(crate) mod people;
mod role;
mod work;

pub use bots::BotReview;
pub use commands::{BreakGlass, UserCommand};
pub use fixing::{FixPlanComment, SelfReviewOutcome};
pub use known_finding::KnownFinding;
pub use people::{ExternalBlock, may_accept};
pub use role::{RoleFacts, StandingReview};
pub use work::{JobRecord, WorkFacts, highest_issue_epoch};
pub(crate) use work::{is_own_or_worker, jobs_on_issue};

use crate::model::{Author, Login, Snapshot};
use crate::policy::Policy;

/// What follows from a snapshot and a policy.
#[derive(Debug)]
pub struct Facts<'a> {
    /// What it follows from.
    pub snapshot: &'a Snapshot,
    /// By which rules.
    pub policy: &'a Policy,
    /// Each role of the policy, and each ad hoc one that handed in a report.
    pub roles: Vec<RoleFacts<'a>>,
    /// People's commands that count, oldest first.
    pub commands: Vec<UserCommand<'a>>,
    /// Latest verdicts of people, and other bots, that still block.
    pub external_blocks: Vec<ExternalBlock<'a>>,
    /// Somebody broke the glass at this change (D25).
    pub break_glass: Option<BreakGlass<'a>>,
    /// Somebody paused referee here.
    pub paused_by: Option<&'a Author>,
    /// Workers that were started here.
    pub work: WorkFacts<'a>,
    /// Who speaks for referee: a handful, each once.
    own_logins: Vec<&'a Login>,
}

impl<'a> Facts<'a> {
    /// Derives them.
    pub fn new(snapshot: &'a Snapshot, policy: &'a Policy) -> Self {
        let own = collect_own_logins(snapshot, policy);
        let said = commands::collect_commands(snapshot, policy, &own);
        Self {
            roles: role::collect_role_facts(snapshot, policy),
            external_blocks: people::find_external_blocks(snapshot, policy, &own),
            break_glass: commands::find_break_glass(snapshot, &said),
            paused_by: commands::find_pauser(&said),
            work: work::read_work_facts(snapshot, policy, &own),
            commands: said,
            own_logins: own,
            snapshot,
            policy,
        }
    }

    /// Whether this login speaks for referee.
    pub fn is_own_login(&self, login: &Login) -> bool {
        self.own_logins.contains(&login)
    }

    /// Whether that author speaks for referee.
    pub fn is_own_author(&self, author: &Author) -> bool {
        author.login.as_ref().is_some_and(|login| self.is_own_login(login))
    }

    /// The rounds used: the largest of the roles' (LOOP-2).
    pub fn rounds_used(&self) -> u32 {
        self.roles.iter().filter(|role| role.role.blocks).map(|role| role.rounds_used).max().unwrap_or(0)
    }

    /// The rounds allowed, with what the operator added since the last reopen.
    pub fn rounds_allowed(&self) -> u32 {
        self.policy.rounds.saturating_add(commands::count_extra_rounds(self.snapshot, &self.commands))
    }

    /// The epoch of the operator comment (D13): reopens, and commands that answered the last one.
    pub fn operator_epoch(&self) -> u32 {
        commands::compute_operator_epoch(self.snapshot, &self.commands)
    }
}

fn collect_own_logins<'a>(snapshot: &'a Snapshot, policy: &'a Policy) -> Vec<&'a Login> {
    let viewer = &snapshot.viewer;
    let roles = policy.roles.iter().filter_map(|role| role.identity.as_ref());
    let mut own = Vec::with_capacity(1 + viewer.holds.len() + policy.roles.len());
    for login in std::iter::once(&viewer.login).chain(&viewer.holds).chain(roles) {
        if !own.contains(&login) {
            own.push(login);
        }
    }
    own
}
