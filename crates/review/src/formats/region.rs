//! Regions of a file, as SARIF and rdjson write them.

use serde::Deserialize;

use super::json::positive_number;

/// A range of lines and columns, counted from 1. The end column is exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Region {
    #[serde(default, rename = "startLine", deserialize_with = "positive_number")]
    pub(super) line: Option<u32>,
    #[serde(default, rename = "startColumn", deserialize_with = "positive_number")]
    pub(super) column: Option<u32>,
    #[serde(default, rename = "endLine", deserialize_with = "positive_number")]
    pub(super) end_line: Option<u32>,
    #[serde(default, rename = "endColumn", deserialize_with = "positive_number")]
    pub(super) end_column: Option<u32>,
}

impl Region {
    /// Returns the first line, and the last line if it is another one. A region that ends at column 1 of a line does not
    /// include that line.
    pub(super) fn line_range(&self) -> (Option<u32>, Option<u32>) {
        let Some(line) = self.line else { return (None, None) };
        let end = self.end_line.unwrap_or(line);
        let end = if self.end_column == Some(1) && line < end { end - 1 } else { end };
        (Some(line), Some(end).filter(|end| line < *end))
    }

    /// Returns `text` as a replacement of whole lines, if this region covers exactly the lines of `finding`. Forges can
    /// apply no other suggestion.
    pub(super) fn to_line_replacement(self, finding: &Self, text: &str) -> Option<String> {
        let from_start = self.column.is_none_or(|column| column == 1);
        let includes_newline = self.end_column == Some(1) && self.line < self.end_line;
        let to_end = self.end_column.is_none() || includes_newline;
        let whole = from_start && to_end && self.line.is_some() && self.line_range() == finding.line_range();
        let text = if includes_newline { text.strip_suffix('\n')? } else { text.strip_suffix('\n').unwrap_or(text) };
        (whole && !text.is_empty()).then(|| text.trim_end_matches('\r').to_owned())
    }
}
