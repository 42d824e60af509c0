//! An in-memory forge: stateful, deterministic, cheap to fork, with the quirks of real forges as switches.
//!
//! Three layers: `posts` and `events` hold the rules of the forge, quirks included; people act on them directly
//! (`person`). `perform` holds the behaviour of a correct adapter. `state` holds the infrastructure around both: the
//! clock, faults, lagging reads, effects.

mod claim;
mod client;
mod comments;
mod commits;
mod describe;
mod effect;
mod events;
mod fault;
mod fetch;
mod perform;
mod posts;
mod quirks;
mod rows;
mod rules;
mod state;
mod timeline;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use referee_core::model::{Access, Login, PullNumber, Sha, Span, Time};
use referee_forge::ForgeError;

use client::CallPace;
pub use client::WorldClient;
pub use commits::FileTree;
pub(crate) use commits::nth_line;
pub use effect::{Effect, EffectKind};
pub(crate) use events::{NewPull, PushKind, add_label};
pub use fault::{CallFault, FaultAt, SentPart};
pub use fetch::RawReview;
pub(crate) use posts::{FailedPost, NewInlineComment, NewReview};
pub use quirks::{BadLines, Quirks, ReplyMode};
pub(crate) use rows::{
    StoredComment, StoredIssue, StoredNote, StoredPull, StoredRepo, StoredReview, StoredStatus, StoredThread,
    StoredUser,
};
pub use rules::ApprovalTally;
pub use state::CallCounts;
pub(crate) use state::WorldState;
pub(crate) use state::{RequestKind, WireOutcome};

pub(crate) use timeline::{EventKind, TimelineEvent};

/// An in-memory forge. Clones are handles to the same forge; `fork` creates another one.
#[derive(Clone, Debug)]
pub struct World {
    shared: Arc<SharedState>,
}

#[derive(Debug)]
struct SharedState(Mutex<WorldState>);

impl World {
    /// Creates an empty repository on a forge with these quirks.
    pub fn new(quirks: Quirks) -> Self {
        Self::from_state(WorldState::new(quirks))
    }

    /// Creates another forge in the same state, without effects. `WorldClient::on_fork` moves a client to it.
    #[must_use]
    pub fn fork(&self) -> Self {
        let mut state = self.state().clone();
        state.effects.clear();
        Self::from_state(state)
    }

    /// Connects a client for `login` that also holds the tokens of `holds`. An unknown login becomes a bot with write access.
    pub fn client_with_tokens(&self, login: &Login, holds: &[Login]) -> WorldClient {
        let mut state = self.state();
        let holds: BTreeSet<Login> = holds.iter().chain([login]).cloned().collect();
        for login in &holds {
            let bot = StoredUser { access: Access::Write, bot: true, deleted: false };
            state.repo.users.entry(login.clone()).or_insert(bot);
        }
        state.client_count += 1;
        WorldClient { world: self.clone(), id: state.client_count, login: login.clone(), holds, pace: CallPace::AtOnce }
    }

    /// Connects a client that holds only the token of `login`.
    pub fn client(&self, login: &str) -> WorldClient {
        self.client_with_tokens(&Login::from(login), &[])
    }

    /// Creates a person with that access. People who were never admitted may read.
    pub fn admit(&self, login: &str, access: Access) {
        let user = StoredUser { access, bot: false, deleted: false };
        self.state().repo.users.insert(Login::from(login), user);
    }

    /// Creates a bot with that access.
    pub fn admit_bot(&self, login: &str, access: Access) {
        let user = StoredUser { access, bot: true, deleted: false };
        self.state().repo.users.insert(Login::from(login), user);
    }

    /// Restarts a crashed client.
    pub fn restart_client(&self, client: &WorldClient) {
        self.state().crashed_clients.remove(&client.id);
    }

    /// Revokes the token of a client.
    pub fn revoke_token(&self, client: &WorldClient) {
        self.state().revoked_clients.insert(client.id);
    }

    /// Creates labels in the repository. Labels that people add are created implicitly.
    pub fn create_labels(&self, names: &[&str]) {
        let mut state = self.state();
        names.iter().for_each(|name| state.repo.create_label(name));
    }

