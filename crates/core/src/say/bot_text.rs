//! Parses texts in the format of the dispatch source's bot, so that referee works in an existing setup.
//!
//! | text | field |
//! |---|---|
//! | `<!-- review-bot:NAME -->` | `sentinel` |
//! | `Evaluated against <sha>` | `evaluated` |
//! | table rows whose first cell is a number | `findings` |
//! | `Self-review against <full sha>` | `self_review` |
//! | with it: `Assessment: ✅ Clean`, and no `Assessment: ⚠️` | `clean: true` |
//! | with it: `Assessment: ⚠️` | `clean: false` |
//! | `fix plan` in any case, and a commit id of at least seven characters | `fix_plan` |
//! | with it: `Finding #N`, `F4` | `answers`, `answers_own` |
//!
//! Ignores quotes and code blocks. Does not check who wrote the text.

use super::prose::prose_lines;
use crate::model::{BotText, FindingId, Sha};

const SENTINEL_PREFIX: &str = "<!-- review-bot:";
const MIN_SHA_CHARS: usize = 7;
/// Maximum candidates for the commit id of a fix plan.
const MAX_SHA_CANDIDATES: usize = 8;
const MAX_NUMBERS: usize = 500;

/// Returns the parsed fields. `None` if the text is not in the bot's format.
pub fn parse_bot_text(text: &str) -> Option<BotText> {
    let lines: Vec<&str> = prose_lines(text).collect();
    let prose = lines.join("\n");
    // Ignores emphasis and code spans: `**Assessment:** ✅ Clean`.
    let plain = prose.replace(['*', '`'], "");
    let self_review = find_text_after(&plain, "self-review against ")
        .and_then(parse_leading_sha)
        .filter(|sha| matches!(sha.len(), 40 | 64));
    let fix_plan = find_fix_plan_shas(&plain);
    let is_plan = !fix_plan.is_empty();
    let parsed = BotText {
        sentinel: parse_sentinel(&prose),
        evaluated: find_text_after(&plain, "evaluated against ").and_then(parse_leading_sha).map(str::to_owned),
        findings: parse_numbered_rows(&lines),
        clean: self_review.and_then(|_| parse_assessment(&plain)),
        self_review: self_review.map(Sha::from),
        answers: if is_plan { parse_finding_numbers(&plain) } else { Vec::new() },
        answers_own: if is_plan { parse_finding_ids(&plain) } else { Vec::new() },
        fix_plan: fix_plan.into_iter().map(str::to_owned).collect(),
    };
    // A numbered table alone proves nothing.
    let is_review = parsed.sentinel.is_some() || parsed.evaluated.is_some() || parsed.self_review.is_some();
    (is_review || is_plan).then_some(parsed)
}

fn parse_sentinel(text: &str) -> Option<String> {
    let start = text.find(SENTINEL_PREFIX)? + SENTINEL_PREFIX.len();
    let name = text.get(start..)?.split("-->").next()?.trim();
    let has_valid_length = (1..=64).contains(&name.len());
    (has_valid_length && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')))
        .then(|| name.to_owned())
}

/// Returns the text after the first occurrence of a phrase, ignoring case.
fn find_text_after<'a>(text: &'a str, phrase: &str) -> Option<&'a str> {
    let start = find_phrase(text, phrase).next()?;
    text.get(start + phrase.len()..)
}

fn find_phrase<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.as_bytes()
        .windows(phrase.len())
        .enumerate()
        .filter(move |(_, window)| window.eq_ignore_ascii_case(phrase.as_bytes()))
        .map(|(index, _)| index)
}

/// Returns the commit id at the start of a text.
fn parse_leading_sha(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    text.get(..end).filter(|word| is_sha(word))
}

fn is_sha(word: &str) -> bool {
    (MIN_SHA_CHARS..=64).contains(&word.len()) && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn parse_assessment(text: &str) -> Option<bool> {
    let assessments = find_phrase(text, "assessment:").filter_map(|index| {
        let assessment = text.get(index + "assessment:".len()..)?.trim_start();
        if assessment.starts_with('⚠') {
            return Some(false);
        }
        let word = assessment.strip_prefix('✅')?.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{fe0f}');
        word.get(..5)?.eq_ignore_ascii_case("clean").then_some(true)
    });
    assessments.reduce(|a, b| a && b)
}

/// Returns the first commit id after `fix plan`, or else the first in the text. An abbreviated id without a digit might
/// be a word (`effaced`), so such candidates are returned too, up to the first with a digit.
fn find_fix_plan_shas(text: &str) -> Vec<&str> {
    let Some(after) = find_text_after(text, "fix plan") else { return Vec::new() };
    let candidates: Vec<&str> =
        split_words(after).chain(split_words(text)).filter(|word| is_sha(word)).take(MAX_SHA_CANDIDATES).collect();
    let certain = candidates.iter().position(|word| word.bytes().any(|b| b.is_ascii_digit()));
    candidates.into_iter().take(certain.map_or(MAX_SHA_CANDIDATES, |index| index + 1)).collect()
}

fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

fn parse_finding_numbers(text: &str) -> Vec<u32> {
    let numbers = find_phrase(text, "finding #").filter_map(|index| {
        let digits = text.get(index + "finding #".len()..)?;
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

/// Returns the numbers of table rows below the header: `| 1 | [MAJOR] | src/a.rs:88 | … |`.
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
