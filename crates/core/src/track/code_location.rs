//! Constructors and geometry of code locations.

use super::CodeLocation;

impl CodeLocation {
    /// Creates a location. An `end_line` before `line` is replaced by `line`.
    pub fn new(path: &str, line: u32, end_line: u32) -> Self {
        CodeLocation { path: path.to_owned(), line, end_line: end_line.max(line) }
    }

    /// Creates the location of a finding about a whole file.
    pub fn whole_file(path: &str) -> Self {
        CodeLocation::new(path, 0, 0)
    }

    pub(super) fn line_count(&self) -> u32 {
        self.end_line.saturating_sub(self.line).saturating_add(1)
    }

    /// Returns how many lines two locations share. 0 across files.
    pub(super) fn count_shared_lines(&self, other: &CodeLocation) -> u32 {
        if self.path != other.path {
            return 0;
        }
        let first = self.line.max(other.line);
        let last = self.end_line.min(other.end_line);
        last.saturating_add(1).saturating_sub(first)
    }

    /// Returns the distance in lines: 0 if the locations share a line, `None` across files.
    pub(super) fn distance(&self, other: &CodeLocation) -> Option<u32> {
        if self.path != other.path {
            return None;
        }
        let gap_below = other.line.saturating_sub(self.end_line);
        let gap_above = self.line.saturating_sub(other.end_line);
        Some(gap_below.max(gap_above))
    }
}
