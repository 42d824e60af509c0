//! Whether a comment may stand at a place (PUB-13).

use std::collections::BTreeMap;

use super::{Anchor, ChangeKind, ChangedFile, CodeLocation, HunkRange, Side};

/// The places of a diff that take a comment.
///
/// A forge refuses a comment outside the diff, and some refuse the whole review with it. The first row that holds decides:
///
/// | the place | may be |
/// |---|---|
/// | its file is not in the diff | `Summary` |
/// | it has no line, or ends before it begins | `File` |
/// | it is past the file's end, or on a side that the file does not have | `File` |
/// | all of it lies in one hunk, context included | `Line` |
/// | anything else | `File` |
#[derive(Debug, Clone)]
pub struct DiffAnchors<'a> {
    by_path: BTreeMap<&'a str, &'a ChangedFile>,
    by_old_path: BTreeMap<&'a str, &'a ChangedFile>,
}

impl<'a> DiffAnchors<'a> {
    /// The places of these files.
    pub fn new(files: &'a [ChangedFile]) -> Self {
        DiffAnchors {
            by_path: files.iter().map(|file| (file.path.as_str(), file)).collect(),
            by_old_path: files.iter().filter_map(|file| Some((file.old_path.as_deref()?, file))).collect(),
        }
    }

    /// What may be commented on at `spot`, whose lines count on `side`.
    pub fn resolve_anchor(&self, spot: &CodeLocation, side: Side) -> Anchor {
        let Some(file) = self.find_file(&spot.path, side) else { return Anchor::Summary };
        let (length, exists) = match side {
            Side::Old => (file.old_len, file.kind != ChangeKind::Added),
            Side::New => (file.new_len, file.kind != ChangeKind::Deleted),
        };
        let backwards = spot.end_line < spot.line;
        let past_end = length.is_some_and(|length| spot.end_line > length);
        if spot.line == 0 || backwards || past_end || !exists {
            return Anchor::File;
        }
        let in_one_hunk = file.hunks.iter().any(|hunk| {
            let (start, lines) = hunk_span(hunk, side);
            start <= spot.line && u64::from(spot.end_line) < u64::from(start) + u64::from(lines)
        });
        if in_one_hunk { Anchor::Line } else { Anchor::File }
    }

    /// Whether the diff shows any line of `spot`; of a file as a whole, and of a new one, whether it is in the diff.
    pub fn overlaps_diff(&self, spot: &CodeLocation, side: Side) -> bool {
        let Some(file) = self.find_file(&spot.path, side) else { return false };
        let whole = spot.line == 0 || file.kind == ChangeKind::Added;
        whole
            || file.hunks.iter().any(|hunk| {
                let (start, lines) = hunk_span(hunk, side);
                start <= spot.end_line && u64::from(spot.line) < u64::from(start) + u64::from(lines)
            })
    }

    /// The old side of a renamed file answers to both names: forges differ in which one they want.
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
