//! What referee remembers on the forge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hash::Hash;
use crate::model::{
    FindingId, FindingState, Login, NoteId, PreExisting, ReviewId, RoleName, RunCost, Severity, Sha, Time, Verdict,
};
use crate::plan::JobKind;
use crate::track::{CodeLocation, Fingerprint, PatchId};

/// In a role's summary: what was decided, at which head, and what the text was made from. At most 2 kB sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mark {
    /// Whose summary.
    pub role: RoleName,
    /// The role's own verdict (INC-12), whatever form it was posted in.
    pub own: Verdict,
    /// What was enforced: the worst of the siblings, or less while somebody is waited for.
    pub enforced: Verdict,
    /// The head that was evaluated; after a rebase without change, the head it was carried to (INC-16).
    pub head: Sha,
    /// The merge base then.
    pub base: Option<Sha>,
    /// The change then.
    pub patch: PatchId,
    /// The evaluation was complete; attempts and incomplete reports are not (D19).
    pub complete: bool,
    /// The head of the last complete evaluation: where the next delta begins (LOOP-5).
    pub reviewed: Option<Sha>,
    /// Changes at which the own verdict asked for changes, since `reopened` (LOOP-2).
    pub rounds: Vec<PatchId>,
    /// The reopen that the rounds count from.
    pub reopened: Option<Time>,
    /// Failed attempts at this change, and when the last was (LOOP-11).
    pub attempts: u8,
    /// When the last failed attempt was seen.
    pub tried_at: Option<Time>,
    /// The report that the evaluation is of: taken twice, it is evaluated once (PUB-2).
    pub report: Option<Hash>,
    /// The ask that the evaluation answered, a `retry` too, so that one command starts one review (D2, LOOP-11).
    pub asked: Option<Time>,
    /// Who took the last one's weight, so that this one had to be posted again (PUB-20).
    pub restored: Option<String>,
    /// The review that took this one's place (PUB-5).
    pub superseded: Option<ReviewId>,
    /// Blocking findings at the last notice (PUB-18).
    pub blocking: Vec<FindingId>,
    /// What the text was made from: equal inputs make equal texts (PUB-2).
    pub inputs: Hash,
    /// The visible words as they were written (D28).
    pub words: Hash,
    /// Other people's edits that were rewritten, so that each is rewritten once (D28).
    pub rewrote: Option<Hash>,
    /// What the text says of the run that made the verdict, so that a later turn can say it again.
    pub evaluation: Evaluation,
    /// What all runs of this role on this pull took (LOOP-9).
    pub spent: RunCost,
    /// The highest finding id that was ever given on this pull, as far as this role knew.
    pub highest: FindingId,
}

/// What a run came to, as its summary tells it: kept, since the report itself is gone in the next turn (PUB-2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Evaluation {
    /// Files that were read.
    pub read: u32,
    /// Of so many.
    pub of: u32,
    /// The first few that were not, by name.
    pub skipped: Vec<String>,
    /// The head before, where only the delta was read.
    pub since: Option<Sha>,
    /// Findings it raised.
    pub new: Vec<FindingId>,
    /// Findings it found fixed.
    pub fixed: Vec<FindingId>,
    /// Findings it calls fixed although their code did not change: a claim, shown as such (D9).
    pub claimed: Vec<FindingId>,
    /// Findings that were settled and are back: broken again, or graver (INC-10, D12).
    pub back: Vec<FindingId>,
    /// Findings it did not raise: below the floor, outside the delta, or settled before.
    pub held_back: u32,
    /// Findings outside the change, those that the Block has no room for too.
    #[serde(default)]
    pub pre_existing: u32,
    /// Why it failed or is incomplete, cut short and made safe.
    pub failure: Option<String>,
    /// What it took.
    pub figures: RunCost,
}

/// At the end of every other text referee writes. At most 200 bytes sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tag {
    /// What text this is.
    pub kind: TagKind,
    /// The head when it was written.
    pub head: Sha,
}

/// What text a Tag is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TagKind {
    /// The root of a thread.
    Root {
        /// The role that raised it.
        role: RoleName,
        /// Its id.
        finding: FindingId,
        /// Its identity.
        fingerprint: Fingerprint,
        /// How grave.
        severity: Severity,
        /// Where the forge cannot resolve: this line says that it is settled (FIX-12).
        settled: Option<FindingState>,
    },
    /// A reply in a thread.
    Reply {
        /// What it does.
        what: ReplyKind,
        /// The note it answers.
        answers: NoteId,
    },
    /// A top-level comment: one per topic (D13).
    Topic(Topic),
}

