//! The snapshot: the complete input of a decision about one pull. It contains no source text.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::PlannedFix;
use super::{
    Answer, Checks, Comment, CommitAudit, FindingId, LocalCheck, Login, Pull, Report, Review, RoleName, Sha, Thread,
    Time, Triage,
};
use crate::plan::JobKind;
use crate::track::{ChangedFile, PatchId, Track};

/// The state of one pull at one point in time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// The current time, from the forge's clock if it has one. Core has no other clock.
    pub taken_at: Time,
    pub viewer: Viewer,
    pub capabilities: Capabilities,
    pub complete: Completeness,
    pub pull: Pull,
    /// Oldest first.
    pub reviews: Vec<Review>,
    pub threads: Vec<Thread>,
    /// Top-level comments, oldest first.
    pub comments: Vec<Comment>,
    pub checks: Checks,
    pub changes: Changes,
    pub evidence: Evidence,
    /// The lease on this pull, live or expired.
    pub lease: Option<Lease>,
}

/// The accounts that this process acts as.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Viewer {
    /// The account that reads.
    pub login: Login,
    /// All accounts whose tokens this process has, `login` included.
    pub holds: BTreeSet<Login>,
}

/// Whether every list was read to its end (D16, TRI-3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Completeness {
    #[default]
    Complete,
    /// Something is missing, so nothing is decided.
    Truncated {
        /// What could not be read whole.
        what: String,
        /// Whether the own reviews were read nevertheless, with their current texts. Only then an approval that nobody
        /// could check is withdrawn (D43).
        #[serde(default)]
        own_reviews_read: bool,
    },
}

impl Completeness {
    /// Returns that `what` could not be read whole, and that it may hide own reviews.
    pub fn truncated(what: impl Into<String>) -> Self {
        Self::Truncated { what: what.into(), own_reviews_read: false }
    }
}

/// How a forge supports an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    #[default]
    Native,
    /// By other means: a reply as a new note on the line, a resolution as a line in referee's first note.
    Emulated,
    Unsupported,
}

/// What this forge and token can do. Probed, not guessed from the forge's kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capabilities {
    /// Editing the summary of a review.
    pub edit_review: Support,
    /// Replying in a thread.
    pub reply: Support,
    /// Resolving a thread.
    pub resolve: Support,
    /// Writing commit statuses.
    pub status: Support,
    /// Verdicts that the forge counts: approve and request changes.
    pub verdicts: Support,
    /// A claim stored on the forge (D8).
    pub claim: Support,
    /// Labels and assignees.
    pub labels: Support,
    /// Whether the forge interprets comments that start with `/`. If so, commands need a mention (LOOP-12).
    pub slash_is_taken: bool,
    /// Maximum length of a text, in bytes.
    pub max_text: usize,
    /// Maximum size of a Block, in bytes. `None`: unlimited, as on the local forge (D33).
    #[serde(default = "default_max_block")]
    pub max_block: Option<usize>,
}

/// What the pull changes, without source text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    pub merge_base: Option<Sha>,
    /// Identity of the change, whitespace included.
    pub patch: PatchId,
    pub files: Vec<ChangedFile>,
    /// Where the code of each prior finding moved.
    pub tracks: Vec<TrackedFinding>,
    /// Heads of earlier verdicts that git no longer has. Their roles review everything instead of the delta.
    #[serde(default)]
    pub unreachable: BTreeSet<Sha>,
}

/// Where the code of one prior finding moved between its head and this one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrackedFinding {
    pub role: RoleName,
    pub finding: FindingId,
    pub track: Track,
    /// Whether the anchored code, or the code around it, changed since the finding's head (D9).
    pub changed: bool,
    /// Whether anything in its file changed since then. Enough for a deterministic reviewer, which depends on the file
    /// only.
    #[serde(default)]
    pub file_changed: bool,
}

/// Input that arrived since the last turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Finished reports.
    #[serde(default)]
    pub reports: Vec<Report>,
    /// Answers to threads, from `fix-comments` or a worker's result.
    #[serde(default)]
    pub answers: Vec<Answer>,
    /// The stored triage.
    #[serde(default)]
    pub triage: Option<Triage>,
    /// The pull number of the payload, if it differs from this pull.
    #[serde(default)]
    pub answers_for: Option<u64>,
    /// Whether to ignore the stored triage, except where it requires a person's decision (D26).
    #[serde(default)]
    pub detached: bool,
    /// The latest result of `referee check`.
    #[serde(default)]
    pub check: Option<LocalCheck>,
    /// The final result of the forge's checks, from `referee watch`.
    #[serde(default)]
    pub watched: Option<LocalCheck>,
    #[serde(default)]
    pub result: Option<WorkResult>,
    /// `review --full`: review again although this head has a verdict (D2).
    #[serde(default)]
    pub full: bool,
}

/// A worker's result, after nonce and schema were checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkResult {
    pub kind: JobKind,
    /// Epoch of the job's lease. A stale one is refused (DSP-14).
    pub epoch: u64,
    /// The head that the worker started from.
    pub started_at: Sha,
    pub outcome: WorkOutcome,
    /// Untrusted text.
    pub summary: String,
    /// The worker's commit, if it made one.
    pub head: Option<Sha>,
    /// Identity of the pull's change after delivery.
    pub patch: Option<PatchId>,
    /// Files that the pull changes after delivery.
    #[serde(default)]
    pub files: Vec<ChangedFile>,
    /// Added symlinks that leave the tree, submodules and hooks.
    #[serde(default)]
    pub escapes: Vec<String>,
    /// What git says about the commits. `None` if there are none; a head without it is not delivered.
    #[serde(default)]
    pub audit: Option<CommitAudit>,
    /// For `self-review`: whether the assessment is `✅ Clean`.
    #[serde(default)]
    pub clean: Option<bool>,
    /// The worker's fix plan.
    #[serde(default)]
    pub plan: Vec<PlannedFix>,
    /// For `impl`: title and text of the pull to open. Untrusted text.
    #[serde(default)]
    pub pull: Option<(String, String)>,
}

/// How a job ended, according to the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkOutcome {
    Done,
    NothingToDo,
    /// A person must decide.
    NeedsHuman,
    /// Failed, crashed or timed out.
    Failed,
}

/// A worker's lease on a pull or an issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lease {
    /// The holder.
    pub by: String,
    /// Increases with every takeover. Results of an older epoch are refused.
    pub epoch: u64,
    pub since: Time,
    /// Time of expiry, unless renewed.
    pub until: Time,
}

fn default_max_block() -> Option<usize> {
    Some(crate::mark::MAX_BLOCK_BYTES)
}

impl Snapshot {
    /// Returns the lease if it has not expired.
    pub fn live_lease(&self) -> Option<&Lease> {
        self.lease.as_ref().filter(|lease| self.taken_at < lease.until)
    }

    /// Returns the last submitted report of a role.
    pub fn latest_report(&self, role: &RoleName) -> Option<&Report> {
        self.evidence.reports.iter().rev().find(|report| report.role == *role)
    }
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            edit_review: Support::Native,
            reply: Support::Native,
            resolve: Support::Native,
            status: Support::Native,
            verdicts: Support::Native,
            claim: Support::Native,
            labels: Support::Native,
            slash_is_taken: false,
            max_text: 60_000,
            max_block: default_max_block(),
        }
    }
}
