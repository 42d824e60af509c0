//! The in-memory world behaves as its quirks say.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod ensure;
mod faults;
mod gather;
mod people;
mod quirks;
mod rules;

use referee_core::model::{Access, FindingId, Login, PullNumber, Review, ReviewKind, Sha, Verdict};
use referee_core::plan::{Action, DiffLocation, NewThread, Precondition};
use referee_core::track::Side;
use referee_forge::{CreatedIds, FetchedPull, ForgeError, PerformOutcome, Reader};
use referee_testkit::{Quirks, World, WorldClient, block_on};

const FILE: &str = "src/a.rs";
const TEXT: &str = "fn one() {}\nfn two() {}\nfn three() {}\n";

/// A world with a pull by `alice`, with `ruth` and `oscar`, who have write access, and with a client of `referee`.
struct WorldFixture {
    world: World,
    pull: PullNumber,
    client: WorldClient,
}

impl WorldFixture {
    fn new(quirks: Quirks) -> Self {
        let world = World::new(quirks);
        for person in ["alice", "ruth", "oscar"] {
            world.admit(person, Access::Write);
        }
        let pull = world.people().as_("alice").open_pull("feature", &[(FILE, TEXT)]);
        let client = world.client("referee");
        Self { world, pull, client }
    }

    fn plain() -> Self {
        Self::new(Quirks::plain())
    }

    fn perform(&self, action: &Action<String>) -> Result<PerformOutcome, ForgeError> {
        self.client.perform_unsealed(self.pull, self.client.login(), action, &Precondition::Nothing)
    }

    fn expect_done(&self, action: &Action<String>) -> CreatedIds {
        match self.perform(action).unwrap() {
            PerformOutcome::Done(created) => created,
            other => panic!("{} ended as {other:?}", action.name()),
        }
    }

    fn fetch(&self) -> FetchedPull {
        block_on(self.client.fetch(self.pull)).unwrap()
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

    /// Returns the reviews without wrappers.
    fn reviews(&self) -> Vec<Review> {
        self.fetch().reviews.into_iter().filter(|review| review.row != ReviewKind::Wrapper).collect()
    }

    /// Takes all effects and describes them.
    fn effects(&self) -> Vec<String> {
        self.world.take_effects().iter().map(ToString::to_string).collect()
    }
}

impl Drop for WorldFixture {
    fn drop(&mut self) {
        // Most tests check the fetched pull; tests of effects take them before this.
        drop(self.world.take_effects());
    }
}

fn new_threads(threads: &[(u32, &str)]) -> Vec<NewThread<String>> {
    let thread_at = |(line, text): &(u32, &str)| NewThread {
        finding: FindingId(1),
        place: DiffLocation { path: FILE.to_owned(), line: Some(*line), start_line: None, side: Side::New },
        text: (*text).to_owned(),
    };
    threads.iter().map(thread_at).collect()
}

fn edit(review: &Review, text: &str) -> Action<String> {
    Action::EditReview { review: review.id.clone(), edit: review.edit.clone().unwrap(), text: text.to_owned() }
}

fn login(name: &str) -> Login {
    Login::from(name)
}
