//! The two texts of one file, and how their lines lie to each other.

use std::ops::{Range, RangeInclusive};

use super::code::{same_code, weight};
use super::{Change, FileChange, LineMap};

/// A mapped line that says less than this may stand anywhere: it does not end a region.
const TELLING: u32 = 8;

/// How many lines more than went may have come in their place.
const ROOM: usize = 20;

/// How many neighbours on each side speak for a place.
const NEIGHBOURS: usize = 3;

/// The lines of a file at both heads; lines count from 0 here.
pub(super) struct Pair<'a> {
    pub(super) old: Vec<&'a str>,
    pub(super) new: Vec<&'a str>,
    map: LineMap,
}

impl<'a> Pair<'a> {
    pub(super) fn new(file: &FileChange<'a>) -> Self {
        let old: Vec<&str> = file.old_text.unwrap_or("").split_inclusive('\n').collect();
        let new: Vec<&str> = file.new_text.unwrap_or("").split_inclusive('\n').collect();
        let map = LineMap::loose_lines(&old, &new);
        Pair { old, new, map }
    }

    /// The new line of an old one.
    pub(super) fn forward(&self, line: usize) -> Option<usize> {
        let number = u32::try_from(line + 1).ok()?;
        self.map.forward(number).map(|line| line as usize - 1)
    }

    /// Whether the new line was not there before.
    pub(super) fn is_added(&self, line: usize) -> bool {
        u32::try_from(line + 1).is_ok_and(|number| self.map.backward(number).is_none())
    }

    /// What changed, white space aside.
    pub(super) fn changes(&self) -> &[Change] {
        self.map.changes()
    }

    /// How much the neighbours of the two places agree, and how much they could at most.
    pub(super) fn support(&self, old: RangeInclusive<usize>, new: RangeInclusive<usize>) -> (u32, u32) {
        let above =
            agreement(self.old[..*old.start()].iter().rev().copied(), self.new[..*new.start()].iter().rev().copied());
        let below = agreement(self.old[old.end() + 1..].iter().copied(), self.new[new.end() + 1..].iter().copied());
        (above.0 + below.0, above.1 + below.1)
    }

    /// The lines around an edit: out to the nearest line on each side that is still there and says enough to be sure of.
    pub(super) fn region(&self, first: usize, last: usize) -> (Range<usize>, Range<usize>) {
        let telling = |line: &usize| weight(self.old[*line]) >= TELLING;
        let above = (0..first).rev().filter(telling).find_map(|line| Some((line, self.forward(line)?)));
        let below = (last + 1..self.old.len()).filter(telling).find_map(|line| Some((line, self.forward(line)?)));
        let (old_start, new_start) = above.map_or((0, 0), |(old, new)| (old + 1, new + 1));
        let (old_end, new_end) = below.unwrap_or((self.old.len(), self.new.len()));
        (old_start..old_end, new_start..new_end)
    }

    /// Where a range is of which some lines are still there: from the first to the last of them, with the lines that
    /// replaced its ends. Also how much the remaining lines say.
    pub(super) fn remains(&self, first: usize, last: usize) -> Option<(RangeInclusive<usize>, u32)> {
        let mapped = || (first..=last).filter_map(|line| Some((line, self.forward(line)?)));
        let telling: u32 = mapped().map(|(line, _)| weight(self.old[line])).sum();
        let ((old_top, top), (old_bottom, bottom)) = (mapped().next()?, mapped().next_back()?);
        let replaced_above = self.replacement(first..old_top).map_or(top, |lines| *lines.start());
        let replaced_below = self.replacement(old_bottom + 1..last + 1).map_or(bottom, |lines| *lines.end());
        (telling > 0).then_some((replaced_above.min(top)..=replaced_below.max(bottom), telling))
    }

    /// The lines that stand where old lines stood; none where they were deleted. Where much more came than they were, it
    /// is the part at the same height.
    pub(super) fn replacement(&self, old: Range<usize>) -> Option<RangeInclusive<usize>> {
        let overlaps =
            |change: &&Change| (change.old.start as usize) <= old.end && old.start + 1 < change.old.end as usize;
        let change = self.changes().iter().filter(overlaps).find(|change| !change.new.is_empty())?;
        let (start, length) = (change.new.start as usize - 1, change.new.len());
        let room = old.len() + ROOM;
        if old.is_empty() || length <= room {
            return (!old.is_empty()).then_some(start..=start + length - 1);
        }
        let height = (old.start + 1).saturating_sub(change.old.start as usize) * length / change.old.len().max(1);
        let top = start + height.saturating_sub(ROOM / 2).min(length - room);
        Some(top..=top + room - 1)
    }
}

/// Compares the nearest lines that are not blank, one by one.
fn agreement<'a>(old: impl Iterator<Item = &'a str>, new: impl Iterator<Item = &'a str>) -> (u32, u32) {
    let blank = |line: &&str| !line.trim().is_empty();
    let mut new = new.filter(blank);
    let (mut agreed, mut known) = (0, 0);
    for line in old.filter(blank).take(NEIGHBOURS) {
        let weight = weight(line);
        known += weight;
        if new.next().is_some_and(|other| same_code(line, other)) {
            agreed += weight;
        }
    }
    (agreed, known)
}
