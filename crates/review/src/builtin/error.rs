//! Errors in rule files.

/// Why the rules of a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the rules in `{path}` cannot be used: line {line}: {reason}")]
pub struct RuleError {
    pub path: String,
    /// Counted from 1; the first line of the rule if the exact line is not known.
    pub line: usize,
    pub reason: String,
}

impl RuleError {
    /// Takes the reason from an error and its causes.
    pub(super) fn new(path: &str, line: usize, error: &dyn std::error::Error) -> Self {
        let mut reason = first_line(&error.to_string());
        let mut cause = error.source();
        while let Some(error) = cause {
            let detail = first_line(&error.to_string());
            if !reason.contains(&detail) {
                reason = format!("{reason}: {detail}");
            }
            cause = error.source();
        }
        Self { path: path.to_owned(), line, reason }
    }

    pub(super) fn from_reason(path: &str, line: usize, reason: String) -> Self {
        Self { path: path.to_owned(), line, reason }
    }
}

/// Returns the first line without its full stop. Libraries add drawings and further sentences.
fn first_line(text: &str) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("unknown error");
    first.trim_end_matches('.').to_owned()
}

/// Returns the line of a byte offset, counted from 1.
pub(super) fn line_number_at(text: &str, byte: usize) -> usize {
    1 + text.bytes().take(byte).filter(|byte| *byte == b'\n').count()
}
