//! Lines of a text, counted from 1: their byte ranges, and which of them the change added.

use std::ops::{Range, RangeInclusive};

/// Ranges of lines, ascending and disjoint.
#[derive(Clone, Debug, Default)]
pub(super) struct LineRanges(Vec<RangeInclusive<u32>>);

impl FromIterator<RangeInclusive<u32>> for LineRanges {
    fn from_iter<T: IntoIterator<Item = RangeInclusive<u32>>>(ranges: T) -> Self {
        Self(ranges.into_iter().collect())
    }
}

impl LineRanges {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn ranges(&self) -> &[RangeInclusive<u32>] {
        &self.0
    }

    /// Returns whether any of `lines` is in a range.
    pub(super) fn intersects(&self, lines: &RangeInclusive<u32>) -> bool {
        let next = self.0.partition_point(|range| range.end() < lines.start());
        self.0.get(next).is_some_and(|range| range.start() <= lines.end())
    }
}

/// The start of each line of a text.
pub(super) struct LineIndex<'a> {
    text: &'a [u8],
    line_starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        let newlines = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        Self { text, line_starts: std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect() }
    }

    /// Returns the bytes of these lines with their line ends; an empty range past the end of the text.
    pub(super) fn byte_range(&self, lines: &RangeInclusive<u32>) -> Range<usize> {
        let start = |line: u32| self.line_starts.get((line as usize).saturating_sub(1)).copied();
        let from = start(*lines.start()).unwrap_or(self.text.len());
        from..start(lines.end().saturating_add(1)).unwrap_or(self.text.len()).max(from)
    }

    /// Returns a line without its line end.
    pub(super) fn line(&self, number: u32) -> &'a [u8] {
        let text = &self.text[self.byte_range(&(number..=number))];
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        text.strip_suffix(b"\r").unwrap_or(text)
    }

    /// Returns the line of a byte offset.
    pub(super) fn line_number(&self, byte: usize) -> u32 {
        u32::try_from(self.line_starts.partition_point(|start| *start <= byte)).unwrap_or(u32::MAX)
    }
}
