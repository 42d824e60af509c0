//! What happens after a turn: at most one thing, by type.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Action, Reason, Step, Trailer};
use crate::mark::{TagKind, Topic};
use crate::model::{FindingId, Login, RoleName, Sha};
use crate::track::PatchId;

/// Whose turn it is on the author's side after a turn. Reviews that are due are in `Plan::reviews` (D29).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// Nothing: the pull is closed, or not ours.
    Idle,
    /// Somebody else has the turn.
    Wait(WaitingOn),
    /// A worker runs.
    Spawn(Box<Job>),
    /// Rule 10: a person may take over.
    Ready,
    /// A person must decide.
    Blocked(BlockedCause),
}

/// Who has the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitingOn {
    /// The pull's author.
    Author,
    /// A named person who blocks, or was asked.
    Person(Login),
    /// The operator.
    Operator,
    /// Roles and other bots, by name.
    Reviewer(Vec<String>),
    /// The forge's checks.
    Checks,
    /// A worker under way.
    Worker,
    /// The forge itself: a read to repeat.
    Forge,
}

/// Why a person must decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockedCause {
    /// Rounds, or jobs, are used up.
    RoundCap,
    /// The pull took what it may take.
    Budget,
    /// A reviewer failed as often as it may.
    ReviewerFailed,
    /// A finding, a thread or a worker asks for a decision.
    NeedsHuman,
    /// Not everything could be read.
    Incomplete,
    /// A newer referee wrote here.
    NewerMark,
}

/// What a reviewer is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Brief {
    /// For which role.
    pub role: RoleName,
    /// At which head.
    pub head: Sha,
    /// How much of it.
    pub scope: Scope,
    /// Which round this would be.
    pub round: u32,
    /// Prior findings it must answer one by one (INC-9).
    pub priors: Vec<FindingId>,
    /// The lowest severity worth raising anew.
    pub floor: crate::model::Severity,
    /// Why the role reads now: `review-due`, or `review-asked`.
    pub why: Reason,
}

/// How much a reviewer reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Everything the pull changes.
    Whole,
    /// What changed since that head, and the standing findings.
    Since(Sha),
}

/// The types of worker (DSP-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JobKind {
    /// Answers requested changes.
    Findings,
    /// Solves a merge conflict.
    Rebase,
    /// Mends a failing check.
    CiFix,
    /// Reviews the own change.
    SelfReview,
    /// Mends what the self-review found.
    SrFix,
    /// Answers findings and threads that do not block.
    AddressFeedback,
    /// Begins an issue.
    Impl,
}

/// A worker to be started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// Which type.
    pub kind: JobKind,
    /// The pull's or issue's number.
    pub number: u64,
    /// The head; empty for `impl`.
    pub head: Option<Sha>,
    /// The change.
    pub patch: PatchId,
    /// What it answers: at most one spawn for each (cause, change) (D4).
    pub cause: String,
    /// It was started before and left no outcome.
    pub retry: bool,
    /// The lowest epoch that its lease may have: above every one that the forge remembers.
    pub epoch: u64,
    /// Recorded on the pull before it is printed (DSP-16): applied once the lease is held.
    pub record: Vec<Step>,
}

/// What a worker leaves that goes beyond words. Not an action: done by the worker's shell alone, with its own
/// permission and identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Push to the pull's branch, with a lease on the old head.
    Push {
        /// What is pushed.
        commit: Sha,
        /// What must still be there.
        over: Sha,
        /// Of which lease epoch.
        epoch: u64,
    },
    /// Push a new branch and open a pull for it (DSP-18).
    OpenPull {
        /// `referee/issue-<n>`, with the epoch behind it where that one is taken.
        branch: String,
        /// What is pushed.
        commit: Sha,
        /// Title and text, made safe.
        title: crate::sanitise::SafeText,
        /// The text, with the issue linked.
        body: crate::sanitise::SafeText,
        /// Of which lease epoch.
        epoch: u64,
    },
}

impl Job {
    /// The same job under the lease that was taken for it: what is recorded must name the lease's own epoch, and the
    /// lease is taken after deciding.
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
    /// All of them.
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