/// What a reply does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyKind {
    /// Says in which commit it was fixed (INC-2).
    Fixed,
    /// Says that it was accepted (INC-6).
    Accepted,
    /// Says that the person is right (INC-7).
    Conceded,
    /// Argues back, once per head (D11).
    Rebuttal,
    /// Says that a claim of "fixed" does not hold (INC-8).
    Contest,
    /// Says that it is worse now (INC-4).
    Worsened,
    /// The fixing side's answer.
    Answer,
}

/// What a topic comment is about. One comment per topic, edited in place; a new epoch is a new comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// A person's decision is needed (LOOP-4, LOOP-11).
    Operator {
        /// Rises with each reopen and each command that answered the last one.
        epoch: u32,
    },
    /// The set of blocking findings changed (PUB-18): one per head.
    Notice {
        /// At which change.
        patch: PatchId,
    },
    /// The jobs started on this pull (DSP-16).
    Job {
        /// Which type.
        kind: JobKind,
        /// Whose block, or which failure.
        cause: String,
        /// At which change.
        patch: PatchId,
        /// Of which lease.
        epoch: u64,
        /// How it ended.
        outcome: Option<crate::model::snapshot::WorkOutcome>,
        /// Spawned a second time after a crash.
        retried: bool,
    },
    /// The pull went to a person (DSP-10).
    Ready {
        /// At which change.
        patch: PatchId,
    },
    /// `Self-review against <sha>` (PUB-22).
    SelfReview {
        /// Nothing found.
        clean: bool,
    },
    /// `Fix plan for <sha>` (PUB-22).
    FixPlan,
    /// Somebody broke the glass at this change (D25): the audit, and the memory across a rebase.
    Glass {
        /// At which change.
        patch: PatchId,
    },
    /// The answer to a person's command.
    Said {
        /// Which comment.
        to: String,
    },
}

/// The findings of a role that a summary remembers. At most 12 kB sealed; evictions are said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Block {
    /// By id.
    pub entries: Vec<BlockEntry>,
    /// How many were evicted.
    #[serde(default)]
    pub evicted: u32,
    /// The first of the findings outside the change; the Mark counts all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pre_existing: Vec<PreExisting>,
}

/// One remembered finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockEntry {
    /// Its id.
    pub id: FindingId,
    /// How grave.
    pub severity: Severity,
    /// Where it stands.
    pub state: FindingState,
    /// Its title, cut to 80 characters and made safe.
    pub title: String,
    /// The file.
    pub path: String,
    /// The line at `head`.
    pub line: Option<u32>,
    /// Where the last evaluation found it, if elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<CodeLocation>,
    /// The rule, where one found it.
    pub rule: Option<String>,
    /// Its identity.
    pub fingerprint: Fingerprint,
    /// The head at which it was raised, or last worsened.
    pub head: Sha,
    /// The changes at which it blocked, as numbers of rounds, for the convergence report (LOOP-4).
    pub rounds: Vec<u32>,
    /// It has a thread.
    pub threaded: bool,
    /// Who accepted it.
    pub by: Option<Login>,
    /// When somebody said `reopen`, once that was heeded: what its thread said before no longer settles it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reopened: Option<Time>,
}

/// A Mark or Tag with what its seal proves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnsealedMark<T> {
    /// What it says.
    pub data: T,
    /// Whether to believe it.
    pub trust: Trust,
}

/// What a seal proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// A key of ours signed it for this place.
    Sealed,
    /// No key is configured.
    Unsealed,
    /// It is older than the first key: believed, and sealed by the next write.
    Adopted,
    /// It is own text, but the seal does not fit: edited, copied or forged.
    Broken,
    /// A newer referee wrote it: nothing may be decided.
    Newer,
}

impl ReplyKind {
    /// The state in which this word leaves a finding, if it settles it.
    pub fn settled_state(self) -> Option<FindingState> {
        match self {
            Self::Fixed => Some(FindingState::Fixed),
            Self::Accepted => Some(FindingState::Accepted),
            Self::Conceded => Some(FindingState::Refuted),
            Self::Rebuttal | Self::Contest | Self::Worsened | Self::Answer => None,
        }
    }
}

impl<T> UnsealedMark<T> {
    /// What it says, if it is to be believed.
    pub fn trusted_data(&self) -> Option<&T> {
        match self.trust {
            Trust::Sealed | Trust::Unsealed | Trust::Adopted => Some(&self.data),
            Trust::Broken | Trust::Newer => None,
        }
    }
}
