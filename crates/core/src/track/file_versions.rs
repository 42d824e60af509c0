//! The two texts of one file, and how their lines lie to each other.

use std::ops::{Range, RangeInclusive};

use super::code_lines::{is_same_code, weigh_line};
use super::{FileChange, LineChange, LineMap};

/// A mapped line that says less than this may stand anywhere: it does not end a region.
const MIN_BOUNDARY_WEIGHT: u32 = 8;

/// How many lines more than went may have come in their place.
const MAX_EXTRA_LINES: usize = 20;

/// How many neighbours on each side speak for a place.
const NEIGHBOUR_LINES: usize = 3;

/// The lines of a file at both heads; lines count from 0 here.
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

    /// The new line of an old one.
    pub(super) fn to_new_line(&self, line: usize) -> Option<usize> {
        let number = u32::try_from(line + 1).ok()?;
        self.map.to_new_line(number).map(|line| line as usize - 1)
    }

    /// Whether the new line was not there before.
    pub(super) fn is_added(&self, line: usize) -> bool {
        u32::try_from(line + 1).is_ok_and(|number| self.map.to_old_line(number).is_none())
    }

    /// What changed, white space aside.
    pub(super) fn changes(&self) -> &[LineChange] {
        self.map.changes()
    }

    /// How much the neighbours of the two places agree, and how much they could at most.
    pub(super) fn score_neighbours(&self, old: RangeInclusive<usize>, new: RangeInclusive<usize>) -> (u32, u32) {
        let above = compare_neighbours(
            self.old[..*old.start()].iter().rev().copied(),
            self.new[..*new.start()].iter().rev().copied(),
        );
        let below =
            compare_neighbours(self.old[old.end() + 1..].iter().copied(), self.new[new.end() + 1..].iter().copied());
        (above.0 + below.0, above.1 + below.1)
    }

    /// The lines around an edit: out to the nearest line on each side that is still there and says enough to be sure of.
    pub(super) fn find_edit_region(&self, first: usize, last: usize) -> (Range<usize>, Range<usize>) {
        let telling = |line: &usize| weigh_line(self.old[*line]) >= MIN_BOUNDARY_WEIGHT;
        let above = (0..first).rev().filter(telling).find_map(|line| Some((line, self.to_new_line(line)?)));
        let below = (last + 1..self.old.len()).filter(telling).find_map(|line| Some((line, self.to_new_line(line)?)));
        let (old_start, new_start) = above.map_or((0, 0), |(old, new)| (old + 1, new + 1));
        let (old_end, new_end) = below.unwrap_or((self.old.len(), self.new.len()));
        (old_start..old_end, new_start..new_end)
    }

    /// Where a range is of which some lines are still there: from the first to the last of them, with the lines that
    /// replaced its ends. Also how much the remaining lines say.
    pub(super) fn find_remaining_lines(&self, first: usize, last: usize) -> Option<(RangeInclusive<usize>, u32)> {
        let mapped = || (first..=last).filter_map(|line| Some((line, self.to_new_line(line)?)));
        let telling: u32 = mapped().map(|(line, _)| weigh_line(self.old[line])).sum();
        let ((old_top, top), (old_bottom, bottom)) = (mapped().next()?, mapped().next_back()?);
        let replaced_above = self.find_replacement(first..old_top).map_or(top, |lines| *lines.start());
        let replaced_below = self.find_replacement(old_bottom + 1..last + 1).map_or(bottom, |lines| *lines.end());
        (telling > 0).then_some((replaced_above.min(top)..=replaced_below.max(bottom), telling))
    }

    /// The lines that stand where old lines stood; none where they were deleted. Where much more came than they were, it
    /// is the part at the same height.
    pub(super) fn find_replacement(&self, old: Range<usize>) -> Option<RangeInclusive<usize>> {
        let overlaps =
            |change: &&LineChange| (change.old.start as usize) <= old.end && old.start + 1 < change.old.end as usize;
        let change = self.changes().iter().filter(overlaps).find(|change| !change.new.is_empty())?;
        let (start, length) = (change.new.start as usize - 1, change.new.len());
        let room = old.len() + MAX_EXTRA_LINES;
        if old.is_empty() || length <= room {
            return (!old.is_empty()).then_some(start..=start + length - 1);
        }
        let height = (old.start + 1).saturating_sub(change.old.start as usize) * length / change.old.len().max(1);
        let top = start + height.saturating_sub(MAX_EXTRA_LINES / 2).min(length - room);
        Some(top..=top + room - 1)
    }
}

/// Compares the nearest lines that are not blank, one by one.
fn compare_neighbours<'a>(old: impl Iterator<Item = &'a str>, new: impl Iterator<Item = &'a str>) -> (u32, u32) {
    let blank = |line: &&str| !line.trim().is_empty();
    let mut new = new.filter(blank);
    let (mut agreed, mut known) = (0, 0);
    for line in old.filter(blank).take(NEIGHBOUR_LINES) {
        let weight = weigh_line(line);
        known += weight;
        if new.next().is_some_and(|other| is_same_code(line, other)) {
            agreed += weight;
        }
    }
    (agreed, known)
}
