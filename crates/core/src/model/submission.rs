//! The published report format (`referee/report-1`), as a reviewer writes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Accounting, Coverage, FindingId, Position, RoleName, RunCost, Severity, Sha};
use crate::track::Side;

/// A report as a reviewer writes it: a file, a command, an agent, a model or a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// Must be `referee/report-1`.
    pub schema: String,
    /// The role that was reviewed for.
    pub role: RoleName,
    /// The reviewed commit.
    pub head: Sha,
    /// How the review ended.
    pub outcome: SubmittedOutcome,
    /// Why the review failed. Only for `failed`.
    #[serde(default)]
    pub reason: String,
    /// The reviewed files. Without it a report counts as incomplete.
    #[serde(default)]
    pub coverage: Option<Coverage>,
    /// A sentence or two.
    #[serde(default)]
    pub summary: String,
    /// Problems found.
    #[serde(default)]
    pub findings: Vec<SubmittedFinding>,
    /// Positions on prior findings.
    #[serde(default)]
    pub positions: Vec<SubmittedPosition>,
    /// From a deterministic program. Not part of the file; the runner sets it.
    #[serde(skip)]
    pub deterministic: bool,
    /// Id of the run. Not part of the file; the runner sets it. A second run with the same content is another attempt,
    /// the same file submitted twice is not.
    #[serde(skip)]
    pub run: String,
    /// Results that the parser did not turn into findings, by reason (PUB-23). Not part of the file.
    #[serde(skip)]
    pub left_out: Accounting,
    /// What the report says of its tool and rule set, such as name and version (D34). Not part of the file.
    #[serde(skip)]
    pub tool: Option<String>,
    /// Cost of the run. Not part of the file; the runner measures it.
    #[serde(skip)]
    pub figures: RunCost,
}

/// How a review ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubmittedOutcome {
    /// Problems were found.
    Findings,
    /// No problem was found.
    Clean,
    /// The review failed; `reason` says why.
    Failed,
}

/// A finding of a submitted report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmittedFinding {
    /// The problem in one line.
    pub title: String,
    /// Why it matters.
    #[serde(default)]
    pub body: String,
    /// How severe it is.
    pub severity: Severity,
    /// Path of the file in the repository.
    pub path: String,
    /// First line, counted from 1. Without it the finding is about the whole file.
    #[serde(default)]
    pub line: Option<u32>,
    /// Last line of a range.
    #[serde(default)]
    pub end_line: Option<u32>,
    /// Column of the first character, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Side of the diff that the lines are counted on.
    #[serde(default)]
    pub side: Side,
    /// Id of the rule that found it.
    #[serde(default)]
    pub rule: Option<String>,
    /// Web page that explains the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Replacement for the lines.
    #[serde(default)]
    pub suggestion: Option<String>,
}

/// A submitted position on a prior finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmittedPosition {
    /// Id of the finding, such as `F4`.
    #[serde(with = "finding_name")]
    #[schemars(with = "String")]
    pub finding: FindingId,
    /// The position.
    pub position: Position,
    /// Why.
    #[serde(default)]
    pub evidence: String,
    /// Reply for the thread.
    #[serde(default)]
    pub reply: String,
}

/// Reads and writes a finding id as `F4`.
mod finding_name {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::model::FindingId;

    pub(super) fn serialize<S: Serializer>(id: &FindingId, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(id)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<FindingId, D::Error> {
        let name = String::deserialize(from)?;
        let number = name.strip_prefix('F').and_then(|digits| digits.parse().ok());
        number.map(FindingId).ok_or_else(|| D::Error::custom(format!("`{name}` is not a finding id such as `F4`")))
    }
}
