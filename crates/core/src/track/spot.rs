//! How two places lie to each other.

use super::Spot;

impl Spot {
    /// A place in `path`; an `end_line` before `line` counts as `line`.
    pub fn new(path: &str, line: u32, end_line: u32) -> Self {
        Spot { path: path.to_owned(), line, end_line: end_line.max(line) }
    }

    /// The file as a whole: a finding about a file, not about a line of it.
    pub fn whole_file(path: &str) -> Self {
        Spot::new(path, 0, 0)
    }

    /// How many lines it spans.
    pub(super) fn span(&self) -> u32 {
        self.end_line.saturating_sub(self.line).saturating_add(1)
    }

    /// How many lines the two have in common; none across files.
    pub(super) fn shared(&self, other: &Spot) -> u32 {
        if self.path != other.path {
            return 0;
        }
        let first = self.line.max(other.line);
        let last = self.end_line.min(other.end_line);
        last.saturating_add(1).saturating_sub(first)
    }

    /// How many lines lie from one to the other: 0 when they share a line, `None` across files.
    pub(super) fn distance(&self, other: &Spot) -> Option<u32> {
        if self.path != other.path {
            return None;
        }
        let gap_below = other.line.saturating_sub(self.end_line);
        let gap_above = self.line.saturating_sub(other.end_line);
        Some(gap_below.max(gap_above))
    }
}
