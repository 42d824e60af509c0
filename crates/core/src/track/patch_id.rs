//! Whether two heads carry the same patch.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::diff::{DiffContent, DiffLine, FileDiff, LineKind};
use super::{ChangeKind, PatchId};
use crate::hash::Hash;

/// How many lines of context belong to a change; what lies further off may change under a rebase.
const CONTEXT_LINES: usize = 3;

impl PatchId {
    /// Names the patch that `files` are; `old_text` hands out the text of a file before the patch.
    ///
    /// | counts | does not |
    /// |---|---|
    /// | names before and after, what happened, modes | the order of the files, similarity |
    /// | every byte of removed and added lines, the missing line feed at the end too | line numbers |
    /// | up to three lines of context on each side of a change | context further off, how changes are grouped to hunks |
    /// | which of several equal places of the old text a change is at | where that place is |
    /// | a binary file's content before and after | |
    ///
    /// So a rebase over changes elsewhere keeps the name, and any change of content makes another. The fourth row is why
    /// old texts are asked for: without them a change that hops between two equal places of a file, say from one block of
    /// a table to its twin, would keep its name and with it the verdict. A text that is not at hand costs that one row.
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
            let turns = old_text.map(|text| count_earlier_matches(&changes, text)).unwrap_or_default();
            for (number, change) in changes.iter().enumerate() {
                let turn = turns.get(number).copied().unwrap_or(0);
                hash_field(&mut hash, &turn.to_le_bytes());
                for line in &change.lines {
                    hash_field(&mut hash, &[line_sign(line.kind), u8::from(line.ends_with_newline)]);
                    hash_field(&mut hash, line.text);
                }
            }
        }
        DiffContent::Binary(data) => {
            // The names of its content do not depend on the base, unlike those of a text.
            hash_field(&mut hash, b"binary");
            hash_field(&mut hash, old_blob.unwrap_or("").as_bytes());
            hash_field(&mut hash, new_blob.unwrap_or("").as_bytes());
            hash_field(&mut hash, data);
        }
    }
    hash.finalize().to_vec()
}

/// The length in front keeps two fields from trading bytes at their border.
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

/// Removed and added lines in one place, with the context that belongs to them.
struct PatchEdit<'a> {
    lines: Vec<DiffLine<'a>>,
    /// The first old line of it, context included, from 0.
    old_start: usize,
    /// How many old lines it has, context included.
    old_lines: usize,
}

/// The edits of a file. How git groups them to hunks depends on their distance, which a rebase changes.
fn collect_edits<'a>(file: &FileDiff<'a>) -> Vec<PatchEdit<'a>> {
    let mut edits = Vec::new();
    for hunk in file.hunks() {
        let lines: Vec<DiffLine<'a>> = hunk.lines().collect();
        let is_context = |line: &DiffLine<'_>| line.kind == LineKind::Context;
        // The range of an empty side begins at the line before it.
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

/// For each edit, how many earlier places of the old text read exactly like its old side.
fn count_earlier_matches(edits: &[PatchEdit<'_>], old_text: &[u8]) -> Vec<u32> {
    let lines: Vec<u64> = old_text.split(|byte| *byte == b'\n').map(hash_line).collect();
    let mut by_length: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, edit) in edits.iter().enumerate() {
        by_length.entry(edit.old_lines).or_default().push(number);
    }
    let mut turns = vec![0; edits.len()];
    for (length, numbers) in by_length {
        let windows = hash_windows(&lines, length);
        let mut wanted: Vec<u64> =
            numbers.iter().filter_map(|number| windows.get(edits[*number].old_start).copied()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut seen = vec![0; wanted.len()];
        let mut upcoming = numbers.iter().peekable();
        for (at, window) in windows.iter().enumerate() {
            let Ok(place) = wanted.binary_search(window) else { continue };
            while let Some(number) = upcoming.next_if(|number| edits[**number].old_start == at) {
                turns[*number] = seen[place];
            }
            seen[place] += 1;
        }
    }
    turns
}

/// A hash of each run of `length` lines.
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

/// The seal over the whole patch is the hash above; this one only groups lines of one text.
fn hash_line(line: &[u8]) -> u64 {
    line.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
