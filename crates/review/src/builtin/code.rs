//! A file read in its language.

use std::collections::BTreeSet;
use std::fmt;
use std::time::{Duration, Instant};

use ast_grep_core::AstGrep;
use ast_grep_language::SupportLang;
use referee_core::model::Found;

use super::file::found;
use super::fix::suggestion;
use super::lines::{Index, Lines};
use super::page::severity;
use super::syntax::{Match, Scan, node_lines};

/// A file that has a language.
pub(super) struct Code<'a> {
    pub(super) path: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) index: &'a Index<'a>,
    pub(super) added: &'a Lines,
}

/// Why a file was not read in its language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unread {
    /// It is no code that a person wrote.
    Long,
    /// Its letters are unknown.
    Encoding,
    /// The grammar could not take it.
    Failed,
    /// Thousands of statements in a row, each compared with all others: a file can be made so on purpose.
    Slow,
}

/// Longer code was not written by a person.
const MOST_BYTES: usize = 1 << 20;
/// What one file may take; most take a thousandth of a second.
const PATIENCE: Duration = Duration::from_secs(20);
/// Longer code does not help to read a note.
const LONGEST_NAME: usize = 60;
/// A title is one line on a page.
const LONGEST_TITLE: usize = 160;

impl Code<'_> {
    /// What the rules say of its added lines.
    pub(super) fn findings(&self, scan: &Scan<'_>, language: SupportLang) -> Result<Vec<Found>, Unread> {
        if self.bytes.len() > MOST_BYTES {
            return Err(Unread::Long);
        }
        let text = std::str::from_utf8(self.bytes).map_err(|_| Unread::Encoding)?;
        let tree = AstGrep::try_new(text, language).map_err(|_| Unread::Failed)?;
        let mut findings = Vec::new();
        // A pattern that matches a call matches each call of a chain: one finding a line says it all.
        let mut seen = BTreeSet::new();
        let until = Instant::now() + PATIENCE;
        let ended = scan.each_match(&tree, self.added, until, |rule, hit| {
            let lines = node_lines(hit);
            if !seen.insert((*lines.start(), rule.id.clone())) {
                return;
            }
            let suggestion = suggestion(rule, hit, &lines, text, self.index);
            let title = one_line(&rule.get_message(hit), &rule.id);
            let body = filled(rule.note.as_deref().unwrap_or_default().trim(), hit);
            let found = found(self.path, Some(lines), &rule.id, severity(&rule.severity), title);
            findings.push(Found { body, suggestion, ..found });
        });
        ended.map(|()| findings).map_err(|_| Unread::Slow)
    }
}

impl Unread {
    /// Whether somebody could hide a defect by it, so that the report must not pass for a whole one.
    pub(super) fn is_gap(self) -> bool {
        matches!(self, Self::Failed | Self::Slow)
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Long => "longer than 1 MB",
            Self::Encoding => "not UTF-8",
            Self::Failed => "its grammar failed",
            Self::Slow => "its rules took longer than 20 s",
        })
    }
}

/// A note with the code that its `$NAME`s stand for; a name that matched nothing, or much, stays as it is written.
fn filled(note: &str, hit: &Match<'_>) -> String {
    let mut parts = note.split('$');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !(c.is_ascii_uppercase() || c == '_')).unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        let code = hit.get_env().get_match(name).map(|node| node.text().into_owned());
        match code.filter(|code| code.len() <= LONGEST_NAME && !code.contains('\n')) {
            Some(code) => out.push_str(&code),
            None => out.extend(["$", name]),
        }
        out.push_str(rest);
    }
    out
}

/// A message with code in it may have become long, or several lines.
fn one_line(message: &str, id: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST_TITLE) {
        _ if line.is_empty() => id.to_owned(),
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
