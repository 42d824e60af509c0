//! Where a finding's code went.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::code::{depth, depth_matters, same_code, squeeze, weight};
use super::pair::Pair;
use super::reflow::{Fit, Reflowed, reflow};
use super::seek::{Found, Wanted, seek};
use super::{Spot, Track};

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
pub fn follow(spots: &[Spot], delta: &[FileChange<'_>]) -> Vec<Track> {
    let by_old_path: BTreeMap<&str, usize> =
        delta.iter().enumerate().filter_map(|(at, file)| Some((file.old_path?, at))).collect();
    let mut pairs: Vec<Option<Pair<'_>>> = delta.iter().map(|_| None).collect();
    let mut tracks = Vec::with_capacity(spots.len());
    let mut open = Vec::new();
    for (index, spot) in spots.iter().enumerate() {
        let look = match by_old_path.get(spot.path.as_str()) {
            None => Look::sure(Track::Same(spot.clone())),
            Some(&file) => look_in_file(spot, &delta[file], pairs[file].get_or_insert_with(|| Pair::new(&delta[file]))),
        };
        tracks.push(look.track);
        if let Some(doubt) = look.doubt {
            open.push((index, by_old_path[spot.path.as_str()], doubt));
        }
    }
    if !open.is_empty() {
        look_elsewhere(&open, &mut tracks, delta, &mut pairs);
    }
    tracks
}

/// What the file itself says of a place in it.
struct Look {
    track: Track,
    doubt: Option<Doubt>,
}

/// Why to look further: how much speaks for the track so far, and the lines to look for, counted from 0.
struct Doubt {
    score: u32,
    anchor: RangeInclusive<usize>,
}

impl Look {
    fn sure(track: Track) -> Self {
        Look { track, doubt: None }
    }
}

fn look_in_file(spot: &Spot, file: &FileChange<'_>, pair: &Pair<'_>) -> Look {
    let Some(new_path) = file.new_path else {
        return match (file.old_text, anchor_of(spot, &pair.old)) {
            (Some(_), Some(anchor)) => Look { track: Track::Gone, doubt: Some(Doubt { score: 0, anchor }) },
            _ => Look::sure(Track::Gone),
        };
    };
    let (Some(old_text), Some(new_text)) = (file.old_text, file.new_text) else {
        let there = Spot { path: new_path.to_owned(), ..spot.clone() };
        return Look::sure(unchanged(spot, there));
    };
    let Some(anchor) = anchor_of(spot, &pair.old) else {
        let there = Spot::whole_file(new_path);
        let same = squeeze(old_text) == squeeze(new_text);
        return Look::sure(if same { unchanged(spot, there) } else { Track::Changed(there) });
    };
    look_at_lines(spot, new_path, anchor, pair)
}

/// The lines of a place, from 0, cut at the text's end; none for a whole file and for lines that are not there.
fn anchor_of(spot: &Spot, old: &[&str]) -> Option<RangeInclusive<usize>> {
    let first = spot.line.checked_sub(1)? as usize;
    let last = (spot.end_line.max(spot.line) as usize - 1).min(old.len().checked_sub(1)?);
    (first <= last).then_some(first..=last)
}

fn look_at_lines(spot: &Spot, new_path: &str, anchor: RangeInclusive<usize>, pair: &Pair<'_>) -> Look {
    let (first, last) = (*anchor.start(), *anchor.end());
    if let (Some(new_first), Some(new_last)) = (pair.forward(first), pair.forward(last))
        && reads_the_same(&pair.old[first..=last], &pair.new[new_first..=new_last])
    {
        let (support, known) = pair.support(first..=last, new_first..=new_last);
        let track = standing(spot, new_path, pair, first, new_first..=new_last);
        let doubtful = support < 8 && known >= 8;
        let score = support + weight_of(&pair.old[first..=last]);
        return Look { track, doubt: doubtful.then_some(Doubt { score, anchor }) };
    }
    let (old_region, new_region) = pair.region(first, last);
    let inside = first - old_region.start..last + 1 - old_region.start;
    let found = reflow(&pair.old[old_region], inside, &pair.new[new_region.clone()]);
    let lines =
        found.as_ref().map(|found| found.lines.start() + new_region.start..=found.lines.end() + new_region.start);
    if let (Some(Reflowed { fit: Fit::Whole, .. }), Some(there)) = (&found, &lines) {
        return Look::sure(standing(spot, new_path, pair, first, there.clone()));
    }
    let edited = pair.remains(first, last).or_else(|| Some((lines?, found?.weight)));
    let (there, score) = match edited.or_else(|| Some((pair.replacement(first..last + 1)?, 0))) {
        Some((there, score)) => (Track::Changed(spot_at(new_path, there)), score),
        None => (Track::Gone, 0),
    };
    Look { track: there, doubt: Some(Doubt { score, anchor }) }
}

/// The track of code that reads the same at `there`.
fn standing(spot: &Spot, new_path: &str, pair: &Pair<'_>, old_first: usize, there: RangeInclusive<usize>) -> Track {
    let new_first = *there.start();
    let place = spot_at(new_path, there);
    if depth_matters(new_path) && depth(&pair.old, old_first) != depth(&pair.new, new_first) {
        return Track::Changed(place);
    }
    unchanged(spot, place)
}

fn unchanged(spot: &Spot, there: Spot) -> Track {
    if spot.path == there.path { Track::Same(there) } else { Track::Moved(there) }
}

fn look_elsewhere<'a>(
    open: &[(usize, usize, Doubt)],
    tracks: &mut [Track],
    delta: &[FileChange<'a>],
    pairs: &mut [Option<Pair<'a>>],
) {
    let wanted: Vec<Wanted> =
        open.iter().map(|(_, file, doubt)| Wanted { file: *file, anchor: doubt.anchor.clone() }).collect();
    for ((index, file, doubt), found) in open.iter().zip(seek(&wanted, delta, pairs)) {
        let Some(Found { file: new_file, lines, score, fit }) = found else { continue };
        let (Some(new_path), Some(old), Some(new)) = (delta[new_file].new_path, &pairs[*file], &pairs[new_file]) else {
            continue;
        };
        let better = match (&tracks[*index], &fit) {
            (Track::Gone, _) => true,
            (Track::Changed(_), Fit::Whole) => score > doubt.score,
            (Track::Changed(_), Fit::Part) => score > doubt.score + 40,
            (Track::Same(_) | Track::Moved(_), Fit::Whole) => score > doubt.score,
            (Track::Same(_) | Track::Moved(_), Fit::Part) => false,
        };
        if better {
            let reindented =
                depth_matters(new_path) && depth(&old.old, *doubt.anchor.start()) != depth(&new.new, *lines.start());
            let place = spot_at(new_path, lines);
            tracks[*index] = match fit {
                Fit::Whole if !reindented => Track::Moved(place),
                _ => Track::Changed(place),
            };
        }
    }
}

fn spot_at(path: &str, lines: RangeInclusive<usize>) -> Spot {
    let number = |line: usize| u32::try_from(line + 1).unwrap_or(u32::MAX);
    Spot::new(path, number(*lines.start()), number(*lines.end()))
}

fn reads_the_same(old: &[&str], new: &[&str]) -> bool {
    if old.len() == new.len() {
        return old.iter().zip(new).all(|(old, new)| same_code(old, new));
    }
    squeeze(&old.concat()) == squeeze(&new.concat())
}

fn weight_of(lines: &[&str]) -> u32 {
    lines.iter().map(|line| weight(line)).sum()
}
