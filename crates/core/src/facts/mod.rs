//! Values derived from a snapshot before any rule is applied. They are computed once, cannot fail, and borrow from it.

mod bots;
mod commands;
mod completeness;
mod fixing;
pub(crate) mod known_finding;
pub(crate) mod people;
mod role;
mod work;

pub use bots::BotReview;
pub(crate) use commands::is_permitted;
pub use commands::{BreakGlass, UserCommand};
pub use completeness::judge_completeness;
pub use fixing::{FixPlanComment, SelfReviewOutcome};
pub use known_finding::KnownFinding;
pub use people::{ExternalBlock, may_accept};
pub use role::{RoleFacts, StandingReview};
pub use work::{JobRecord, WorkFacts, highest_issue_epoch};
pub(crate) use work::{is_own_or_worker, jobs_on_issue};

use crate::model::{Author, Login, Snapshot};
use crate::policy::Policy;

/// Values derived from a snapshot and a policy.
#[derive(Debug)]
pub struct Facts<'a> {
    pub snapshot: &'a Snapshot,
    pub policy: &'a Policy,
    /// Each role of the policy, and each ad hoc role that submitted a report.
    pub roles: Vec<RoleFacts<'a>>,
    /// Commands of people, oldest first.
    pub commands: Vec<UserCommand<'a>>,
    /// The latest verdicts of people and other bots that still block.
    pub external_blocks: Vec<ExternalBlock<'a>>,
    /// Break-glass at this change (D25).
    pub break_glass: Option<BreakGlass<'a>>,
    /// The person who paused referee on this pull.
    pub paused_by: Option<&'a Author>,
    /// Rounds of other programs that review here (D32).
    pub program_rounds: u32,
    /// Jobs that were started on this pull.
    pub work: WorkFacts<'a>,
    /// The logins that referee uses, each once.
    own_logins: Vec<&'a Login>,
}

impl<'a> Facts<'a> {
    pub fn new(snapshot: &'a Snapshot, policy: &'a Policy) -> Self {
        let own = collect_own_logins(snapshot, policy);
        let commands = commands::collect_commands(snapshot, policy, &own);
        Self {
            roles: role::collect_role_facts(snapshot, policy),
            external_blocks: people::find_external_blocks(snapshot, policy, &own),
            program_rounds: bots::count_program_rounds(snapshot, policy, &own),
            break_glass: commands::find_break_glass(snapshot, &commands),
            paused_by: commands::find_pauser(snapshot, &commands, &own),
            work: work::read_work_facts(snapshot, policy, &own),
            commands,
            own_logins: own,
            snapshot,
            policy,
        }
    }

    /// Returns whether referee uses this login.
    pub fn is_own_login(&self, login: &Login) -> bool {
        self.own_logins.contains(&login)
    }

    /// Returns whether referee uses this author's login.
    pub fn is_own_author(&self, author: &Author) -> bool {
        author.login.as_ref().is_some_and(|login| self.is_own_login(login))
    }

    /// Returns the rounds allowed, counting those that the operator added since the last reopen.
    pub fn rounds_allowed(&self) -> u32 {
        self.policy.rounds.saturating_add(commands::count_extra_rounds(self.snapshot, &self.commands))
    }

    /// Returns the epoch of the operator comment (D13): the number of reopens, and of commands that answered it.
    pub fn operator_epoch(&self) -> u32 {
        commands::compute_operator_epoch(self.snapshot, &self.commands)
    }
}

fn collect_own_logins<'a>(snapshot: &'a Snapshot, policy: &'a Policy) -> Vec<&'a Login> {
    let viewer = &snapshot.viewer;
    let roles = policy.roles.iter().map(|role| role::find_identity(snapshot, policy, role));
    let mut own = Vec::with_capacity(1 + viewer.holds.len() + policy.roles.len());
    for login in std::iter::once(&viewer.login).chain(&viewer.holds).chain(roles) {
        if !own.contains(&login) {
            own.push(login);
        }
    }
    own
}
