//! How closed sets of words are kept in columns.

use referee_core::model::{CheckState, PullState, Verdict};
use referee_core::track::Side;

use crate::Purpose;

/// A closed set of words that a column holds.
pub(super) trait Word: Copy + PartialEq + 'static {
    /// Each value with its word.
    const ALL: &'static [(Self, &'static str)];

    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(value, _)| *value == self).map_or("", |(_, word)| word)
    }

    /// The value of a word; an error where nobody knows the word.
    fn read(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Self> {
        let word: String = row.get(column)?;
        let value = Self::ALL.iter().find(|(_, known)| *known == word).map(|(value, _)| *value);
        value.ok_or_else(|| {
            let why = format!("`{word}` is no word for this column");
            rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, why.into())
        })
    }
}

impl Word for PullState {
    const ALL: &'static [(Self, &'static str)] =
        &[(Self::Open, "open"), (Self::Closed, "closed"), (Self::Merged, "merged")];
}

impl Word for Verdict {
    const ALL: &'static [(Self, &'static str)] =
        &[(Self::Approve, "approve"), (Self::Comment, "comment"), (Self::RequestChanges, "request_changes")];
}

impl Word for Side {
    const ALL: &'static [(Self, &'static str)] = &[(Self::Old, "old"), (Self::New, "new")];
}

impl Word for CheckState {
    const ALL: &'static [(Self, &'static str)] =
        &[(Self::Pass, "pass"), (Self::Fail, "fail"), (Self::Pending, "pending"), (Self::None, "none")];
}

impl Word for Purpose {
    const ALL: &'static [(Self, &'static str)] = &[(Self::Publish, "publish"), (Self::Work, "work")];
}
