//! Maps the lines of one text to those of another.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use imara_diff::{Algorithm, Diff, IndentHeuristic, IndentLevel, InternedInput, Interner, Token};

use super::code_lines::{hash_ignoring_whitespace, is_same_code};

/// A text with more lines than this, in which a line occurs `MIN_AVG_REPEATS` times on average, counts as data and is
/// not diffed: that would take minutes, and anyone can push such a file.
const LARGE_DIFF_LINES: usize = 20_000;
const MIN_AVG_REPEATS: usize = 40;

/// The Myers diff replaces the histogram diff if it keeps this many more lines.
const MIN_EXTRA_KEPT_LINES: u32 = 4;

/// The unchanged lines of two texts, found by a histogram diff.
///
/// Lines are counted from 1, as forges do. The map is monotone: mapped lines keep their order. Blocks that changed
/// their order are found by [`follow_locations`](super::follow_locations).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineMap {
    old_lines: u32,
    new_lines: u32,
    changes: Vec<LineChange>,
}

/// A run of old lines and the run of new lines that replaced it. Either may be empty. Ranges are half-open, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineChange {
    pub old: Range<u32>,
    pub new: Range<u32>,
}

impl LineMap {
    /// Maps lines that are equal byte for byte, line ends included.
    pub fn from_exact_diff(old: &str, new: &str) -> Self {
        LineMap::build(&split_lines(old), &split_lines(new), |line| line)
    }

    /// Maps lines that are equal without whitespace, so that reindented lines stay mapped.
    pub fn from_loose_diff(old: &str, new: &str) -> Self {
        LineMap::from_loose_lines(&split_lines(old), &split_lines(new))
    }

    pub(super) fn from_loose_lines(old: &[&str], new: &[&str]) -> Self {
        LineMap::build(old, new, LooseLine::new)
    }

    /// Returns the new line of an old one. `None` if it was removed.
    pub fn to_new_line(&self, line: u32) -> Option<u32> {
        if line == 0 || line > self.old_lines {
            return None;
        }
        let after = self.changes.partition_point(|change| change.old.end <= line);
        match self.changes.get(after) {
            Some(change) if change.old.contains(&line) => None,
            _ => Some(match after.checked_sub(1).and_then(|before| self.changes.get(before)) {
                Some(change) => change.new.end + (line - change.old.end),
                None => line,
            }),
        }
    }

    /// Returns the old line of a new one. `None` if it was added.
    pub fn to_old_line(&self, line: u32) -> Option<u32> {
        if line == 0 || line > self.new_lines {
            return None;
        }
        let after = self.changes.partition_point(|change| change.new.end <= line);
        match self.changes.get(after) {
            Some(change) if change.new.contains(&line) => None,
            _ => Some(match after.checked_sub(1).and_then(|before| self.changes.get(before)) {
                Some(change) => change.old.end + (line - change.new.end),
                None => line,
            }),
        }
    }

    /// Returns the changes from top to bottom.
    pub fn changes(&self) -> &[LineChange] {
        &self.changes
    }

    fn build<'a, T: Hash + Eq>(old: &[&'a str], new: &[&'a str], token: impl Fn(&'a str) -> T) -> Self {
        let (Ok(old_lines), Ok(new_lines)) = (checked_line_count(old.len()), checked_line_count(new.len())) else {
            // The diff cannot number more than 2³¹ lines.
            return LineMap::without_matches(old.len(), new.len());
        };
        let interner = Interner::new(old.len() + new.len());
        let mut input = InternedInput { before: Vec::new(), after: Vec::new(), interner };
        input.update_before(old.iter().map(|line| token(line)));
        input.update_after(new.iter().map(|line| token(line)));
        if old.len() + new.len() > LARGE_DIFF_LINES
            && input.interner.num_tokens() as usize * MIN_AVG_REPEATS < old.len() + new.len()
        {
            return LineMap::match_ends(&input.before, &input.after, old_lines, new_lines);
        }
        let mut diff = Diff::compute(Algorithm::Histogram, &input);
        if diff.count_removals() > MIN_EXTRA_KEPT_LINES && old.len() + new.len() <= LARGE_DIFF_LINES {
            // The histogram diff prefers the longest run. If code was copied and the original edited, that is the copy,
            // and the diff that keeps more lines is right. A few more lines are not enough: braces match anywhere.
            let minimal = Diff::compute(Algorithm::Myers, &input);
            if minimal.count_removals() + MIN_EXTRA_KEPT_LINES < diff.count_removals() {
                diff = minimal;
            }
        }
        let indents = collect_token_lines(&input, old, new);
        diff.postprocess_with_heuristic(
            &input,
            IndentHeuristic::new(|token: Token| {
                let line = indents.get(token.0 as usize).copied().unwrap_or("");
                IndentLevel::for_ascii_line(line.bytes(), 8)
            }),
        );
        LineMap {
            old_lines,
            new_lines,
            changes: diff
                .hunks()
                .map(|hunk| LineChange {
                    old: hunk.before.start + 1..hunk.before.end + 1,
                    new: hunk.after.start + 1..hunk.after.end + 1,
                })
                .collect(),
        }
    }

    /// Maps only the common lines at the top and at the bottom.
    fn match_ends(old: &[Token], new: &[Token], old_lines: u32, new_lines: u32) -> Self {
        let top = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let (old_rest, new_rest) = (&old[top..], &new[top..]);
        let bottom = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
        let (top, bottom) = (top as u32, bottom as u32);
        let change = LineChange { old: top + 1..old_lines - bottom + 1, new: top + 1..new_lines - bottom + 1 };
        let changes = if change.old.is_empty() && change.new.is_empty() { Vec::new() } else { vec![change] };
        LineMap { old_lines, new_lines, changes }
    }

    fn without_matches(old: usize, new: usize) -> Self {
        let old_lines = u32::try_from(old).unwrap_or(u32::MAX - 1);
        let new_lines = u32::try_from(new).unwrap_or(u32::MAX - 1);
        LineMap { old_lines, new_lines, changes: vec![LineChange { old: 1..old_lines + 1, new: 1..new_lines + 1 }] }
    }
}

fn split_lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// `imara_diff` asserts that the number of lines fits into an `i32`.
fn checked_line_count(lines: usize) -> Result<u32, std::num::TryFromIntError> {
    i32::try_from(lines).map(i32::unsigned_abs)
}

/// Returns the text of each token by its number: the first line that was interned as it.
fn collect_token_lines<'a, T>(input: &InternedInput<T>, old: &[&'a str], new: &[&'a str]) -> Vec<&'a str> {
    let mut texts = Vec::new();
    let tokens = input.before.iter().chain(&input.after);
    for (token, line) in tokens.zip(old.iter().chain(new)) {
        if token.0 as usize == texts.len() {
            texts.push(*line);
        }
    }
    texts
}

/// A line whose equality ignores whitespace. The hash is cached, because the interner asks for it repeatedly.
struct LooseLine<'a> {
    hash: u64,
    line: &'a str,
}

impl<'a> LooseLine<'a> {
    fn new(line: &'a str) -> Self {
        LooseLine { hash: hash_ignoring_whitespace(line), line }
    }
}

impl PartialEq for LooseLine<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && is_same_code(self.line, other.line)
    }
}

impl Eq for LooseLine<'_> {}

impl Hash for LooseLine<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}
