//! Sets a play up: who is there, what the pull changes, which roles read it.

use std::collections::BTreeMap;

use referee_core::model::{Access, Login, RoleName};
use referee_core::policy::{ApprovalMode, Policy, Role};
use referee_turn::PublishMode;

use super::{AuthorBehaviour, BystanderBehaviour, ReviewerBehaviour, SimulatedAuthor, Simulation, bot_login};
use crate::world::{Quirks, World};

/// Who is there, before it begins.
#[derive(Clone, Debug)]
pub struct SimulationSetup {
    /// What the forge is like.
    pub quirks: Quirks,
    /// Each role with its reviewer, and whether it has an identity of its own.
    pub roles: Vec<(ReviewerBehaviour, RoleIdentity)>,
    /// What the author does.
    pub author: AuthorBehaviour,
    /// How often at most.
    pub max_actions: u32,
    /// What people do.
    pub bystander: BystanderBehaviour,
    /// How approvals are posted.
    pub approve: ApprovalMode,
    /// What the pull adds.
    pub file_text: &'static str,
    /// Each identity's roles in a process of their own.
    pub process_per_identity: bool,
}

/// Who speaks for a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoleIdentity {
    /// The one that the others share.
    Shared,
    /// One of its own.
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
    /// Opens the pull and seats everybody.
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
            let own = Login(format!("{name}-bot"));
            policy.roles.push(Role {
                name: RoleName::from(name),
                identity: (*identity == RoleIdentity::Own).then_some(own),
                blocks: true,
                paths: Vec::new(),
                ad_hoc: false,
            });
            reviewers.insert(RoleName::from(name), *reviewer);
        }
        let logins: Vec<Login> =
            policy.roles.iter().map(|role| role.identity.clone().unwrap_or_else(bot_login)).collect();
        let seats = if self.process_per_identity {
            let mut own: Vec<Login> = Vec::new();
            for login in logins.iter().filter(|login| **login != bot_login()) {
                own.push(login.clone());
            }
            let mut seats = vec![world.client_with_tokens(&bot_login(), &[])];
            seats.extend(own.iter().map(|login| world.client_with_tokens(&bot_login(), std::slice::from_ref(login))));
            seats
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
            clients: seats,
            publishing: PublishMode::SingleWriter,
            records: Vec::new(),
        }
    }
}
