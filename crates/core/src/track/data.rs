//! What tracking leaves in a snapshot: places and identities, no source text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A side of a diff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Before.
    Old,
    /// After.
    #[default]
    New,
}

/// What may be commented on, checked against the parsed diff (PUB-13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Anchor {
    /// The line.
    Line,
    /// Only the file.
    File,
    /// Neither: the summary tells.
    Summary,
}

/// The identity of a finding: role, rule or title, anchored code; no line numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Fingerprint(pub String);

/// The identity of a change, whitespace included; a rebase that keeps the content keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PatchId(pub String);

/// The anchored code alone, whatever its indentation and wrapping.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct AnchorHash(pub String);

/// Where code is: lines of one head, counted from 1. Line 0 is the whole file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct CodeLocation {
    /// The file.
    pub path: String,
    /// The first line.
    pub line: u32,
    /// The last line.
    pub end_line: u32,
}

/// Where a finding's code went. Unchanged means that it reads the same with white space left out: new indentation and
/// new line breaks are no change, except for the depth of a line where the language reads it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Track {
    /// Unchanged in the same file and among the same neighbours; its lines may have shifted.
    Same(CodeLocation),
    /// Unchanged, elsewhere: the file has another name, or the code another place.
    Moved(CodeLocation),
    /// Edited; this is the best place for it.
    Changed(CodeLocation),
    /// No trace.
    Gone,
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// It changed.
    Modified,
    /// It moved.
    Renamed,
}

/// A hunk's lines, without their text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HunkRange {
    /// First line before.
    pub old_start: u32,
    /// Lines before.
    pub old_lines: u32,
    /// First line after.
    pub new_start: u32,
    /// Lines after.
    pub new_lines: u32,
}

/// A changed file, without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    /// The name after; before, for a deleted one.
    pub path: String,
    /// The name before, where it differs.
    pub old_path: Option<String>,
    /// What happened.
    pub kind: ChangeKind,
    /// Where; empty for what has no lines: a binary file, a submodule, a change of mode.
    pub hunks: Vec<HunkRange>,
    /// How many lines it had, where that is known.
    #[serde(default)]
    pub old_len: Option<u32>,
    /// How many lines it has, where that is known.
    #[serde(default)]
    pub new_len: Option<u32>,
}

impl Track {
    /// Where the code is now.
    pub fn spot(&self) -> Option<&CodeLocation> {
        match self {
            Self::Same(spot) | Self::Moved(spot) | Self::Changed(spot) => Some(spot),
            Self::Gone => None,
        }
    }
}
