use std::io::BufRead;

use super::DiffError;

/// The lines of a patch, one after the other, and where in them one is.
#[derive(Debug, Clone)]
pub(super) struct PatchReader<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> PatchReader<'a> {
    pub(super) fn new(patch: &'a [u8]) -> Self {
        PatchReader { rest: patch, line: 0 }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Whether the next line begins so.
    pub(super) fn starts_with(&self, start: &[u8]) -> bool {
        self.rest.starts_with(start)
    }

    /// What is left, from the start of the next line.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next line without its line feed. Git ends every line with one, so a line without it was cut.
    pub(super) fn next_line(&mut self) -> Result<&'a [u8], DiffError> {
        let mut after = self.rest;
        let length = after.skip_until(b'\n').unwrap_or(0);
        match self.rest[..length].split_last() {
            Some((b'\n', line)) => {
                self.rest = after;
                self.line += 1;
                Ok(line)
            }
            _ => Err(self.truncated()),
        }
    }

    /// The next line after `start`, if it begins so.
    pub(super) fn next_line_after(&mut self, start: &[u8]) -> Result<Option<&'a [u8]>, DiffError> {
        if !self.starts_with(start) {
            return Ok(None);
        }
        self.next_line().map(|line| line.get(start.len()..))
    }

    pub(super) fn truncated(&self) -> DiffError {
        DiffError::Truncated { line: self.line }
    }

    /// The line just read, or one about to be, makes no sense here.
    pub(super) fn malformed(&self, line: &[u8]) -> DiffError {
        let text = String::from_utf8_lossy(line).chars().take(80).collect();
        DiffError::Malformed { line: self.line, text }
    }
}
