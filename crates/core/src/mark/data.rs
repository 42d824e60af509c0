//! The data of Marks, Tags and Blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::model::{
    Accounting, FindingId, FindingState, Login, NoteId, Overflow, PreExisting, ReviewId, RoleName, RunCost, Severity,
    Sha, StoredDetail, Time, Verdict,
};
use crate::plan::JobKind;
use crate::track::{CodeLocation, Fingerprint, PatchId};

/// The state of a role, in its summary: verdict, head, rounds, and the inputs of the text. At most 2 kB sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mark {
    pub role: RoleName,
    /// The role's own verdict (INC-12), whatever was posted.
    pub own: Verdict,
    /// The posted verdict: the worst of all roles, or milder while referee waits for someone.
    pub enforced: Verdict,
    /// The evaluated head. After a rebase without changes, the new head (INC-16).
    pub head: Sha,
    /// The merge base at that time.
    pub base: Option<Sha>,
    /// The change at that time.
    pub patch: PatchId,
    /// Whether the evaluation was complete. Failed attempts and incomplete reports are not (D19).
    pub complete: bool,
    /// The head of the last complete evaluation, where the next delta starts (LOOP-5).
    pub reviewed: Option<Sha>,
    /// The changes at which the role's own verdict requested changes, since `reopened` (LOOP-2).
    pub rounds: Vec<PatchId>,
    /// The reopening that the rounds count from.
    pub reopened: Option<Time>,
    /// Failed attempts at this change (LOOP-11).
    pub attempts: u8,
    /// Time of the last failed attempt.
    pub tried_at: Option<Time>,
    /// The evaluated report. The same report is not evaluated twice (PUB-2).
    pub report: Option<Hash>,
    /// Time of the command that the evaluation answered, so that one command starts one review (D2, LOOP-11).
    pub asked: Option<Time>,
    /// Who suspended the previous review, so that this one was posted again (PUB-20).
    pub restored: Option<String>,
    /// The review that superseded this one (PUB-5).
    pub superseded: Option<ReviewId>,
    /// Blocking findings at the last notice (PUB-18).
    pub blocking: Vec<FindingId>,
    /// Hash of the inputs of the text. Equal inputs give equal texts (PUB-2).
    pub inputs: Hash,
    /// Hash of the visible text as written (D28).
    pub words: Hash,
    /// Hash of another person's edit that was overwritten, so that each edit is overwritten once (D28).
    pub rewrote: Option<Hash>,
    /// The run behind the verdict, so that a later turn can render the same text.
    pub evaluation: Evaluation,
    /// Cost of all runs of this role on this pull (LOOP-9).
    pub spent: RunCost,
    /// Open findings that fit nowhere on the pull (D33).
    #[serde(default)]
    pub overflow: Overflow,
    /// Hash of the role's configured inputs at the last complete evaluation: rules, guidance, command (D34).
    #[serde(default)]
    pub configured: Option<Hash>,
    /// Hash of what the last complete report said of its tool and rule set (D34).
    #[serde(default)]
    pub tool: Option<Hash>,
    /// The highest finding id ever allocated on this pull, as far as this role knows.
    pub highest: FindingId,
}

/// The result of a run, as shown in the summary. Stored because the report is gone in the next turn (PUB-2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    /// Number of reviewed files.
    pub read: u32,
    /// Number of files to review.
    pub of: u32,
    /// Paths of the first few files that were not reviewed.
    pub skipped: Vec<String>,
    /// The previous head, if only the delta was reviewed.
    pub since: Option<Sha>,
    /// New findings.
    pub new: Vec<FindingId>,
    /// Fixed findings.
    pub fixed: Vec<FindingId>,
    /// Findings reported as fixed although their code did not change, shown as claims (D9).
    pub claimed: Vec<FindingId>,
    /// Settled findings that returned or got worse (INC-10, D12).
    pub back: Vec<FindingId>,
    /// Number of fixed findings, including those whose ids did not fit into `fixed`.
    #[serde(default)]
    pub fixed_count: u32,
    /// Where the results of the report went (PUB-23).
    #[serde(default)]
    pub accounting: Accounting,
    /// Why the run failed or is incomplete. Sanitised and shortened.
    pub failure: Option<String>,
    /// Cost of the run.
    pub figures: RunCost,
}

/// The state in every other text of referee. At most 200 bytes sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tag {
    /// The kind of text.
    pub kind: TagKind,
    /// The head at the time of writing.
    pub head: Sha,
}

/// The kind of text that a Tag is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TagKind {
    /// The first note of a thread.
    Root {
        role: RoleName,
        finding: FindingId,
        fingerprint: Fingerprint,
        severity: Severity,
        /// The state that the note shows, on a forge that cannot resolve threads (FIX-12).
        settled: Option<FindingState>,
    },
    /// A reply in a thread.
    Reply {
        what: ReplyKind,
        /// The answered note.
        answers: NoteId,
    },
    /// A top-level comment, one per topic (D13).
    Topic(Topic),
}

