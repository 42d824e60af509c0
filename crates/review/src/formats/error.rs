use std::fmt;

use super::{Format, MAX_REPORT_BYTES};

/// Why a report was rejected. No part of it is used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    #[error("the report was rejected: it has {} MB, and the limit is {} MB", .bytes / 1_000_000, MAX_REPORT_BYTES / 1_000_000)]
    TooLarge { bytes: usize },
    #[error("the report was rejected: it is not UTF-8 (byte {at})")]
    NotUtf8 {
        /// The offset of the first invalid byte.
        at: usize,
    },
    #[error("the report was rejected: the `{format}` document is truncated at line {line}")]
    Truncated {
        format: Format,
        /// The last line, counted from 1.
        line: usize,
    },
    /// The text is not valid JSON or XML.
    #[error("the report was rejected: it is not in the `{format}` format: {what}")]
    Syntax { format: Format, what: String },
    /// The text is valid JSON or XML, but in another format.
    #[error("the report was rejected: it is not in the `{format}` format: {what}")]
    WrongFormat { format: Format, what: String },
    #[error("the report was rejected: it is for the role `{found}`, not for `{expected}`")]
    WrongRole { found: String, expected: String },
    /// The report violates the published schema. Lists all violations, in the order of the text.
    #[error("the report was rejected:{}", format_violations(.0))]
    Violations(Vec<ReportViolation>),
}

/// One violation of the report schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportViolation {
    /// A JSON pointer to the value; empty for the whole document.
    pub pointer: String,
    pub message: String,
}

impl FormatError {
    /// Returns what to do about the error.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::TooLarge { .. } => Some("report on the change alone, or split the report by role"),
            Self::NotUtf8 { .. } => Some("encode it as UTF-8: some shells write UTF-16 when they redirect"),
            Self::Truncated { .. } => Some("run the tool again, and let it finish"),
            Self::Syntax { .. } | Self::WrongFormat { .. } => {
                Some("check the format name, and pass only the stdout of the tool: messages go to stderr")
            }
            Self::WrongRole { .. } => Some("submit it for that role"),
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

/// Renders one violation in the same line, and several on a line each.
fn format_violations(violations: &[ReportViolation]) -> String {
    match violations {
        [one] => format!(" {one}"),
        many => many.iter().map(|violation| format!("\n  {violation}")).collect(),
    }
}
