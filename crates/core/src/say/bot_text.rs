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

use super::prose::prose_lines;
use crate::model::{BotText, FindingId, Sha};

const SENTINEL_PREFIX: &str = "<!-- review-bot:";
const MIN_SHA_CHARS: usize = 7;
/// How many words are looked at that may be the sha of a fix plan.
const MAX_SHA_CANDIDATES: usize = 8;
const MAX_NUMBERS: usize = 500;

/// What the text says in that bot's words, if anything.
pub fn parse_bot_text(text: &str) -> Option<BotText> {
    let lines: Vec<&str> = prose_lines(text).collect();
    let words = lines.join("\n");
    // Emphasis and code marks are the writer's taste: `**Assessment:** ✅ Clean`.
    let plain = words.replace(['*', '`'], "");
    let self_review = find_text_after(&plain, "self-review against ")
        .and_then(parse_leading_sha)
        .filter(|sha| matches!(sha.len(), 40 | 64));
    let fix_plan = find_fix_plan_shas(&plain);
    let is_plan = !fix_plan.is_empty();
    let read = BotText {
        sentinel: parse_sentinel(&words),
        evaluated: find_text_after(&plain, "evaluated against ").and_then(parse_leading_sha).map(str::to_owned),
        findings: parse_numbered_rows(&lines),
        clean: self_review.and_then(|_| parse_assessment(&plain)),
        self_review: self_review.map(Sha::from),
        answers: if is_plan { parse_finding_numbers(&plain) } else { Vec::new() },
        answers_own: if is_plan { parse_finding_ids(&plain) } else { Vec::new() },
        fix_plan: fix_plan.into_iter().map(str::to_owned).collect(),
    };
    // A numbered table alone may be anybody's.
    let speaks = read.sentinel.is_some() || read.evaluated.is_some() || read.self_review.is_some();
    (speaks || is_plan).then_some(read)
}

fn parse_sentinel(text: &str) -> Option<String> {
    let start = text.find(SENTINEL_PREFIX)? + SENTINEL_PREFIX.len();
    let name = text.get(start..)?.split("-->").next()?.trim();
    let fits = (1..=64).contains(&name.len());
    (fits && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')))
        .then(|| name.to_owned())
}

/// What follows the first place of a phrase, whatever its case.
fn find_text_after<'a>(text: &'a str, phrase: &str) -> Option<&'a str> {
    let start = find_phrase(text, phrase).next()?;
    text.get(start + phrase.len()..)
}

fn find_phrase<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.as_bytes()
        .windows(phrase.len())
        .enumerate()
        .filter(move |(_, window)| window.eq_ignore_ascii_case(phrase.as_bytes()))
        .map(|(place, _)| place)
}

/// The sha that a text begins with.
fn parse_leading_sha(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    text.get(..end).filter(|word| is_sha(word))
}

fn is_sha(word: &str) -> bool {
    (MIN_SHA_CHARS..=64).contains(&word.len()) && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn parse_assessment(text: &str) -> Option<bool> {
    let verdicts = find_phrase(text, "assessment:").filter_map(|place| {
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
fn find_fix_plan_shas(text: &str) -> Vec<&str> {
    let Some(behind) = find_text_after(text, "fix plan") else { return Vec::new() };
    let all: Vec<&str> =
        split_words(behind).chain(split_words(text)).filter(|word| is_sha(word)).take(MAX_SHA_CANDIDATES).collect();
    let sure = all.iter().position(|word| word.bytes().any(|b| b.is_ascii_digit()));
    all.into_iter().take(sure.map_or(MAX_SHA_CANDIDATES, |at| at + 1)).collect()
}

fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

fn parse_finding_numbers(text: &str) -> Vec<u32> {
    let numbers = find_phrase(text, "finding #").filter_map(|place| {
        let digits = text.get(place + "finding #".len()..)?;
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits.get(..end)?.parse().ok()
    });
    collect_distinct(numbers)
}

fn parse_finding_ids(text: &str) -> Vec<FindingId> {
    let ids = split_words(text).filter_map(|word| {
        let digits = word.strip_prefix('F').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))?;
        digits.parse().ok().map(FindingId)
    });
    collect_distinct(ids)
}

/// Rows below a header and its rule: `| 1 | [MAJOR] | src/a.rs:88 | … |`.
fn parse_numbered_rows(lines: &[&str]) -> Vec<u32> {
    let mut in_table = false;
    let numbers = lines.iter().filter_map(|line| {
        let row = line.trim().strip_prefix('|');
        let is_rule = row.is_some_and(|row| row.contains('-') && row.chars().all(|c| "-|: ".contains(c)));
        in_table = row.is_some() && (in_table || is_rule);
        let cell = row.filter(|_| in_table && !is_rule)?.split('|').next()?;
        cell.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '#' | '`')).parse().ok()
    });
    collect_distinct(numbers)
}

fn collect_distinct<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.take(MAX_NUMBERS).collect();
    items.sort();
    items.dedup();
    items
}
