//! Enums stored as words in columns.

use referee_core::model::{CheckState, PullState, Verdict};
use referee_core::track::Side;

use crate::ClaimPurpose;

/// An enum that a column stores as a word.
pub(super) trait ColumnValue: Copy + PartialEq + 'static {
    /// All values with their words.
    const ALL: &'static [(Self, &'static str)];

    fn column_text(self) -> &'static str {
        Self::ALL.iter().find(|(value, _)| *value == self).map_or("", |(_, word)| word)
    }

    /// Parses a word; an unknown one is an error.
    fn from_row(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Self> {
        let word: String = row.get(column)?;
        let value = Self::ALL.iter().find(|(_, known)| *known == word).map(|(value, _)| *value);
        value.ok_or_else(|| {
            let why = format!("`{word}` is no word for this column");
            rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, why.into())
        })
    }
}

impl ColumnValue for PullState {
    const ALL: &'static [(Self, &'static str)] =
        &[(Self::Open, "open"), (Self::Closed, "closed"), (Self::Merged, "merged")];
}

impl ColumnValue for Verdict {
    const ALL: &'static [(Self, &'static str)] =
        &[(Self::Approve, "approve"), (Self::Comment, "comment"), (Self::RequestChanges, "request_changes")];
}

impl ColumnValue for Side {
    const ALL: &'static [(Self, &'static str)] = &[(Self::Old, "old"), (Self::New, "new")];
}

impl ColumnValue for CheckState {
    const ALL: &'static [(Self, &'static str)] =
        &[(Self::Pass, "pass"), (Self::Fail, "fail"), (Self::Pending, "pending"), (Self::None, "none")];
}

impl ColumnValue for ClaimPurpose {
    const ALL: &'static [(Self, &'static str)] = &[(Self::Publish, "publish"), (Self::Work, "work")];
}
