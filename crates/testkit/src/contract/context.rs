//! What a clause works with: the forge, the stage, open gates, and a record of every error that was seen.

use std::cell::RefCell;

use referee_core::model::{Author, Login, PullNumber, Review, ReviewKind, Text, Thread};
use referee_core::plan::{Action, Gate, Precondition, TextDraft};
use referee_core::policy::{ApprovalMode, GateSetting};
use referee_forge::{
    ActionRequest, CreatedIds, FetchedPull, Forge, ForgeError, Gates, PerformOutcome, Reader, RequestedGates,
    SealedText,
};

use super::setup::{ContractSetup, StagedPull};

/// How texts are sealed and read here.
#[derive(Clone, Copy)]
pub struct TextSealing<'a> {
    /// Seals a draft for a pull.
    pub seal: &'a dyn Fn(&TextDraft, PullNumber) -> SealedText,
    /// Whether a text by that author on that pull is believed to be referee's own.
    pub is_trusted: Option<&'a TrustCheck<'a>>,
}

/// Whether a text by that author on that pull is believed.
pub type TrustCheck<'a> = dyn Fn(&Text, &Author, PullNumber) -> bool + 'a;

/// Why a clause stops.
pub(super) enum ClauseStop {
    Broken(String),
    Skipped(String),
}

pub(super) type ClauseResult = Result<(), ClauseStop>;

pub(super) struct ClauseContext<'a, S: ContractSetup> {
    pub(super) setup: &'a S,
    pub(super) me: Login,
    pub(super) sealing: &'a TextSealing<'a>,
    gates: Gates,
    /// Errors that were seen, as they would be printed.
    pub(super) errors: RefCell<Vec<String>>,
}

impl<'a, S: ContractSetup> ClauseContext<'a, S> {
    pub(super) fn new(stage: &'a S, words: &'a TextSealing<'a>) -> Self {
        let open = Gate::ALL.map(|gate| (gate, GateSetting::On)).into();
        let gates = Gates::new(open, RequestedGates::new(), ApprovalMode::On);
        Self { setup: stage, me: stage.own_login(), sealing: words, gates, errors: RefCell::default() }
    }

    pub(super) async fn open_pull(&self) -> Result<StagedPull, ClauseStop> {
        self.setup.open_pull().await.map_err(ClauseStop::Broken)
    }

    pub(super) async fn fetch(&self, pull: PullNumber) -> Result<FetchedPull, ClauseStop> {
        let fetched = self.setup.forge().fetch(pull).await;
        self.record_error(fetched).map_err(|error| ClauseStop::Broken(format!("fetch failed: {error}")))
    }

    /// Does an action as the identity under test.
    pub(super) async fn perform(&self, pull: PullNumber, action: &Action) -> Result<PerformOutcome, ForgeError> {
        self.perform_as(self.setup.forge(), &self.me, pull, action, &Precondition::Nothing).await
    }

    pub(super) async fn perform_as(
        &self,
        forge: &S::Forge,
        by: &Login,
        pull: PullNumber,
        action: &Action,
        expect: &Precondition,
    ) -> Result<PerformOutcome, ForgeError> {
        let action = action.map_text(|draft| (self.sealing.seal)(draft, pull));
        // All gates are open here; a shut one would be the suite's own mistake.
        let Ok(permit) = self.gates.permit_gate(Gate::Review) else { return Err(ForgeError::Unauthenticated) };
        let errand = ActionRequest { action: &action, by, expect, permit: &permit };
        self.record_error(forge.perform(pull, &errand).await)
    }

    /// Does an action that must be done.
    pub(super) async fn expect_done(&self, pull: PullNumber, action: &Action) -> Result<CreatedIds, ClauseStop> {
        match self.perform(pull, action).await {
            Ok(PerformOutcome::Done(made)) => Ok(made),
            other => fail_clause(format!("{} ended as {other:?}, not as done", action.name())),
        }
    }

    /// Does an action that must be done already.
    pub(super) async fn expect_already_so(&self, pull: PullNumber, action: &Action) -> ClauseResult {
        match self.perform(pull, action).await {
            Ok(PerformOutcome::AlreadySo) => Ok(()),
            other => fail_clause(format!("{} done again ended as {other:?}, not as already so", action.name())),
        }
    }

    pub(super) fn seal_text(&self, draft: &TextDraft, pull: PullNumber) -> Text {
        Text::from_body((self.sealing.seal)(draft, pull).as_str())
    }

    /// The own reviews, those that only wrap something left out.
    pub(super) fn own_reviews<'f>(&self, fetched: &'f FetchedPull) -> Vec<&'f Review> {
        let own = |review: &&Review| review.is_by(&self.me) && matches!(review.row, ReviewKind::Verdict(_));
        fetched.reviews.iter().filter(own).collect()
    }

    /// The threads whose root says that.
    pub(super) fn threads_with_root<'f>(&self, fetched: &'f FetchedPull, text: &Text) -> Vec<&'f Thread> {
        fetched
            .threads
            .iter()
            .filter(|thread| thread.root().is_some_and(|root| is_same_text(&root.text, text)))
            .collect()
    }

    /// Keeps an error for the clause about secrets.
    pub(super) fn record_error<T>(&self, result: Result<T, ForgeError>) -> Result<T, ForgeError> {
        if let Err(error) = &result {
            self.errors.borrow_mut().push(format!("{error} {error:?}"));
        }
        result
    }
}

/// The same text to people and to referee: forges may change line ends, nothing else.
pub(super) fn is_same_text(one: &Text, other: &Text) -> bool {
    let lines = |text: &Text| {
        text.body_or_empty().trim_end().lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
    };
    lines(one) == lines(other)
}

pub(super) fn fail_clause<T>(seen: impl Into<String>) -> Result<T, ClauseStop> {
    Err(ClauseStop::Broken(seen.into()))
}

pub(super) fn skip_clause<T>(why: &str) -> Result<T, ClauseStop> {
    Err(ClauseStop::Skipped(why.to_owned()))
}

/// Breaks the clause unless it is so.
pub(super) fn ensure(so: bool, else_seen: impl FnOnce() -> String) -> ClauseResult {
    if so { Ok(()) } else { fail_clause(else_seen()) }
}

/// The only one, or what is there instead.
pub(super) fn expect_one<T>(mut all: Vec<T>, what: &str) -> Result<T, ClauseStop> {
    match (all.len(), all.pop()) {
        (1, Some(one)) => Ok(one),
        (count, _) => fail_clause(format!("{count} {what}, not one")),
    }
}
