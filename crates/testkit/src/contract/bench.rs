//! What a clause works with: the forge, the stage, open gates, and a record of every error that was seen.

use std::cell::RefCell;

use referee_core::model::{Author, Login, PullNumber, Review, Row, Text, Thread};
use referee_core::plan::{Action, Draft, Expect, Gate};
use referee_core::policy::{Approve, Setting};
use referee_forge::{Asked, Errand, Fetched, Forge, ForgeError, Gates, Made, Performed, Reader, Sealed};

use super::stage::{Stage, Staged};

/// How texts are sealed and read here.
#[derive(Clone, Copy)]
pub struct Words<'a> {
    /// Seals a draft for a pull.
    pub seal: &'a dyn Fn(&Draft, PullNumber) -> Sealed,
    /// Whether a text by that author on that pull is believed to be referee's own.
    pub believed: Option<&'a Believed<'a>>,
}

/// Whether a text by that author on that pull is believed.
pub type Believed<'a> = dyn Fn(&Text, &Author, PullNumber) -> bool + 'a;

/// Why a clause stops.
pub(super) enum Stop {
    Broken(String),
    Skipped(String),
}

pub(super) type Kept = Result<(), Stop>;

pub(super) struct Bench<'a, S: Stage> {
    pub(super) stage: &'a S,
    pub(super) me: Login,
    pub(super) words: &'a Words<'a>,
    gates: Gates,
    /// Errors that were seen, as they would be printed.
    pub(super) errors: RefCell<Vec<String>>,
}

impl<'a, S: Stage> Bench<'a, S> {
    pub(super) fn new(stage: &'a S, words: &'a Words<'a>) -> Self {
        let open = Gate::ALL.map(|gate| (gate, Setting::On)).into();
        let gates = Gates::new(open, Asked::new(), Approve::On);
        Self { stage, me: stage.me(), words, gates, errors: RefCell::default() }
    }

    pub(super) async fn pull(&self) -> Result<Staged, Stop> {
        self.stage.pull().await.map_err(Stop::Broken)
    }

    pub(super) async fn fetch(&self, pull: PullNumber) -> Result<Fetched, Stop> {
        let fetched = self.stage.forge().fetch(pull).await;
        self.seen(fetched).map_err(|error| Stop::Broken(format!("fetch failed: {error}")))
    }

    /// Does an action as the identity under test.
    pub(super) async fn act(&self, pull: PullNumber, action: &Action) -> Result<Performed, ForgeError> {
        self.act_as(self.stage.forge(), &self.me, pull, action, &Expect::Nothing).await
    }

    pub(super) async fn act_as(
        &self,
        forge: &S::Forge,
        by: &Login,
        pull: PullNumber,
        action: &Action,
        expect: &Expect,
    ) -> Result<Performed, ForgeError> {
        let action = action.map(|draft| (self.words.seal)(draft, pull));
        // All gates are open here; a shut one would be the suite's own mistake.
        let Ok(permit) = self.gates.open(Gate::Review) else { return Err(ForgeError::Unauthenticated) };
        let errand = Errand { action: &action, by, expect, permit: &permit };
        self.seen(forge.perform(pull, &errand).await)
    }

    /// Does an action that must be done.
    pub(super) async fn done(&self, pull: PullNumber, action: &Action) -> Result<Made, Stop> {
        match self.act(pull, action).await {
            Ok(Performed::Done(made)) => Ok(made),
            other => broken(format!("{} ended as {other:?}, not as done", action.name())),
        }
    }

    /// Does an action that must be done already.
    pub(super) async fn again(&self, pull: PullNumber, action: &Action) -> Kept {
        match self.act(pull, action).await {
            Ok(Performed::AlreadySo) => Ok(()),
            other => broken(format!("{} done again ended as {other:?}, not as already so", action.name())),
        }
    }

    pub(super) fn text(&self, draft: &Draft, pull: PullNumber) -> Text {
        Text::unread((self.words.seal)(draft, pull).as_str())
    }

    /// The own reviews, those that only wrap something left out.
    pub(super) fn own<'f>(&self, fetched: &'f Fetched) -> Vec<&'f Review> {
        let own = |review: &&Review| review.is_by(&self.me) && matches!(review.row, Row::Verdict(_));
        fetched.reviews.iter().filter(own).collect()
    }

    /// The threads whose root says that.
    pub(super) fn rooted<'f>(&self, fetched: &'f Fetched, text: &Text) -> Vec<&'f Thread> {
        fetched.threads.iter().filter(|thread| thread.root().is_some_and(|root| same(&root.text, text))).collect()
    }

    /// Keeps an error for the clause about secrets.
    pub(super) fn seen<T>(&self, result: Result<T, ForgeError>) -> Result<T, ForgeError> {
        if let Err(error) = &result {
            self.errors.borrow_mut().push(format!("{error} {error:?}"));
        }
        result
    }
}

/// The same text to people and to referee: forges may change line ends, nothing else.
pub(super) fn same(one: &Text, other: &Text) -> bool {
    let lines =
        |text: &Text| text.words().trim_end().lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    lines(one) == lines(other)
}

pub(super) fn broken<T>(seen: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Broken(seen.into()))
}

pub(super) fn skipped<T>(why: &str) -> Result<T, Stop> {
    Err(Stop::Skipped(why.to_owned()))
}

/// Breaks the clause unless it is so.
pub(super) fn holds(so: bool, else_seen: impl FnOnce() -> String) -> Kept {
    if so { Ok(()) } else { broken(else_seen()) }
}

/// The only one, or what is there instead.
pub(super) fn only<T>(mut all: Vec<T>, what: &str) -> Result<T, Stop> {
    match (all.len(), all.pop()) {
        (1, Some(one)) => Ok(one),
        (count, _) => broken(format!("{count} {what}, not one")),
    }
}
