//! Sets a play up: who is there, what the pull changes, which roles read it.

use std::collections::BTreeMap;

use referee_core::model::{Access, Login, RoleName};
use referee_core::policy::{Approve, Policy, Role};
use referee_turn::Publishing;

use super::{Author, Kind, People, Play, Reviewer, bot};
use crate::world::{Quirks, World};

/// Who is there, before it begins.
#[derive(Clone, Debug)]
pub struct Stage {
    /// What the forge is like.
    pub quirks: Quirks,
    /// Each role with its reviewer, and whether it has an identity of its own.
    pub roles: Vec<(Reviewer, Identity)>,
    /// What the author does.
    pub author: Kind,
    /// How often at most.
    pub deeds: u32,
    /// What people do.
    pub people: People,
    /// How approvals are posted.
    pub approve: Approve,
    /// What the pull adds.
    pub text: &'static str,
    /// Each identity's roles in a process of their own.
    pub matrix: bool,
}

/// Who speaks for a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The one that the others share.
    Shared,
    /// One of its own.
    Own,
}

impl Default for Stage {
    fn default() -> Self {
        Self {
            quirks: Quirks::gitea_like(),
            roles: vec![(Reviewer::Honest, Identity::Shared)],
            author: Kind::Fixes,
            deeds: 6,
            people: People::Nobody,
            approve: Approve::Lift,
            text: "fn a() {}\n// BUG one\nfn b() {}\n// RISK two\nfn c() {}\n// NIT three\nfn d() {}\n",
            matrix: false,
        }
    }
}

impl Stage {
    /// Opens the pull and seats everybody.
    pub fn play(&self) -> Play {
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
                identity: (*identity == Identity::Own).then_some(own),
                blocks: true,
                paths: Vec::new(),
                ad_hoc: false,
            });
            reviewers.insert(RoleName::from(name), *reviewer);
        }
        let logins: Vec<Login> = policy.roles.iter().map(|role| role.identity.clone().unwrap_or_else(bot)).collect();
        let seats = if self.matrix {
            let mut own: Vec<Login> = Vec::new();
            for login in logins.iter().filter(|login| **login != bot()) {
                own.push(login.clone());
            }
            let mut seats = vec![world.as_user(&bot(), &[])];
            seats.extend(own.iter().map(|login| world.as_user(&bot(), std::slice::from_ref(login))));
            seats
        } else {
            vec![world.as_user(&bot(), &logins)]
        };
        let pull = world.hand().as_("alice").open("feature", &[("src/a.rs", self.text), ("src/b.rs", "fn z() {}\n")]);
        let _ = world.effects();
        Play {
            world,
            pull,
            policy,
            reviewers,
            author: Author::new(self.author, self.deeds),
            people: self.people,
            seats,
            publishing: Publishing::Alone,
            told: Vec::new(),
        }
    }
}
