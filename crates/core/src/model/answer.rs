//! What the fixing side says of threads: triage, and answers with evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FindingId, NoteId, Sha, ThreadId};

/// What a thread is, once looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A real problem.
    Valid,
    /// A wrong assumption.
    Invalid,
    /// It no longer applies.
    Stale,
    /// The current code has it already.
    AlreadyFixed,
    /// A product, security, interface or design decision.
    NeedsHuman,
}

/// How sure the triage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// A guess.
    Low,
    /// Likely.
    Medium,
    /// Sure.
    High,
}

/// How a command or check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It was left out.
    Skipped,
    /// It took too long.
    TimedOut,
    /// Nobody knows.
    Unknown,
}

/// One line of evidence: this command ended so at this head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// What was run.
    pub command: String,
    /// How it ended.
    pub status: CheckOutcome,
    /// At which commit.
    pub head_sha: Sha,
}

/// One item of a fix payload (FIX-2), or of a worker's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// Which thread.
    pub thread_id: ThreadId,
    /// What it is.
    pub classification: Class,
    /// What was done.
    #[serde(default)]
    pub fix_summary: Option<String>,
    /// Why it is so.
    #[serde(default)]
    pub evidence: Option<String>,
    /// How that was checked.
    #[serde(default)]
    pub verification: Vec<Verification>,
    /// The commit that did it.
    #[serde(default)]
    pub commit_sha: Option<Sha>,
    /// That commit is an ancestor of the pull's head: asked of git in gather, which writes over whatever a payload
    /// claims. A stored turn keeps it, so that it is decided alike.
    #[serde(default)]
    #[schemars(skip)]
    pub commit_reachable: bool,
    /// Words of its own, in place of the template's.
    #[serde(default)]
    pub reply_body: Option<String>,
}

/// A triage payload (TRI-5) as it is stored for a pull.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Triage {
    /// Of which pull.
    pub pr_number: u64,
    /// Everything was read.
    pub complete: bool,
    /// The scan itself went wrong.
    #[serde(default)]
    pub failed: bool,
    /// Unresolved threads were left out by a filter or a default.
    #[serde(default)]
    pub filtered: bool,
    /// One item a thread.
    pub threads: Vec<TriageItem>,
}

/// What the triage says of one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TriageItem {
    /// Which thread.
    pub thread_id: ThreadId,
    /// What it is.
    pub classification: Class,
    /// How sure.
    pub confidence: Confidence,
    /// Why.
    pub reason: String,
    /// What to do.
    pub recommended_action: String,
    /// Where to look.
    #[serde(default)]
    pub files_to_inspect: Vec<String>,
    /// What to change.
    #[serde(default)]
    pub files_to_change: Vec<String>,
    /// What to run.
    #[serde(default)]
    pub checks_to_run: Vec<String>,
    /// A draft, never posted (TRI-11).
    #[serde(default)]
    pub reply_body: Option<String>,
    /// It may be resolved once checks pass.
    pub can_resolve_after_checks: bool,
    /// A person must decide: this bars resolution whatever any payload says (D26).
    pub requires_human_decision: bool,
    /// The latest note when it was looked at; what a payload says of it is written over.
    #[serde(default)]
    #[schemars(skip)]
    pub latest_note: Option<NoteId>,
}

/// The latest state of `referee check` (FIX-6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalCheck {
    /// How it ended.
    pub outcome: CheckOutcome,
    /// At which commit.
    pub head: Sha,
}

/// A fix plan entry: what a worker means to do about a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedFix {
    /// About what.
    pub about: FixSubject,
    /// What to do; tainted text.
    pub plan: String,
}

/// What an entry of a fix plan is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FixSubject {
    /// A finding of ours.
    Finding(FindingId),
    /// A row of another bot's numbered table.
    Row(u32),
}
