//! Where a finding's code went.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::code_lines::{is_indent_sensitive, is_same_code, measure_indent_depth, normalise_code, weigh_line};
use super::file_versions::FileVersions;
use super::moved_blocks::{MoveQuery, MovedBlock, find_moved_blocks};
use super::reflow::{MatchExtent, ReflowMatch, find_reflowed};
use super::{CodeLocation, Track};

/// One file of the delta between two heads. A file that is not listed did not change.
#[derive(Debug, Clone, Copy)]
pub struct FileChange<'a> {
    /// The name at the old head; none for a file that is new.
    pub old_path: Option<&'a str>,
    /// The name at the new head; none for a file that is gone.
    pub new_path: Option<&'a str>,
    /// The text at the old head; none where there is none, or where it is no text.
    pub old_text: Option<&'a str>,
    /// The text at the new head; none where there is none, or where it is no text. Code that moves is found only in
    /// texts that are given.
    pub new_text: Option<&'a str>,
}

/// Follows places of the old head to the new one; the answers are in the order of `spots`.
///
/// The first row that holds decides:
///
/// | the anchored code | is |
/// |---|---|
/// | lies in a file outside the delta | `Same`, there |
/// | lies in a file whose texts were not given | `Same` or, renamed, `Moved`: ignorance is no evidence of change (D9) |
/// | is the whole file, or lines the old text does not have | `Same`, `Moved`, `Changed` or `Gone` as the file is |
/// | stands among its neighbours in the line map | `Same` or, renamed, `Moved` |
/// | stands, wrapped otherwise, in the lines that replaced it | `Same` or, renamed, `Moved` |
/// | came up among the added lines elsewhere, with its neighbours | `Moved` |
/// | left words in the lines that replaced it, or its neighbours moved without it | `Changed` |
/// | was replaced by other lines | `Changed` |
/// | was deleted | `Gone` |
pub fn follow_spots(spots: &[CodeLocation], delta: &[FileChange<'_>]) -> Vec<Track> {
    let by_old_path: BTreeMap<&str, usize> =
        delta.iter().enumerate().filter_map(|(at, file)| Some((file.old_path?, at))).collect();
    let mut pairs: Vec<Option<FileVersions<'_>>> = delta.iter().map(|_| None).collect();
    let mut tracks = Vec::with_capacity(spots.len());
    let mut open = Vec::new();
    for (index, spot) in spots.iter().enumerate() {
        let look = match by_old_path.get(spot.path.as_str()) {
            None => FileLookup::from_track(Track::Same(spot.clone())),
            Some(&file) => {
                track_in_file(spot, &delta[file], pairs[file].get_or_insert_with(|| FileVersions::new(&delta[file])))
            }
        };
        tracks.push(look.track);
        if let Some(doubt) = look.pending {
            open.push((index, by_old_path[spot.path.as_str()], doubt));
        }
    }
    if !open.is_empty() {
        search_moved_code(&open, &mut tracks, delta, &mut pairs);
    }
    tracks
}

/// What the file itself says of a place in it.
struct FileLookup {
    track: Track,
    pending: Option<PendingSearch>,
}

/// Why to look further: how much speaks for the track so far, and the lines to look for, counted from 0.
struct PendingSearch {
    score: u32,
    anchor: RangeInclusive<usize>,
}

impl FileLookup {
    fn from_track(track: Track) -> Self {
        FileLookup { track, pending: None }
    }
}

fn track_in_file(spot: &CodeLocation, file: &FileChange<'_>, pair: &FileVersions<'_>) -> FileLookup {
    let Some(new_path) = file.new_path else {
        return match (file.old_text, to_line_range(spot, &pair.old)) {
            (Some(_), Some(anchor)) => {
                FileLookup { track: Track::Gone, pending: Some(PendingSearch { score: 0, anchor }) }
            }
            _ => FileLookup::from_track(Track::Gone),
        };
    };
    let (Some(old_text), Some(new_text)) = (file.old_text, file.new_text) else {
        let there = CodeLocation { path: new_path.to_owned(), ..spot.clone() };
        return FileLookup::from_track(same_or_moved(spot, there));
    };
    let Some(anchor) = to_line_range(spot, &pair.old) else {
        let there = CodeLocation::whole_file(new_path);
        let same = normalise_code(old_text) == normalise_code(new_text);
        return FileLookup::from_track(if same { same_or_moved(spot, there) } else { Track::Changed(there) });
    };
    track_lines(spot, new_path, anchor, pair)
}

/// The lines of a place, from 0, cut at the text's end; none for a whole file and for lines that are not there.
fn to_line_range(spot: &CodeLocation, old: &[&str]) -> Option<RangeInclusive<usize>> {
    let first = spot.line.checked_sub(1)? as usize;
    let last = (spot.end_line.max(spot.line) as usize - 1).min(old.len().checked_sub(1)?);
    (first <= last).then_some(first..=last)
}

fn track_lines(
    spot: &CodeLocation,
    new_path: &str,
    anchor: RangeInclusive<usize>,
    pair: &FileVersions<'_>,
) -> FileLookup {
    let (first, last) = (*anchor.start(), *anchor.end());
    if let (Some(new_first), Some(new_last)) = (pair.to_new_line(first), pair.to_new_line(last))
        && have_same_code(&pair.old[first..=last], &pair.new[new_first..=new_last])
    {
        let (support, known) = pair.score_neighbours(first..=last, new_first..=new_last);
        let track = classify_unedited(spot, new_path, pair, first, new_first..=new_last);
        let doubtful = support < 8 && known >= 8;
        let score = support + weigh_lines(&pair.old[first..=last]);
        return FileLookup { track, pending: doubtful.then_some(PendingSearch { score, anchor }) };
    }
    let (old_region, new_region) = pair.find_edit_region(first, last);
    let inside = first - old_region.start..last + 1 - old_region.start;
    let found = find_reflowed(&pair.old[old_region], inside, &pair.new[new_region.clone()]);
    let lines =
        found.as_ref().map(|found| found.lines.start() + new_region.start..=found.lines.end() + new_region.start);
    if let (Some(ReflowMatch { extent: MatchExtent::Whole, .. }), Some(there)) = (&found, &lines) {
        return FileLookup::from_track(classify_unedited(spot, new_path, pair, first, there.clone()));
    }
    let edited = pair.find_remaining_lines(first, last).or_else(|| Some((lines?, found?.weight)));
    let (there, score) = match edited.or_else(|| Some((pair.find_replacement(first..last + 1)?, 0))) {
        Some((there, score)) => (Track::Changed(spot_from_lines(new_path, there)), score),
        None => (Track::Gone, 0),
    };
    FileLookup { track: there, pending: Some(PendingSearch { score, anchor }) }
}

/// The track of code that reads the same at `there`.
fn classify_unedited(
    spot: &CodeLocation,
    new_path: &str,
    pair: &FileVersions<'_>,
    old_first: usize,
    there: RangeInclusive<usize>,
) -> Track {
    let new_first = *there.start();
    let place = spot_from_lines(new_path, there);
    if is_indent_sensitive(new_path)
        && measure_indent_depth(&pair.old, old_first) != measure_indent_depth(&pair.new, new_first)
    {
        return Track::Changed(place);
    }
    same_or_moved(spot, place)
}

fn same_or_moved(spot: &CodeLocation, there: CodeLocation) -> Track {
    if spot.path == there.path { Track::Same(there) } else { Track::Moved(there) }
}

fn search_moved_code<'a>(
    open: &[(usize, usize, PendingSearch)],
    tracks: &mut [Track],
    delta: &[FileChange<'a>],
    pairs: &mut [Option<FileVersions<'a>>],
) {
    let wanted: Vec<MoveQuery> =
        open.iter().map(|(_, file, doubt)| MoveQuery { file: *file, anchor: doubt.anchor.clone() }).collect();
    for ((index, file, doubt), found) in open.iter().zip(find_moved_blocks(&wanted, delta, pairs)) {
        let Some(MovedBlock { file: new_file, lines, score, extent: fit }) = found else { continue };
        let (Some(new_path), Some(old), Some(new)) = (delta[new_file].new_path, &pairs[*file], &pairs[new_file]) else {
            continue;
        };
        let better = match (&tracks[*index], &fit) {
            (Track::Gone, _) => true,
            (Track::Changed(_), MatchExtent::Whole) => score > doubt.score,
            (Track::Changed(_), MatchExtent::Partial) => score > doubt.score + 40,
            (Track::Same(_) | Track::Moved(_), MatchExtent::Whole) => score > doubt.score,
            (Track::Same(_) | Track::Moved(_), MatchExtent::Partial) => false,
        };
        if better {
            let reindented = is_indent_sensitive(new_path)
                && measure_indent_depth(&old.old, *doubt.anchor.start())
                    != measure_indent_depth(&new.new, *lines.start());
            let place = spot_from_lines(new_path, lines);
            tracks[*index] = match fit {
                MatchExtent::Whole if !reindented => Track::Moved(place),
                _ => Track::Changed(place),
            };
        }
    }
}

fn spot_from_lines(path: &str, lines: RangeInclusive<usize>) -> CodeLocation {
    let number = |line: usize| u32::try_from(line + 1).unwrap_or(u32::MAX);
    CodeLocation::new(path, number(*lines.start()), number(*lines.end()))
}

fn have_same_code(old: &[&str], new: &[&str]) -> bool {
    if old.len() == new.len() {
        return old.iter().zip(new).all(|(old, new)| is_same_code(old, new));
    }
    normalise_code(&old.concat()) == normalise_code(&new.concat())
}

fn weigh_lines(lines: &[&str]) -> u32 {
    lines.iter().map(|line| weigh_line(line)).sum()
}
