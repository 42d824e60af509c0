//! A file read in its language.

use std::collections::BTreeSet;
use std::fmt;
use std::time::{Duration, Instant};

use ast_grep_core::AstGrep;
use ast_grep_language::SupportLang;
use referee_core::model::SubmittedFinding;

use super::file_review::new_finding;
use super::language_rule::{LanguageScanner, RuleMatch, node_lines};
use super::line_index::{LineIndex, LineRanges};
use super::rule_page::map_severity;
use super::suggestion::build_suggestion;

/// A file that has a language.
pub(super) struct CodeFile<'a> {
    pub(super) path: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) line_index: &'a LineIndex<'a>,
    pub(super) added_lines: &'a LineRanges,
}

/// Why a file was not read in its language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum UnreadReason {
    /// It is no code that a person wrote.
    TooLong,
    /// Its letters are unknown.
    NotUtf8,
    /// The grammar could not take it.
    ParseFailed,
    /// Thousands of statements in a row, each compared with all others: a file can be made so on purpose.
    TimedOut,
}

/// Longer code was not written by a person.
const MAX_CODE_BYTES: usize = 1 << 20;
/// What one file may take; most take a thousandth of a second.
const SCAN_TIMEOUT: Duration = Duration::from_secs(20);
/// Longer code does not help to read a note.
const MAX_SUBSTITUTION_BYTES: usize = 60;
/// A title is one line on a page.
const MAX_TITLE_CHARS: usize = 160;

impl CodeFile<'_> {
    /// What the rules say of its added lines.
    pub(super) fn scan_findings(
        &self,
        scan: &LanguageScanner<'_>,
        language: SupportLang,
    ) -> Result<Vec<SubmittedFinding>, UnreadReason> {
        if self.bytes.len() > MAX_CODE_BYTES {
            return Err(UnreadReason::TooLong);
        }
        let text = std::str::from_utf8(self.bytes).map_err(|_| UnreadReason::NotUtf8)?;
        let tree = AstGrep::try_new(text, language).map_err(|_| UnreadReason::ParseFailed)?;
        let mut findings = Vec::new();
        // A pattern that matches a call matches each call of a chain: one finding a line says it all.
        let mut seen = BTreeSet::new();
        let until = Instant::now() + SCAN_TIMEOUT;
        let ended = scan.for_each_match(&tree, self.added_lines, until, |rule, hit| {
            let lines = node_lines(hit);
            if !seen.insert((*lines.start(), rule.id.clone())) {
                return;
            }
            let suggestion = build_suggestion(rule, hit, &lines, text, self.line_index);
            let title = collapse_title(&rule.get_message(hit), &rule.id);
            let body = fill_placeholders(rule.note.as_deref().unwrap_or_default().trim(), hit);
            let found = new_finding(self.path, Some(lines), &rule.id, map_severity(&rule.severity), title);
            findings.push(SubmittedFinding { body, suggestion, ..found });
        });
        ended.map(|()| findings).map_err(|_| UnreadReason::TimedOut)
    }
}

impl UnreadReason {
    /// Whether somebody could hide a defect by it, so that the report must not pass for a whole one.
    pub(super) fn is_coverage_gap(self) -> bool {
        matches!(self, Self::ParseFailed | Self::TimedOut)
    }
}

impl fmt::Display for UnreadReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "longer than 1 MB",
            Self::NotUtf8 => "not UTF-8",
            Self::ParseFailed => "its grammar failed",
            Self::TimedOut => "its rules took longer than 20 s",
        })
    }
}

/// A note with the code that its `$NAME`s stand for; a name that matched nothing, or much, stays as it is written.
fn fill_placeholders(note: &str, hit: &RuleMatch<'_>) -> String {
    let mut parts = note.split('$');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !(c.is_ascii_uppercase() || c == '_')).unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        let code = hit.get_env().get_match(name).map(|node| node.text().into_owned());
        match code.filter(|code| code.len() <= MAX_SUBSTITUTION_BYTES && !code.contains('\n')) {
            Some(code) => out.push_str(&code),
            None => out.extend(["$", name]),
        }
        out.push_str(rest);
    }
    out
}

/// A message with code in it may have become long, or several lines.
fn collapse_title(message: &str, id: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_TITLE_CHARS) {
        _ if line.is_empty() => id.to_owned(),
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
