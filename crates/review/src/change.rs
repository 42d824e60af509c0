//! What a reviewer reads: the change as git tells it.

use std::ops::RangeInclusive;

use fast_glob::glob_match;
use referee_core::model::{Sha, SkippedFile};
use referee_core::track::{ChangeKind, DiffContent, FileDiff, LineKind};

/// A change between base and head.
#[derive(Clone, Copy, Debug)]
pub struct ChangeSet<'a> {
    /// The commit that is read.
    pub head: &'a Sha,
    /// What the diff says of each file.
    pub files: &'a [FileDiff<'a>],
    /// Each file as it is at the head, in the order of `files`; none where there is none or nobody fetched it.
    pub contents: &'a [Option<Vec<u8>>],
}

/// Which files of a change a reviewer reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSelection {
    /// Those to read, as places in [`Change::files`].
    pub files: Vec<usize>,
    /// Those left out, and why.
    pub skipped: Vec<SkippedFile>,
}

/// Why a file is left out. Only [`EXCLUDED`] counts as read: the policy wants it so.
pub const SKIP_EXCLUDED: &str = "excluded";
/// It is gone.
pub const SKIP_DELETED: &str = "deleted";
/// It is no text.
pub const SKIP_BINARY: &str = "binary";
/// It is another repository.
pub const SKIP_SUBMODULE: &str = "submodule";
/// It is longer than [`MOST_BYTES`].
pub const SKIP_TOO_LARGE: &str = "too large";
/// Its text was not fetched.
pub const SKIP_MISSING: &str = "its text is missing";

/// Longer texts are data, and reading them takes the time of all others.
pub const MAX_FILE_BYTES: usize = 10 << 20;

const GITLINK_MODE: u32 = 0o160_000;

impl ChangeSet<'_> {
    /// What a role with these `paths` reads, without what the policy excludes; empty `paths` are all.
    pub fn select_files(&self, paths: &[String], exclude: &[String]) -> FileSelection {
        let mut selection = FileSelection::default();
        for (at, file) in self.files.iter().enumerate() {
            let hits = |globs: &[String]| globs.iter().any(|glob| glob_match(glob, &file.path));
            let outside = !paths.is_empty() && !hits(paths);
            let why = if outside || hits(exclude) { Some(SKIP_EXCLUDED) } else { self.skip_reason(at) };
            match why {
                None => selection.files.push(at),
                Some(why) => selection.skipped.push(SkippedFile { path: file.path.clone(), why: why.to_owned() }),
            }
        }
        selection
    }

    /// The lines of the new side that the change added, as runs in order; they count from 1.
    pub fn added_lines(&self, file: usize) -> impl Iterator<Item = RangeInclusive<u32>> + use<> {
        let mut runs: Vec<RangeInclusive<u32>> = Vec::new();
        for hunk in self.files.get(file).map_or(&[][..], FileDiff::hunks) {
            let mut number = hunk.range.new_start;
            for line in hunk.lines() {
                if line.kind == LineKind::Added {
                    match runs.last_mut().filter(|run| run.end() + 1 == number) {
                        Some(run) => *run = *run.start()..=number,
                        None => runs.push(number..=number),
                    }
                }
                if line.kind != LineKind::Removed {
                    number = number.saturating_add(1);
                }
            }
        }
        runs.into_iter()
    }

    /// A file's text at the head.
    pub fn text(&self, file: usize) -> Option<&[u8]> {
        self.contents.get(file)?.as_deref()
    }

    fn skip_reason(&self, at: usize) -> Option<&'static str> {
        let file = self.files.get(at)?;
        if file.kind == ChangeKind::Deleted {
            return Some(SKIP_DELETED);
        }
        if file.new_mode == Some(GITLINK_MODE) {
            return Some(SKIP_SUBMODULE);
        }
        if matches!(file.content, DiffContent::Binary(_)) {
            return Some(SKIP_BINARY);
        }
        match self.text(at) {
            None => Some(SKIP_MISSING),
            Some(text) if has_nul(text) => Some(SKIP_BINARY),
            Some(text) if text.len() > MAX_FILE_BYTES => Some(SKIP_TOO_LARGE),
            Some(_) => None,
        }
    }
}

/// What git calls binary: a zero byte early on.
fn has_nul(text: &[u8]) -> bool {
    text.iter().take(8000).any(|byte| *byte == 0)
}