/// The purpose of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyKind {
    /// Names the commit of the fix (INC-2).
    Fixed,
    /// Confirms that the finding was accepted (INC-6).
    Accepted,
    /// Concedes that the person is right (INC-7).
    Conceded,
    /// Argues back, once per head (D11).
    Rebuttal,
    /// Contests the claim that the finding is fixed (INC-8).
    Contest,
    /// Reports that the problem got worse (INC-4).
    Worsened,
    /// Says how to accept the finding, once per thread (D39, D40).
    Hint,
    /// The answer of the author's side.
    Answer,
}

/// The topic of a comment. There is one comment per topic, edited in place. A new epoch is a new comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// A person must decide (LOOP-4, LOOP-11).
    Operator {
        /// Increases with each reopening and each command that answers the comment.
        epoch: u32,
    },
    /// The set of blocking findings changed (PUB-18). One comment per head.
    Notice { patch: PatchId },
    /// A job that was started on this pull (DSP-16).
    Job {
        kind: JobKind,
        /// Whose block, or which failure, started it.
        cause: String,
        patch: PatchId,
        /// Epoch of the lease.
        epoch: u64,
        /// `None` while it runs.
        outcome: Option<crate::model::snapshot::WorkOutcome>,
        /// Whether it was started again after a crash.
        retried: bool,
    },
    /// The pull was handed to a person (DSP-10).
    Ready { patch: PatchId },
    /// `Self-review against <sha>` (PUB-22).
    SelfReview { clean: bool },
    /// `Fix plan for <sha>` (PUB-22).
    FixPlan,
    /// A person used `break-glass` at this change (D25). Serves as audit record, and keeps it across a rebase.
    Glass { patch: PatchId },
    /// The answer to a person's command.
    Said {
        /// Id of the comment with the command.
        to: String,
    },
    /// The answer to `pause` or `resume`. It keeps their effect if the command is edited later (D40).
    PauseSet {
        /// Id of the comment with the command.
        to: String,
        paused: bool,
    },
}

/// The findings of a role, in its summary. At most 12 kB on a forge; the summary mentions evicted findings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Block {
    /// Ordered by id.
    pub entries: Vec<BlockEntry>,
    /// Number of evicted findings.
    #[serde(default)]
    pub evicted: u32,
    /// The first findings outside the change. The Mark counts all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pre_existing: Vec<PreExisting>,
    /// What the report says as a whole, sanitised. Empty if it says nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub report_summary: String,
}

/// One stored finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockEntry {
    pub id: FindingId,
    pub severity: Severity,
    pub state: FindingState,
    /// One line. Untrusted text. Empty if the thread holds it.
    pub title: String,
    pub path: String,
    /// The line at `head`.
    pub line: Option<u32>,
    /// Where the last evaluation found it, if it moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<CodeLocation>,
    /// The rule, if a rule found it.
    pub rule: Option<String>,
    #[serde(default)]
    pub detail: StoredDetail,
    pub fingerprint: Fingerprint,
    /// The head at which it was raised or last got worse.
    pub head: Sha,
    /// The rounds in which it blocked, for the convergence report (LOOP-4).
    pub rounds: Vec<u32>,
    /// Whether it has a thread.
    pub threaded: bool,
    /// Who accepted it.
    pub by: Option<Login>,
    /// Time of a processed `reopen` command. Earlier replies no longer settle the finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reopened: Option<Time>,
}

/// A Mark or Tag and what its seal proves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnsealedMark<T> {
    pub data: T,
    pub trust: Trust,
}

/// What a seal proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// A configured key signed it for this pull.
    Sealed,
    /// No key is configured.
    Unsealed,
    /// It is older than the first key. Trusted, and sealed by the next write.
    Adopted,
    /// The Mark was removed, and its main fields were read from the review's text, threads and author.
    Recovered,
    /// It is in a text of referee, but the seal is invalid: edited, copied or forged.
    Broken,
    /// A newer version of referee wrote it, so nothing may be decided.
    Newer,
}

impl ReplyKind {
    /// Returns the state that this reply settles a finding in, if it does.
    pub fn settled_state(self) -> Option<FindingState> {
        match self {
            Self::Fixed => Some(FindingState::Fixed),
            Self::Accepted => Some(FindingState::Accepted),
            Self::Conceded => Some(FindingState::Refuted),
            Self::Rebuttal | Self::Contest | Self::Worsened | Self::Hint | Self::Answer => None,
        }
    }
}

impl<T> UnsealedMark<T> {
    /// Returns the data if the seal is trusted.
    pub fn trusted_data(&self) -> Option<&T> {
        match self.trust {
            Trust::Sealed | Trust::Unsealed | Trust::Adopted | Trust::Recovered => Some(&self.data),
            Trust::Broken | Trust::Newer => None,
        }
    }
}
