//! A forge in memory: stateful, deterministic, cheap to fork, with the quirks of real forges as switches.
//!
//! Three layers. `posts` and `events` are the forge's own rules, surprising ones included; people act on them
//! directly (`hand`). `perform` is what a good adapter makes of them. `state` is the machinery around both: the
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

/// A forge in memory. Clones are handles to the same forge; `fork` makes another one.
#[derive(Clone, Debug)]
pub struct World {
    shared: Arc<SharedState>,
}

#[derive(Debug)]
struct SharedState(Mutex<WorldState>);

impl World {
    /// An empty repository on a forge with these quirks.
    pub fn new(quirks: Quirks) -> Self {
        Self::from_state(WorldState::new(quirks))
    }

    /// Another forge in the same state, with nothing in its log of effects. Seats move by `Seat::at`.
    #[must_use]
    pub fn fork(&self) -> Self {
        let mut state = self.state().clone();
        state.effects.clear();
        Self::from_state(state)
    }

    /// A process of `login` that also holds the tokens of `holds`. An unknown login becomes a bot that may write.
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

    /// A process of `login` alone.
    pub fn client(&self, login: &str) -> WorldClient {
        self.client_with_tokens(&Login::from(login), &[])
    }

    /// Gives a person that access. People nobody admitted may read.
    pub fn admit(&self, login: &str, access: Access) {
        let user = StoredUser { access, bot: false, deleted: false };
        self.state().repo.users.insert(Login::from(login), user);
    }

    /// Gives a bot that access.
    pub fn admit_bot(&self, login: &str, access: Access) {
        let user = StoredUser { access, bot: true, deleted: false };
        self.state().repo.users.insert(Login::from(login), user);
    }

    /// Lets a crashed process start again.
    pub fn restart_client(&self, seat: &WorldClient) {
        self.state().crashed_clients.remove(&seat.id);
    }

    /// No longer takes a process's token.
    pub fn revoke_token(&self, seat: &WorldClient) {
        self.state().revoked_clients.insert(seat.id);
    }

    /// Makes labels that can be put on. Those that people put on are made by that.
    pub fn create_labels(&self, names: &[&str]) {
        let mut state = self.state();
        names.iter().for_each(|name| state.repo.create_label(name));
    }

    /// Gives the next commits these names, those of a real repository.
    pub fn queue_commit_ids(&self, names: impl IntoIterator<Item = Sha>) {
        self.state().repo.next_commit_ids.extend(names);
    }

    /// Lets something go wrong, counted from now.
    pub fn inject_fault(&self, at: FaultAt, fault: CallFault) {
        self.state().faults.add(at, fault);
    }

    /// Faults that struck.
    pub fn fired_faults(&self) -> Vec<CallFault> {
        self.state().faults.fired().to_vec()
    }

    /// Lets time pass; lagging reads catch up.
    pub fn wait(&self, span: Span) {
        self.state().wait(span);
    }

    /// The forge's clock.
    pub fn now(&self) -> Time {
        self.state().repo.now
    }

    /// Changes what the forge does from now on.
    pub fn change_quirks(&self, change: impl FnOnce(&mut Quirks)) {
        change(&mut self.state().repo.quirks);
    }

    /// What seats changed since this was last asked, oldest first. What is never asked fails the test.
    pub fn take_effects(&self) -> Vec<Effect> {
        std::mem::take(&mut self.state().effects)
    }

    /// Fails if an effect was not looked at. The last handle's drop asks too.
    ///
    /// # Panics
    ///
    /// On leftovers.
    #[track_caller]
    pub fn assert_no_effects_left(&self) {
        let left = self.take_effects();
        assert!(left.is_empty(), "nobody looked at: {}", describe_effects(&left));
    }

    /// How often the forge was asked.
    pub fn calls(&self) -> CallCounts {
        self.state().calls
    }

    /// What the forge itself thinks of a pull.
    pub fn decision(&self, pull: PullNumber) -> ApprovalTally {
        let state = self.state();
        state.repo.pull(pull).map(|row| state.repo.decision(row)).unwrap_or_default()
    }

    /// The forge's own list of reviews, as its interface lists them to `viewer`.
    pub fn raw_review_list(&self, pull: PullNumber, viewer: &Login) -> Result<Vec<RawReview>, ForgeError> {
        self.state().repo.raw_reviews(pull, viewer)
    }

    /// A pull in words, without ids and times: equal for states that differ in nothing that matters.
    pub fn describe_pull(&self, pull: PullNumber) -> String {
        let state = self.state();
        state.repo.pull(pull).map(|row| state.repo.describe_pull(row)).unwrap_or_default()
    }

    /// The newest pull.
    pub fn newest_pull(&self) -> Option<PullNumber> {
        self.state().repo.pulls.keys().next_back().copied()
    }

    /// Whether a commit is there.
    pub fn has_commit(&self, commit: &Sha) -> bool {
        self.state().repo.commits.contains_key(commit)
    }

    /// The files of a commit; none for an unknown one.
    pub fn tree(&self, commit: &Sha) -> FileTree {
        self.state().repo.tree(commit)
    }

    /// Where two commits part.
    pub fn merge_base(&self, one: &Sha, other: &Sha) -> Option<Sha> {
        self.state().repo.merge_base(one, other)
    }

    /// Whether `head` stands on `commit`.
    pub fn has_ancestor(&self, head: &Sha, commit: &Sha) -> bool {
        self.state().repo.ancestry(head).contains(commit)
    }

    /// One deed of a person: a second passes, and the forge's rules apply.
    pub(crate) fn tick_and_change<T>(&self, run: impl FnOnce(&mut StoredRepo) -> T) -> T {
        let mut state = self.state();
        state.tick();
        state.change(run)
    }

    /// A look that costs nothing.
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
        // A test that fails already must say why, not what it did not get to.
        if !std::thread::panicking() {
            assert!(state.effects.is_empty(), "nobody looked at: {}", describe_effects(&state.effects));
        }
    }
}

fn describe_effects(effects: &[Effect]) -> String {
    effects.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
