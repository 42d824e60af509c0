//! Attributes of a finding: severity, people's stance, the reviewer's position, state.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Severity of a finding, ordered mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth considering.
    Suggestion,
    /// A concrete risk. Several warnings block.
    Warning,
    /// A single one blocks.
    Critical,
}

/// The meaning of a person's reply, parsed from a fixed list of phrases (LOOP-12). A model never sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    /// "Thanks, looking into it".
    #[default]
    Silent,
    /// "Why is that a problem?"
    Asked,
    /// "won't fix", "acknowledged": accepts a finding that is not critical.
    Accepted,
    /// `won't fix: <reason>`, `accepted risk: <reason>`: accepts a critical finding too (D39).
    AcceptedWithReason,
    /// "I disagree".
    Disputed,
    /// "fixed".
    ClaimedFixed,
}

/// What the reviewer now says about a prior finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// The problem is gone.
    Fixed,
    /// The problem is unchanged.
    StillThere,
    Worsened,
    /// The person who disputed it is right.
    Conceded,
    /// The person who disputed it is wrong, with reasons.
    Stands,
}

/// The state of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingState {
    /// Raised in this turn.
    New,
    Open,
    /// The author's side replied last.
    Answered,
    /// Fixed, with evidence.
    Fixed,
    /// A person with the right to do so accepted the risk.
    Accepted,
    /// A person disagrees, and the dispute is not settled.
    Disputed,
    /// The reviewer was wrong.
    Refuted,
    /// Its code is gone, and the reviewer took no position.
    Stale,
}

/// What a finding says beyond its title and line. Owned where it is stored; see [`FindingDetail`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoredDetail {
    /// Why it matters. Untrusted text. Empty if the finding has none, or if its thread holds it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// Last line of a range, at the head of the finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// Column of the first character, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Web page of the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// What a finding says beyond its title and line, borrowed from a report, a Block or a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingDetail<'a> {
    /// Why it matters. Untrusted text.
    pub body: &'a str,
    /// Last line of a range.
    pub end_line: Option<u32>,
    /// Column of the first character, counted from 1.
    pub column: Option<u32>,
    /// Web page of the rule.
    pub help: Option<&'a str>,
}

impl StoredDetail {
    pub fn as_detail(&self) -> FindingDetail<'_> {
        let Self { body, end_line, column, help } = self;
        FindingDetail { body, end_line: *end_line, column: *column, help: help.as_deref() }
    }
}

impl FindingDetail<'_> {
    pub fn to_stored(self) -> StoredDetail {
        let Self { body, end_line, column, help } = self;
        StoredDetail { body: body.to_owned(), end_line, column, help: help.map(str::to_owned) }
    }
}

impl FindingState {
    /// Returns whether a finding in this state needs no further work.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Fixed | Self::Accepted | Self::Refuted)
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Suggestion => "suggestion",
            Self::Warning => "warning",
            Self::Critical => "critical",
        })
    }
}
