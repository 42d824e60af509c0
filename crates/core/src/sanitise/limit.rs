//! Repeats passes until the text is stable, and limits its length.

use std::borrow::Cow;

use super::chars::normalise_chars;
use super::code::push_code_line;
use super::lexicon::is_bare_command;
use super::single_pass::{sanitise_block_once, sanitise_line_once};

/// Two or three passes suffice in practice. Text that needs more is shown as code.
const MAX_PASSES: usize = 8;

/// How much more input than `max` is read, because sanitising may shorten it.
const WINDOW_FACTOR: usize = 8;

pub(super) fn sanitise_block(untrusted: &str, max_bytes: usize) -> String {
    let sanitise =
        |text: &str| repeat_until_stable(text, sanitise_block_once).unwrap_or_else(|text| wrap_in_fence(&text));
    let append_note = |shown: String, omitted: usize| {
        let gap = if shown.is_empty() { "" } else { "\n\n" };
        format!("{shown}{gap}… {} more characters", group_digits(omitted))
    };
    sanitise_within_limit(untrusted, max_bytes, str::len, sanitise, append_note)
}

pub(super) fn sanitise_line(untrusted: &str, max_chars: usize) -> String {
    if untrusted.len() <= max_chars && is_plain_word(untrusted) {
        return untrusted.to_owned();
    }
    let sanitise =
        |text: &str| repeat_until_stable(text, sanitise_line_once).unwrap_or_else(|text| keep_letters(&text));
    // A count would be noise in a title; the full text is in the body or one click away.
    let append_note = |shown: String, _omitted: usize| format!("{shown}…");
    sanitise_within_limit(untrusted, max_chars, |text| text.chars().count(), sanitise, append_note)
}

/// Fast path: returns whether the text is a single word that no pass would change.
fn is_plain_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'_'))
        && !is_bare_command(text, text)
}

fn sanitise_within_limit(
    untrusted: &str,
    max: usize,
    size: impl Fn(&str) -> usize,
    sanitise: impl Fn(&str) -> String,
    append_note: impl Fn(String, usize) -> String,
) -> String {
    let window = untrusted.floor_char_boundary(max.saturating_mul(WINDOW_FACTOR).saturating_add(4_096));
    let (near, far) = untrusted.split_at(window);
    let near = normalise_chars(near);
    let complete = sanitise(&near);
    let length = size(&complete);
    if far.is_empty() && length <= max {
        return complete;
    }
    let far_chars = far.chars().count();
    // Start with an estimate from the growth, then shorten until it fits.
    let mut keep = near.len().min(near.len().saturating_mul(max) / length.max(1));
    loop {
        let (shown, rest) = near.split_at(find_word_end(&near, keep));
        let omitted = rest.chars().count() + far_chars;
        let text = sanitise(&append_note(sanitise(shown).trim_end().to_owned(), omitted));
        if size(&text) <= max {
            return text;
        }
        if keep == 0 {
            return if size("…") <= max { "…".to_owned() } else { String::new() };
        }
        keep -= (keep / 8).max(1);
    }
}

/// Returns the end of the last word before `at`, if it is less than 80 bytes away.
fn find_word_end(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    let head = text.get(..at).unwrap_or_default();
    match head.rfind(char::is_whitespace) {
        Some(space) if at - space < 80 => space,
        _ => at,
    }
}

/// Repeats a pass until it changes nothing. Returns `Err` with the last text if that takes too many passes.
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

/// Keeps only ASCII letters, in words of five, which no forge or bot interprets.
fn keep_letters(text: &str) -> String {
    let letters: Vec<char> = text.chars().filter(|c| c.is_ascii_alphabetic()).collect();
    letters.chunks(5).map(|word| word.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}

/// Formats `1,234,567`. Seven digits in a row could be a commit id.
fn group_digits(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
