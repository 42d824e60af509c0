//! What follows from a snapshot before any rule is asked: derived once, total, borrowed from the evidence.

mod asks;
mod bots;
mod fixing;
pub(crate) mod ledger;
pub(crate) mod people;
mod role;
mod work;

pub use asks::{Breadth, Glass, Said};
pub use bots::BotReview;
pub use fixing::{Assessment, FixPlan};
pub use ledger::Known;
pub use people::{PersonBlock, may_accept};
pub use role::{RoleFacts, Standing};
pub use work::{JobRecord, WorkFacts, known_issue_epoch};
pub(crate) use work::{is_ours, jobs_on_issue};

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
    pub said: Vec<Said<'a>>,
    /// Latest verdicts of people, and other bots, that still block.
    pub blocks: Vec<PersonBlock<'a>>,
    /// Somebody broke the glass at this change (D25).
    pub glass: Option<Glass<'a>>,
    /// Somebody paused referee here.
    pub paused: Option<&'a Author>,
    /// Workers that were started here.
    pub work: WorkFacts<'a>,
    /// Who speaks for referee: a handful, each once.
    own: Vec<&'a Login>,
}

impl<'a> Facts<'a> {
    /// Derives them.
    pub fn new(snapshot: &'a Snapshot, policy: &'a Policy) -> Self {
        let own = own(snapshot, policy);
        let said = asks::collect(snapshot, policy, &own);
        Self {
            roles: role::all(snapshot, policy),
            blocks: people::blocks(snapshot, policy, &own),
            glass: asks::glass(snapshot, &said),
            paused: asks::paused(&said),
            work: work::read(snapshot, policy, &own),
            said,
            own,
            snapshot,
            policy,
        }
    }

    /// Whether this login speaks for referee.
    pub fn is_own(&self, login: &Login) -> bool {
        self.own.contains(&login)
    }

    /// Whether that author speaks for referee.
    pub fn is_own_author(&self, author: &Author) -> bool {
        author.login.as_ref().is_some_and(|login| self.is_own(login))
    }

    /// The rounds used: the largest of the roles' (LOOP-2).
    pub fn round(&self) -> u32 {
        self.roles.iter().filter(|role| role.role.blocks).map(|role| role.rounds).max().unwrap_or(0)
    }

    /// The rounds allowed, with what the operator added since the last reopen.
    pub fn rounds_allowed(&self) -> u32 {
        self.policy.rounds.saturating_add(asks::extra_rounds(self.snapshot, &self.said))
    }

    /// The epoch of the operator comment (D13): reopens, and commands that answered the last one.
    pub fn operator_epoch(&self) -> u32 {
        asks::operator_epoch(self.snapshot, &self.said)
    }
}

fn own<'a>(snapshot: &'a Snapshot, policy: &'a Policy) -> Vec<&'a Login> {
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