    /// Sets the ids of the next commits, to match those of a real repository.
    pub fn queue_commit_ids(&self, names: impl IntoIterator<Item = Sha>) {
        self.state().repo.next_commit_ids.extend(names);
    }

    /// Schedules a fault, counted from this call on.
    pub fn inject_fault(&self, at: FaultAt, fault: CallFault) {
        self.state().faults.add(at, fault);
    }

    /// Returns the faults that occurred.
    pub fn fired_faults(&self) -> Vec<CallFault> {
        self.state().faults.fired().to_vec()
    }

    /// Advances the clock; lagging reads catch up.
    pub fn wait(&self, span: Span) {
        self.state().wait(span);
    }

    /// Returns the forge's clock.
    pub fn now(&self) -> Time {
        self.state().repo.now
    }

    /// Changes the quirks from now on.
    pub fn change_quirks(&self, change: impl FnOnce(&mut Quirks)) {
        change(&mut self.state().repo.quirks);
    }

    /// Returns and clears the effects, oldest first. Effects that are never taken fail the test.
    pub fn take_effects(&self) -> Vec<Effect> {
        std::mem::take(&mut self.state().effects)
    }

    /// Asserts that all effects were taken. Dropping the last handle asserts it too.
    ///
    /// # Panics
    ///
    /// Panics if effects remain.
    #[track_caller]
    pub fn assert_no_effects_left(&self) {
        let remaining = self.take_effects();
        assert!(remaining.is_empty(), "unchecked effects: {}", describe_effects(&remaining));
    }

    /// Returns the number of calls so far.
    pub fn calls(&self) -> CallCounts {
        self.state().calls
    }

    /// Returns whose verdicts count on a pull, by the rules of the forge.
    pub fn decision(&self, pull: PullNumber) -> ApprovalTally {
        let state = self.state();
        state.repo.pull(pull).map(|row| state.repo.decision(row)).unwrap_or_default()
    }

    /// Returns the list of reviews as the forge's API returns it to `viewer`.
    pub fn raw_review_list(&self, pull: PullNumber, viewer: &Login) -> Result<Vec<RawReview>, ForgeError> {
        self.state().repo.raw_reviews(pull, viewer)
    }

    /// Describes a pull without ids and times, so that equivalent states compare equal.
    pub fn describe_pull(&self, pull: PullNumber) -> String {
        let state = self.state();
        state.repo.pull(pull).map(|row| state.repo.describe_pull(row)).unwrap_or_default()
    }

    pub fn newest_pull(&self) -> Option<PullNumber> {
        self.state().repo.pulls.keys().next_back().copied()
    }

    pub fn has_commit(&self, commit: &Sha) -> bool {
        self.state().repo.commits.contains_key(commit)
    }

    /// Returns the files of a commit; empty for an unknown one.
    pub fn tree(&self, commit: &Sha) -> FileTree {
        self.state().repo.tree(commit)
    }

    pub fn merge_base(&self, one: &Sha, other: &Sha) -> Option<Sha> {
        self.state().repo.merge_base(one, other)
    }

    /// Returns whether `commit` is `head` or an ancestor of it.
    pub fn has_ancestor(&self, head: &Sha, commit: &Sha) -> bool {
        self.state().repo.ancestry(head).contains(commit)
    }

    /// Performs one action of a person: advances the clock by a second and applies the forge's rules.
    pub(crate) fn tick_and_change<T>(&self, run: impl FnOnce(&mut StoredRepo) -> T) -> T {
        let mut state = self.state();
        state.tick();
        state.change(run)
    }

    /// Reads the repository without a call.
    pub(crate) fn with_repo<T>(&self, run: impl FnOnce(&StoredRepo) -> T) -> T {
        run(&self.state().repo)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, WorldState> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn from_state(state: WorldState) -> Self {
        Self { shared: Arc::new(SharedState(Mutex::new(state))) }
    }
}

impl Drop for SharedState {
    fn drop(&mut self) {
        let state = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        // A test that is already panicking must report its own failure.
        if !std::thread::panicking() {
            assert!(state.effects.is_empty(), "unchecked effects: {}", describe_effects(&state.effects));
        }
    }
}

fn describe_effects(effects: &[Effect]) -> String {
    effects.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
