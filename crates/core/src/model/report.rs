//! What a reviewer hands in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FindingId, Position, RoleName, Severity, Sha};
use crate::hash::Hash;
use crate::track::{Anchor, Fingerprint, Side};

/// What a reviewer hands in for one role and head, as gather understood it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// For which role.
    pub role: RoleName,
    /// The commit that was read.
    pub head: Sha,
    /// How it ended.
    pub outcome: ReportOutcome,
    /// A sentence or two; tainted text.
    pub summary: String,
    /// What it found.
    pub findings: Vec<RaisedFinding>,
    /// What a program found outside the change: told, and nothing else.
    #[serde(default)]
    pub pre_existing: Vec<PreExisting>,
    /// What it says of its prior findings.
    pub positions: Vec<FindingPosition>,
    /// A program without judgement: absence from a complete run says `fixed` (D9).
    pub deterministic: bool,
    /// What the run took.
    pub figures: RunCost,
    /// What it says, as one hash; what it took is no part of that.
    pub digest: Hash,
}

/// How a review ended (INC-15).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportOutcome {
    /// Something was found.
    Findings(Coverage),
    /// Nothing was found, and this is what was read.
    Clean(Coverage),
    /// Nothing can be said.
    Failed {
        /// Why.
        reason: String,
    },
}

/// Proof of what was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Files that were read whole.
    pub read: Vec<String>,
    /// Files that were not, and why.
    pub skipped: Vec<SkippedFile>,
}

/// A file that was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedFile {
    /// The file.
    pub path: String,
    /// Why; `excluded` by the policy is as good as read.
    pub why: String,
}

/// A finding as a report raises it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RaisedFinding {
    /// One line; tainted text.
    pub title: String,
    /// Why it matters; tainted text.
    pub body: String,
    /// How grave.
    pub severity: Severity,
    /// The file.
    pub path: String,
    /// The line.
    pub line: Option<u32>,
    /// The last line of a range.
    pub end_line: Option<u32>,
    /// Which side of the diff.
    pub side: Side,
    /// The rule's name, where a rule found it.
    pub rule: Option<String>,
    /// Replacement text; tainted.
    pub suggestion: Option<String>,
    /// Role, rule or title, and anchored code: no line numbers.
    pub fingerprint: Fingerprint,
    /// What may be commented on, checked against the parsed diff (PUB-13).
    pub anchor: Anchor,
    /// The prior finding it is, by identity (INC-9).
    pub same_as: Option<FindingId>,
    /// It lies in what changed since the role's last verdict.
    pub in_delta: bool,
}

/// What a program without judgement found on lines that the change does not show. It has no id and no thread, and
/// counts towards nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct PreExisting {
    /// One line; tainted text in a report, made safe and cut to 80 characters where it is remembered.
    pub title: String,
    /// The file.
    pub path: String,
    /// The line.
    pub line: Option<u32>,
}

/// What the reviewer says of one prior finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingPosition {
    /// Which finding.
    pub finding: FindingId,
    /// What of it.
    pub position: Position,
    /// Why; tainted text.
    pub evidence: String,
    /// Words for the thread; tainted text.
    pub reply: String,
    /// The place that the evidence cites changed since the finding's head.
    pub cited_changed: bool,
}

/// What a run took: tokens, money, time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct RunCost {
    /// Tokens in and out.
    #[serde(default)]
    pub tokens: u64,
    /// Millionths of a dollar.
    #[serde(default)]
    pub micro_usd: u64,
    /// Seconds.
    #[serde(default)]
    pub seconds: u64,
    /// How many reviewer runs.
    #[serde(default)]
    pub runs: u32,
}

impl Report {
    /// What was read; a failed review proves nothing.
    pub fn coverage(&self) -> Option<&Coverage> {
        match &self.outcome {
            ReportOutcome::Findings(coverage) | ReportOutcome::Clean(coverage) => Some(coverage),
            ReportOutcome::Failed { .. } => None,
        }
    }

    /// What the reviewer says of that finding: an explicit position wins over a re-raised match.
    pub fn position(&self, finding: FindingId) -> Option<&FindingPosition> {
        self.positions.iter().find(|said| said.finding == finding)
    }

    /// The finding raised again as that prior one.
    pub fn find_reraised(&self, finding: FindingId) -> Option<&RaisedFinding> {
        self.findings.iter().find(|raised| raised.same_as == Some(finding))
    }
}

impl RunCost {
    /// Both together.
    pub fn saturating_add(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            micro_usd: self.micro_usd.saturating_add(other.micro_usd),
            seconds: self.seconds.saturating_add(other.seconds),
            runs: self.runs.saturating_add(other.runs),
        }
    }
}
