//! A client of the world: an identity, the tokens it holds, and whether its process is alive.

use std::collections::BTreeSet;

use referee_core::model::{Board, Capabilities, Completeness, Login, PullNumber, PullState, Sha, Span, Viewer};
use referee_core::plan::{Action, Delivery, Gate, Precondition};
use referee_forge::{
    ActionRequest, ClaimOutcome, ClaimPurpose, FetchedPull, Forge, ForgeError, ForgeInfo, ForgeKind, PerformOutcome,
    Permit, Reader, Reuse,
};

use super::World;
use super::effect::EffectKind;
use super::events::NewPull;
use super::fetch::truncate_lists;
use super::state::WorldState;
use crate::poll::yield_once;

/// A client of the world. Its futures complete on the first poll.
#[derive(Clone, Debug)]
pub struct WorldClient {
    pub(crate) world: World,
    pub(crate) id: u64,
    pub(crate) login: Login,
    pub(crate) holds: BTreeSet<Login>,
    pub(crate) pace: CallPace,
}

/// Whether a call completes at once or yields first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallPace {
    AtOnce,
    Stepwise,
}

impl WorldClient {
    /// Returns the login whose token reads.
    pub fn login(&self) -> &Login {
        &self.login
    }

    /// Returns the logins whose tokens it holds, including its own.
    pub fn held_logins(&self) -> impl Iterator<Item = &Login> {
        self.holds.iter()
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    /// Returns whether its process ended in a `CallFault::Crash`.
    pub fn has_crashed(&self) -> bool {
        self.world.state().crashed_clients.contains(&self.id)
    }

    /// Returns the same client on a fork of its world.
    #[must_use]
    pub fn on_fork(&self, fork: &World) -> Self {
        Self { world: fork.clone(), ..self.clone() }
    }

    /// Returns the same client, yielding once before each call, as `interleave` needs.
    #[must_use]
    pub fn stepwise(&self) -> Self {
        Self { pace: CallPace::Stepwise, ..self.clone() }
    }

    /// Performs an action with plain texts, for tests of the world itself.
    pub fn perform_unsealed(
        &self,
        pull: PullNumber,
        by: &Login,
        action: &Action<String>,
        expect: &Precondition,
    ) -> Result<PerformOutcome, ForgeError> {
        self.world.state().write(self.id, |state| {
            if !self.holds.contains(by) {
                return Err(ForgeError::Unauthenticated);
            }
            state.perform(pull, by, action, expect)
        })
    }

    async fn await_turn(&self) {
        if self.pace == CallPace::Stepwise {
            yield_once().await;
        }
    }

    fn read<T>(&self, run: impl FnOnce(&WorldState) -> Result<T, ForgeError>) -> Result<T, ForgeError> {
        self.world.state().read(self.id, run)
    }
}

#[async_trait::async_trait]
impl Reader for WorldClient {
    fn info(&self) -> ForgeInfo {
        let others = self.holds.iter().filter(|held| **held != self.login).cloned();
        ForgeInfo {
            kind: ForgeKind::Local,
            version: String::new(),
            login: self.login.clone(),
            held_logins: std::iter::once(self.login.clone()).chain(others).collect(),
            capabilities: Capabilities::default(),
            cache_scope: format!("world/{}", self.login),
        }
    }

    async fn fetch_reusing(&self, pull: PullNumber, _: Reuse<'_>) -> Result<FetchedPull, ForgeError> {
        self.await_turn().await;
        self.read(|state| {
            let mut fetched = state.readable_repo().fetch_pull(pull, &self.login, &self.holds, state.repo.now)?;
            if state.is_truncated() {
                truncate_lists(&mut fetched, 0);
                fetched.complete = Completeness::truncated("reviews");
            }
            Ok(fetched)
        })
    }

    async fn fetch_head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        self.await_turn().await;
        self.read(|state| Ok(state.readable_repo().pull(pull)?.head.clone()))
    }

    async fn fetch_board(&self) -> Result<Board, ForgeError> {
        self.await_turn().await;
        self.read(|state| match state.is_truncated() {
            true => Err(ForgeError::Unreadable("the list ends early".to_owned())),
            false => {
                let viewer = Viewer { login: self.login.clone(), holds: self.holds.clone() };
                Ok(state.readable_repo().build_board(state.repo.now, viewer))
            }
        })
    }
}

#[async_trait::async_trait]
impl Forge for WorldClient {
    async fn perform(&self, pull: PullNumber, request: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError> {
        self.await_turn().await;
        let action = request.action.map_text(|sealed| sealed.as_str().to_owned());
        self.perform_unsealed(pull, request.by, &action, request.expect)
    }

    async fn acquire_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError> {
        self.await_turn().await;
        self.world.state().write_atomically(self.id, |state| {
            let claimed = state.change(|repo| repo.claim(pull.0, &self.login, purpose, ttl))?;
            if let ClaimOutcome::Acquired(epoch) = claimed {
                state.record_effect(&self.login, pull, EffectKind::Claimed { purpose, epoch });
            }
            Ok(claimed)
        })
    }

    async fn release_claim(&self, pull: PullNumber, purpose: ClaimPurpose, epoch: u64) -> Result<(), ForgeError> {
        self.await_turn().await;
        self.world.state().write_atomically(self.id, |state| {
            state.change(|repo| repo.release(pull.0, &self.login, purpose, epoch))?;
            state.record_effect(&self.login, pull, EffectKind::Released { purpose });
            Ok(())
        })
    }

    async fn open_pull(&self, delivery: &Delivery, by: &Login, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.await_turn().await;
        let Delivery::OpenPull { branch, commit, title, body: _, epoch: _ } = delivery else {
            return Err(ForgeError::Unsupported("open a pull for a push".to_owned()));
        };
        if permit.gate() != Gate::Work {
            return Err(ForgeError::Forbidden("open pulls".to_owned()));
        }
        if !self.holds.contains(by) {
            return Err(ForgeError::Unauthenticated);
        }
        self.world.state().write_atomically(self.id, |state| {
            let find_open = |repo: &super::rows::StoredRepo| {
                repo.pulls
                    .values()
                    .find(|pull| pull.branch == *branch && pull.state == PullState::Open)
                    .map(|pull| pull.number)
            };
            if let Some(number) = find_open(state.readable_repo()) {
                return Ok(number);
            }
            if !state.repo.commits.contains_key(commit) {
                return Err(ForgeError::Refused("the commit does not exist".to_owned()));
            }
            let number = state.change(|repo| {
                repo.branches.insert(branch.clone(), commit.clone());
                repo.open_pull(&NewPull { by, branch, title: title.as_str(), from_fork: false })
            })?;
            state.record_effect(by, number, EffectKind::PullOpened { branch: branch.clone() });
            Ok(number)
        })
    }
}
