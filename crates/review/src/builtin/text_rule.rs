//! Text rules, which apply to files of every language.

use std::ops::RangeInclusive;

use ast_grep_config::Severity;
use referee_core::track::{ChangeKind, FileDiff};
use serde::Deserialize;

use super::error::RuleError;
use super::line_index::{LineIndex, LineRanges};

/// The content of a file in `rules/text`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TextRuleHeader {
    pub(super) id: String,
    pub(super) severity: Severity,
    pub(super) message: String,
    pub(super) why: String,
    pub(super) note: String,
    pub(super) hit: String,
    pub(super) miss: String,
}

/// A text rule and the function that applies it.
pub(super) struct TextRule {
    pub(super) header: TextRuleHeader,
    find: TextFinder,
}

/// The lines of a match; `None` is the whole file.
pub(super) type MatchLines = Option<RangeInclusive<u32>>;

type TextFinder = fn(&TextRuleInput<'_>) -> Vec<MatchLines>;

/// What a text rule gets of a file.
pub(super) struct TextRuleInput<'a> {
    pub(super) file: &'a FileDiff<'a>,
    /// The content at the head; `None` if it was not fetched.
    pub(super) bytes: Option<&'a [u8]>,
    /// `None` for a binary file.
    pub(super) line_index: Option<&'a LineIndex<'a>>,
    pub(super) added_lines: &'a LineRanges,
}

const FINDERS: [(&str, TextFinder); 8] = [
    ("bidi-control", find_bidi_controls),
    ("committed-env-file", find_committed_env_file),
    ("committed-key-file", find_committed_key_file),
    ("conflict-marker", find_conflict_markers),
    ("hidden-character", find_hidden_characters),
    ("huge-binary", find_huge_binary),
    ("huge-text", find_huge_text),
    ("merge-leftover", find_merge_leftover),
];

impl TextRule {
    pub(super) fn parse(path: &str, text: &str) -> Result<Self, RuleError> {
        let header: TextRuleHeader =
            ast_grep_config::from_str(text).map_err(|error| RuleError::new(path, 1, &error))?;
        match FINDERS.iter().find(|(id, _)| *id == header.id) {
            Some((_, find)) => Ok(Self { find: *find, header }),
            None => Err(RuleError::from_reason(path, 1, format!("no function implements the rule `{}`", header.id))),
        }
    }

    pub(super) fn find(&self, input: &TextRuleInput<'_>) -> Vec<MatchLines> {
        (self.find)(input)
    }
}

/// Finds whole conflicts, and single markers. `=======` alone does not count: it underlines headings.
fn find_conflict_markers(input: &TextRuleInput<'_>) -> Vec<MatchLines> {
    let mut open = None;
    let mut matches = Vec::new();
    for (number, line) in input.added_lines() {
        if line.starts_with(b"<<<<<<< ") {
            matches.extend(open.replace(number).map(|lone| Some(lone..=lone)));
        } else if line.starts_with(b">>>>>>> ") {
            matches.push(Some(open.take().unwrap_or(number)..=number));
        }
    }
    matches.extend(open.map(|lone| Some(lone..=lone)));
    matches
}

/// Finds overrides, and embeddings and isolates that are not closed on their line: an editor then shows the code in another
/// order than the compiler reads it ("Trojan Source", CVE-2021-42574).
fn find_bidi_controls(input: &TextRuleInput<'_>) -> Vec<MatchLines> {
    input.find_lines(|line| {
        // All of these characters start with this byte in UTF-8. Most lines do not contain it.
        if !line.contains(&0xE2) {
            return false;
        }
        let (mut embedded, mut isolated, mut overridden) = (0_u32, 0_u32, false);
        for c in String::from_utf8_lossy(line).chars() {
            match c {
                '\u{202A}' | '\u{202B}' => embedded += 1,
                '\u{202D}' | '\u{202E}' => overridden = true,
                '\u{202C}' => embedded = embedded.saturating_sub(1),
                '\u{2066}'..='\u{2068}' => isolated += 1,
                '\u{2069}' => isolated = isolated.saturating_sub(1),
                _ => {}
            }
        }
        overridden || embedded + isolated > 0
    })
}

