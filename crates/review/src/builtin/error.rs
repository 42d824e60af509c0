//! A rule that cannot be used.

/// Why the rules of a file do not apply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the rules of `{path}` do not apply: line {line}: {reason}")]
pub struct RuleError {
    /// The file.
    pub path: String,
    /// The line, from 1; where nothing better is known, the line where the rule begins.
    pub line: usize,
    /// What is wrong there.
    pub reason: String,
}

impl RuleError {
    /// With what an error says and what it says of its cause.
    pub(super) fn new(path: &str, line: usize, error: &dyn std::error::Error) -> Self {
        let mut reason = first_line(&error.to_string());
        let mut cause = error.source();
        while let Some(error) = cause {
            let more = first_line(&error.to_string());
            if !reason.contains(&more) {
                reason = format!("{reason}: {more}");
            }
            cause = error.source();
        }
        Self { path: path.to_owned(), line, reason }
    }

    pub(super) fn from_reason(path: &str, line: usize, reason: String) -> Self {
        Self { path: path.to_owned(), line, reason }
    }
}

/// Libraries draw pictures and write whole sentences; an error is one line here.
fn first_line(text: &str) -> String {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("unknown error");
    first.trim_end_matches('.').to_owned()
}

/// The line of a byte, from 1.
pub(super) fn line_number_at(text: &str, byte: usize) -> usize {
    1 + text.bytes().take(byte).filter(|byte| *byte == b'\n').count()
}
