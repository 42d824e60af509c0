//! The world in memory behaves as its switches say.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod ensure;
mod faults;
mod hand;
mod quirks;
mod rules;
mod untold;

use referee_core::model::{Access, FindingId, Login, PullNumber, Review, ReviewKind, Sha, Verdict};
use referee_core::plan::{Action, DiffLocation, NewThread, Precondition};
use referee_core::track::Side;
use referee_forge::{CreatedIds, FetchedPull, ForgeError, PerformOutcome, Reader};
use referee_testkit::{Quirks, World, WorldClient, block_on};

const FILE: &str = "src/a.rs";
const TEXT: &str = "fn one() {}\nfn two() {}\nfn three() {}\n";

/// A world with a pull by alice, `ruth` and `oscar` who may write, and a seat of `referee`.
struct Stage {
    world: World,
    pull: PullNumber,
    seat: WorldClient,
}

impl Stage {
    fn new(quirks: Quirks) -> Self {
        let world = World::new(quirks);
        for person in ["alice", "ruth", "oscar"] {
            world.admit(person, Access::Write);
        }
        let pull = world.people().as_("alice").open_pull("feature", &[(FILE, TEXT)]);
        let seat = world.client("referee");
        Self { world, pull, seat }
    }

    fn plain() -> Self {
        Self::new(Quirks::plain())
    }

    fn act(&self, action: &Action<String>) -> Result<PerformOutcome, ForgeError> {
        self.seat.perform_unsealed(self.pull, self.seat.login(), action, &Precondition::Nothing)
    }

    fn made(&self, action: &Action<String>) -> CreatedIds {
        match self.act(action).unwrap() {
            PerformOutcome::Done(made) => made,
            other => panic!("{} ended as {other:?}", action.name()),
        }
    }

    fn fetch(&self) -> FetchedPull {
        block_on(self.seat.fetch(self.pull)).unwrap()
    }

    fn head(&self) -> Sha {
        self.world.people().as_("alice").head()
    }

    fn post(&self, verdict: Verdict, text: &str) -> Action<String> {
        self.post_with(verdict, text, &[])
    }

    fn post_with(&self, verdict: Verdict, text: &str, threads: &[(u32, &str)]) -> Action<String> {
        Action::PostReview {
            role: "security".into(),
            verdict,
            commit: self.head(),
            text: text.to_owned(),
            threads: new_threads(threads),
        }
    }

    fn open(&self, threads: &[(u32, &str)]) -> Action<String> {
        Action::OpenThreads { role: "security".into(), commit: self.head(), threads: new_threads(threads) }
    }

    /// The reviews that are no wrappers.
    fn reviews(&self) -> Vec<Review> {
        self.fetch().reviews.into_iter().filter(|review| review.row != ReviewKind::Wrapper).collect()
    }

    /// What was done, in words; nothing is left to be looked at.
    fn effects(&self) -> Vec<String> {
        self.world.take_effects().iter().map(ToString::to_string).collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Most tests here look at the rows themselves; those about effects look first.
        drop(self.world.take_effects());
    }
}

fn new_threads(threads: &[(u32, &str)]) -> Vec<NewThread<String>> {
    let new = |(line, text): &(u32, &str)| NewThread {
        finding: FindingId(1),
        place: DiffLocation { path: FILE.to_owned(), line: Some(*line), start_line: None, side: Side::New },
        text: (*text).to_owned(),
    };
    threads.iter().map(new).collect()
}

fn edit(review: &Review, text: &str) -> Action<String> {
    Action::EditReview { review: review.id.clone(), edit: review.edit.clone().unwrap(), text: text.to_owned() }
}

fn login(name: &str) -> Login {
    Login::from(name)
}
