//! Lines of a text, from 1: which bytes they are, and which of them the change added.

use std::ops::{Range, RangeInclusive};

/// Runs of lines, in order and apart from each other.
#[derive(Clone, Debug, Default)]
pub(super) struct LineRanges(Vec<RangeInclusive<u32>>);

impl FromIterator<RangeInclusive<u32>> for LineRanges {
    fn from_iter<T: IntoIterator<Item = RangeInclusive<u32>>>(runs: T) -> Self {
        Self(runs.into_iter().collect())
    }
}

impl LineRanges {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn ranges(&self) -> &[RangeInclusive<u32>] {
        &self.0
    }

    /// Whether any of `lines` is among them.
    pub(super) fn intersects(&self, lines: &RangeInclusive<u32>) -> bool {
        let after = self.0.partition_point(|run| run.end() < lines.start());
        self.0.get(after).is_some_and(|run| run.start() <= lines.end())
    }
}

/// Where each line of a text begins.
pub(super) struct LineIndex<'a> {
    text: &'a [u8],
    line_starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        let feeds = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        Self { text, line_starts: std::iter::once(0).chain(feeds.map(|(at, _)| at + 1)).collect() }
    }

    /// The bytes of these lines, the last line feed included; empty past the end.
    pub(super) fn byte_range(&self, lines: &RangeInclusive<u32>) -> Range<usize> {
        let start = |line: u32| self.line_starts.get((line as usize).saturating_sub(1)).copied();
        let from = start(*lines.start()).unwrap_or(self.text.len());
        from..start(lines.end().saturating_add(1)).unwrap_or(self.text.len()).max(from)
    }

    /// A line without its end.
    pub(super) fn line(&self, number: u32) -> &'a [u8] {
        let text = &self.text[self.byte_range(&(number..=number))];
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        text.strip_suffix(b"\r").unwrap_or(text)
    }

    /// The line of a byte.
    pub(super) fn line_number(&self, byte: usize) -> u32 {
        u32::try_from(self.line_starts.partition_point(|start| *start <= byte)).unwrap_or(u32::MAX)
    }
}
