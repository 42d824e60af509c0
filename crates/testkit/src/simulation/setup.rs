//! The setup of a simulation: its people, the pull, and the roles that review it.

use std::collections::BTreeMap;

use referee_core::model::{Access, Login, RoleName};
use referee_core::policy::{ApprovalMode, Policy, Role};
use referee_turn::PublishMode;

use super::{AuthorBehaviour, BystanderBehaviour, ReviewerBehaviour, SimulatedAuthor, Simulation, bot_login};
use crate::world::{Quirks, World};

/// The parameters of a simulation.
#[derive(Clone, Debug)]
pub struct SimulationSetup {
    /// The behaviour of the forge.
    pub quirks: Quirks,
    /// One reviewer per role, and whether the role has its own identity.
    pub roles: Vec<(ReviewerBehaviour, RoleIdentity)>,
    pub author: AuthorBehaviour,
    /// The maximum number of actions of the author.
    pub max_actions: u32,
    pub bystander: BystanderBehaviour,
    pub approve: ApprovalMode,
    /// The text of the file that the pull adds.
    pub file_text: &'static str,
    /// Whether each identity runs in its own process.
    pub process_per_identity: bool,
}

/// The identity that posts for a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleIdentity {
    /// The bot that all shared roles use.
    Shared,
    /// A login of the role alone.
    Own,
}

impl Default for SimulationSetup {
    fn default() -> Self {
        Self {
            quirks: Quirks::gitea_like(),
            roles: vec![(ReviewerBehaviour::Honest, RoleIdentity::Shared)],
            author: AuthorBehaviour::Fixes,
            max_actions: 6,
            bystander: BystanderBehaviour::Nobody,
            approve: ApprovalMode::Lift,
            file_text: "fn a() {}\n// BUG one\nfn b() {}\n// RISK two\nfn c() {}\n// NIT three\nfn d() {}\n",
            process_per_identity: false,
        }
    }
}

impl SimulationSetup {
    /// Creates the world, opens the pull and connects the clients.
    pub fn build(&self) -> Simulation {
        let world = World::new(self.quirks.clone());
        for (name, access) in
            [("alice", Access::Write), ("bob", Access::Write), ("carol", Access::Write), ("mallory", Access::Read)]
        {
            world.admit(name, access);
        }
        let names = ["security", "static", "style"];
        let mut policy = Policy { approve: self.approve, operator: Some(Login::from("carol")), ..Policy::default() };
        policy.ci_required = false;
        let mut reviewers = BTreeMap::new();
        for ((reviewer, identity), name) in self.roles.iter().zip(names) {
            let own_login = Login(format!("{name}-bot"));
            policy
                .roles
                .push(Role { identity: (*identity == RoleIdentity::Own).then_some(own_login), ..Role::new(name) });
            reviewers.insert(RoleName::from(name), *reviewer);
        }
        let logins: Vec<Login> =
            policy.roles.iter().map(|role| role.identity.clone().unwrap_or_else(bot_login)).collect();
        let clients = if self.process_per_identity {
            let mut own_logins: Vec<Login> = Vec::new();
            for login in logins.iter().filter(|login| **login != bot_login()) {
                own_logins.push(login.clone());
            }
            let mut clients = vec![world.client_with_tokens(&bot_login(), &[])];
            clients.extend(
                own_logins.iter().map(|login| world.client_with_tokens(&bot_login(), std::slice::from_ref(login))),
            );
            clients
        } else {
            vec![world.client_with_tokens(&bot_login(), &logins)]
        };
        let pull = world
            .people()
            .as_("alice")
            .open_pull("feature", &[("src/a.rs", self.file_text), ("src/b.rs", "fn z() {}\n")]);
        let _ = world.take_effects();
        Simulation {
            world,
            pull,
            policy,
            reviewers,
            author: SimulatedAuthor::new(self.author, self.max_actions),
            bystander: self.bystander,
            clients,
            publishing: PublishMode::SingleWriter,
            records: Vec::new(),
        }
    }
}