/// Finds invisible characters between ASCII letters. In other scripts and in emoji they are legitimate.
fn find_hidden_characters(input: &TextRuleInput<'_>) -> Vec<MatchLines> {
    const INVISIBLE_CHARACTERS: [&str; 6] = ["\u{200B}", "\u{200C}", "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{00AD}"];
    let is_name_byte = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    input.find_lines(|line| {
        !line.is_ascii()
            && INVISIBLE_CHARACTERS.iter().any(|hidden| {
                let hidden = hidden.as_bytes();
                let at = line.windows(hidden.len()).enumerate().filter(|(_, part)| *part == hidden);
                at.into_iter().any(|(at, _)| {
                    is_name_byte(at.checked_sub(1).and_then(|before| line.get(before)))
                        && is_name_byte(line.get(at + hidden.len()))
                })
            })
    })
}

fn find_huge_text(input: &TextRuleInput<'_>) -> Vec<MatchLines> {
    const MAX_ADDED_BYTES: usize = 1 << 20;
    let Some(index) = input.line_index else { return Vec::new() };
    let added: usize = input.added_lines.ranges().iter().map(|lines| index.byte_range(lines).len()).sum();
    match_whole_file(added > MAX_ADDED_BYTES)
}

fn find_huge_binary(input: &TextRuleInput<'_>) -> Vec<MatchLines> {
    const MAX_BINARY_BYTES: usize = 5 << 20;
    match_whole_file(input.line_index.is_none() && input.bytes.is_some_and(|bytes| bytes.len() > MAX_BINARY_BYTES))
}

fn find_merge_leftover(input: &TextRuleInput<'_>) -> Vec<MatchLines> {
    let name = input.file_name();
    match_whole_file(input.is_added_file() && (name.ends_with(".orig") || name.ends_with(".rej")))
}

fn find_committed_env_file(input: &TextRuleInput<'_>) -> Vec<MatchLines> {
    const SAMPLE_SUFFIXES: [&str; 7] = ["example", "sample", "template", "dist", "defaults", "test", "ci"];
    let is_sample = |rest: &str| rest.split('.').any(|part| SAMPLE_SUFFIXES.contains(&part));
    let is_env_file = match input.file_name().strip_prefix(".env") {
        Some("") => true,
        Some(rest) => rest.strip_prefix('.').is_some_and(|rest| !is_sample(rest)),
        None => false,
    };
    let assigns = |line: &[u8]| match line.iter().position(|byte| *byte == b'=') {
        Some(at) => !line.starts_with(b"#") && line[at + 1..].iter().any(|byte| !b" \t'\"".contains(byte)),
        None => false,
    };
    match_whole_file(input.is_added_file() && is_env_file && input.added_lines().any(|(_, line)| assigns(line)))
}

fn find_committed_key_file(input: &TextRuleInput<'_>) -> Vec<MatchLines> {
    const KEY_FILE_NAMES: [&str; 4] = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
    const KEY_FILE_EXTENSIONS: [&str; 4] = [".p12", ".pfx", ".ppk", ".kdbx"];
    let name = input.file_name();
    match_whole_file(
        input.is_added_file()
            && (KEY_FILE_NAMES.contains(&name) || KEY_FILE_EXTENSIONS.iter().any(|end| name.ends_with(end))),
    )
}

fn match_whole_file(hit: bool) -> Vec<MatchLines> {
    if hit { vec![None] } else { Vec::new() }
}

impl<'a> TextRuleInput<'a> {
    fn file_name(&self) -> &'a str {
        self.file.path.rsplit('/').next().unwrap_or_default()
    }

    /// Returns whether the change adds the file. Rules about file names ignore files that existed before.
    fn is_added_file(&self) -> bool {
        self.file.kind == ChangeKind::Added
    }

    fn added_lines(&self) -> impl Iterator<Item = (u32, &'a [u8])> {
        let index = self.line_index;
        let numbers = self.added_lines.ranges().iter().cloned().flatten();
        numbers.filter_map(move |number| Some((number, index?.line(number))))
    }

    fn find_lines(&self, wanted: impl Fn(&[u8]) -> bool) -> Vec<MatchLines> {
        self.added_lines().filter(|(_, line)| wanted(line)).map(|(number, _)| Some(number..=number)).collect()
    }
}
