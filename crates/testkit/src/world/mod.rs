//! A forge in memory: stateful, deterministic, cheap to fork, with the quirks of real forges as switches.
//!
//! Three layers. `posts` and `events` are the forge's own rules, surprising ones included; people act on them
//! directly (`hand`). `perform` is what a good adapter makes of them. `state` is the machinery around both: the
//! clock, faults, lagging reads, effects.

mod claim;
mod commits;
mod effect;
mod events;
mod fault;
mod fetch;
mod gist;
mod perform;
mod posts;
mod quirks;
mod rows;
mod rules;
mod seat;
mod state;
mod talk;
mod timeline;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use referee_core::model::{Access, Login, PullNumber, Sha, Span, Time};
use referee_forge::ForgeError;

pub use commits::Tree;
pub(crate) use commits::nth;
pub use effect::{Effect, What};
pub(crate) use events::{Opening, PushKind, add_label};
pub use fault::{At, Fault, Sent};
pub use fetch::RawReview;
pub(crate) use posts::{Inline, Post, Torn};
pub use quirks::{BadLines, Quirks, Replies};
pub(crate) use rows::{
    Repo, StoredComment, StoredIssue, StoredNote, StoredPull, StoredReview, StoredStatus, StoredThread, User,
};
pub use rules::Tally;
use seat::Pace;
pub use seat::Seat;
pub use state::Calls;
pub(crate) use state::State;
pub(crate) use state::{Kind, Wired};

pub(crate) use timeline::{Deed, Event};

/// A forge in memory. Clones are handles to the same forge; `fork` makes another one.
#[derive(Clone, Debug)]
pub struct World {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared(Mutex<State>);

impl World {
    /// An empty repository on a forge with these quirks.
    pub fn new(quirks: Quirks) -> Self {
        Self::of(State::new(quirks))
    }

    /// Another forge in the same state, with nothing in its log of effects. Seats move by `Seat::at`.
    #[must_use]
    pub fn fork(&self) -> Self {
        let mut state = self.state().clone();
        state.effects.clear();
        Self::of(state)
    }

    /// A process of `login` that also holds the tokens of `holds`. An unknown login becomes a bot that may write.
    pub fn as_user(&self, login: &Login, holds: &[Login]) -> Seat {
        let mut state = self.state();
        let holds: BTreeSet<Login> = holds.iter().chain([login]).cloned().collect();
        for login in &holds {
            let bot = User { access: Access::Write, bot: true, deleted: false };
            state.repo.users.entry(login.clone()).or_insert(bot);
        }
        state.seats += 1;
        Seat { world: self.clone(), id: state.seats, login: login.clone(), holds, pace: Pace::AtOnce }
    }

    /// A process of `login` alone.
    pub fn seat(&self, login: &str) -> Seat {
        self.as_user(&Login::from(login), &[])
    }

    /// Gives a person that access. People nobody admitted may read.
    pub fn admit(&self, login: &str, access: Access) {
        let user = User { access, bot: false, deleted: false };
        self.state().repo.users.insert(Login::from(login), user);
    }

    /// Gives a bot that access.
    pub fn admit_bot(&self, login: &str, access: Access) {
        let user = User { access, bot: true, deleted: false };
        self.state().repo.users.insert(Login::from(login), user);
    }

    /// Lets a crashed process start again.
    pub fn restart(&self, seat: &Seat) {
        self.state().gone.remove(&seat.id);
    }

    /// No longer takes a process's token.
    pub fn revoke(&self, seat: &Seat) {
        self.state().revoked.insert(seat.id);
    }

    /// Makes labels that can be put on. Those that people put on are made by that.
    pub fn offer_labels(&self, names: &[&str]) {
        let mut state = self.state();
        names.iter().for_each(|name| state.repo.offer_label(name));
    }

    /// Gives the next commits these names, those of a real repository.
    pub fn name_commits(&self, names: impl IntoIterator<Item = Sha>) {
        self.state().repo.names.extend(names);
    }

    /// Lets something go wrong, counted from now.
    pub fn fault(&self, at: At, fault: Fault) {
        self.state().script.add(at, fault);
    }

    /// Faults that struck.
    pub fn struck(&self) -> Vec<Fault> {
        self.state().script.struck().to_vec()
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
    pub fn alter(&self, change: impl FnOnce(&mut Quirks)) {
        change(&mut self.state().repo.quirks);
    }

    /// What seats changed since this was last asked, oldest first. What is never asked fails the test.
    pub fn effects(&self) -> Vec<Effect> {
        std::mem::take(&mut self.state().effects)
    }

    /// Fails if an effect was not looked at. The last handle's drop asks too.
    ///
    /// # Panics
    ///
    /// On leftovers.
    #[track_caller]
    pub fn assert_all_seen(&self) {
        let left = self.effects();
        assert!(left.is_empty(), "nobody looked at: {}", said(&left));
    }

    /// How often the forge was asked.
    pub fn calls(&self) -> Calls {
        self.state().calls
    }

    /// What the forge itself thinks of a pull.
    pub fn decision(&self, pull: PullNumber) -> Tally {
        let state = self.state();
        state.repo.pull(pull).map(|row| state.repo.decision(row)).unwrap_or_default()
    }

    /// The forge's own list of reviews, as its interface lists them to `viewer`.
    pub fn raw_review_list(&self, pull: PullNumber, viewer: &Login) -> Result<Vec<RawReview>, ForgeError> {
        self.state().repo.raw_reviews(pull, viewer)
    }

    /// A pull in words, without ids and times: equal for states that differ in nothing that matters.
    pub fn gist(&self, pull: PullNumber) -> String {
        let state = self.state();
        state.repo.pull(pull).map(|row| state.repo.gist(row)).unwrap_or_default()
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
    pub fn tree(&self, commit: &Sha) -> Tree {
        self.state().repo.tree(commit)
    }

    /// Where two commits part.
    pub fn merge_base(&self, one: &Sha, other: &Sha) -> Option<Sha> {
        self.state().repo.merge_base(one, other)
    }

    /// Whether `head` stands on `commit`.
    pub fn stands_on(&self, head: &Sha, commit: &Sha) -> bool {
        self.state().repo.ancestry(head).contains(commit)
    }

    /// One deed of a person: a second passes, and the forge's rules apply.
    pub(crate) fn deed<T>(&self, run: impl FnOnce(&mut Repo) -> T) -> T {
        let mut state = self.state();
        state.tick();
        state.change(run)
    }

    /// A look that costs nothing.
    pub(crate) fn look<T>(&self, run: impl FnOnce(&Repo) -> T) -> T {
        run(&self.state().repo)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(state: State) -> Self {
        Self { shared: Arc::new(Shared(Mutex::new(state))) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let state = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        // A test that fails already must say why, not what it did not get to.
        if !std::thread::panicking() {
            assert!(state.effects.is_empty(), "nobody looked at: {}", said(&state.effects));
        }
    }
}

fn said(effects: &[Effect]) -> String {
    effects.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
