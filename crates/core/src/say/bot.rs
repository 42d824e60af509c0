//! The words of the dispatch source's own bot, so that referee drops into an existing set-up.
//!
//! | in the text | read as |
//! |---|---|
//! | `<!-- review-bot:NAME -->` | sentinel |
//! | `Evaluated against <sha>` | evaluated |
//! | rows of a table whose first cell is a number | findings |
//! | `Self-review against <sha in full>` | self-review |
//! | with it: `Assessment: ✅ Clean`, and no `Assessment: ⚠️` | clean |
//! | with it: `Assessment: ⚠️` | not clean |
//! | `fix plan`, any case, and a sha or seven characters of one | fix plan |
//! | with it: `Finding #N`, `F4` | answers |
//!
//! Quotes and code blocks are left out. Who wrote it is for others to ask.

use super::prose::own_lines;
use crate::model::{BotText, FindingId, Sha};

const SENTINEL: &str = "<!-- review-bot:";
const SHORTEST_SHA: usize = 7;
/// How many words are looked at that may be the sha of a fix plan.
const MOST_SHAS: usize = 8;
const NUMBERS_MAX: usize = 500;

/// What the text says in that bot's words, if anything.
pub fn bot_text(text: &str) -> Option<BotText> {
    let lines: Vec<&str> = own_lines(text).collect();
    let words = lines.join("\n");
    // Emphasis and code marks are the writer's taste: `**Assessment:** ✅ Clean`.
    let plain = words.replace(['*', '`'], "");
    let self_review = after(&plain, "self-review against ").and_then(sha).filter(|sha| matches!(sha.len(), 40 | 64));
    let fix_plan = fix_plan(&plain);
    let is_plan = !fix_plan.is_empty();
    let read = BotText {
        sentinel: sentinel(&words),
        evaluated: after(&plain, "evaluated against ").and_then(sha).map(str::to_owned),
        findings: numbered_rows(&lines),
        clean: self_review.and_then(|_| assessment(&plain)),
        self_review: self_review.map(Sha::from),
        answers: if is_plan { finding_numbers(&plain) } else { Vec::new() },
        answers_own: if is_plan { finding_ids(&plain) } else { Vec::new() },
        fix_plan: fix_plan.into_iter().map(str::to_owned).collect(),
    };
    // A numbered table alone may be anybody's.
    let speaks = read.sentinel.is_some() || read.evaluated.is_some() || read.self_review.is_some();
    (speaks || is_plan).then_some(read)
}

fn sentinel(text: &str) -> Option<String> {
    let start = text.find(SENTINEL)? + SENTINEL.len();
    let name = text.get(start..)?.split("-->").next()?.trim();
    let fits = (1..=64).contains(&name.len());
    (fits && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')))
        .then(|| name.to_owned())
}

/// What follows the first place of a phrase, whatever its case.
fn after<'a>(text: &'a str, phrase: &str) -> Option<&'a str> {
    let start = places(text, phrase).next()?;
    text.get(start + phrase.len()..)
}

fn places<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.as_bytes()
        .windows(phrase.len())
        .enumerate()
        .filter(move |(_, window)| window.eq_ignore_ascii_case(phrase.as_bytes()))
        .map(|(place, _)| place)
}

/// The sha that a text begins with.
fn sha(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    text.get(..end).filter(|word| is_sha(word))
}

fn is_sha(word: &str) -> bool {
    (SHORTEST_SHA..=64).contains(&word.len()) && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn assessment(text: &str) -> Option<bool> {
    let verdicts = places(text, "assessment:").filter_map(|place| {
        let said = text.get(place + "assessment:".len()..)?.trim_start();
        if said.starts_with('⚠') {
            return Some(false);
        }
        let word = said.strip_prefix('✅')?.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{fe0f}');
        word.get(..5)?.eq_ignore_ascii_case("clean").then_some(true)
    });
    verdicts.reduce(|a, b| a && b)
}

/// The first sha behind the words `fix plan`, else the first in the text. One in a thousand short ones has no digit, and
/// `effaced` is a word: such are taken along until one has.
fn fix_plan(text: &str) -> Vec<&str> {
    let Some(behind) = after(text, "fix plan") else { return Vec::new() };
    let all: Vec<&str> = words(behind).chain(words(text)).filter(|word| is_sha(word)).take(MOST_SHAS).collect();
    let sure = all.iter().position(|word| word.bytes().any(|b| b.is_ascii_digit()));
    all.into_iter().take(sure.map_or(MOST_SHAS, |at| at + 1)).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

fn finding_numbers(text: &str) -> Vec<u32> {
    let numbers = places(text, "finding #").filter_map(|place| {
        let digits = text.get(place + "finding #".len()..)?;
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits.get(..end)?.parse().ok()
    });
    distinct(numbers)
}

fn finding_ids(text: &str) -> Vec<FindingId> {
    let ids = words(text).filter_map(|word| {
        let digits = word.strip_prefix('F').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?;
        digits.parse().ok().map(FindingId)
    });
    distinct(ids)
}

/// Rows below a header and its rule: `| 1 | [MAJOR] | src/a.rs:88 | … |`.
fn numbered_rows(lines: &[&str]) -> Vec<u32> {
    let mut in_table = false;
    let numbers = lines.iter().filter_map(|line| {
        let row = line.trim().strip_prefix('|');
        let is_rule = row.is_some_and(|row| row.contains('-') && row.chars().all(|c| "-|: ".contains(c)));
        in_table = row.is_some() && (in_table || is_rule);
        let cell = row.filter(|_| in_table && !is_rule)?.split('|').next()?;
        cell.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '#' | '`')).parse().ok()
    });
    distinct(numbers)
}

fn distinct<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.take(NUMBERS_MAX).collect();
    items.sort();
    items.dedup();
    items
}
