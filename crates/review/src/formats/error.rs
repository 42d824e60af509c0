use std::fmt;

use super::{Format, TOO_LARGE};

/// Why a report was not taken. Nothing of it is used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// More than anybody reads.
    #[error("the report was not read: it has {} MB, and {} MB is too much", .bytes / 1_000_000, TOO_LARGE / 1_000_000)]
    TooLarge {
        /// How much.
        bytes: usize,
    },
    /// Some other encoding.
    #[error("the report was not taken: it is no UTF-8 (byte {at})")]
    NotUtf8 {
        /// The first byte that is not.
        at: usize,
    },
    /// It ends in the middle.
    #[error("the report was not taken: the {format} ends in the middle (line {line}), so nobody knows what is missing")]
    Cut {
        /// Read as.
        format: Format,
        /// Its last line.
        line: usize,
    },
    /// Neither JSON nor XML.
    #[error("the report was not taken: this is no {format}: {what}")]
    Syntax {
        /// Read as.
        format: Format,
        /// What is wrong, and where.
        what: String,
    },
    /// Well written, but something else.
    #[error("the report was not taken: this is no {format}: {what}")]
    Foreign {
        /// Read as.
        format: Format,
        /// What it lacks.
        what: String,
    },
    /// Another role's report.
    #[error("the report was not taken: it is for the role `{said}`, and `{asked}` was asked")]
    Role {
        /// The report's.
        said: String,
        /// Ours.
        asked: String,
    },
    /// It breaks the published schema; all that is wrong, in the order of the text.
    #[error("the report was not taken:{}", each(.0))]
    Violations(Vec<Violation>),
}

/// One thing that is wrong in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where: a JSON pointer, empty for the whole.
    pub pointer: String,
    /// What.
    pub what: String,
}

impl FormatError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::TooLarge { .. } => Some("report on the change alone, or split the report by role"),
            Self::NotUtf8 { .. } => Some("write it as UTF-8: some shells redirect into UTF-16"),
            Self::Cut { .. } => Some("run the tool again and let it end"),
            Self::Syntax { .. } | Self::Foreign { .. } => {
                Some("name its format, and take only the tool's stdout: messages for people go to stderr")
            }
            Self::Role { .. } => Some("hand it in for that role"),
            Self::Violations(_) => Some("`referee schema report` prints the schema"),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() { f.write_str(&self.what) } else { write!(f, "{}: {}", self.pointer, self.what) }
    }
}

/// On lines of their own where there are several.
fn each(violations: &[Violation]) -> String {
    match violations {
        [one] => format!(" {one}"),
        many => many.iter().map(|it| format!("\n  {it}")).collect(),
    }
}
