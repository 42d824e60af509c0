//! Follows code locations from the old head to the new one.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::code_lines::{is_indent_sensitive, is_same_code, measure_indent_depth, normalise_code, weigh_line};
use super::file_versions::FileVersions;
use super::moved_blocks::{MoveQuery, MovedBlock, find_moved_blocks};
use super::reflow::{MatchExtent, ReflowMatch, find_reflowed};
use super::{CodeLocation, Track};

/// One file of the delta between two heads. Files that are not listed did not change.
#[derive(Debug, Clone, Copy)]
pub struct FileChange<'a> {
    /// Path at the old head. `None` for a new file.
    pub old_path: Option<&'a str>,
    /// Path at the new head. `None` for a deleted file.
    pub new_path: Option<&'a str>,
    /// Text at the old head. `None` if the file does not exist there or is not text.
    pub old_text: Option<&'a str>,
    /// Text at the new head. `None` if the file does not exist there or is not text. Moved code is searched only in the
    /// given texts.
    pub new_text: Option<&'a str>,
}

/// Follows locations of the old head to the new one. Returns one track per location, in order.
///
/// The first matching row decides:
///
/// | anchored code | track |
/// |---|---|
/// | in a file outside the delta | `Same` |
/// | in a file without texts | `Same`, or `Moved` if renamed: nothing proves a change (D9) |
/// | the whole file, or lines beyond the old text | `Same`, `Moved`, `Changed` or `Gone`, like the file |
/// | mapped by the line map, with its neighbours | `Same`, or `Moved` if renamed |
/// | with other line breaks in the lines that replaced it | `Same`, or `Moved` if renamed |
/// | among added lines elsewhere, with its neighbours | `Moved` |
/// | partly in the lines that replaced it, or its neighbours moved without it | `Changed` |
/// | replaced by other lines | `Changed` |
/// | deleted | `Gone` |
pub fn follow_locations(locations: &[CodeLocation], delta: &[FileChange<'_>]) -> Vec<Track> {
    let by_old_path: BTreeMap<&str, usize> =
        delta.iter().enumerate().filter_map(|(index, file)| Some((file.old_path?, index))).collect();
    let mut versions_by_file: Vec<Option<FileVersions<'_>>> = delta.iter().map(|_| None).collect();
    let mut tracks = Vec::with_capacity(locations.len());
    let mut pending = Vec::new();
    for (index, location) in locations.iter().enumerate() {
        let lookup = match by_old_path.get(location.path.as_str()) {
            None => FileLookup::from_track(Track::Same(location.clone())),
            Some(&file) => track_in_file(
                location,
                &delta[file],
                versions_by_file[file].get_or_insert_with(|| FileVersions::new(&delta[file])),
            ),
        };
        tracks.push(lookup.track);
        if let Some(search) = lookup.pending {
            pending.push((index, by_old_path[location.path.as_str()], search));
        }
    }
    if !pending.is_empty() {
        search_moved_code(&pending, &mut tracks, delta, &mut versions_by_file);
    }
    tracks
}

/// The track of a location within its own file.
struct FileLookup {
    track: Track,
    pending: Option<PendingSearch>,
}

/// A search for moved code: the score of the track so far, and the old lines to search for, counted from 0.
struct PendingSearch {
    score: u32,
    anchor: RangeInclusive<usize>,
}

impl FileLookup {
    fn from_track(track: Track) -> Self {
        FileLookup { track, pending: None }
    }
}

fn track_in_file(location: &CodeLocation, file: &FileChange<'_>, versions: &FileVersions<'_>) -> FileLookup {
    let Some(new_path) = file.new_path else {
        return match (file.old_text, to_line_range(location, &versions.old)) {
            (Some(_), Some(anchor)) => {
                FileLookup { track: Track::Gone, pending: Some(PendingSearch { score: 0, anchor }) }
            }
            _ => FileLookup::from_track(Track::Gone),
        };
    };
    let (Some(old_text), Some(new_text)) = (file.old_text, file.new_text) else {
        let new_location = CodeLocation { path: new_path.to_owned(), ..location.clone() };
        return FileLookup::from_track(same_or_moved(location, new_location));
    };
    let Some(anchor) = to_line_range(location, &versions.old) else {
        let file = CodeLocation::whole_file(new_path);
        let is_same = normalise_code(old_text) == normalise_code(new_text);
        return FileLookup::from_track(if is_same { same_or_moved(location, file) } else { Track::Changed(file) });
    };
    track_lines(location, new_path, anchor, versions)
}

/// Returns the lines of a location, from 0, clamped to the text. `None` for a whole file and for lines beyond the text.
fn to_line_range(location: &CodeLocation, old: &[&str]) -> Option<RangeInclusive<usize>> {
    let first = location.line.checked_sub(1)? as usize;
    let last = (location.end_line.max(location.line) as usize - 1).min(old.len().checked_sub(1)?);
    (first <= last).then_some(first..=last)
}

fn track_lines(
    location: &CodeLocation,
    new_path: &str,
    anchor: RangeInclusive<usize>,
    versions: &FileVersions<'_>,
) -> FileLookup {
    let (first, last) = (*anchor.start(), *anchor.end());
    if let (Some(new_first), Some(new_last)) = (versions.to_new_line(first), versions.to_new_line(last))
        && have_same_code(&versions.old[first..=last], &versions.new[new_first..=new_last])
    {
        let (support, total) = versions.score_neighbours(first..=last, new_first..=new_last);
        let track = classify_unedited(location, new_path, versions, first, new_first..=new_last);
        let is_doubtful = support < 8 && total >= 8;
        let score = support + weigh_lines(&versions.old[first..=last]);
        return FileLookup { track, pending: is_doubtful.then_some(PendingSearch { score, anchor }) };
    }
    let (old_region, new_region) = versions.find_edit_region(first, last);
    let inside = first - old_region.start..last + 1 - old_region.start;
    let found = find_reflowed(&versions.old[old_region], inside, &versions.new[new_region.clone()]);
    let lines =
        found.as_ref().map(|found| found.lines.start() + new_region.start..=found.lines.end() + new_region.start);
    if let (Some(ReflowMatch { extent: MatchExtent::Whole, .. }), Some(new_lines)) = (&found, &lines) {
        return FileLookup::from_track(classify_unedited(location, new_path, versions, first, new_lines.clone()));
    }
    let edited = versions.find_remaining_lines(first, last).or_else(|| Some((lines?, found?.weight)));
    let (track, score) = match edited.or_else(|| Some((versions.find_replacement(first..last + 1)?, 0))) {
        Some((new_lines, score)) => (Track::Changed(location_from_lines(new_path, new_lines)), score),
        None => (Track::Gone, 0),
    };
    FileLookup { track, pending: Some(PendingSearch { score, anchor }) }
}

/// Returns the track of unchanged code, which is now at `new_lines`.
fn classify_unedited(
    location: &CodeLocation,
    new_path: &str,
    versions: &FileVersions<'_>,
    old_first: usize,
    new_lines: RangeInclusive<usize>,
) -> Track {
    let new_first = *new_lines.start();
    let new_location = location_from_lines(new_path, new_lines);
    if is_indent_sensitive(new_path)
        && measure_indent_depth(&versions.old, old_first) != measure_indent_depth(&versions.new, new_first)
    {
        return Track::Changed(new_location);
    }
    same_or_moved(location, new_location)
}

fn same_or_moved(old: &CodeLocation, new: CodeLocation) -> Track {
    if old.path == new.path { Track::Same(new) } else { Track::Moved(new) }
}

fn search_moved_code<'a>(
    pending: &[(usize, usize, PendingSearch)],
    tracks: &mut [Track],
    delta: &[FileChange<'a>],
    versions_by_file: &mut [Option<FileVersions<'a>>],
) {
    let queries: Vec<MoveQuery> =
        pending.iter().map(|(_, file, search)| MoveQuery { file: *file, anchor: search.anchor.clone() }).collect();
    for ((index, file, search), block) in pending.iter().zip(find_moved_blocks(&queries, delta, versions_by_file)) {
        let Some(MovedBlock { file: new_file, lines, score, extent }) = block else { continue };
        let (Some(new_path), Some(old), Some(new)) =
            (delta[new_file].new_path, &versions_by_file[*file], &versions_by_file[new_file])
        else {
            continue;
        };
        let is_better = match (&tracks[*index], &extent) {
            (Track::Gone, _) => true,
            (Track::Changed(_), MatchExtent::Whole) => score > search.score,
            (Track::Changed(_), MatchExtent::Partial) => score > search.score + 40,
            (Track::Same(_) | Track::Moved(_), MatchExtent::Whole) => score > search.score,
            (Track::Same(_) | Track::Moved(_), MatchExtent::Partial) => false,
        };
        if is_better {
            let is_reindented = is_indent_sensitive(new_path)
                && measure_indent_depth(&old.old, *search.anchor.start())
                    != measure_indent_depth(&new.new, *lines.start());
            let new_location = location_from_lines(new_path, lines);
            tracks[*index] = match extent {
                MatchExtent::Whole if !is_reindented => Track::Moved(new_location),
                _ => Track::Changed(new_location),
            };
        }
    }
}

fn location_from_lines(path: &str, lines: RangeInclusive<usize>) -> CodeLocation {
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
