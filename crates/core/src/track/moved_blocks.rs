//! Finds moved blocks: code that was removed and appears among the added lines elsewhere.
//!
//! Lines vote. Each distinctive line around the anchor votes for every added line that equals it, keyed by file and
//! shift. The key with the most votes wins. So one edited line does not lose a moved block, and lines that occur
//! everywhere, such as braces, have no influence.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::FileChange;
use super::code_lines::{hash_ignoring_whitespace, is_same_code, weigh_line};
use super::file_versions::FileVersions;
use super::reflow::{MatchExtent, ReflowMatch, find_reflowed};

/// Code to search for: its file in the delta, and the anchored lines of the old text, from 0.
pub(super) struct MoveQuery {
    pub(super) file: usize,
    pub(super) anchor: RangeInclusive<usize>,
}

/// A moved block at the new head. Lines are counted from 0.
pub(super) struct MovedBlock {
    pub(super) file: usize,
    pub(super) lines: RangeInclusive<usize>,
    pub(super) score: u32,
    pub(super) extent: MatchExtent,
}

/// Number of lines on each side of the anchor that vote.
const VOTING_CONTEXT_LINES: usize = 10;

/// Lines with less weight do not vote.
const MIN_VOTING_WEIGHT: u32 = 4;

/// Lines that were added more often than this do not vote.
const MAX_ADDED_OCCURRENCES: usize = 40;

/// Lines that occur more often than this in the new texts, added or not, are skipped.
const MAX_TOTAL_OCCURRENCES: usize = 400;

/// Minimum votes. A move within a file is more likely than one to another file, so it needs fewer.
const MIN_VOTES_SAME_FILE: u32 = 20;
const MIN_VOTES_OTHER_FILE: u32 = 30;

/// Maximum difference of shifts within one block, caused by lines added or removed inside it.
const MAX_DRIFT_LINES: i64 = 3;

