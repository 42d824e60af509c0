//! How two places lie to each other.

use super::CodeLocation;

impl CodeLocation {
    /// A place in `path`; an `end_line` before `line` counts as `line`.
    pub fn new(path: &str, line: u32, end_line: u32) -> Self {
        CodeLocation { path: path.to_owned(), line, end_line: end_line.max(line) }
    }

    /// The file as a whole: a finding about a file, not about a line of it.
    pub fn whole_file(path: &str) -> Self {
        CodeLocation::new(path, 0, 0)
    }

    /// How many lines it spans.
    pub(super) fn line_count(&self) -> u32 {
        self.end_line.saturating_sub(self.line).saturating_add(1)
    }

    /// How many lines the two have in common; none across files.
    pub(super) fn count_shared_lines(&self, other: &CodeLocation) -> u32 {
        if self.path != other.path {
            return 0;
        }
        let first = self.line.max(other.line);
        let last = self.end_line.min(other.end_line);
        last.saturating_add(1).saturating_sub(first)
    }

    /// How many lines lie from one to the other: 0 when they share a line, `None` across files.
    pub(super) fn distance(&self, other: &CodeLocation) -> Option<u32> {
        if self.path != other.path {
            return None;
        }
        let gap_below = other.line.saturating_sub(self.end_line);
        let gap_above = self.line.saturating_sub(other.end_line);
        Some(gap_below.max(gap_above))
    }
}
