//! What happens after a turn: at most one thing.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Action, Reason, Step, Trailer};
use crate::mark::{TagKind, Topic};
use crate::model::{FindingId, Login, RoleName, Sha};
use crate::track::PatchId;

/// What the pull waits for on the author's side. Reviews that are due are in `Plan::reviews` (D29).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// Nothing: the pull is closed, or takes no part.
    Idle,
    /// Somebody else acts next.
    Wait(WaitingOn),
    /// A worker must start.
    Spawn(Box<Job>),
    /// Rule 10: a person can take over.
    Ready,
    /// A person must decide.
    Blocked(BlockedCause),
}

/// Who acts next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitingOn {
    Author,
    /// A person who blocks, or whose review was requested.
    Person(Login),
    Operator,
    /// Roles and other bots, by name.
    Reviewer(Vec<String>),
    Checks,
    /// A running worker.
    Worker,
    /// The forge: the read is repeated.
    Forge,
}

/// Why a person must decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockedCause {
    /// Rounds or jobs are used up.
    RoundCap,
    /// The pull's budget is used up.
    Budget,
    /// A reviewer failed at every attempt.
    ReviewerFailed,
    /// A finding, a thread or a worker needs a decision.
    NeedsHuman,
    /// Part of the pull could not be read.
    Incomplete,
    /// A newer version of referee wrote a Mark on the pull.
    NewerMark,
}

/// The order for a reviewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Brief {
    pub role: RoleName,
    pub head: Sha,
    pub scope: Scope,
    /// The number of the round that a block would start.
    pub round: u32,
    /// Prior findings on which the reviewer must take a position (INC-9).
    pub priors: Vec<FindingId>,
    /// The lowest severity for new findings.
    pub floor: crate::model::Severity,
    /// Why the review runs now: `review-due` or `review-asked`.
    pub why: Reason,
}

/// The part of the change that a reviewer reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The whole change of the pull.
    Whole,
    /// The changes since that head, and the standing findings.
    Since(Sha),
}

/// The job types (DSP-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JobKind {
    /// Answers requested changes.
    Findings,
    /// Resolves a merge conflict.
    Rebase,
    /// Fixes a failing check.
    CiFix,
    /// Reviews the worker's own change.
    SelfReview,
    /// Fixes what the self-review found.
    SrFix,
    /// Answers findings and threads that do not block.
    AddressFeedback,
    /// Implements an issue.
    Impl,
}

/// A worker to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    pub kind: JobKind,
    /// The pull's or issue's number.
    pub number: u64,
    /// The head that the job works on. An `impl` job has no pull yet.
    pub head: Option<Sha>,
    pub patch: PatchId,
    /// What it answers. At most one job starts for each (cause, change) (D4).
    pub cause: String,
    /// It is the second start: the first one left no outcome.
    pub retry: bool,
    /// The lowest epoch of its lease: above every epoch that the forge records.
    pub epoch: u64,
    /// Steps that record the job on the pull. They are applied once the lease is held, before the SPAWN line is printed
    ///  (DSP-16).
    pub record: Vec<Step>,
}

/// The part of a worker's result that is not text. Not an `Action`: only the worker's shell performs it, with its own
/// permission and identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Push to the pull's branch, with a lease on the old head.
    Push {
        commit: Sha,
        /// The head that the branch must still have.
        over: Sha,
        /// The epoch of the lease.
        epoch: u64,
    },
    /// Push a new branch and open a pull for it (DSP-18).
    OpenPull {
        /// `referee/issue-<n>`, with the epoch appended if that branch exists.
        branch: String,
        commit: Sha,
        /// Sanitised.
        title: crate::sanitise::SafeText,
        /// Sanitised, with a link to the issue.
        body: crate::sanitise::SafeText,
        /// The epoch of the lease.
        epoch: u64,
    },
}

impl Job {
    /// Replaces the epoch by that of the lease that was taken for the job, in the records too: the lease is taken after
    /// deciding.
    #[must_use]
    pub fn with_epoch(mut self, lease: u64) -> Self {
        self.epoch = lease;
        for step in &mut self.record {
            let Action::EnsureComment { text, .. } = &mut step.action else { continue };
            let Trailer::Tag(tag) = &mut text.trailer else { continue };
            if let TagKind::Topic(Topic::Job { epoch, .. }) = &mut tag.kind {
                *epoch = lease;
            }
        }
        self
    }
}

impl JobKind {
    pub const ALL: [Self; 7] =
        [Self::Findings, Self::Rebase, Self::CiFix, Self::SelfReview, Self::SrFix, Self::AddressFeedback, Self::Impl];
}

impl fmt::Display for JobKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Findings => "findings",
            Self::Rebase => "rebase",
            Self::CiFix => "ci-fix",
            Self::SelfReview => "self-review",
            Self::SrFix => "sr-fix",
            Self::AddressFeedback => "address-feedback",
            Self::Impl => "impl",
        })
    }
}
