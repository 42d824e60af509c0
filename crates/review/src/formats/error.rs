use std::fmt;

use super::{Format, MAX_REPORT_BYTES};

/// Why a report was not taken. Nothing of it is used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// More than anybody reads.
    #[error("the report was not read: it has {} MB, and {} MB is too much", .bytes / 1_000_000, MAX_REPORT_BYTES / 1_000_000)]
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
    Truncated {
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
    WrongFormat {
        /// Read as.
        format: Format,
        /// What it lacks.
        what: String,
    },
    /// Another role's report.
    #[error("the report was not taken: it is for the role `{said}`, and `{asked}` was asked")]
    WrongRole {
        /// The report's.
        said: String,
        /// Ours.
        asked: String,
    },
    /// It breaks the published schema; all that is wrong, in the order of the text.
    #[error("the report was not taken:{}", format_violations(.0))]
    Violations(Vec<ReportViolation>),
}

/// One thing that is wrong in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportViolation {
    /// Where: a JSON pointer, empty for the whole.
    pub pointer: String,
    /// What.
    pub message: String,
}

impl FormatError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::TooLarge { .. } => Some("report on the change alone, or split the report by role"),
            Self::NotUtf8 { .. } => Some("write it as UTF-8: some shells redirect into UTF-16"),
            Self::Truncated { .. } => Some("run the tool again and let it end"),
            Self::Syntax { .. } | Self::WrongFormat { .. } => {
                Some("name its format, and take only the tool's stdout: messages for people go to stderr")
            }
            Self::WrongRole { .. } => Some("hand it in for that role"),
            Self::Violations(_) => Some("`referee schema report` prints the schema"),
        }
    }
}

impl fmt::Display for ReportViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.pointer, self.message)
        }
    }
}

/// On lines of their own where there are several.
fn format_violations(violations: &[ReportViolation]) -> String {
    match violations {
        [one] => format!(" {one}"),
        many => many.iter().map(|it| format!("\n  {it}")).collect(),
    }
}
