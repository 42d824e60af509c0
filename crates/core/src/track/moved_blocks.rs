//! Blocks that moved: code that is gone here and came up among the added lines elsewhere.
//!
//! Lines vote. Each line around the anchor that says something votes for every place among the added lines where it
//! came up, by how far it moved; the place with the most votes wins. So one edited line does not lose a moved block, and
//! a brace that stands everywhere finds nothing.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::FileChange;
use super::code_lines::{hash_ignoring_whitespace, is_same_code, weigh_line};
use super::file_versions::FileVersions;
use super::reflow::{MatchExtent, ReflowMatch, find_reflowed};

/// A place to look for: its file in the delta and the anchored lines of its old text, from 0.
pub(super) struct MoveQuery {
    pub(super) file: usize,
    pub(super) anchor: RangeInclusive<usize>,
}

/// Where it came up; lines count from 0.
pub(super) struct MovedBlock {
    pub(super) file: usize,
    pub(super) lines: RangeInclusive<usize>,
    pub(super) score: u32,
    pub(super) extent: MatchExtent,
}

/// How many lines on each side of the anchor vote.
const VOTING_CONTEXT_LINES: usize = 10;

/// A line with fewer letters does not vote.
const MIN_VOTING_WEIGHT: u32 = 4;

/// A line that came up more often than this says nothing of where the block went.
const MAX_ADDED_OCCURRENCES: usize = 40;

/// A line that stands more often than this in the new texts, added or not, is not worth looking at.
const MAX_TOTAL_OCCURRENCES: usize = 400;

/// Votes below this are coincidence; moving within the file is likelier than moving out of it.
const MIN_VOTES_SAME_FILE: u32 = 20;
const MIN_VOTES_OTHER_FILE: u32 = 30;

/// How far the lines of one block may drift apart when lines were added or dropped inside it.
const MAX_DRIFT_LINES: i64 = 3;

