//! A text whose rows record their origin, which is the ground truth independent of any diff.

use std::collections::BTreeSet;

use crate::random::Random;

#[derive(Clone)]
pub(crate) struct OriginRow {
    pub(crate) text: String,
    /// The rows of the old text that this one consists of; empty for a new row.
    pub(crate) origins: Vec<usize>,
}

pub(crate) type OriginText = Vec<OriginRow>;

/// Numbers the rows of a text, from `first`.
pub(crate) fn origin_text(text: &str, first: usize) -> OriginText {
    text.lines().enumerate().map(|(at, line)| OriginRow { text: line.to_owned(), origins: vec![first + at] }).collect()
}

/// Copies rows as new ones, without origins.
pub(crate) fn without_origins(rows: &[OriginRow]) -> OriginText {
    rows.iter().map(|row| OriginRow { text: row.text.clone(), origins: Vec::new() }).collect()
}

pub(crate) fn render_text(origin_text: &[OriginRow]) -> String {
    origin_text.iter().fold(String::new(), |text, row| text + &row.text + "\n")
}

/// Returns the first and last row, counted from 1, with one of these origins.
pub(crate) fn find_rows(origin_text: &[OriginRow], origins: &[usize]) -> Option<(u32, u32)> {
    let contains_origin = |row: &OriginRow| row.origins.iter().any(|origin| origins.contains(origin));
    let first = origin_text.iter().position(contains_origin)?;
    let last = origin_text.iter().rposition(contains_origin)?;
    Some((first as u32 + 1, last as u32 + 1))
}

/// Returns whether a row has enough text for a finding.
pub(crate) fn can_have_finding(row: &OriginRow) -> bool {
    row.text.split(|letter: char| !letter.is_alphanumeric()).any(|word| word.len() >= 3)
}

/// Applies unrelated edits between two heads that do not touch the `kept` rows.
pub(crate) fn apply_noise(
    origin_text: &mut OriginText,
    kept: &BTreeSet<usize>,
    donor: &[OriginRow],
    edits: usize,
    random: &mut Random,
) {
    let is_kept = |row: &OriginRow| row.origins.iter().any(|origin| kept.contains(origin));
    for _ in 0..edits {
        let at = random.below(origin_text.len() + 1);
        match random.below(4) {
            0 | 1 => {
                // Nothing is inserted between the rows of a finding.
                let splits =
                    at > 0 && at < origin_text.len() && is_kept(&origin_text[at - 1]) && is_kept(&origin_text[at]);
                if !splits && donor.len() > 8 {
                    let start = random.below(donor.len() - 7);
                    let length = random.between(1, 6);
                    origin_text.splice(at..at, without_origins(&donor[start..start + length]));
                }
            }
            2 => {
                for _ in 0..random.between(1, 4) {
                    if at < origin_text.len() && !is_kept(&origin_text[at]) {
                        origin_text.remove(at);
                    }
                }
            }
            _ => {
                if at < origin_text.len() && !is_kept(&origin_text[at]) && can_have_finding(&origin_text[at]) {
                    let text = format!("{} changed_{}", origin_text[at].text, random.below(1000));
                    origin_text[at] = OriginRow { text, origins: Vec::new() };
                }
            }
        }
    }
}
