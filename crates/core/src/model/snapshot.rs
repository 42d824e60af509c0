//! Everything a decision may use, as one value: complete, dated, without source text.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::PlannedFix;
use super::{
    Answer, Checks, Comment, FindingId, LocalCheck, Login, Pull, Report, Review, RoleName, Sha, Thread, Time, Triage,
};
use crate::plan::JobKind;
use crate::track::{ChangedFile, PatchId, Track};

/// Everything known of one pull at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// The only clock: the forge's own where it has one.
    pub taken_at: Time,
    /// Whose token reads and writes.
    pub viewer: Viewer,
    /// What this forge and token can do.
    pub capabilities: Capabilities,
    /// Whether everything was read.
    pub complete: Completeness,
    /// The pull.
    pub pull: Pull,
    /// Its reviews, oldest first.
    pub reviews: Vec<Review>,
    /// Its threads.
    pub threads: Vec<Thread>,
    /// Its top-level comments, oldest first.
    pub comments: Vec<Comment>,
    /// Its checks at the head.
    pub checks: Checks,
    /// What it changes.
    pub changes: Changes,
    /// What came in since the last turn.
    pub evidence: Evidence,
    /// The lease on this pull, if one is held.
    pub lease: Option<Lease>,
}

/// Whose token this is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Viewer {
    /// The own name.
    pub login: Login,
    /// All identities whose tokens this process holds, the own one among them.
    pub holds: BTreeSet<Login>,
}

/// Whether every list was read to its end (D16, TRI-3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Completeness {
    /// It was.
    #[default]
    Complete,
    /// Something is missing: no decision.
    Truncated {
        /// What.
        what: String,
    },
}

/// How a forge does a thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// It has it.
    #[default]
    Native,
    /// It is done another way: a reply as a new note on the line, a resolution as a line in the own root.
    Emulated,
    /// It cannot be done.
    Unsupported,
}

/// What this forge and token can do: probed data, not a guess from a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capabilities {
    /// Editing a summary in place.
    pub edit_review: Support,
    /// Replying in a thread.
    pub reply: Support,
    /// Resolving a thread.
    pub resolve: Support,
    /// Writing commit statuses.
    pub status: Support,
    /// Verdicts that the forge counts: approve, request changes.
    pub verdicts: Support,
    /// A claim kept on the forge (D8).
    pub claim: Support,
    /// Labels and assignees.
    pub labels: Support,
    /// A leading slash in a comment belongs to the forge: commands by mention only (LOOP-12).
    pub slash_is_taken: bool,
    /// The longest text it takes, in bytes.
    pub max_text: usize,
}

/// What the pull changes, without its text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    /// Where the branch left the base.
    pub merge_base: Option<Sha>,
    /// The identity of the change itself, whitespace included.
    pub patch: PatchId,
    /// The files, with hunk ranges.
    pub files: Vec<ChangedFile>,
    /// Where each prior finding's code went.
    pub tracks: Vec<TrackedFinding>,
    /// Heads of earlier verdicts that git no longer has: reviewed whole, not by delta.
    #[serde(default)]
    pub unreachable: BTreeSet<Sha>,
}

/// Where one prior finding's code went between its head and this one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrackedFinding {
    /// Whose finding.
    pub role: RoleName,
    /// Which.
    pub finding: FindingId,
    /// Where it went.
    pub track: Track,
    /// The anchored code, or its place, changed since the finding's head (D9).
    pub changed: bool,
    /// Anything in its file changed since then: enough for a reviewer whose word is a function of the file.
    #[serde(default)]
    pub file_changed: bool,
}

/// What came in since the last turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Finished reports.
    #[serde(default)]
    pub reports: Vec<Report>,
    /// Answers to threads (`fix-comments`, a worker's result).
    #[serde(default)]
    pub answers: Vec<Answer>,
    /// The stored triage.
    #[serde(default)]
    pub triage: Option<Triage>,
    /// The payload names another pull than the one meant.
    #[serde(default)]
    pub answers_for: Option<u64>,
    /// Stored triage is to be ignored, but for a human's decision (D26).
    #[serde(default)]
    pub detached: bool,
    /// The latest `referee check`.
    #[serde(default)]
    pub check: Option<LocalCheck>,
    /// The forge's checks as `referee watch` saw them end.
    #[serde(default)]
    pub watched: Option<LocalCheck>,
    /// A worker's result.
    #[serde(default)]
    pub result: Option<WorkResult>,
    /// `review --full`: look again although a verdict stands at this head (D2).
    #[serde(default)]
    pub full: bool,
}

/// What a worker left behind, after the shell checked nonce and schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkResult {
    /// Of which job.
    pub kind: JobKind,
    /// Its epoch: a stale one is refused (DSP-14).
    pub epoch: u64,
    /// The head it started from.
    pub started_at: Sha,
    /// Its own word for how it ended.
    pub outcome: WorkOutcome,
    /// What it says; tainted text.
    pub summary: String,
    /// The commit it leaves, if it made one.
    pub head: Option<Sha>,
    /// The change as it would be after delivery.
    pub patch: Option<PatchId>,
    /// Files the pull would change after delivery.
    #[serde(default)]
    pub files: Vec<ChangedFile>,
    /// Symlinks out of the tree, submodules or hooks were added.
    #[serde(default)]
    pub escapes: Vec<String>,
    /// `Assessment: ✅ Clean` or not, for `self-review`.
    #[serde(default)]
    pub clean: Option<bool>,
    /// What it means to do.
    #[serde(default)]
    pub plan: Vec<PlannedFix>,
    /// The title and text of a pull to open, for `impl`; tainted text.
    #[serde(default)]
    pub pull: Option<(String, String)>,
}

/// A worker's own word for how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkOutcome {
    /// It did the work.
    Done,
    /// There was nothing to do.
    NothingToDo,
    /// A person must decide.
    NeedsHuman,
    /// It failed, crashed or ran out of time.
    Failed,
}

/// A lease on a pull or an issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lease {
    /// Who holds it.
    pub by: String,
    /// Rises with every take-over: an older one is refused.
    pub epoch: u64,
    /// Since when.
    pub since: Time,
    /// Until when, unless renewed.
    pub until: Time,
}

impl Snapshot {
    /// The standing claim of the lease at this moment.
    pub fn live_lease(&self) -> Option<&Lease> {
        self.lease.as_ref().filter(|lease| self.taken_at < lease.until)
    }

    /// The fresh report of a role: the last one handed in wins.
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
        }
    }
}
