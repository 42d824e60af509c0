//! Where the results of a report went (PUB-23), and the findings that fit nowhere on a pull (D33).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Severity;

/// Where the results of one report went. Every result is in exactly one of the counts after `received`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Accounting {
    /// Results in the reviewer's output.
    pub received: u32,
    /// Findings raised in this turn, including those that returned and those that fit nowhere (D33).
    pub new: u32,
    /// Results that are a known open finding.
    pub known: u32,
    /// Results equal to another one of the same report: path, place, rule and text agree (D38).
    pub merged: u32,
    /// Results that were not raised, by reason.
    pub held_back: HeldBack,
    /// Results on lines outside the change, from a deterministic program.
    pub pre_existing: u32,
    /// Results that name no file.
    pub without_place: u32,
    /// Results in a file outside the repository.
    pub outside: u32,
    /// Results that the config, the tool or a comment in the code switched off.
    pub off: u32,
    /// Results of a kind that is not a finding, such as a passed check.
    pub unsupported: u32,
}

/// Results that were not raised, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct HeldBack {
    /// Below the severity floor of the round (LOOP-5).
    pub below_floor: u32,
    /// On code that did not change since the last complete review (LOOP-5).
    pub unchanged: u32,
    /// Fixed, accepted or refuted before.
    pub settled: u32,
    /// In a report that was not used: it failed, or another one of the role replaced it.
    pub unused: u32,
}

/// Open findings that fit into neither thread nor Block, by severity (D33).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Overflow {
    pub critical: u32,
    pub warning: u32,
    pub suggestion: u32,
}

impl Accounting {
    /// Returns the number of results that have a place in the counts. Equal to `received` unless something is lost.
    pub fn accounted(&self) -> u32 {
        self.new.saturating_add(self.known).saturating_add(self.not_shown())
    }

    /// Returns the number of results that are not shown as a finding.
    pub fn not_shown(&self) -> u32 {
        let Self {
            received: _,
            new: _,
            known: _,
            merged,
            held_back,
            pre_existing,
            without_place,
            outside,
            off,
            unsupported,
        } = *self;
        [merged, held_back.total(), pre_existing, without_place, outside, off, unsupported]
            .into_iter()
            .fold(0, u32::saturating_add)
    }

    pub fn saturating_add(self, other: Self) -> Self {
        Self {
            received: self.received.saturating_add(other.received),
            new: self.new.saturating_add(other.new),
            known: self.known.saturating_add(other.known),
            merged: self.merged.saturating_add(other.merged),
            held_back: self.held_back.saturating_add(other.held_back),
            pre_existing: self.pre_existing.saturating_add(other.pre_existing),
            without_place: self.without_place.saturating_add(other.without_place),
            outside: self.outside.saturating_add(other.outside),
            off: self.off.saturating_add(other.off),
            unsupported: self.unsupported.saturating_add(other.unsupported),
        }
    }
}

impl HeldBack {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn total(&self) -> u32 {
        let Self { below_floor, unchanged, settled, unused } = *self;
        [below_floor, unchanged, settled, unused].into_iter().fold(0, u32::saturating_add)
    }

    fn saturating_add(self, other: Self) -> Self {
        Self {
            below_floor: self.below_floor.saturating_add(other.below_floor),
            unchanged: self.unchanged.saturating_add(other.unchanged),
            settled: self.settled.saturating_add(other.settled),
            unused: self.unused.saturating_add(other.unused),
        }
    }
}

impl Overflow {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub fn total(&self) -> u32 {
        self.critical.saturating_add(self.warning).saturating_add(self.suggestion)
    }

    pub fn count(&self, severity: Severity) -> u32 {
        match severity {
            Severity::Critical => self.critical,
            Severity::Warning => self.warning,
            Severity::Suggestion => self.suggestion,
        }
    }

    /// Counts one finding.
    pub fn add(&mut self, severity: Severity) {
        let count = match severity {
            Severity::Critical => &mut self.critical,
            Severity::Warning => &mut self.warning,
            Severity::Suggestion => &mut self.suggestion,
        };
        *count = count.saturating_add(1);
    }

    /// Returns the larger count of each severity.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            critical: self.critical.max(other.critical),
            warning: self.warning.max(other.warning),
            suggestion: self.suggestion.max(other.suggestion),
        }
    }
}
