//! Rules for every file, whatever its language.

use std::ops::RangeInclusive;

use ast_grep_config::Severity;
use referee_core::track::{ChangeKind, FileDiff};
use serde::Deserialize;

use super::error::RuleError;
use super::lines::{Index, Lines};

/// What a file of `rules/text` says of its rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TextHead {
    pub(super) id: String,
    pub(super) severity: Severity,
    pub(super) message: String,
    pub(super) why: String,
    pub(super) note: String,
    pub(super) hit: String,
    pub(super) miss: String,
}

/// A rule and how it finds.
pub(super) struct TextRule {
    pub(super) head: TextHead,
    find: Finder,
}

/// Lines, or the file as a whole.
pub(super) type Place = Option<RangeInclusive<u32>>;

type Finder = fn(&Sheet<'_>) -> Vec<Place>;

/// What a text rule sees of a file.
pub(super) struct Sheet<'a> {
    pub(super) file: &'a FileDiff<'a>,
    /// The bytes at the head, where anybody fetched them.
    pub(super) bytes: Option<&'a [u8]>,
    /// Its lines, where it is a text.
    pub(super) index: Option<&'a Index<'a>>,
    pub(super) added: &'a Lines,
}

const FINDERS: [(&str, Finder); 8] = [
    ("bidi-control", bidi_control),
    ("committed-env-file", committed_env_file),
    ("committed-key-file", committed_key_file),
    ("conflict-marker", conflict_marker),
    ("hidden-character", hidden_character),
    ("huge-binary", huge_binary),
    ("huge-text", huge_text),
    ("merge-leftover", merge_leftover),
];

impl TextRule {
    pub(super) fn parse(path: &str, text: &str) -> Result<Self, RuleError> {
        let head: TextHead = ast_grep_config::from_str(text).map_err(|error| RuleError::new(path, 1, &error))?;
        match FINDERS.iter().find(|(id, _)| *id == head.id) {
            Some((_, find)) => Ok(Self { find: *find, head }),
            None => Err(RuleError::said(path, 1, format!("nothing finds `{}`", head.id))),
        }
    }

    pub(super) fn find(&self, sheet: &Sheet<'_>) -> Vec<Place> {
        (self.find)(sheet)
    }
}

/// Whole blocks, and markers that were left alone. `=======` alone underlines a heading.
fn conflict_marker(sheet: &Sheet<'_>) -> Vec<Place> {
    let mut open = None;
    let mut places = Vec::new();
    for (number, line) in sheet.added_lines() {
        if line.starts_with(b"<<<<<<< ") {
            places.extend(open.replace(number).map(|lone| Some(lone..=lone)));
        } else if line.starts_with(b">>>>>>> ") {
            places.push(Some(open.take().unwrap_or(number)..=number));
        }
    }
    places.extend(open.map(|lone| Some(lone..=lone)));
    places
}

/// Overrides, and embeddings and isolates that the line does not close: an editor then shows another order than the
/// compiler reads.
fn bidi_control(sheet: &Sheet<'_>) -> Vec<Place> {
    sheet.lines_with(|line| {
        // All of them begin with these bytes, and most lines have neither.
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

/// Between letters of a plain name: in other scripts and in emoji they have their use.
fn hidden_character(sheet: &Sheet<'_>) -> Vec<Place> {
    const HIDDEN: [&str; 6] = ["\u{200B}", "\u{200C}", "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{00AD}"];
    let named = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    sheet.lines_with(|line| {
        !line.is_ascii()
            && HIDDEN.iter().any(|hidden| {
                let hidden = hidden.as_bytes();
                let at = line.windows(hidden.len()).enumerate().filter(|(_, part)| *part == hidden);
                at.into_iter().any(|(at, _)| {
                    named(at.checked_sub(1).and_then(|before| line.get(before))) && named(line.get(at + hidden.len()))
                })
            })
    })
}

fn huge_text(sheet: &Sheet<'_>) -> Vec<Place> {
    const MOST: usize = 1 << 20;
    let Some(index) = sheet.index else { return Vec::new() };
    let added: usize = sheet.added.runs().iter().map(|run| index.bytes(run).len()).sum();
    whole_file(added > MOST)
}

fn huge_binary(sheet: &Sheet<'_>) -> Vec<Place> {
    const MOST: usize = 5 << 20;
    whole_file(sheet.index.is_none() && sheet.bytes.is_some_and(|bytes| bytes.len() > MOST))
}

fn merge_leftover(sheet: &Sheet<'_>) -> Vec<Place> {
    let name = sheet.name();
    whole_file(sheet.is_new() && (name.ends_with(".orig") || name.ends_with(".rej")))
}

fn committed_env_file(sheet: &Sheet<'_>) -> Vec<Place> {
    const SAMPLES: [&str; 7] = ["example", "sample", "template", "dist", "defaults", "test", "ci"];
    let kept = |rest: &str| rest.split('.').any(|part| SAMPLES.contains(&part));
    let named = match sheet.name().strip_prefix(".env") {
        Some("") => true,
        Some(rest) => rest.strip_prefix('.').is_some_and(|rest| !kept(rest)),
        None => false,
    };
    let assigns = |line: &[u8]| match line.iter().position(|byte| *byte == b'=') {
        Some(at) => !line.starts_with(b"#") && line[at + 1..].iter().any(|byte| !b" \t'\"".contains(byte)),
        None => false,
    };
    whole_file(sheet.is_new() && named && sheet.added_lines().any(|(_, line)| assigns(line)))
}

fn committed_key_file(sheet: &Sheet<'_>) -> Vec<Place> {
    const NAMES: [&str; 4] = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
    const ENDS: [&str; 4] = [".p12", ".pfx", ".ppk", ".kdbx"];
    let name = sheet.name();
    whole_file(sheet.is_new() && (NAMES.contains(&name) || ENDS.iter().any(|end| name.ends_with(end))))
}

fn whole_file(hit: bool) -> Vec<Place> {
    if hit { vec![None] } else { Vec::new() }
}

impl<'a> Sheet<'a> {
    fn name(&self) -> &'a str {
        self.file.path.rsplit('/').next().unwrap_or_default()
    }

    /// A file that was there before is somebody's earlier choice.
    fn is_new(&self) -> bool {
        self.file.kind == ChangeKind::Added
    }

    fn added_lines(&self) -> impl Iterator<Item = (u32, &'a [u8])> {
        let index = self.index;
        let numbers = self.added.runs().iter().cloned().flatten();
        numbers.filter_map(move |number| Some((number, index?.line(number))))
    }

    fn lines_with(&self, wanted: impl Fn(&[u8]) -> bool) -> Vec<Place> {
        self.added_lines().filter(|(_, line)| wanted(line)).map(|(number, _)| Some(number..=number)).collect()
    }
}
