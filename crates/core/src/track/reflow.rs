//! Finds code in the lines that replaced it: with other line breaks, or edited.

use std::ops::{Range, RangeInclusive};

use imara_diff::{Algorithm, Diff, InternedInput};

use super::code_lines::{TrailingComma, push_normalised};

/// The anchored code in the new region. Lines are counted from 0 within it.
pub(super) struct ReflowMatch {
    pub(super) lines: RangeInclusive<usize>,
    pub(super) extent: MatchExtent,
    /// Number of matching letters.
    pub(super) weight: u32,
}

/// How much of the anchored code was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchExtent {
    /// All of it, ignoring whitespace.
    Whole,
    /// Some of its tokens.
    Partial,
}

/// Minimum share of the tokens, in thousandths, that a partial match needs.
const MIN_KEPT_PERMILLE: u32 = 400;

/// Shorter code occurs anywhere, so its surroundings must match too.
const MIN_NEEDLE_BYTES: usize = 8;

/// Larger regions are not a single edit, and searching each finding in them takes too long.
const MAX_REGION_LINES: usize = 5_000;
const MAX_REGION_WORDS: usize = 20_000;

/// Searches the lines `anchor` of `old` in `new`. Both are regions between the same two unchanged lines.
pub(super) fn find_reflowed(old: &[&str], anchor: Range<usize>, new: &[&str]) -> Option<ReflowMatch> {
    if old.len() > MAX_REGION_LINES || new.len() > MAX_REGION_LINES {
        return None;
    }
    find_whole(old, &anchor, new).or_else(|| find_partial(old, &anchor, new))
}

fn find_whole(old: &[&str], anchor: &Range<usize>, new: &[&str]) -> Option<ReflowMatch> {
    let (old, new) = (NormalisedRegion::new(old), NormalisedRegion::new(new));
    let start = old.line_of_byte.partition_point(|line| *line < anchor.start);
    let end = old.line_of_byte.partition_point(|line| *line < anchor.end);
    let (before, rest) = old.text.split_at_checked(start)?;
    let (needle, after) = rest.split_at_checked(end - start)?;
    if needle.is_empty() {
        return None;
    }
    let expected = start * new.text.len() / old.text.len().max(1);
    let (at, around) = new
        .text
        .match_indices(needle)
        .take(64)
        .map(|(at, _)| {
            let above = common_prefix_len(before.bytes().rev(), new.text.as_bytes()[..at].iter().rev().copied());
            let below = common_prefix_len(after.bytes(), new.text.as_bytes()[at + needle.len()..].iter().copied());
            (at, above + below)
        })
        .max_by_key(|(at, around)| (*around, usize::MAX - at.abs_diff(expected)))?;
    if needle.len() < MIN_NEEDLE_BYTES && around < MIN_NEEDLE_BYTES {
        return None;
    }
    Some(ReflowMatch {
        lines: *new.line_of_byte.get(at)?..=*new.line_of_byte.get(at + needle.len() - 1)?,
        extent: MatchExtent::Whole,
        weight: u32::try_from(needle.len() + around).unwrap_or(u32::MAX),
    })
}

/// A region without whitespace, with the line number of each byte.
struct NormalisedRegion {
    text: String,
    line_of_byte: Vec<usize>,
}

impl NormalisedRegion {
    fn new(region: &[&str]) -> Self {
        let mut normalised = NormalisedRegion { text: String::new(), line_of_byte: Vec::new() };
        for (number, line) in region.iter().enumerate() {
            for letter in super::code_lines::visible_chars(line) {
                if push_normalised(&mut normalised.text, letter) == TrailingComma::Removed {
                    normalised.line_of_byte.pop();
                }
                normalised.line_of_byte.extend(std::iter::repeat_n(number, letter.len_utf8()));
            }
        }
        normalised
    }
}

/// Returns the length of the common prefix, at most 200.
fn common_prefix_len(a: impl Iterator<Item = u8>, b: impl Iterator<Item = u8>) -> usize {
    a.zip(b).take(200).take_while(|(a, b)| a == b).count()
}

fn find_partial(old: &[&str], anchor: &Range<usize>, new: &[&str]) -> Option<ReflowMatch> {
    let (old, new) = (tokenise_code(old), tokenise_code(new));
    if old.len() > MAX_REGION_WORDS || new.len() > MAX_REGION_WORDS {
        return None;
    }
    let total: u32 = old.iter().filter(|token| anchor.contains(&token.line)).map(|token| token.weight()).sum();
    let landed = weigh_landed_tokens(&old, anchor, &new);
    let (best, _) = landed.iter().copied().enumerate().max_by_key(|(line, weight)| (*weight, usize::MAX - line))?;
    let above = landed[..best].iter().rev().take_while(|weight| **weight > 0).count();
    let below = landed[best + 1..].iter().take_while(|weight| **weight > 0).count();
    let lines = best - above..=best + below;
    let weight: u32 = landed[lines.clone()].iter().sum();
    (weight > 0 && weight * 1000 / total.max(1) >= MIN_KEPT_PERMILLE).then_some(ReflowMatch {
        lines,
        extent: MatchExtent::Partial,
        weight,
    })
}

/// Returns for each new line the weight of the anchored tokens on it.
fn weigh_landed_tokens(old: &[CodeToken<'_>], anchor: &Range<usize>, new: &[CodeToken<'_>]) -> Vec<u32> {
    let mut input = InternedInput::default();
    input.update_before(old.iter().map(|token| token.text));
    input.update_after(new.iter().map(|token| token.text));
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let mut landed = vec![0; new.last().map_or(0, |token| token.line + 1)];
    let kept_old = (0_u32..).zip(old).filter(|(at, _)| !diff.is_removed(*at)).map(|(_, token)| token);
    let kept_new = (0_u32..).zip(new).filter(|(at, _)| !diff.is_added(*at)).map(|(_, token)| token);
    for (old, new) in kept_old.zip(kept_new) {
        if anchor.contains(&old.line) {
            landed[new.line] += old.weight();
        }
    }
    landed
}

/// An identifier or number, or one other visible character.
struct CodeToken<'a> {
    text: &'a str,
    line: usize,
}

impl CodeToken<'_> {
    /// Punctuation has no weight, because it occurs everywhere.
    fn weight(&self) -> u32 {
        if self.text.starts_with(is_word_char) { self.text.chars().take(12).map(|_| 1).sum() } else { 0 }
    }
}

fn tokenise_code<'a>(region: &[&'a str]) -> Vec<CodeToken<'a>> {
    let mut tokens = Vec::new();
    for (line, text) in region.iter().enumerate() {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if is_word_char(first) {
                rest.find(|letter| !is_word_char(letter)).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            let (token, after) = rest.split_at(length);
            tokens.push(CodeToken { text: token, line });
            rest = after.trim_start();
        }
    }
    tokens
}

fn is_word_char(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}
