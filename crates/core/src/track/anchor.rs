//! Where the diff allows a comment (PUB-13).

use std::collections::BTreeMap;

use super::{Anchor, ChangeKind, ChangedFile, CodeLocation, HunkRange, Side};

/// The lines and files of a diff that accept a comment.
///
/// A forge rejects a comment outside the diff, and some reject the whole review with it. The first matching row
/// decides:
///
/// | location | anchor |
/// |---|---|
/// | in a file that is not in the diff | `Summary` |
/// | without a line, or its end is before its start | `File` |
/// | past the end of the file, or on a side that does not exist | `File` |
/// | completely in one hunk, context included | `Line` |
/// | any other | `File` |
#[derive(Debug, Clone)]
pub struct DiffAnchors<'a> {
    by_path: BTreeMap<&'a str, &'a ChangedFile>,
    by_old_path: BTreeMap<&'a str, &'a ChangedFile>,
}

impl<'a> DiffAnchors<'a> {
    pub fn new(files: &'a [ChangedFile]) -> Self {
        DiffAnchors {
            by_path: files.iter().map(|file| (file.path.as_str(), file)).collect(),
            by_old_path: files.iter().filter_map(|file| Some((file.old_path.as_deref()?, file))).collect(),
        }
    }

    /// Returns the anchor of a comment at `location`, whose lines are counted on `side`.
    pub fn resolve_anchor(&self, location: &CodeLocation, side: Side) -> Anchor {
        let Some(file) = self.find_file(&location.path, side) else { return Anchor::Summary };
        let (length, exists) = match side {
            Side::Old => (file.old_len, file.kind != ChangeKind::Added),
            Side::New => (file.new_len, file.kind != ChangeKind::Deleted),
        };
        let is_reversed = location.end_line < location.line;
        let is_past_end = length.is_some_and(|length| location.end_line > length);
        if location.line == 0 || is_reversed || is_past_end || !exists {
            return Anchor::File;
        }
        let is_in_one_hunk = file.hunks.iter().any(|hunk| {
            let (start, lines) = hunk_span(hunk, side);
            start <= location.line && u64::from(location.end_line) < u64::from(start) + u64::from(lines)
        });
        if is_in_one_hunk { Anchor::Line } else { Anchor::File }
    }

    /// Returns whether the diff shows any line of `location`. For a whole file or a new one: whether it is in the diff.
    pub fn overlaps_diff(&self, location: &CodeLocation, side: Side) -> bool {
        let Some(file) = self.find_file(&location.path, side) else { return false };
        let is_fully_shown = location.line == 0 || file.kind == ChangeKind::Added;
        is_fully_shown
            || file.hunks.iter().any(|hunk| {
                let (start, lines) = hunk_span(hunk, side);
                start <= location.end_line && u64::from(location.line) < u64::from(start) + u64::from(lines)
            })
    }

    /// Finds the old side of a renamed file by either path, because forges differ in which one they use.
    fn find_file(&self, path: &str, side: Side) -> Option<&'a ChangedFile> {
        let by_old_path = || self.by_old_path.get(path).filter(|_| side == Side::Old);
        self.by_path.get(path).or_else(by_old_path).copied()
    }
}

fn hunk_span(hunk: &HunkRange, side: Side) -> (u32, u32) {
    match side {
        Side::Old => (hunk.old_start, hunk.old_lines),
        Side::New => (hunk.new_start, hunk.new_lines),
    }
}
