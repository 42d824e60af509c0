//! The two versions of one file and the mapping of their lines.

use std::ops::{Range, RangeInclusive};

use super::code_lines::{is_same_code, weigh_line};
use super::{FileChange, LineChange, LineMap};

/// Minimum weight of a mapped line that ends a region. Lighter lines, such as braces, may be mapped by coincidence.
const MIN_BOUNDARY_WEIGHT: u32 = 8;

/// Maximum number of lines by which a replacement may be longer than the lines it replaces.
const MAX_EXTRA_LINES: usize = 20;

/// Number of neighbouring lines on each side that are compared.
const NEIGHBOUR_LINES: usize = 3;

/// The lines of a file at both heads. Lines are counted from 0 here.
pub(super) struct FileVersions<'a> {
    pub(super) old: Vec<&'a str>,
    pub(super) new: Vec<&'a str>,
    map: LineMap,
}

impl<'a> FileVersions<'a> {
    pub(super) fn new(file: &FileChange<'a>) -> Self {
        let old: Vec<&str> = file.old_text.unwrap_or("").split_inclusive('\n').collect();
        let new: Vec<&str> = file.new_text.unwrap_or("").split_inclusive('\n').collect();
        let map = LineMap::from_loose_lines(&old, &new);
        FileVersions { old, new, map }
    }

    /// Returns the new line of an old one.
    pub(super) fn to_new_line(&self, line: usize) -> Option<usize> {
        let number = u32::try_from(line + 1).ok()?;
        self.map.to_new_line(number).map(|line| line as usize - 1)
    }

    /// Returns whether a new line has no old line.
    pub(super) fn is_added(&self, line: usize) -> bool {
        u32::try_from(line + 1).is_ok_and(|number| self.map.to_old_line(number).is_none())
    }

    /// Returns the changes, ignoring whitespace.
    pub(super) fn changes(&self) -> &[LineChange] {
        self.map.changes()
    }

    /// Compares the neighbours of two ranges. Returns the weight of the equal ones and the total weight.
    pub(super) fn score_neighbours(&self, old: RangeInclusive<usize>, new: RangeInclusive<usize>) -> (u32, u32) {
        let above = compare_neighbours(
            self.old[..*old.start()].iter().rev().copied(),
            self.new[..*new.start()].iter().rev().copied(),
        );
        let below =
            compare_neighbours(self.old[old.end() + 1..].iter().copied(), self.new[new.end() + 1..].iter().copied());
        (above.0 + below.0, above.1 + below.1)
    }

    /// Returns the old and new region around an edit, up to the nearest unchanged line on each side that is heavy
    /// enough.
    pub(super) fn find_edit_region(&self, first: usize, last: usize) -> (Range<usize>, Range<usize>) {
        let is_distinctive = |line: &usize| weigh_line(self.old[*line]) >= MIN_BOUNDARY_WEIGHT;
        let above = (0..first).rev().filter(is_distinctive).find_map(|line| Some((line, self.to_new_line(line)?)));
        let below =
            (last + 1..self.old.len()).filter(is_distinctive).find_map(|line| Some((line, self.to_new_line(line)?)));
        let (old_start, new_start) = above.map_or((0, 0), |(old, new)| (old + 1, new + 1));
        let (old_end, new_end) = below.unwrap_or((self.old.len(), self.new.len()));
        (old_start..old_end, new_start..new_end)
    }

    /// Returns the new range of partly unchanged lines: from the first to the last unchanged one, with the lines that
    /// replaced its ends. Also returns the weight of the unchanged lines.
    pub(super) fn find_remaining_lines(&self, first: usize, last: usize) -> Option<(RangeInclusive<usize>, u32)> {
        let mapped = || (first..=last).filter_map(|line| Some((line, self.to_new_line(line)?)));
        let weight: u32 = mapped().map(|(line, _)| weigh_line(self.old[line])).sum();
        let ((old_top, top), (old_bottom, bottom)) = (mapped().next()?, mapped().next_back()?);
        let replaced_above = self.find_replacement(first..old_top).map_or(top, |lines| *lines.start());
        let replaced_below = self.find_replacement(old_bottom + 1..last + 1).map_or(bottom, |lines| *lines.end());
        (weight > 0).then_some((replaced_above.min(top)..=replaced_below.max(bottom), weight))
    }

    /// Returns the new lines that replaced old ones. `None` if they were deleted. If the replacement is much longer,
    /// returns the part at the same relative position.
    pub(super) fn find_replacement(&self, old: Range<usize>) -> Option<RangeInclusive<usize>> {
        let overlaps =
            |change: &&LineChange| (change.old.start as usize) <= old.end && old.start + 1 < change.old.end as usize;
        let change = self.changes().iter().filter(overlaps).find(|change| !change.new.is_empty())?;
        let (start, length) = (change.new.start as usize - 1, change.new.len());
        let max_length = old.len() + MAX_EXTRA_LINES;
        if old.is_empty() || length <= max_length {
            return (!old.is_empty()).then_some(start..=start + length - 1);
        }
        let offset = (old.start + 1).saturating_sub(change.old.start as usize) * length / change.old.len().max(1);
        let top = start + offset.saturating_sub(MAX_EXTRA_LINES / 2).min(length - max_length);
        Some(top..=top + max_length - 1)
    }
}

/// Compares the nearest non-blank lines pairwise. Returns the weight of the equal ones and the total weight.
fn compare_neighbours<'a>(old: impl Iterator<Item = &'a str>, new: impl Iterator<Item = &'a str>) -> (u32, u32) {
    let is_not_blank = |line: &&str| !line.trim().is_empty();
    let mut new = new.filter(is_not_blank);
    let (mut equal, mut total) = (0, 0);
    for line in old.filter(is_not_blank).take(NEIGHBOUR_LINES) {
        let weight = weigh_line(line);
        total += weight;
        if new.next().is_some_and(|other| is_same_code(line, other)) {
            equal += weight;
        }
    }
    (equal, total)
}
