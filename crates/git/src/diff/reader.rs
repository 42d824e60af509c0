//! Line reader of a patch.

use std::io::BufRead;

use super::DiffError;

/// Reads a patch line by line and counts the lines for errors.
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

    /// Returns whether the next line starts with `prefix`.
    pub(super) fn starts_with(&self, prefix: &[u8]) -> bool {
        self.rest.starts_with(prefix)
    }

    /// Returns the unread part, from the start of the next line.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the next line without its line feed. Git ends every line with one, so a line without it is truncated.
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

    /// Returns the rest of the next line after `prefix`. Consumes nothing if the line starts differently.
    pub(super) fn next_line_after(&mut self, prefix: &[u8]) -> Result<Option<&'a [u8]>, DiffError> {
        if !self.starts_with(prefix) {
            return Ok(None);
        }
        self.next_line().map(|line| line.get(prefix.len()..))
    }

    pub(super) fn truncated(&self) -> DiffError {
        DiffError::Truncated { line: self.line }
    }

    /// Returns the error for a line, read or about to be read, that is not allowed here.
    pub(super) fn malformed(&self, line: &[u8]) -> DiffError {
        let text = String::from_utf8_lossy(line).chars().take(80).collect();
        DiffError::Malformed { line: self.line, text }
    }
}
