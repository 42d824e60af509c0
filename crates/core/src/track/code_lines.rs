//! What of a line of code counts when two are compared.

use super::AnchorHash;
use crate::hash::Hash;

impl AnchorHash {
    /// Names `code`, the text of the anchored lines.
    pub fn from_code(code: &str) -> Self {
        AnchorHash(truncate_hash(Hash::digest(normalise_code(code))))
    }
}

/// The lines `line` to `end_line` of `text`, counted from 1 and cut at the text's end; the whole text for line 0.
pub fn extract_lines(text: &str, line: u32, end_line: u32) -> &str {
    if line == 0 {
        return text;
    }
    let start = find_line_start(text, line);
    let rest = text.get(start..).unwrap_or("");
    let length = find_line_start(rest, end_line.max(line) - line + 2);
    rest.get(..length).unwrap_or("")
}

/// Sixteen hex digits of a hash: a hint among the findings of one pull, not a seal.
pub(super) fn truncate_hash(hash: Hash) -> String {
    let Hash(mut hex) = hash;
    hex.truncate(16);
    hex
}

/// `code` without white space and without the commas that formatters put before a closing bracket.
pub(super) fn normalise_code(code: &str) -> String {
    let mut squeezed = String::with_capacity(code.len());
    for letter in visible_chars(code) {
        push_normalised(&mut squeezed, letter);
    }
    squeezed
}

/// Adds a visible letter to a squeezed text. Says whether a comma was taken back before it.
pub(super) fn push_normalised(squeezed: &mut String, letter: char) -> TrailingComma {
    let dropped = if matches!(letter, ')' | ']' | '}') && squeezed.ends_with(',') {
        squeezed.pop();
        TrailingComma::Removed
    } else {
        TrailingComma::Absent
    };
    squeezed.push(letter);
    dropped
}

/// What became of a comma before a closing bracket.
#[derive(PartialEq, Eq)]
pub(super) enum TrailingComma {
    Absent,
    Removed,
}

/// Whether the two lines read the same, white space aside.
pub(super) fn is_same_code(one: &str, other: &str) -> bool {
    one == other || visible_chars(one).eq(visible_chars(other))
}

/// Equal for lines that read the same, white space aside.
pub(super) fn hash_ignoring_whitespace(line: &str) -> u64 {
    // FNV-1a: fast on short lines and the same on every run. Whoever uses it compares the lines as well.
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

/// How much a line says: its letters and digits, up to 40. A brace says nothing, so it identifies nothing.
pub(super) fn weigh_line(line: &str) -> u32 {
    let letters = line.chars().filter(|letter| letter.is_alphanumeric());
    letters.take(40).map(|_| 1).sum()
}

/// The characters that are not white space.
pub(super) fn visible_chars(code: &str) -> impl Iterator<Item = char> {
    code.chars().filter(|letter| !letter.is_whitespace())
}

/// The ASCII characters for which `char::is_whitespace` holds.
fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Where line `line` begins, counted from 1; the text's end when it has fewer lines.
fn find_line_start(text: &str, line: u32) -> usize {
    let Some(breaks) = line.checked_sub(2) else { return 0 };
    match text.match_indices('\n').nth(breaks as usize) {
        Some((at, _)) => at + 1,
        None => text.len(),
    }
}

/// Whether white space in front of a line is part of what the program does.
pub(super) fn is_indent_sensitive(path: &str) -> bool {
    const INDENT_SENSITIVE_EXTENSIONS: &[&str] =
        &["coffee", "fs", "fsx", "haml", "hs", "nim", "pug", "py", "pyi", "pyx", "sass", "slim", "yaml", "yml"];
    path.rsplit_once('.').is_some_and(|(_, extension)| INDENT_SENSITIVE_EXTENSIONS.contains(&extension))
}

/// How many blocks enclose a line, by indentation: the same for two, four and eight blanks a step.
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
    let blanks = line.chars().take_while(|letter| letter.is_whitespace());
    blanks.map(|letter| if letter == '\t' { 8 } else { 1 }).sum()
}
