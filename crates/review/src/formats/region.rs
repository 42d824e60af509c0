//! Which lines a place or a fix takes.

use serde::Deserialize;

use super::json::count;

/// From one position to another, lines and columns counted from one, the end column behind the last character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Region {
    #[serde(default, rename = "startLine", deserialize_with = "count")]
    pub(super) line: Option<u32>,
    #[serde(default, rename = "startColumn", deserialize_with = "count")]
    pub(super) column: Option<u32>,
    #[serde(default, rename = "endLine", deserialize_with = "count")]
    pub(super) end_line: Option<u32>,
    #[serde(default, rename = "endColumn", deserialize_with = "count")]
    pub(super) end_column: Option<u32>,
}

impl Region {
    /// The first and the last line. A region that ends before the first character of a line does not take that line.
    pub(super) fn line_range(&self) -> (Option<u32>, Option<u32>) {
        let Some(line) = self.line else { return (None, None) };
        let end = self.end_line.unwrap_or(line);
        let end = if self.end_column == Some(1) && line < end { end - 1 } else { end };
        (Some(line), Some(end).filter(|end| line < *end))
    }

    /// A replacement of this region as one of the place's whole lines: nothing else can be taken over by a click.
    pub(super) fn to_line_replacement(self, place: &Self, text: &str) -> Option<String> {
        let from_start = self.column.is_none_or(|column| column == 1);
        let ends_behind = self.end_column == Some(1) && self.line < self.end_line;
        let to_end = self.end_column.is_none() || ends_behind;
        let whole = from_start && to_end && self.line.is_some() && self.line_range() == place.line_range();
        let text = if ends_behind { text.strip_suffix('\n')? } else { text.strip_suffix('\n').unwrap_or(text) };
        (whole && !text.is_empty()).then(|| text.trim_end_matches('\r').to_owned())
    }
}
