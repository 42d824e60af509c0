//! Passes until nothing changes, and no more than fits.

use std::borrow::Cow;

use super::chars::normalise_chars;
use super::code::push_code_line;
use super::lexicon::is_bare_command;
use super::single_pass::{sanitise_block_once, sanitise_line_once};

/// Two or three are enough for all that was ever tried; what needs more is shown as code.
const MAX_PASSES: usize = 8;

/// Words that are dropped or folded may make room, but for no more than this.
const WINDOW_FACTOR: usize = 8;

pub(super) fn sanitise_block(tainted: &str, max_bytes: usize) -> String {
    let settle =
        |text: &str| repeat_until_stable(text, sanitise_block_once).unwrap_or_else(|text| wrap_in_fence(&text));
    let more = |shown: String, left: usize| {
        let gap = if shown.is_empty() { "" } else { "\n\n" };
        format!("{shown}{gap}… {} more characters", group_digits(left))
    };
    sanitise_within_limit(tainted, max_bytes, str::len, settle, more)
}

pub(super) fn sanitise_line(tainted: &str, max_chars: usize) -> String {
    if tainted.len() <= max_chars && is_plain_word(tainted) {
        return tainted.to_owned();
    }
    let settle = |text: &str| repeat_until_stable(text, sanitise_line_once).unwrap_or_else(|text| keep_letters(&text));
    let more = |shown: String, left: usize| {
        let gap = if shown.is_empty() { "" } else { " " };
        format!("{shown}{gap}… {} more", group_digits(left))
    };
    sanitise_within_limit(tainted, max_chars, |text| text.chars().count(), settle, more)
}

/// Whether it is a single word in which no pass would find anything: most names are.
fn is_plain_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'_'))
        && !is_bare_command(text, text)
}

fn sanitise_within_limit(
    tainted: &str,
    max: usize,
    size: impl Fn(&str) -> usize,
    settle: impl Fn(&str) -> String,
    more: impl Fn(String, usize) -> String,
) -> String {
    let window = tainted.floor_char_boundary(max.saturating_mul(WINDOW_FACTOR).saturating_add(4_096));
    let (near, far) = tainted.split_at(window);
    let near = normalise_chars(near);
    let whole = settle(&near);
    let length = size(&whole);
    if far.is_empty() && length <= max {
        return whole;
    }
    let beyond = far.chars().count();
    // A guess from how much it grew, then less and less.
    let mut keep = near.len().min(near.len().saturating_mul(max) / length.max(1));
    loop {
        let (shown, rest) = near.split_at(find_word_end(&near, keep));
        let left = rest.chars().count() + beyond;
        let text = settle(&more(settle(shown).trim_end().to_owned(), left));
        if size(&text) <= max {
            return text;
        }
        if keep == 0 {
            return if size("…") <= max { "…".to_owned() } else { String::new() };
        }
        keep -= (keep / 8).max(1);
    }
}

/// The end of the last word that ends by then, if that is not far away.
fn find_word_end(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    let head = text.get(..at).unwrap_or_default();
    match head.rfind(char::is_whitespace) {
        Some(blank) if at - blank < 80 => blank,
        _ => at,
    }
}

/// The text that a pass does not change any more; the last one if it never settles.
fn repeat_until_stable(text: &str, pass: impl Fn(&str) -> String) -> Result<String, String> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..MAX_PASSES {
        let next = pass(&text);
        if next == text {
            return Ok(next);
        }
        text = Cow::Owned(next);
    }
    Err(text.into_owned())
}

fn wrap_in_fence(text: &str) -> String {
    let mut out = "```\n".to_owned();
    for line in text.lines() {
        push_code_line(line, &mut out);
        out.push('\n');
    }
    out.push_str("```");
    out
}

/// Nothing is left to act upon in short words of letters.
fn keep_letters(text: &str) -> String {
    let letters: Vec<char> = text.chars().filter(|c| c.is_ascii_alphabetic()).collect();
    letters.chunks(5).map(|word| word.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}

/// `1,234,567`: seven digits in a row would read as a commit.
fn group_digits(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