/// Searches for each query. Returns the results in order.
pub(super) fn find_moved_blocks<'a>(
    queries: &[MoveQuery],
    delta: &[FileChange<'a>],
    versions_by_file: &mut [Option<FileVersions<'a>>],
) -> Vec<Option<MovedBlock>> {
    let hits = find_added_lines(&collect_voter_hashes(queries, versions_by_file), delta, versions_by_file);
    queries
        .iter()
        .map(|query| {
            let old = &versions_by_file[query.file].as_ref()?.old;
            pick_candidate(query, old, &rank_candidates(query, old, &hits, versions_by_file), versions_by_file)
        })
        .collect()
}

/// Returns the sorted hashes of all voting lines.
fn collect_voter_hashes(queries: &[MoveQuery], versions_by_file: &[Option<FileVersions<'_>>]) -> Vec<u64> {
    let mut hashes = Vec::new();
    for query in queries {
        if let Some(versions) = &versions_by_file[query.file] {
            hashes.extend(voting_lines(query, &versions.old).map(|line| hash_ignoring_whitespace(versions.old[line])));
        }
    }
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// An added line that equals a voting line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct AddedLine {
    hash: u64,
    file: usize,
    line: usize,
}

fn find_added_lines<'a>(
    voter_hashes: &[u64],
    delta: &[FileChange<'a>],
    versions_by_file: &mut [Option<FileVersions<'a>>],
) -> Vec<AddedLine> {
    let mut filter = vec![false; 1 << 16];
    for hash in voter_hashes {
        filter[low_bits(*hash)] = true;
    }
    let mut hits = Vec::new();
    for (file, change) in delta.iter().enumerate() {
        for (line, text) in change.new_text.unwrap_or("").split_inclusive('\n').enumerate() {
            let hash = hash_ignoring_whitespace(text);
            if filter[low_bits(hash)] && voter_hashes.binary_search(&hash).is_ok() {
                hits.push(AddedLine { hash, file, line });
            }
        }
    }
    hits.sort_unstable();
    let mut added = Vec::new();
    for same in hits.chunk_by(|a, b| a.hash == b.hash).filter(|same| same.len() <= MAX_TOTAL_OCCURRENCES) {
        for hit in same {
            // Diff the file only now: most files of a large delta contain no voting line.
            let versions = versions_by_file[hit.file].get_or_insert_with(|| FileVersions::new(&delta[hit.file]));
            if versions.is_added(hit.line) {
                added.push(*hit);
            }
        }
    }
    added
}

fn low_bits(hash: u64) -> usize {
    (hash & 0xffff) as usize
}

/// Returns the distinctive lines in and around the anchor.
fn voting_lines(query: &MoveQuery, old: &[&str]) -> impl Iterator<Item = usize> {
    let start = query.anchor.start().saturating_sub(VOTING_CONTEXT_LINES);
    let end = (query.anchor.end() + VOTING_CONTEXT_LINES + 1).min(old.len());
    (start..end).filter(|line| weigh_line(old[*line]) >= MIN_VOTING_WEIGHT)
}

/// The votes for one file and shift.
struct MoveCandidate {
    file: usize,
    /// Number of lines by which the block moved.
    shift: i64,
    votes: u32,
}

fn rank_candidates(
    query: &MoveQuery,
    old: &[&str],
    hits: &[AddedLine],
    versions_by_file: &[Option<FileVersions<'_>>],
) -> Vec<MoveCandidate> {
    let mut votes: BTreeMap<(usize, i64), u32> = BTreeMap::new();
    for line in voting_lines(query, old) {
        let text = old[line];
        let hash = hash_ignoring_whitespace(text);
        let start = hits.partition_point(|hit| hit.hash < hash);
        let same = hits[start..].iter().take_while(|hit| hit.hash == hash);
        if same.clone().count() > MAX_ADDED_OCCURRENCES {
            continue;
        }
        for hit in same {
            let is_same =
                versions_by_file[hit.file].as_ref().is_some_and(|versions| is_same_code(text, versions.new[hit.line]));
            if is_same {
                *votes.entry((hit.file, hit.line as i64 - line as i64)).or_default() += weigh_line(text);
            }
        }
    }
    let mut candidates: Vec<MoveCandidate> = votes
        .iter()
        .map(|(&(file, shift), own)| {
            let near = votes
                .range((file, shift - MAX_DRIFT_LINES)..=(file, shift + MAX_DRIFT_LINES))
                .map(|(_, votes)| votes)
                .sum::<u32>();
            // Votes for the exact shift count twice, so that the middle of a drifting block wins.
            MoveCandidate { file, shift, votes: own + near }
        })
        .collect();
    let is_other_file = |candidate: &MoveCandidate| candidate.file != query.file;
    candidates.sort_by_key(|candidate| {
        (u32::MAX - candidate.votes, is_other_file(candidate), candidate.shift.abs(), candidate.shift)
    });
    candidates
}

/// Returns the first candidate with enough votes whose code can be verified. Prefers a complete match.
fn pick_candidate(
    query: &MoveQuery,
    old: &[&str],
    candidates: &[MoveCandidate],
    versions_by_file: &[Option<FileVersions<'_>>],
) -> Option<MovedBlock> {
    let best = candidates.first()?;
    let has_enough_votes = |candidate: &&MoveCandidate| {
        let needed = if candidate.file == query.file { MIN_VOTES_SAME_FILE } else { MIN_VOTES_OTHER_FILE };
        // Votes for the exact shift were counted twice.
        candidate.votes / 2 >= needed && candidate.votes * 2 > best.votes
    };
    let blocks: Vec<MovedBlock> = candidates
        .iter()
        .filter(has_enough_votes)
        .take(8)
        .filter_map(|candidate| {
            verify_candidate(query, old, candidate, &versions_by_file[candidate.file].as_ref()?.new)
        })
        .collect();
    let whole = blocks.iter().position(|block| block.extent == MatchExtent::Whole);
    blocks.into_iter().nth(whole.unwrap_or(0))
}

fn verify_candidate(query: &MoveQuery, old: &[&str], candidate: &MoveCandidate, new: &[&str]) -> Option<MovedBlock> {
    let (first, last) = (*query.anchor.start(), *query.anchor.end());
    let anchored = &old[first..=last];
    let expected = first as i64 + candidate.shift;
    let block = |lines, extent| MovedBlock { file: candidate.file, lines, score: candidate.votes / 2, extent };
    let offsets = (0..=MAX_DRIFT_LINES).flat_map(|step| [step, -step]);
    for start in offsets.filter_map(|offset| usize::try_from(expected + offset).ok()) {
        let new_lines = new.get(start..start + anchored.len());
        if new_lines.is_some_and(|lines| lines.iter().zip(anchored).all(|(new, old)| is_same_code(new, old))) {
            return Some(block(start..=start + anchored.len() - 1, MatchExtent::Whole));
        }
    }
    let old_start = first.saturating_sub(VOTING_CONTEXT_LINES);
    let old_end = (last + 1 + VOTING_CONTEXT_LINES).min(old.len());
    let new_start = usize::try_from(old_start as i64 + candidate.shift).unwrap_or(0).min(new.len());
    let new_end =
        usize::try_from(old_end as i64 + candidate.shift + MAX_DRIFT_LINES).unwrap_or(0).clamp(new_start, new.len());
    let inside = first - old_start..last + 1 - old_start;
    let ReflowMatch { lines, extent, .. } = find_reflowed(&old[old_start..old_end], inside, &new[new_start..new_end])?;
    Some(block(lines.start() + new_start..=lines.end() + new_start, extent))
}
