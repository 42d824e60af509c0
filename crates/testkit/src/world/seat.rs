//! A process at the forge: an identity, the tokens it holds, and whether it is still alive.

use std::collections::BTreeSet;

use referee_core::model::{Board, Completeness, Login, PullNumber, PullState, Sha, Span, Viewer};
use referee_core::plan::{Action, Delivery, Expect, Gate};
use referee_forge::{Claimed, Errand, Fetched, Forge, ForgeError, Performed, Permit, Purpose, Reader};

use super::World;
use super::effect::What;
use super::events::Opening;
use super::fetch::cut;
use super::state::State;
use crate::poll::step;

/// A process at the forge. All its futures are ready at once.
#[derive(Clone, Debug)]
pub struct Seat {
    pub(crate) world: World,
    pub(crate) id: u64,
    pub(crate) login: Login,
    pub(crate) holds: BTreeSet<Login>,
    pub(crate) pace: Pace,
}

/// Whether calls are done at once or one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    AtOnce,
    Stepwise,
}

impl Seat {
    /// Whose token reads.
    pub fn login(&self) -> &Login {
        &self.login
    }

    /// Whose tokens it holds, its own among them.
    pub fn held(&self) -> impl Iterator<Item = &Login> {
        self.holds.iter()
    }

    /// The world it sits at.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Its process ended in a `Fault::Crash`.
    pub fn is_gone(&self) -> bool {
        self.world.state().gone.contains(&self.id)
    }

    /// The same process at a fork of its world.
    #[must_use]
    pub fn at(&self, fork: &World) -> Self {
        Self { world: fork.clone(), ..self.clone() }
    }

    /// The same process, waiting before each call: what `interleave` needs.
    #[must_use]
    pub fn stepwise(&self) -> Self {
        Self { pace: Pace::Stepwise, ..self.clone() }
    }

    /// Does an action whose texts need no seal: what `perform` does, for tests of the world itself.
    pub fn act(
        &self,
        pull: PullNumber,
        by: &Login,
        action: &Action<String>,
        expect: &Expect,
    ) -> Result<Performed, ForgeError> {
        self.world.state().write(self.id, |state| {
            if !self.holds.contains(by) {
                return Err(ForgeError::Unauthenticated);
            }
            state.perform(pull, by, action, expect)
        })
    }

    async fn its_turn(&self) {
        if self.pace == Pace::Stepwise {
            step().await;
        }
    }

    fn read<T>(&self, run: impl FnOnce(&State) -> Result<T, ForgeError>) -> Result<T, ForgeError> {
        self.world.state().read(self.id, run)
    }
}

#[async_trait::async_trait]
impl Reader for Seat {
    async fn fetch(&self, pull: PullNumber) -> Result<Fetched, ForgeError> {
        self.its_turn().await;
        self.read(|state| {
            let mut fetched = state.seen().fetched(pull, &self.login, &self.holds, state.repo.now)?;
            if state.truncates() {
                cut(&mut fetched, 0);
                fetched.complete = Completeness::Truncated { what: "reviews".to_owned() };
            }
            Ok(fetched)
        })
    }

    async fn head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        self.its_turn().await;
        self.read(|state| Ok(state.seen().pull(pull)?.head.clone()))
    }

    async fn board(&self) -> Result<Board, ForgeError> {
        self.its_turn().await;
        self.read(|state| match state.truncates() {
            true => Err(ForgeError::Unreadable("the list ends early".to_owned())),
            false => {
                let viewer = Viewer { login: self.login.clone(), holds: self.holds.clone() };
                Ok(state.seen().board(state.repo.now, viewer))
            }
        })
    }
}

#[async_trait::async_trait]
impl Forge for Seat {
    async fn perform(&self, pull: PullNumber, errand: &Errand<'_>) -> Result<Performed, ForgeError> {
        self.its_turn().await;
        let action = errand.action.map(|sealed| sealed.as_str().to_owned());
        self.act(pull, errand.by, &action, errand.expect)
    }

    async fn claim(&self, pull: PullNumber, purpose: Purpose, ttl: Span) -> Result<Claimed, ForgeError> {
        self.its_turn().await;
        self.world.state().write_whole(self.id, |state| {
            let claimed = state.change(|repo| repo.claim(pull.0, &self.login, purpose, ttl))?;
            if let Claimed::Mine(epoch) = claimed {
                state.effect(&self.login, pull, What::Claimed { purpose, epoch });
            }
            Ok(claimed)
        })
    }

    async fn release(&self, pull: PullNumber, purpose: Purpose, epoch: u64) -> Result<(), ForgeError> {
        self.its_turn().await;
        self.world.state().write_whole(self.id, |state| {
            if state.change(|repo| repo.release(pull.0, &self.login, purpose, epoch))? {
                state.effect(&self.login, pull, What::Released { purpose });
            }
            Ok(())
        })
    }

    async fn open_pull(&self, delivery: &Delivery, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.its_turn().await;
        let Delivery::OpenPull { branch, commit, title, body: _, epoch: _ } = delivery else {
            return Err(ForgeError::Unsupported("open a pull for a push".to_owned()));
        };
        if permit.gate() != Gate::Work {
            return Err(ForgeError::Forbidden("open pulls".to_owned()));
        }
        self.world.state().write_whole(self.id, |state| {
            let open = |repo: &super::rows::Repo| {
                repo.pulls
                    .values()
                    .find(|pull| pull.branch == *branch && pull.state == PullState::Open)
                    .map(|p| p.number)
            };
            if let Some(number) = open(state.seen()) {
                return Ok(number);
            }
            if !state.repo.commits.contains_key(commit) {
                return Err(ForgeError::Refused("there is no such commit".to_owned()));
            }
            let number = state.change(|repo| {
                repo.branches.insert(branch.clone(), commit.clone());
                repo.open(&Opening { by: &self.login, branch, title: title.as_str(), from_fork: false })
            })?;
            state.effect(&self.login, number, What::PullOpened { branch: branch.clone() });
            Ok(number)
        })
    }
}