/// Looks for each wanted place; the answers are in the order of `wanted`.
pub(super) fn find_moved_blocks<'a>(
    wanted: &[MoveQuery],
    delta: &[FileChange<'a>],
    pairs: &mut [Option<FileVersions<'a>>],
) -> Vec<Option<MovedBlock>> {
    let hits = find_added_lines(&collect_voter_hashes(wanted, pairs), delta, pairs);
    wanted
        .iter()
        .map(|wanted| {
            let old = &pairs[wanted.file].as_ref()?.old;
            pick_candidate(wanted, old, &rank_candidates(wanted, old, &hits, pairs), pairs)
        })
        .collect()
}

/// The hashes of all lines that vote, in order.
fn collect_voter_hashes(wanted: &[MoveQuery], pairs: &[Option<FileVersions<'_>>]) -> Vec<u64> {
    let mut hashes = Vec::new();
    for wanted in wanted {
        if let Some(pair) = &pairs[wanted.file] {
            hashes.extend(voting_lines(wanted, &pair.old).map(|line| hash_ignoring_whitespace(pair.old[line])));
        }
    }
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// An added line that somebody looks for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct AddedLine {
    hash: u64,
    file: usize,
    line: usize,
}

fn find_added_lines<'a>(
    sought: &[u64],
    delta: &[FileChange<'a>],
    pairs: &mut [Option<FileVersions<'a>>],
) -> Vec<AddedLine> {
    let mut filter = vec![false; 1 << 16];
    for hash in sought {
        filter[low_bits(*hash)] = true;
    }
    let mut hits = Vec::new();
    for (file, change) in delta.iter().enumerate() {
        for (line, text) in change.new_text.unwrap_or("").split_inclusive('\n').enumerate() {
            let hash = hash_ignoring_whitespace(text);
            if filter[low_bits(hash)] && sought.binary_search(&hash).is_ok() {
                hits.push(AddedLine { hash, file, line });
            }
        }
    }
    hits.sort_unstable();
    let mut added = Vec::new();
    for same in hits.chunk_by(|one, other| one.hash == other.hash).filter(|same| same.len() <= MAX_TOTAL_OCCURRENCES) {
        for hit in same {
            // The two texts of this file are compared only now: most files of a large delta hold nothing that is sought.
            let pair = pairs[hit.file].get_or_insert_with(|| FileVersions::new(&delta[hit.file]));
            if pair.is_added(hit.line) {
                added.push(*hit);
            }
        }
    }
    added
}

fn low_bits(hash: u64) -> usize {
    (hash & 0xffff) as usize
}

/// The lines that vote.
fn voting_lines(wanted: &MoveQuery, old: &[&str]) -> impl Iterator<Item = usize> {
    let start = wanted.anchor.start().saturating_sub(VOTING_CONTEXT_LINES);
    let end = (wanted.anchor.end() + VOTING_CONTEXT_LINES + 1).min(old.len());
    (start..end).filter(|line| weigh_line(old[*line]) >= MIN_VOTING_WEIGHT)
}

/// How much speaks for one place.
struct MoveCandidate {
    file: usize,
    /// By how many lines the block moved.
    shift: i64,
    votes: u32,
}

fn rank_candidates(
    wanted: &MoveQuery,
    old: &[&str],
    hits: &[AddedLine],
    pairs: &[Option<FileVersions<'_>>],
) -> Vec<MoveCandidate> {
    let mut votes: BTreeMap<(usize, i64), u32> = BTreeMap::new();
    for line in voting_lines(wanted, old) {
        let text = old[line];
        let hash = hash_ignoring_whitespace(text);
        let start = hits.partition_point(|hit| hit.hash < hash);
        let same = hits[start..].iter().take_while(|hit| hit.hash == hash);
        if same.clone().count() > MAX_ADDED_OCCURRENCES {
            continue;
        }
        for hit in same {
            let reads_so = pairs[hit.file].as_ref().is_some_and(|pair| is_same_code(text, pair.new[hit.line]));
            if reads_so {
                *votes.entry((hit.file, hit.line as i64 - line as i64)).or_default() += weigh_line(text);
            }
        }
    }
    let mut ballots: Vec<MoveCandidate> = votes
        .iter()
        .map(|(&(file, shift), own)| {
            let near = votes
                .range((file, shift - MAX_DRIFT_LINES)..=(file, shift + MAX_DRIFT_LINES))
                .map(|(_, votes)| votes)
                .sum::<u32>();
            // Votes for the very shift count twice, so that the middle of a drifting block is found.
            MoveCandidate { file, shift, votes: own + near }
        })
        .collect();
    let elsewhere = |ballot: &MoveCandidate| ballot.file != wanted.file;
    ballots.sort_by_key(|ballot| (u32::MAX - ballot.votes, elsewhere(ballot), ballot.shift.abs(), ballot.shift));
    ballots
}

/// The first of the best ballots under which something is there.
fn pick_candidate(
    wanted: &MoveQuery,
    old: &[&str],
    ballots: &[MoveCandidate],
    pairs: &[Option<FileVersions<'_>>],
) -> Option<MovedBlock> {
    let best = ballots.first()?;
    let enough = |ballot: &&MoveCandidate| {
        let needed = if ballot.file == wanted.file { MIN_VOTES_SAME_FILE } else { MIN_VOTES_OTHER_FILE };
        // A vote for the very shift counted twice.
        ballot.votes / 2 >= needed && ballot.votes * 2 > best.votes
    };
    let found: Vec<MovedBlock> = ballots
        .iter()
        .filter(enough)
        .take(8)
        .filter_map(|ballot| verify_candidate(wanted, old, ballot, &pairs[ballot.file].as_ref()?.new))
        .collect();
    let whole = found.iter().position(|found| found.extent == MatchExtent::Whole);
    found.into_iter().nth(whole.unwrap_or(0))
}

fn verify_candidate(wanted: &MoveQuery, old: &[&str], ballot: &MoveCandidate, new: &[&str]) -> Option<MovedBlock> {
    let (first, last) = (*wanted.anchor.start(), *wanted.anchor.end());
    let anchored = &old[first..=last];
    let expected = first as i64 + ballot.shift;
    let found = |lines, fit| MovedBlock { file: ballot.file, lines, score: ballot.votes / 2, extent: fit };
    let offsets = (0..=MAX_DRIFT_LINES).flat_map(|step| [step, -step]);
    for start in offsets.filter_map(|offset| usize::try_from(expected + offset).ok()) {
        let there = new.get(start..start + anchored.len());
        if there.is_some_and(|there| there.iter().zip(anchored).all(|(new, old)| is_same_code(new, old))) {
            return Some(found(start..=start + anchored.len() - 1, MatchExtent::Whole));
        }
    }
    let old_start = first.saturating_sub(VOTING_CONTEXT_LINES);
    let old_end = (last + 1 + VOTING_CONTEXT_LINES).min(old.len());
    let new_start = usize::try_from(old_start as i64 + ballot.shift).unwrap_or(0).min(new.len());
    let new_end =
        usize::try_from(old_end as i64 + ballot.shift + MAX_DRIFT_LINES).unwrap_or(0).clamp(new_start, new.len());
    let inside = first - old_start..last + 1 - old_start;
    let ReflowMatch { lines, extent: fit, .. } =
        find_reflowed(&old[old_start..old_end], inside, &new[new_start..new_end])?;
    Some(found(lines.start() + new_start..=lines.end() + new_start, fit))
}
