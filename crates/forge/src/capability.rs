//! What each version of a forge's software can do, as data: the pages about forges are generated from it.

use referee_core::model::Support;

/// What the software of a forge can do, by version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapabilityTable {
    pub rows: &'static [CapabilityRow],
    pub versions: VersionRange,
    /// What stands before a version number of this table: `1.` for `1.27`.
    pub version_prefix: &'static str,
}

/// One operation: how it is done, by version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapabilityRow {
    pub operation: &'static str,
    /// How it is done from which version on; oldest first, never empty.
    pub ways: &'static [VersionSupport],
    /// The ids of the specification's lines that need it.
    pub spec: &'static [&'static str],
}

/// How an operation is done from a version on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionSupport {
    pub since: u32,
    pub support: Support,
    /// How the server does it, or what referee does instead.
    pub how: &'static str,
}

/// The versions a table covers, by the number that `VersionSupport::since` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRange {
    pub first: u32,
    pub last: u32,
}

impl CapabilityRow {
    /// Returns how the operation is done at that version.
    pub fn support_at(&self, version: u32) -> Option<&'static VersionSupport> {
        self.ways.iter().rev().find(|way| way.since <= version)
    }
}
