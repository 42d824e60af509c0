//! Triage and answers: what the author's side (a person or a worker) reports about review threads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FindingId, NoteId, Sha, ThreadId};

/// The result of triaging a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The problem is real.
    Valid,
    /// The reviewer is wrong.
    Invalid,
    /// The finding no longer applies.
    Stale,
    /// The current code already fixes it.
    AlreadyFixed,
    /// It needs a product, security, API or design decision.
    NeedsHuman,
}

/// Confidence of a triage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    Low,
    Medium,
    High,
}

/// How a command or check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    Passed,
    Failed,
    Skipped,
    TimedOut,
    Unknown,
}

/// Evidence: a command and how it ended at a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    pub command: String,
    pub status: CheckOutcome,
    /// The commit it ran at.
    pub head_sha: Sha,
}

/// One item of a fix payload (FIX-2), or of a worker's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    pub thread_id: ThreadId,
    pub classification: Class,
    /// What was changed.
    #[serde(default)]
    pub fix_summary: Option<String>,
    /// Why the classification is right.
    #[serde(default)]
    pub evidence: Option<String>,
    /// Commands that were run to verify the fix.
    #[serde(default)]
    pub verification: Vec<Verification>,
    /// The commit with the fix.
    #[serde(default)]
    pub commit_sha: Option<Sha>,
    /// Whether `commit_sha` is an ancestor of the pull's head. `gather` sets it from git, whatever a payload claims. It
    /// is stored with a turn, so that a replay decides the same.
    #[serde(default)]
    #[schemars(skip)]
    pub commit_reachable: bool,
    /// Reply text, instead of the template's.
    #[serde(default)]
    pub reply_body: Option<String>,
}

/// A triage payload (TRI-5), as stored for a pull.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Triage {
    pub pr_number: u64,
    /// Whether all threads were read.
    pub complete: bool,
    /// Whether the scan itself failed.
    #[serde(default)]
    pub failed: bool,
    /// Whether a filter left out unresolved threads.
    #[serde(default)]
    pub filtered: bool,
    /// One item per thread.
    pub threads: Vec<TriageItem>,
}

/// The triage of one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TriageItem {
    pub thread_id: ThreadId,
    pub classification: Class,
    pub confidence: Confidence,
    /// Why the thread is classified this way.
    pub reason: String,
    pub recommended_action: String,
    #[serde(default)]
    pub files_to_inspect: Vec<String>,
    #[serde(default)]
    pub files_to_change: Vec<String>,
    /// Commands to run.
    #[serde(default)]
    pub checks_to_run: Vec<String>,
    /// Draft of a reply. Never posted (TRI-11).
    #[serde(default)]
    pub reply_body: Option<String>,
    /// Whether the thread may be resolved once checks pass.
    pub can_resolve_after_checks: bool,
    /// Whether a person must decide. Prevents resolution, whatever a later payload says (D26).
    pub requires_human_decision: bool,
    /// The latest note at the time of the triage. Set by referee, whatever a payload claims.
    #[serde(default)]
    #[schemars(skip)]
    pub latest_note: Option<NoteId>,
}

/// The latest result of `referee check` (FIX-6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalCheck {
    pub outcome: CheckOutcome,
    /// The commit it ran at.
    pub head: Sha,
}

/// An entry of a fix plan: what a worker intends to do about a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedFix {
    pub about: FixSubject,
    /// Untrusted text.
    pub plan: String,
}

/// The finding that an entry of a fix plan is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FixSubject {
    /// A finding of referee.
    Finding(FindingId),
    /// A row of another bot's table of findings.
    Row(u32),
}
