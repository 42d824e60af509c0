//! Reports of reviewers, after `gather` has matched them with prior findings and the diff.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Accounting, FindingDetail, FindingId, Position, RoleName, Severity, Sha};
use crate::hash::Hash;
use crate::track::{Anchor, Fingerprint, Side};

/// A reviewer's report for one role and head. `gather` builds it from a [`Submission`](super::Submission).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    pub role: RoleName,
    /// The reviewed commit.
    pub head: Sha,
    pub outcome: ReportOutcome,
    /// A sentence or two. Untrusted text.
    pub summary: String,
    pub findings: Vec<RaisedFinding>,
    /// Problems outside the change, from a deterministic program. Mentioned in the summary only.
    #[serde(default)]
    pub pre_existing: Vec<PreExisting>,
    /// Positions on prior findings.
    pub positions: Vec<FindingPosition>,
    /// From a deterministic program: a finding missing from a complete run is fixed (D9).
    pub deterministic: bool,
    /// Results of the report, and those that are no findings of this change (PUB-23).
    #[serde(default)]
    pub intake: Accounting,
    /// Hash of what the report says of its tool and rule set (D34).
    #[serde(default)]
    pub tool: Option<Hash>,
    /// Cost of the run.
    pub figures: RunCost,
    /// Hash of the content, without the cost.
    pub digest: Hash,
}

/// How a review ended (INC-15).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportOutcome {
    Findings(Coverage),
    /// Complete, without findings.
    Clean(Coverage),
    /// The review failed. It can neither approve nor resolve anything.
    Failed {
        reason: String,
    },
}

/// Which files were reviewed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Files that were reviewed completely.
    pub read: Vec<String>,
    pub skipped: Vec<SkippedFile>,
}

/// A file that was not reviewed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedFile {
    pub path: String,
    /// The reason. `excluded` (by the policy) counts as reviewed.
    pub why: String,
}

/// A finding of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RaisedFinding {
    /// One line. Untrusted text.
    pub title: String,
    /// Why it matters. Untrusted text.
    pub body: String,
    pub severity: Severity,
    pub path: String,
    /// First line, counted from 1. `None`: the whole file.
    pub line: Option<u32>,
    /// Last line of a range.
    pub end_line: Option<u32>,
    /// Column of the first character, counted from 1.
    #[serde(default)]
    pub column: Option<u32>,
    pub side: Side,
    /// Name of the rule, if a rule found it.
    pub rule: Option<String>,
    /// Web page of the rule.
    #[serde(default)]
    pub help: Option<String>,
    /// Replacement for the lines. Untrusted text.
    pub suggestion: Option<String>,
    /// Hash of role, rule or title, and anchored code, without line numbers.
    pub fingerprint: Fingerprint,
    /// Where the diff allows a comment (PUB-13).
    pub anchor: Anchor,
    /// The prior finding that this one repeats (INC-9).
    pub same_as: Option<FindingId>,
    /// Whether its code changed since the role's last verdict.
    pub in_delta: bool,
}

/// A problem that a deterministic program found on lines outside the diff. It has no id and no thread, and never
/// blocks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct PreExisting {
    /// One line. Untrusted in a report; sanitised and cut to 80 characters in a Block.
    pub title: String,
    pub path: String,
    pub line: Option<u32>,
}

/// The reviewer's position on one prior finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindingPosition {
    pub finding: FindingId,
    pub position: Position,
    /// Untrusted text.
    pub evidence: String,
    /// Reply for the thread. Untrusted text.
    pub reply: String,
    /// Whether the code that the evidence cites changed since the finding's head.
    pub cited_changed: bool,
}

/// Cost of one or more reviewer runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct RunCost {
    /// Input and output tokens.
    #[serde(default)]
    pub tokens: u64,
    /// Millionths of a dollar.
    #[serde(default)]
    pub micro_usd: u64,
    /// Seconds.
    #[serde(default)]
    pub seconds: u64,
    /// Number of runs.
    #[serde(default)]
    pub runs: u32,
}

impl Report {
    /// Returns which files were reviewed. `None` for a failed review.
    pub fn coverage(&self) -> Option<&Coverage> {
        match &self.outcome {
            ReportOutcome::Findings(coverage) | ReportOutcome::Clean(coverage) => Some(coverage),
            ReportOutcome::Failed { .. } => None,
        }
    }

    /// Returns the explicit position on a finding. It takes precedence over a re-raised match.
    pub fn position(&self, finding: FindingId) -> Option<&FindingPosition> {
        self.positions.iter().find(|position| position.finding == finding)
    }

    /// Returns the finding that repeats the prior one.
    pub fn find_reraised(&self, finding: FindingId) -> Option<&RaisedFinding> {
        self.findings.iter().find(|raised| raised.same_as == Some(finding))
    }
}

impl RaisedFinding {
    pub fn detail(&self) -> FindingDetail<'_> {
        FindingDetail { body: &self.body, end_line: self.end_line, column: self.column, help: self.help.as_deref() }
    }
}

impl RunCost {
    pub fn saturating_add(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            micro_usd: self.micro_usd.saturating_add(other.micro_usd),
            seconds: self.seconds.saturating_add(other.seconds),
            runs: self.runs.saturating_add(other.runs),
        }
    }
}
