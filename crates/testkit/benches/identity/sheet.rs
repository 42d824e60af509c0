//! A text whose rows remember where they came from: that, not a diff, is the truth.

use std::collections::BTreeSet;

use crate::random::Random;

#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) text: String,
    /// The rows of the old text that this one is made of; none for a row that is new.
    pub(crate) origins: Vec<usize>,
}

pub(crate) type Sheet = Vec<Row>;

/// Numbers the rows of a text, from `first`.
pub(crate) fn sheet(text: &str, first: usize) -> Sheet {
    text.lines().enumerate().map(|(at, line)| Row { text: line.to_owned(), origins: vec![first + at] }).collect()
}

/// Rows that nobody has seen before.
pub(crate) fn fresh(rows: &[Row]) -> Sheet {
    rows.iter().map(|row| Row { text: row.text.clone(), origins: Vec::new() }).collect()
}

pub(crate) fn text_of(sheet: &[Row]) -> String {
    sheet.iter().fold(String::new(), |text, row| text + &row.text + "\n")
}

/// The first and last row, from 1, that holds one of these origins.
pub(crate) fn find(sheet: &[Row], origins: &[usize]) -> Option<(u32, u32)> {
    let holds = |row: &Row| row.origins.iter().any(|origin| origins.contains(origin));
    let first = sheet.iter().position(holds)?;
    let last = sheet.iter().rposition(holds)?;
    Some((first as u32 + 1, last as u32 + 1))
}

/// A row that somebody might remark on.
pub(crate) fn remarkable(row: &Row) -> bool {
    row.text.split(|letter: char| !letter.is_alphanumeric()).any(|word| word.len() >= 3)
}

/// Edits that leave the `kept` rows alone: what else happens between two heads.
pub(crate) fn noise(sheet: &mut Sheet, kept: &BTreeSet<usize>, donor: &[Row], edits: usize, random: &mut Random) {
    let is_kept = |row: &Row| row.origins.iter().any(|origin| kept.contains(origin));
    for _ in 0..edits {
        let at = random.below(sheet.len() + 1);
        match random.below(4) {
            0 | 1 => {
                // A finding's rows stay together; between two of them nothing is put.
                let splits = at > 0 && at < sheet.len() && is_kept(&sheet[at - 1]) && is_kept(&sheet[at]);
                if !splits && donor.len() > 8 {
                    let start = random.below(donor.len() - 7);
                    let length = random.between(1, 6);
                    sheet.splice(at..at, fresh(&donor[start..start + length]));
                }
            }
            2 => {
                for _ in 0..random.between(1, 4) {
                    if at < sheet.len() && !is_kept(&sheet[at]) {
                        sheet.remove(at);
                    }
                }
            }
            _ => {
                if at < sheet.len() && !is_kept(&sheet[at]) && remarkable(&sheet[at]) {
                    let text = format!("{} changed_{}", sheet[at].text, random.below(1000));
                    sheet[at] = Row { text, origins: Vec::new() };
                }
            }
        }
    }
}
