//! A diff of two texts in git's format.

use referee_core::track::{ChangeKind, DiffContent, FileDiff, Hunk, HunkRange, LineMap};

/// A parsed diff; it owns the bytes that a [`FileDiff`] borrows.
pub(crate) struct Patch(Vec<(HunkRange, Vec<u8>)>);

impl Patch {
    /// Three lines of context; edits with up to six lines between them share a hunk.
    pub(crate) fn of(old: &str, new: &str) -> Self {
        let map = LineMap::from_exact_diff(old, new);
        let (old_lines, new_lines): (Vec<&str>, Vec<&str>) =
            (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
        let changes = map.changes();
        let groups = changes.chunk_by(|one, other| other.old.start - one.old.end <= 6);
        Patch(groups.map(|group| hunk(group, &old_lines, &new_lines)).collect())
    }

    pub(crate) fn file(&self) -> FileDiff<'_> {
        let hunks = self.0.iter().map(|(range, body)| Hunk { range: *range, body }).collect();
        FileDiff {
            path: "a.rs".to_owned(),
            old_path: None,
            kind: ChangeKind::Modified,
            old_mode: Some(0o100_644),
            new_mode: Some(0o100_644),
            old_blob: None,
            new_blob: None,
            content: DiffContent::Text(hunks),
        }
    }
}

fn hunk(group: &[referee_core::track::LineChange], old: &[&str], new: &[&str]) -> (HunkRange, Vec<u8>) {
    let mut body = Vec::new();
    let mut push = |sign: u8, line: &str| {
        body.push(sign);
        body.extend_from_slice(line.as_bytes());
        if !line.ends_with('\n') {
            body.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    };
    let before = group[0].old.start.saturating_sub(4) as usize;
    let mut at = before;
    for change in group {
        let (start, end) = (change.old.start as usize - 1, change.old.end as usize - 1);
        old[at..start].iter().for_each(|line| push(b' ', line));
        old[start..end].iter().for_each(|line| push(b'-', line));
        new[change.new.start as usize - 1..change.new.end as usize - 1].iter().for_each(|line| push(b'+', line));
        at = end;
    }
    let after = (at + 3).min(old.len());
    old[at..after].iter().for_each(|line| push(b' ', line));
    let (old_lines, added, removed) = (
        after - before,
        group.iter().map(|change| change.new.len()).sum::<usize>(),
        group.iter().map(|change| change.old.len()).sum::<usize>(),
    );
    let new_lines = old_lines + added - removed;
    let new_before = group[0].new.start as usize - 1 - (group[0].old.start as usize - 1 - before);
    let start = |before: usize, lines: usize| (before + usize::from(lines > 0)) as u32;
    let range = HunkRange {
        old_start: start(before, old_lines),
        old_lines: old_lines as u32,
        new_start: start(new_before, new_lines),
        new_lines: new_lines as u32,
    };
    (range, body)
}
