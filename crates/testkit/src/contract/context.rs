//! The context of a clause: the forge, the setup, open gates, and a record of every error that occurred.

use std::cell::RefCell;

use referee_core::model::{Author, Login, PullNumber, Review, ReviewKind, Text, Thread};
use referee_core::plan::{Action, Gate, Precondition, TextDraft};
use referee_core::policy::{ApprovalMode, GateSetting};
use referee_forge::{
    ActionRequest, CreatedIds, FetchedPull, Forge, ForgeError, Gates, PerformOutcome, PlanBasis, RequestedGates,
    SealedText,
};

use super::setup::{ContractSetup, StagedPull};

/// The functions that seal texts and check seals.
#[derive(Clone, Copy)]
pub struct TextSealing<'a> {
    /// Seals a draft for a pull.
    pub seal: &'a dyn Fn(&TextDraft, PullNumber) -> SealedText,
    /// Returns whether a text by that author on that pull carries a trusted Mark or Tag; `None` if seals are not checked.
    pub is_trusted: Option<&'a TrustCheck<'a>>,
}

/// Returns whether a text by that author on that pull carries a trusted Mark or Tag.
pub type TrustCheck<'a> = dyn Fn(&Text, &Author, PullNumber) -> bool + 'a;

/// The reason why a clause ends early.
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
    /// Every error that occurred, as `Display` and `Debug` print it.
    pub(super) errors: RefCell<Vec<String>>,
}

impl<'a, S: ContractSetup> ClauseContext<'a, S> {
    pub(super) fn new(setup: &'a S, sealing: &'a TextSealing<'a>) -> Self {
        let settings = Gate::ALL.map(|gate| (gate, GateSetting::On)).into();
        let gates = Gates::new(settings, RequestedGates::new(), ApprovalMode::On);
        Self { setup, me: setup.own_login(), sealing, gates, errors: RefCell::default() }
    }

    pub(super) async fn open_pull(&self) -> Result<StagedPull, ClauseStop> {
        self.setup.open_pull().await.map_err(ClauseStop::Broken)
    }

    pub(super) async fn fetch(&self, pull: PullNumber) -> Result<FetchedPull, ClauseStop> {
        let fetched = self.setup.forge().fetch(pull).await;
        self.record_error(fetched).map_err(|error| ClauseStop::Broken(format!("fetch failed: {error}")))
    }

    /// Performs an action as the identity under test.
    pub(super) async fn perform(&self, pull: PullNumber, action: &Action) -> Result<PerformOutcome, ForgeError> {
        self.perform_as(self.setup.forge(), &self.me, pull, action, &Precondition::Nothing).await
    }

    pub(super) async fn perform_as(
        &self,
        forge: &dyn Forge,
        by: &Login,
        pull: PullNumber,
        action: &Action,
        expect: &Precondition,
    ) -> Result<PerformOutcome, ForgeError> {
        let action = action.map_text(|draft| (self.sealing.seal)(draft, pull));
        // Every gate is open here; a shut one is a bug of the suite.
        let Ok(permit) = self.gates.permit_gate(Gate::Review) else { return Err(ForgeError::Unauthenticated) };
        let request = ActionRequest { action: &action, by, expect, permit: &permit, basis: PlanBasis::default() };
        self.record_error(forge.perform(pull, &request).await)
    }

    /// Performs an action that must end as `Done`.
    pub(super) async fn expect_done(&self, pull: PullNumber, action: &Action) -> Result<CreatedIds, ClauseStop> {
        match self.perform(pull, action).await {
            Ok(PerformOutcome::Done(created)) => Ok(created),
            other => fail_clause(format!("{} ended as {other:?}, expected Done", action.name())),
        }
    }

    /// Performs an action that must end as `AlreadySo`.
    pub(super) async fn expect_already_so(&self, pull: PullNumber, action: &Action) -> ClauseResult {
        match self.perform(pull, action).await {
            Ok(PerformOutcome::AlreadySo) => Ok(()),
            other => fail_clause(format!("the repeated {} ended as {other:?}, expected AlreadySo", action.name())),
        }
    }

    pub(super) fn seal_text(&self, draft: &TextDraft, pull: PullNumber) -> Text {
        Text::from_body((self.sealing.seal)(draft, pull).as_str())
    }

    /// Returns the reviews of the identity under test, without wrapper reviews.
    pub(super) fn own_reviews<'f>(&self, fetched: &'f FetchedPull) -> Vec<&'f Review> {
        let own = |review: &&Review| review.is_by(&self.me) && matches!(review.row, ReviewKind::Verdict(_));
        fetched.reviews.iter().filter(own).collect()
    }

    /// Returns the threads whose root has that text.
    pub(super) fn threads_with_root<'f>(&self, fetched: &'f FetchedPull, text: &Text) -> Vec<&'f Thread> {
        fetched
            .threads
            .iter()
            .filter(|thread| thread.root().is_some_and(|root| is_same_text(&root.text, text)))
            .collect()
    }

    /// Records an error for the clause about secrets.
    pub(super) fn record_error<T>(&self, result: Result<T, ForgeError>) -> Result<T, ForgeError> {
        if let Err(error) = &result {
            self.errors.borrow_mut().push(format!("{error} {error:?}"));
        }
        result
    }
}

/// Compares two texts up to trailing whitespace, which forges may change.
pub(super) fn is_same_text(one: &Text, other: &Text) -> bool {
    let lines = |text: &Text| {
        text.body_or_empty().trim_end().lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
    };
    lines(one) == lines(other)
}

pub(super) fn fail_clause<T>(actual: impl Into<String>) -> Result<T, ClauseStop> {
    Err(ClauseStop::Broken(actual.into()))
}

pub(super) fn skip_clause<T>(reason: &str) -> Result<T, ClauseStop> {
    Err(ClauseStop::Skipped(reason.to_owned()))
}

/// Breaks the clause unless the condition holds.
pub(super) fn ensure(holds: bool, describe_actual: impl FnOnce() -> String) -> ClauseResult {
    if holds { Ok(()) } else { fail_clause(describe_actual()) }
}

/// Returns the only element, or breaks the clause.
pub(super) fn expect_one<T>(mut items: Vec<T>, what: &str) -> Result<T, ClauseStop> {
    match (items.len(), items.pop()) {
        (1, Some(one)) => Ok(one),
        (count, _) => fail_clause(format!("{count} {what}, expected 1")),
    }
}
