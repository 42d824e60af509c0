//! The claim under which a plan posts (D6, D8, D42).
//!
//! | plan | claim |
//! |---|---|
//! | posts a review, threads, replies or a comment | taken, and the pull is read again under it |
//! | only edits texts, resolves, sets labels or statuses | none: doing it twice has the effect of once |
//! | only edits reviews, while other roles run in other processes | taken: their verdicts are part of the text (D6) |
//! | posts, where the forge refuses claims | none, and the run says so |
//!
//! A process that holds the claim of a worker may take this one. The opposite order does not exist, so that no two
//! processes wait for each other.

use std::fmt;

use async_trait::async_trait;
use referee_core::model::{PullNumber, Span};
use referee_core::plan::{Action, Step};
use referee_forge::{ClaimHolder, ClaimOutcome, ClaimPurpose, ForgeError};

use crate::turn::{TurnContext, TurnError};

/// How long a claim for posting lives. The adapter renews it while it writes.
const PUBLISH_CLAIM_TTL: Span = Span(30);

/// Who else may post on this pull as the same identity at the same time.
#[derive(Clone, Copy, Debug)]
pub enum PublishMode<'a> {
    /// Nobody: the caller holds a lock that excludes every other writer.
    SingleWriter,
    /// Other processes, on any machine: what is posted is posted under a claim on the forge.
    Claimed(&'a dyn ClaimWaiter),
    /// The same, and other processes run other roles (matrix mode, D6).
    Matrix(&'a dyn ClaimWaiter),
}

impl<'a> PublishMode<'a> {
    fn waiter(self) -> Option<&'a dyn ClaimWaiter> {
        match self {
            Self::SingleWriter => None,
            Self::Claimed(waiter) | Self::Matrix(waiter) => Some(waiter),
        }
    }
}

/// What a caller does about the claim: it has the clock, the terminal and the signals.
#[async_trait]
pub trait ClaimWaiter: fmt::Debug + Send + Sync {
    /// Waits a moment while another process holds the claim; returns `false` to give up.
    async fn wait(&self, pull: PullNumber, holder: &ClaimHolder) -> bool;

    /// Reports that the forge refuses claims, and that the plan is posted without one.
    fn report_refusal(&self, pull: PullNumber, reason: &ForgeError);

    /// Returns whether the process was asked to end: no further write starts, and the claim is released.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// A waiter that gives up at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoWait;

#[async_trait]
impl ClaimWaiter for NoWait {
    async fn wait(&self, _: PullNumber, _: &ClaimHolder) -> bool {
        false
    }

    fn report_refusal(&self, _: PullNumber, _: &ForgeError) {}
}

/// The claim of this process for posting on a pull; without an epoch where it posts without a claim.
#[must_use = "a claim has to be released"]
pub(crate) struct PublishClaim {
    pull: PullNumber,
    epoch: Option<u64>,
}

impl PublishClaim {
    /// Takes the claim, waiting as long as the caller does.
    pub(crate) async fn acquire(context: &TurnContext<'_>, pull: PullNumber) -> Result<Self, TurnError> {
        let Some(waiter) = context.publish_mode.waiter() else { return Ok(Self { pull, epoch: None }) };
        loop {
            match context.forge.acquire_claim(pull, ClaimPurpose::Publish, PUBLISH_CLAIM_TTL).await {
                Ok(ClaimOutcome::Acquired(epoch)) => return Ok(Self { pull, epoch: Some(epoch) }),
                Ok(ClaimOutcome::HeldElsewhere(holder)) => {
                    if !waiter.wait(pull, &holder).await {
                        return Err(TurnError::ClaimHeld);
                    }
                }
                Err(error @ (ForgeError::Unsupported(_) | ForgeError::Forbidden(_))) => {
                    waiter.report_refusal(pull, &error);
                    return Ok(Self { pull, epoch: None });
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns `false` if another process took the claim over meanwhile. A claim that cannot be released expires.
    pub(crate) async fn release(self, context: &TurnContext<'_>) -> bool {
        let Some(epoch) = self.epoch else { return true };
        let released = context.forge.release_claim(self.pull, ClaimPurpose::Publish, epoch).await;
        !matches!(released, Err(ForgeError::Conflict(_)))
    }
}

impl TurnContext<'_> {
    /// Returns whether these steps post something that another process might post too.
    pub(crate) fn needs_publish_claim(&self, steps: &[Step]) -> bool {
        let is_claimed = |action: &Action| match self.publish_mode {
            PublishMode::SingleWriter => false,
            PublishMode::Claimed(_) => posts_text(action),
            PublishMode::Matrix(_) => posts_text(action) || edits_review(action),
        };
        steps.iter().any(|step| is_claimed(&step.action) && self.gates.permit_step(step).is_ok())
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.publish_mode.waiter().is_some_and(ClaimWaiter::is_interrupted)
    }
}

fn edits_review<T>(action: &Action<T>) -> bool {
    matches!(action, Action::EditReview { .. } | Action::Supersede { .. })
}

fn posts_text<T>(action: &Action<T>) -> bool {
    match action {
        Action::PostReview { .. }
        | Action::OpenThreads { .. }
        | Action::Reply { .. }
        | Action::EnsureComment { existing: None, .. } => true,
        Action::EditReview { .. }
        | Action::Supersede { .. }
        | Action::Resolve { .. }
        | Action::EnsureComment { existing: Some(_), .. }
        | Action::SetLabel { .. }
        | Action::Assign { .. }
        | Action::SetStatus { .. } => false,
    }
}
