//! Actions of people on a world. An action that the forge refuses panics: a script that cannot happen is wrong.

mod branch;
mod metadata;
mod reviews;

use std::fmt::Display;

use referee_core::model::{Login, PullNumber, Sha};

use crate::world::{StoredRepo, World};

/// A factory for people who act on the newest pull, or on a given one.
#[derive(Clone, Debug)]
pub struct WorldPeople {
    world: World,
    pull: Option<PullNumber>,
}

/// A person who acts on a pull.
#[derive(Clone, Debug)]
pub struct WorldPerson {
    world: World,
    login: Login,
    pull: Option<PullNumber>,
}

impl World {
    /// Returns people who act on the newest pull.
    pub fn people(&self) -> WorldPeople {
        WorldPeople { world: self.clone(), pull: None }
    }
}

impl WorldPeople {
    /// Returns people who act on the given pull.
    #[must_use]
    pub fn on(&self, pull: PullNumber) -> Self {
        Self { world: self.world.clone(), pull: Some(pull) }
    }

    /// Returns the person of that name. A name that was never admitted may read and comment.
    pub fn as_(&self, login: &str) -> WorldPerson {
        WorldPerson { world: self.world.clone(), login: Login::from(login), pull: self.pull }
    }
}

impl WorldPerson {
    pub fn login(&self) -> &Login {
        &self.login
    }

    /// Returns the same person, acting on another pull.
    #[must_use]
    pub fn on(&self, pull: PullNumber) -> Self {
        Self { pull: Some(pull), ..self.clone() }
    }

    #[track_caller]
    pub fn pull(&self) -> PullNumber {
        self.expect_ok("find a pull", self.pull.or_else(|| self.world.newest_pull()).ok_or("the repository has none"))
    }

    /// Returns the head of their pull.
    #[track_caller]
    pub fn head(&self) -> Sha {
        let pull = self.pull();
        self.expect_ok(
            "read the head",
            self.world.with_repo(|repo| Ok::<_, referee_forge::ForgeError>(repo.pull(pull)?.head.clone())),
        )
    }

    #[track_caller]
    fn act<T, E: Display>(&self, what: &str, run: impl FnOnce(&mut StoredRepo, PullNumber) -> Result<T, E>) -> T {
        let pull = self.pull();
        self.expect_ok(what, self.world.tick_and_change(|repo| run(repo, pull)))
    }

    #[track_caller]
    fn expect_ok<T, E: Display>(&self, what: &str, result: Result<T, E>) -> T {
        match result {
            Ok(value) => value,
            Err(error) => panic!("{} cannot {what}: {error}", self.login),
        }
    }
}
