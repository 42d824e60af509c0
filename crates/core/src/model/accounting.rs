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
    /// Returns the counts in the order of the fields, with the reasons of `held_back` in its place.
    pub fn to_counts(self) -> [u32; 13] {
        let HeldBack { below_floor, unchanged, settled, unused } = self.held_back;
        [
            self.received,
            self.new,
            self.known,
            self.merged,
            below_floor,
            unchanged,
            settled,
            unused,
            self.pre_existing,
            self.without_place,
            self.outside,
            self.off,
            self.unsupported,
        ]
    }

    /// The inverse of [`Self::to_counts`].
    pub fn from_counts(counts: [u32; 13]) -> Self {
        let [received, new, known, merged, below_floor, unchanged, settled, unused, ..] = counts;
        let [.., pre_existing, without_place, outside, off, unsupported] = counts;
        let held_back = HeldBack { below_floor, unchanged, settled, unused };
        Self { received, new, known, merged, held_back, pre_existing, without_place, outside, off, unsupported }
    }

    /// Returns the number of results that have a place in the counts. Equal to `received` unless something is lost.
    pub fn accounted(self) -> u32 {
        self.new.saturating_add(self.known).saturating_add(self.not_shown())
    }

    /// Returns the number of results that are not shown as a finding.
    pub fn not_shown(self) -> u32 {
        let [_received, _new, _known, not_shown @ ..] = self.to_counts();
        not_shown.into_iter().fold(0, u32::saturating_add)
    }

    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        let mut counts = self.to_counts();
        for (count, more) in counts.iter_mut().zip(other.to_counts()) {
            *count = count.saturating_add(more);
        }
        Self::from_counts(counts)
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
