//! Whether a rebased head carries the changes of the old one (D44).
//!
//! Both sides are diffs from the tip of the base: to the merge that git makes by itself, and to the worker's result. An
//! edit of the merge must be in the result, at the same lines of the base and with the same text, unless git reports a
//! conflict there. The result may contain more.

use std::collections::BTreeMap;

use super::diff::{DiffContent, DiffLine, FileDiff, LineKind};

/// The part of a merged file that conflicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConflictArea {
    /// Git left no markers, for example because one side deleted the file.
    WholeFile,
    /// First and last line of each conflict in the merged text, markers included, from 1.
    Lines(Vec<(u32, u32)>),
}

impl ConflictArea {
    /// Finds the conflicts in a merged text by its markers, which name both sides.
    pub fn from_markers(merged: &[u8], ours: &str, theirs: &str) -> Self {
        let (begin, end) = (format!("<<<<<<< {ours}"), format!(">>>>>>> {theirs}"));
        let mut areas = Vec::new();
        let mut open = None;
        for (line, number) in merged.split(|byte| *byte == b'\n').zip(1_u32..) {
            if line.starts_with(begin.as_bytes()) {
                open.get_or_insert(number);
            } else if line.starts_with(end.as_bytes())
                && let Some(first) = open.take()
            {
                areas.push((first, number));
            }
        }
        if areas.is_empty() { Self::WholeFile } else { Self::Lines(areas) }
    }

    fn covers(&self, edit: &LineEdit<'_>) -> bool {
        match self {
            Self::WholeFile => true,
            Self::Lines(areas) => {
                let more = u32::try_from(edit.added.len().saturating_sub(1)).unwrap_or(u32::MAX);
                let last = edit.new_start.saturating_add(more);
                areas.iter().any(|(from, to)| edit.new_start <= *to && last >= *from)
            }
        }
    }
}

/// Returns the paths where an edit of `merged` is not in `result`. Both are diffs from the same base. `conflicts` has the
/// conflicting files of the merge by path.
pub fn find_lost_changes(
    merged: &[FileDiff<'_>],
    result: &[FileDiff<'_>],
    conflicts: &BTreeMap<String, ConflictArea>,
) -> Vec<String> {
    let is_lost = |file: &&FileDiff<'_>| match conflicts.get(&file.path) {
        Some(area) => {
            let kept = result.iter().find(|it| it.path == file.path).map(list_edits).unwrap_or_default();
            list_edits(file).iter().any(|edit| !area.covers(edit) && !kept.iter().any(|it| it.is_same(edit)))
        }
        None => !result.iter().any(|it| carries(it, file)),
    };
    merged.iter().filter(is_lost).map(|file| file.path.clone()).collect()
}

fn carries(result: &FileDiff<'_>, merged: &FileDiff<'_>) -> bool {
    let is_same_file = |a: &FileDiff<'_>, b: &FileDiff<'_>| {
        (&a.path, &a.old_path, a.kind, a.new_mode) == (&b.path, &b.old_path, b.kind, b.new_mode)
    };
    if !is_same_file(result, merged) {
        return false;
    }
    if result.new_blob.is_some() && result.new_blob == merged.new_blob {
        return true;
    }
    match (&result.content, &merged.content) {
        (DiffContent::Text(_), DiffContent::Text(_)) => {
            let kept = list_edits(result);
            list_edits(merged).iter().all(|edit| kept.iter().any(|it| it.is_same(edit)))
        }
        // The blobs of a deleted binary file are both `None`.
        _ => result.new_blob == merged.new_blob,
    }
}

/// A run of removed and added lines, without context.
struct LineEdit<'a> {
    old_start: u32,
    removed: u32,
    new_start: u32,
    added: Vec<DiffLine<'a>>,
}

impl LineEdit<'_> {
    /// Returns whether two edits of one old text are the same. Their positions in the new texts may differ.
    fn is_same(&self, other: &Self) -> bool {
        (self.old_start, self.removed, &self.added) == (other.old_start, other.removed, &other.added)
    }
}

fn list_edits<'a>(file: &FileDiff<'a>) -> Vec<LineEdit<'a>> {
    let mut edits: Vec<LineEdit<'a>> = Vec::new();
    for hunk in file.hunks() {
        // The range of an empty side starts at the line before it.
        let mut old = hunk.range.old_start + u32::from(hunk.range.old_lines == 0);
        let mut new = hunk.range.new_start + u32::from(hunk.range.new_lines == 0);
        let mut is_open = false;
        for line in hunk.lines() {
            if line.kind == LineKind::Context {
                (old, new, is_open) = (old + 1, new + 1, false);
                continue;
            }
            if !is_open {
                edits.push(LineEdit { old_start: old, removed: 0, new_start: new, added: Vec::new() });
                is_open = true;
            }
            let Some(edit) = edits.last_mut() else { continue };
            match line.kind {
                LineKind::Removed => (edit.removed, old) = (edit.removed + 1, old + 1),
                _ => {
                    edit.added.push(line);
                    new += 1;
                }
            }
        }
    }
    edits
}
