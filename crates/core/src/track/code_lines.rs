//! Normalisation and comparison of code lines.

use super::AnchorHash;
use crate::hash::Hash;

impl AnchorHash {
    /// Hashes `code`, the text of the anchored lines.
    pub fn from_code(code: &str) -> Self {
        AnchorHash(truncate_hash(Hash::digest(normalise_code(code))))
    }
}

/// Returns the lines `line` to `end_line`, counted from 1 and clamped to the end. Line 0 returns the whole text.
pub fn extract_lines(text: &str, line: u32, end_line: u32) -> &str {
    if line == 0 {
        return text;
    }
    let start = find_line_start(text, line);
    let rest = text.get(start..).unwrap_or("");
    let length = find_line_start(rest, end_line.max(line) - line + 2);
    rest.get(..length).unwrap_or("")
}

/// Returns 16 hex digits. Enough to distinguish the findings of one pull; not meant as protection against forgery.
pub(super) fn truncate_hash(hash: Hash) -> String {
    let Hash(mut hex) = hash;
    hex.truncate(16);
    hex
}

/// Removes whitespace, and the trailing commas that formatters put before a closing bracket.
pub(super) fn normalise_code(code: &str) -> String {
    let mut normalised = String::with_capacity(code.len());
    for letter in visible_chars(code) {
        push_normalised(&mut normalised, letter);
    }
    normalised
}

/// Appends a visible character to normalised code. Returns whether it removed a trailing comma.
pub(super) fn push_normalised(normalised: &mut String, letter: char) -> TrailingComma {
    let comma = if matches!(letter, ')' | ']' | '}') && normalised.ends_with(',') {
        normalised.pop();
        TrailingComma::Removed
    } else {
        TrailingComma::Absent
    };
    normalised.push(letter);
    comma
}

/// Whether a trailing comma was removed.
#[derive(PartialEq, Eq)]
pub(super) enum TrailingComma {
    Absent,
    Removed,
}

/// Returns whether two lines are equal, ignoring whitespace.
pub(super) fn is_same_code(a: &str, b: &str) -> bool {
    a == b || visible_chars(a).eq(visible_chars(b))
}

/// Returns the same hash for lines that [`is_same_code`] treats as equal.
pub(super) fn hash_ignoring_whitespace(line: &str) -> u64 {
    // FNV-1a: fast on short lines and stable across runs. Callers also compare the lines, because collisions are easy.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    if line.is_ascii() {
        for byte in line.bytes().filter(|byte| !is_ascii_space(*byte)) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    } else {
        for letter in visible_chars(line) {
            hash = (hash ^ u64::from(u32::from(letter))).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// Returns how distinctive a line is: its number of letters and digits, at most 40. A lone brace has weight 0.
pub(super) fn weigh_line(line: &str) -> u32 {
    let letters = line.chars().filter(|letter| letter.is_alphanumeric());
    letters.take(40).map(|_| 1).sum()
}

/// Returns the characters that are not whitespace.
pub(super) fn visible_chars(code: &str) -> impl Iterator<Item = char> {
    code.chars().filter(|letter| !letter.is_whitespace())
}

/// `char::is_whitespace` for ASCII.
fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Returns the offset of a line, counted from 1, or the length of the text if it has fewer lines.
fn find_line_start(text: &str, line: u32) -> usize {
    let Some(line_feed) = line.checked_sub(2) else { return 0 };
    match text.match_indices('\n').nth(line_feed as usize) {
        Some((at, _)) => at + 1,
        None => text.len(),
    }
}

/// Returns whether indentation has a meaning in the file's language.
pub(super) fn is_indent_sensitive(path: &str) -> bool {
    const INDENT_SENSITIVE_EXTENSIONS: &[&str] =
        &["coffee", "fs", "fsx", "haml", "hs", "nim", "pug", "py", "pyi", "pyx", "sass", "slim", "yaml", "yml"];
    path.rsplit_once('.').is_some_and(|(_, extension)| INDENT_SENSITIVE_EXTENSIONS.contains(&extension))
}

/// Returns how many blocks enclose a line, by indentation. Independent of the indent width.
pub(super) fn measure_indent_depth(lines: &[&str], line: usize) -> u32 {
    let mut indent = lines.get(line).map_or(0, |line| measure_indent(line));
    let mut depth = 0;
    for above in lines.iter().take(line).rev().filter(|line| !line.trim().is_empty()) {
        let outer = measure_indent(above);
        if outer < indent {
            indent = outer;
            depth += 1;
        }
        if indent == 0 {
            break;
        }
    }
    depth
}

fn measure_indent(line: &str) -> usize {
    let spaces = line.chars().take_while(|letter| letter.is_whitespace());
    spaces.map(|letter| if letter == '\t' { 8 } else { 1 }).sum()
}
