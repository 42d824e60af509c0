//! The change that a reviewer reads, as git reports it.

use std::ops::RangeInclusive;

use fast_glob::glob_match;
use referee_core::model::{Sha, SkippedFile};
use referee_core::track::{ChangeKind, DiffContent, FileDiff, LineKind};

/// A change between base and head.
#[derive(Clone, Copy, Debug)]
pub struct ChangeSet<'a> {
    pub head: &'a Sha,
    pub files: &'a [FileDiff<'a>],
    /// The content of each file at the head, in the order of `files`. `None` if the file is deleted or was not fetched.
    pub contents: &'a [Option<Vec<u8>>],
}

/// Which files of a change a reviewer reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSelection {
    /// Files to read, as indices into [`ChangeSet::files`].
    pub files: Vec<usize>,
    pub skipped: Vec<SkippedFile>,
}

// Why a file is not read.

/// The policy excludes the file. Unlike the other reasons, this one leaves no gap in the coverage.
pub(crate) const SKIP_EXCLUDED: &str = "excluded";
pub(crate) const SKIP_DELETED: &str = "deleted";
pub(crate) const SKIP_BINARY: &str = "binary";
pub(crate) const SKIP_SUBMODULE: &str = "submodule";
/// The file is longer than [`MAX_FILE_BYTES`].
pub(crate) const SKIP_TOO_LARGE: &str = "too large";
/// The content was not fetched.
pub(crate) const SKIP_MISSING: &str = "its text is missing";

/// A longer file is data rather than source, and would take most of the time of a review.
pub(crate) const MAX_FILE_BYTES: usize = 10 << 20;

const GITLINK_MODE: u32 = 0o160_000;

impl ChangeSet<'_> {
    /// Selects the files that match `paths` (all files if `paths` is empty) and that `exclude` does not match.
    pub fn select_files(&self, paths: &[String], exclude: &[String]) -> FileSelection {
        let mut selection = FileSelection::default();
        for (index, file) in self.files.iter().enumerate() {
            let matches_any = |globs: &[String]| globs.iter().any(|glob| glob_match(glob, &file.path));
            let excluded = !paths.is_empty() && !matches_any(paths) || matches_any(exclude);
            let reason = if excluded { Some(SKIP_EXCLUDED) } else { self.skip_reason(index) };
            match reason {
                None => selection.files.push(index),
                Some(why) => selection.skipped.push(SkippedFile { path: file.path.clone(), why: why.to_owned() }),
            }
        }
        selection
    }

    /// Returns the added lines of a file as ascending ranges, counted from 1 at the head.
    pub fn added_lines(&self, file: usize) -> impl Iterator<Item = RangeInclusive<u32>> + use<> {
        let mut ranges: Vec<RangeInclusive<u32>> = Vec::new();
        for hunk in self.files.get(file).map_or(&[][..], FileDiff::hunks) {
            let mut number = hunk.range.new_start;
            for line in hunk.lines() {
                if line.kind == LineKind::Added {
                    match ranges.last_mut().filter(|range| range.end() + 1 == number) {
                        Some(range) => *range = *range.start()..=number,
                        None => ranges.push(number..=number),
                    }
                }
                if line.kind != LineKind::Removed {
                    number = number.saturating_add(1);
                }
            }
        }
        ranges.into_iter()
    }

    /// Returns the content of a file at the head.
    pub fn text(&self, file: usize) -> Option<&[u8]> {
        self.contents.get(file)?.as_deref()
    }

    fn skip_reason(&self, index: usize) -> Option<&'static str> {
        let file = self.files.get(index)?;
        if file.kind == ChangeKind::Deleted {
            return Some(SKIP_DELETED);
        }
        if file.new_mode == Some(GITLINK_MODE) {
            return Some(SKIP_SUBMODULE);
        }
        if matches!(file.content, DiffContent::Binary(_)) {
            return Some(SKIP_BINARY);
        }
        match self.text(index) {
            None => Some(SKIP_MISSING),
            Some(text) if has_nul(text) => Some(SKIP_BINARY),
            Some(text) if text.len() > MAX_FILE_BYTES => Some(SKIP_TOO_LARGE),
            Some(_) => None,
        }
    }
}

/// Returns whether git would call a content binary: a NUL among its first 8000 bytes.
fn has_nul(text: &[u8]) -> bool {
    text.iter().take(8000).any(|byte| *byte == 0)
}
