//! The results of tracking that a snapshot keeps: locations and identities, no source text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A side of a diff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Old,
    #[default]
    New,
}

/// Where the diff allows a comment (PUB-13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Anchor {
    /// On the line.
    Line,
    /// On the file only.
    File,
    /// In the summary only.
    Summary,
}

/// The identity of a finding: a hash of role, rule or title, and anchored code, without line numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Fingerprint(pub String);

/// The identity of a change, whitespace included. A rebase that keeps the content keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PatchId(pub String);

/// A hash of the anchored code, independent of indentation and line breaks.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct AnchorHash(pub String);

/// A range of lines at one head, counted from 1. Line 0 is the whole file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct CodeLocation {
    pub path: String,
    /// The first line.
    pub line: u32,
    /// The last line, inclusive.
    pub end_line: u32,
}

/// Where a finding's code is at the new head. Code counts as unchanged if it is equal without whitespace: new
/// indentation and line breaks do not count, except for the nesting depth in languages where indentation has a meaning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Track {
    /// Unchanged, in the same file and context. Its lines may have shifted.
    Same(CodeLocation),
    /// Unchanged, but the file was renamed or the code moved.
    Moved(CodeLocation),
    /// Edited. Holds the best matching location.
    Changed(CodeLocation),
    /// Deleted.
    Gone,
}

/// How a file changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Added,
    Deleted,
    Modified,
    Renamed,
}

/// The line range of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HunkRange {
    pub old_start: u32,
    /// Number of old lines.
    pub old_lines: u32,
    pub new_start: u32,
    /// Number of new lines.
    pub new_lines: u32,
}

/// A changed file, without source text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    /// The new path. For a deleted file, the old one.
    pub path: String,
    /// The old path, if it differs.
    pub old_path: Option<String>,
    pub kind: ChangeKind,
    /// Empty for a binary file, a submodule or a mode change.
    pub hunks: Vec<HunkRange>,
    /// Number of lines of the old file, if known.
    #[serde(default)]
    pub old_len: Option<u32>,
    /// Number of lines of the new file, if known.
    #[serde(default)]
    pub new_len: Option<u32>,
}

impl Track {
    /// Returns the location at the new head. `None` if the code is gone.
    pub fn location(&self) -> Option<&CodeLocation> {
        match self {
            Self::Same(location) | Self::Moved(location) | Self::Changed(location) => Some(location),
            Self::Gone => None,
        }
    }
}
