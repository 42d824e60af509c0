//! The published form of a report (`referee/report-1`): what a reviewer writes, before anything is read into it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Coverage, FindingId, Position, RoleName, RunCost, Severity, Sha};
use crate::track::Side;

/// A report as a reviewer writes it: from a file, a command, an agent, a model or a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// `referee/report-1`.
    pub schema: String,
    /// For which role.
    pub role: RoleName,
    /// The commit that was read.
    pub head: Sha,
    /// How it ended.
    pub outcome: SubmittedOutcome,
    /// Why it failed.
    #[serde(default)]
    pub reason: String,
    /// What was read; without it a report is incomplete.
    #[serde(default)]
    pub coverage: Option<Coverage>,
    /// A sentence or two.
    #[serde(default)]
    pub summary: String,
    /// What was found.
    #[serde(default)]
    pub findings: Vec<SubmittedFinding>,
    /// What is said of prior findings.
    #[serde(default)]
    pub positions: Vec<SubmittedPosition>,
    /// A program without judgement wrote it: not part of the file, set by whoever ran it.
    #[serde(skip)]
    pub deterministic: bool,
    /// Which run wrote it: not part of the file, given by whoever ran it. A second run that says the same is another
    /// attempt; the same file taken twice is not.
    #[serde(skip)]
    pub run: String,
    /// What the run took: not part of the file, measured by whoever ran it.
    #[serde(skip)]
    pub figures: RunCost,
}

/// How a review ended, as its file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubmittedOutcome {
    /// Something was found.
    Findings,
    /// Nothing was found.
    Clean,
    /// Nothing can be said.
    Failed,
}

/// A finding as its file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmittedFinding {
    /// In a line.
    pub title: String,
    /// Why it matters.
    #[serde(default)]
    pub body: String,
    /// How grave.
    pub severity: Severity,
    /// The file.
    pub path: String,
    /// The line.
    #[serde(default)]
    pub line: Option<u32>,
    /// The last line.
    #[serde(default)]
    pub end_line: Option<u32>,
    /// Which side of the diff.
    #[serde(default)]
    pub side: Side,
    /// The rule that found it.
    #[serde(default)]
    pub rule: Option<String>,
    /// Replacement text.
    #[serde(default)]
    pub suggestion: Option<String>,
}

/// What a file says of a prior finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmittedPosition {
    /// `F4`.
    #[serde(with = "finding_name")]
    #[schemars(with = "String")]
    pub finding: FindingId,
    /// What of it.
    pub position: Position,
    /// Why.
    #[serde(default)]
    pub evidence: String,
    /// Words for the thread.
    #[serde(default)]
    pub reply: String,
}

/// `F4` in files, a number in types.
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
        number.map(FindingId).ok_or_else(|| D::Error::custom(format!("`{name}` is no finding: write `F4`")))
    }
}
