//! Applies language rules to one file.

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

/// A source file in a supported language.
pub(super) struct CodeFile<'a> {
    pub(super) path: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) line_index: &'a LineIndex<'a>,
    pub(super) added_lines: &'a LineRanges,
}

/// Why the language rules were not applied to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum UnreadReason {
    TooLong,
    NotUtf8,
    /// The parser failed or panicked.
    ParseFailed,
    /// The rules took too long. Some compare each statement with all others in its block, which an author can exploit.
    TimedOut,
}

/// Longer code is generated.
const MAX_CODE_BYTES: usize = 1 << 20;
/// The time limit for one file; most take a millisecond.
const SCAN_TIMEOUT: Duration = Duration::from_secs(20);
/// Longer code is not inserted into a note: it would make the note harder to read.
const MAX_SUBSTITUTION_BYTES: usize = 60;
const MAX_TITLE_CHARS: usize = 160;

impl CodeFile<'_> {
    /// Returns the findings on added lines.
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
        // A pattern for a call matches each call of a chain. One finding per line and rule is enough.
        let mut seen = BTreeSet::new();
        let deadline = Instant::now() + SCAN_TIMEOUT;
        let scanned = scan.for_each_match(&tree, self.added_lines, deadline, |rule, hit| {
            let lines = node_lines(hit);
            if !seen.insert((*lines.start(), rule.id.clone())) {
                return;
            }
            let suggestion = build_suggestion(rule, hit, &lines, text, self.line_index);
            let title = collapse_title(&rule.get_message(hit), &rule.id);
            let body = fill_placeholders(rule.note.as_deref().unwrap_or_default().trim(), hit);
            let finding = new_finding(self.path, Some(lines), &rule.id, map_severity(&rule.severity), title);
            findings.push(SubmittedFinding { body, suggestion, ..finding });
        });
        scanned.map(|()| findings).map_err(|_| UnreadReason::TimedOut)
    }
}

impl UnreadReason {
    /// Returns whether an author could hide a defect this way, so that the report must count as incomplete.
    pub(super) fn is_coverage_gap(self) -> bool {
        matches!(self, Self::ParseFailed | Self::TimedOut)
    }
}

impl fmt::Display for UnreadReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "longer than 1 MB",
            Self::NotUtf8 => "not UTF-8",
            Self::ParseFailed => "the parser failed",
            Self::TimedOut => "the rules took longer than 20 s",
        })
    }
}

/// Replaces each `$NAME` in a note with the code it matched. A name that matched nothing, or long code, stays.
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

/// Joins a message to one line and shortens it: code that was inserted may be long or have several lines.
fn collapse_title(message: &str, id: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_TITLE_CHARS) {
        _ if line.is_empty() => id.to_owned(),
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
