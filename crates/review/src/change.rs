//! What a reviewer reads: the change as git tells it.

use std::ops::RangeInclusive;

use fast_glob::glob_match;
use referee_core::model::{Sha, Skipped};
use referee_core::track::{ChangeKind, Content, FileDiff, LineKind};

/// A change between base and head.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The commit that is read.
    pub head: &'a Sha,
    /// What the diff says of each file.
    pub files: &'a [FileDiff<'a>],
    /// Each file as it is at the head, in the order of `files`; none where there is none or nobody fetched it.
    pub texts: &'a [Option<Vec<u8>>],
}

/// Which files of a change a reviewer reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Those to read, as places in [`Change::files`].
    pub files: Vec<usize>,
    /// Those left out, and why.
    pub skipped: Vec<Skipped>,
}

/// Why a file is left out. Only [`EXCLUDED`] counts as read: the policy wants it so.
pub const EXCLUDED: &str = "excluded";
/// It is gone.
pub const DELETED: &str = "deleted";
/// It is no text.
pub const BINARY: &str = "binary";
/// It is another repository.
pub const SUBMODULE: &str = "submodule";
/// It is longer than [`MOST_BYTES`].
pub const TOO_LARGE: &str = "too large";
/// Its text was not fetched.
pub const MISSING: &str = "its text is missing";

/// Longer texts are data, and reading them takes the time of all others.
pub const MOST_BYTES: usize = 10 << 20;

const GITLINK: u32 = 0o160_000;

impl Change<'_> {
    /// What a role with these `paths` reads, without what the policy excludes; empty `paths` are all.
    pub fn select(&self, paths: &[String], exclude: &[String]) -> Selection {
        let mut selection = Selection::default();
        for (at, file) in self.files.iter().enumerate() {
            let hits = |globs: &[String]| globs.iter().any(|glob| glob_match(glob, &file.path));
            let outside = !paths.is_empty() && !hits(paths);
            let why = if outside || hits(exclude) { Some(EXCLUDED) } else { self.unreadable(at) };
            match why {
                None => selection.files.push(at),
                Some(why) => selection.skipped.push(Skipped { path: file.path.clone(), why: why.to_owned() }),
            }
        }
        selection
    }

    /// The lines of the new side that the change added, as runs in order; they count from 1.
    pub fn added(&self, file: usize) -> impl Iterator<Item = RangeInclusive<u32>> + use<> {
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
        self.texts.get(file)?.as_deref()
    }

    fn unreadable(&self, at: usize) -> Option<&'static str> {
        let file = self.files.get(at)?;
        if file.kind == ChangeKind::Deleted {
            return Some(DELETED);
        }
        if file.new_mode == Some(GITLINK) {
            return Some(SUBMODULE);
        }
        if matches!(file.content, Content::Binary(_)) {
            return Some(BINARY);
        }
        match self.text(at) {
            None => Some(MISSING),
            Some(text) if has_nul(text) => Some(BINARY),
            Some(text) if text.len() > MOST_BYTES => Some(TOO_LARGE),
            Some(_) => None,
        }
    }
}

/// What git calls binary: a zero byte early on.
fn has_nul(text: &[u8]) -> bool {
    text.iter().take(8000).any(|byte| *byte == 0)
}
