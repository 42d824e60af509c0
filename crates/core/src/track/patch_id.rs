//! Patch ids: whether two heads have the same patch.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::diff::{DiffContent, DiffLine, FileDiff, LineKind};
use super::{ChangeKind, PatchId};
use crate::hash::Hash;

/// Number of context lines that belong to a change. A rebase may change lines that are further away.
const CONTEXT_LINES: usize = 3;

impl PatchId {
    /// Computes the id of a patch. `old_text` returns the text of a file before the patch.
    ///
    /// | part of the id | not part of the id |
    /// |---|---|
    /// | old and new paths, kinds of change, modes | order of files, similarity |
    /// | every byte of removed and added lines, a missing final line feed too | line numbers |
    /// | up to three lines of context on each side of a change | other context, grouping into hunks |
    /// | which of several equal passages of the old text is changed | the position of that passage |
    /// | old and new blob of a binary file | |
    ///
    /// So a rebase onto unrelated changes keeps the id, and any change of content gives another. The fourth row is why
    /// old texts are needed: without them, a change that moves between two equal passages of a file would keep the id
    /// and with it the verdict. A missing text only loses that row.
    pub fn from_files<'t>(files: &[FileDiff<'_>], old_text: impl Fn(&FileDiff<'_>) -> Option<&'t [u8]>) -> Self {
        let mut digests: Vec<_> = files.iter().map(|file| digest_file(file, old_text(file))).collect();
        digests.sort_unstable();
        let Hash(name) = Hash::digest(digests.concat());
        PatchId(name)
    }
}

fn digest_file(file: &FileDiff<'_>, old_text: Option<&[u8]>) -> Vec<u8> {
    let FileDiff { path, old_path, kind, old_mode, new_mode, old_blob, new_blob, content } = file;
    let mut hash = Sha256::new();
    hash_field(&mut hash, path.as_bytes());
    hash_field(&mut hash, old_path.as_deref().unwrap_or(path).as_bytes());
    hash_field(&mut hash, kind_name(*kind));
    hash_field(&mut hash, &encode_mode(*old_mode));
    hash_field(&mut hash, &encode_mode(*new_mode));
    match content {
        DiffContent::Text(_) => {
            let changes = collect_edits(file);
            let occurrences = old_text.map(|text| count_earlier_matches(&changes, text)).unwrap_or_default();
            for (index, change) in changes.iter().enumerate() {
                let occurrence = occurrences.get(index).copied().unwrap_or(0);
                hash_field(&mut hash, &occurrence.to_le_bytes());
                for line in &change.lines {
                    hash_field(&mut hash, &[line_sign(line.kind), u8::from(line.ends_with_newline)]);
                    hash_field(&mut hash, line.text);
                }
            }
        }
        DiffContent::Binary(data) => {
            // Unlike those of a text file, the blobs of a binary file do not depend on the base.
            hash_field(&mut hash, b"binary");
            hash_field(&mut hash, old_blob.unwrap_or("").as_bytes());
            hash_field(&mut hash, new_blob.unwrap_or("").as_bytes());
            hash_field(&mut hash, data);
        }
    }
    hash.finalize().to_vec()
}

/// Hashes the length first, so that bytes cannot move between adjacent fields.
fn hash_field(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn kind_name(kind: ChangeKind) -> &'static [u8] {
    match kind {
        ChangeKind::Added => b"added",
        ChangeKind::Deleted => b"deleted",
        ChangeKind::Modified => b"modified",
        ChangeKind::Renamed => b"renamed",
    }
}

fn encode_mode(mode: Option<u32>) -> [u8; 4] {
    mode.unwrap_or(0).to_le_bytes()
}

fn line_sign(kind: LineKind) -> u8 {
    match kind {
        LineKind::Context => b' ',
        LineKind::Removed => b'-',
        LineKind::Added => b'+',
    }
}

/// A run of removed and added lines with its context.
struct PatchEdit<'a> {
    lines: Vec<DiffLine<'a>>,
    /// First old line, context included, from 0.
    old_start: usize,
    /// Number of old lines, context included.
    old_lines: usize,
}

/// Splits hunks into edits. How git groups edits into hunks depends on their distance, which a rebase changes.
fn collect_edits<'a>(file: &FileDiff<'a>) -> Vec<PatchEdit<'a>> {
    let mut edits = Vec::new();
    for hunk in file.hunks() {
        let lines: Vec<DiffLine<'a>> = hunk.lines().collect();
        let is_context = |line: &DiffLine<'_>| line.kind == LineKind::Context;
        // The range of an empty side starts at the line before it.
        let mut old_line = (hunk.range.old_start as usize).saturating_sub(usize::from(hunk.range.old_lines > 0));
        let mut at = 0;
        while let Some(length) = lines[at..].iter().position(|line| !is_context(line)) {
            let start = at + length;
            old_line += length;
            let edited = lines[start..].iter().take_while(|line| !is_context(line)).count();
            let end = start + edited;
            let below = lines[end..].iter().take(CONTEXT_LINES).take_while(|line| is_context(line)).count();
            let above = length.min(CONTEXT_LINES);
            let lines_of_edit = &lines[start - above..end + below];
            edits.push(PatchEdit {
                lines: lines_of_edit.to_vec(),
                old_start: old_line.saturating_sub(above),
                old_lines: lines_of_edit.iter().filter(|line| line.kind != LineKind::Added).count(),
            });
            old_line += lines[start..end].iter().filter(|line| line.kind == LineKind::Removed).count();
            at = end;
        }
    }
    edits
}

/// Returns for each edit how often its old side occurs earlier in the old text.
fn count_earlier_matches(edits: &[PatchEdit<'_>], old_text: &[u8]) -> Vec<u32> {
    let lines: Vec<u64> = old_text.split(|byte| *byte == b'\n').map(hash_line).collect();
    let mut by_length: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, edit) in edits.iter().enumerate() {
        by_length.entry(edit.old_lines).or_default().push(index);
    }
    let mut earlier = vec![0; edits.len()];
    for (length, indices) in by_length {
        let windows = hash_windows(&lines, length);
        let mut wanted: Vec<u64> =
            indices.iter().filter_map(|index| windows.get(edits[*index].old_start).copied()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut seen = vec![0; wanted.len()];
        let mut upcoming = indices.iter().peekable();
        for (at, window) in windows.iter().enumerate() {
            let Ok(slot) = wanted.binary_search(window) else { continue };
            while let Some(index) = upcoming.next_if(|index| edits[**index].old_start == at) {
                earlier[*index] = seen[slot];
            }
            seen[slot] += 1;
        }
    }
    earlier
}

/// Returns a rolling hash of each run of `length` lines.
fn hash_windows(lines: &[u64], length: usize) -> Vec<u64> {
    const HASH_BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    if length == 0 {
        return Vec::new();
    }
    let highest = (1..length).fold(1_u64, |power, _| power.wrapping_mul(HASH_BASE));
    let mut windows = Vec::with_capacity(lines.len());
    let mut window = 0_u64;
    for (at, line) in lines.iter().enumerate() {
        if let Some(out) = at.checked_sub(length) {
            window = window.wrapping_sub(lines[out].wrapping_mul(highest));
        }
        window = window.wrapping_mul(HASH_BASE).wrapping_add(*line);
        if at + 1 >= length {
            windows.push(window);
        }
    }
    windows
}

/// FNV-1a. Only groups lines of one text; the id itself uses SHA-256.
fn hash_line(line: &[u8]) -> u64 {
    line.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
