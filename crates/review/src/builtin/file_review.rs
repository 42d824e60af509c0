//! Applies all rules to one file of a change.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ast_grep_core::Language;
use ast_grep_language::SupportLang;
use referee_core::model::{Severity, SubmittedFinding};
use referee_core::track::Side;

use super::code::{CodeFile, UnreadReason};
use super::language_rule::{LANGUAGES, LanguageScanner};
use super::line_index::{LineIndex, LineRanges};
use super::rule_page::{SECRET_FIX, SECRET_WHY, map_severity, render_secret_title};
use super::rules::RuleSet;
use super::text_rule::{TextRuleHeader, TextRuleInput};
use crate::change::ChangeSet;
use crate::levels::ReportedResult;

/// The result for one file.
#[derive(Default)]
pub(super) struct FileReview {
    pub(super) findings: Vec<SubmittedFinding>,
    /// Findings suppressed by comments in the source.
    pub(super) suppressed_count: usize,
    /// Findings of rules that the config switches off.
    pub(super) off_count: usize,
    /// Why the language rules were not applied, if so.
    pub(super) unread_reason: Option<UnreadReason>,
}

/// Reviews files one after another, and reuses the scanner of a language.
pub(super) struct FileReviewer<'r> {
    rules: &'r RuleSet,
    scanners: HashMap<SupportLang, LanguageScanner<'r>>,
}

impl<'r> FileReviewer<'r> {
    pub(super) fn new(rules: &'r RuleSet) -> Self {
        Self { rules, scanners: HashMap::new() }
    }

    /// Applies text rules, secret rules and language rules.
    pub(super) fn review_file(&mut self, change: &ChangeSet<'_>, at: usize) -> FileReview {
        let Some((file, bytes)) = change.files.get(at).zip(change.text(at)) else { return FileReview::default() };
        let (index, added) = (LineIndex::new(bytes), change.added_lines(at).collect::<LineRanges>());
        let mut review = FileReview::default();
        let input = TextRuleInput { file, bytes: Some(bytes), line_index: Some(&index), added_lines: &added };
        review.findings.extend(self.apply_text_rules(&input));
        let secrets = match added.is_empty() {
            true => Vec::new(),
            false => self.find_secrets(&file.path, bytes, &index, &added, &mut review.findings),
        };
        // Before duplicates are dropped: a finding that is off must not replace one that is not.
        review.off_count += self.set_levels(&mut review.findings);
        let language = SupportLang::from_path(&file.path).filter(|language| LANGUAGES.contains(language));
        if let Some(language) = language.filter(|_| !added.is_empty()) {
            let code = CodeFile { path: &file.path, bytes, line_index: &index, added_lines: &added };
            match self.apply_language_rules(language, &code) {
                Ok(mut found) => {
                    review.off_count += self.set_levels(&mut found);
                    let new = self.drop_duplicates(found, &review.findings);
                    review.findings.extend(new.into_iter().map(|finding| mask_secrets(finding, &secrets)));
                }
                Err(reason) => review.unread_reason = Some(reason),
            }
        }
        let total = review.findings.len();
        review.findings.retain(|finding| !is_suppressed(finding, &index, &added));
        review.suppressed_count = total - review.findings.len();
        review
    }

    /// Applies the text rules that need no text: those that look at the name and the size of a file.
    pub(super) fn review_metadata(&self, change: &ChangeSet<'_>, at: usize) -> FileReview {
        let Some(file) = change.files.get(at) else { return FileReview::default() };
        let input =
            TextRuleInput { file, bytes: change.text(at), line_index: None, added_lines: &LineRanges::default() };
        let mut findings = self.apply_text_rules(&input);
        let off_count = self.set_levels(&mut findings);
        FileReview { findings, off_count, ..FileReview::default() }
    }

    /// Sets the severities of the config (D37). Removes the findings of rules that are off, and returns their number.
    fn set_levels(&self, findings: &mut Vec<SubmittedFinding>) -> usize {
        let total = findings.len();
        findings.retain_mut(|finding| match self.rules.levels().assign(&ReportedResult::from_finding(finding)) {
            Some(severity) => {
                finding.severity = severity;
                true
            }
            None => false,
        });
        total - findings.len()
    }

    fn apply_text_rules(&self, input: &TextRuleInput<'_>) -> Vec<SubmittedFinding> {
        let mut findings = Vec::new();
        for rule in self.rules.text_rules() {
            for lines in rule.find(input) {
                let TextRuleHeader { id, severity, message, why, note, .. } = &rule.header;
                let body = format!("{}\n\n{}", why.trim(), note.trim());
                let finding = new_finding(&input.file.path, lines, id, map_severity(severity), message.clone());
                findings.push(SubmittedFinding { body, ..finding });
            }
        }
        findings
    }

    /// Adds a finding for each secret in the added lines, and returns the values of the secrets, for masking.
    fn find_secrets(
        &self,
        path: &str,
        bytes: &[u8],
        index: &LineIndex<'_>,
        added: &LineRanges,
        findings: &mut Vec<SubmittedFinding>,
    ) -> Vec<String> {
        let secrets = self.rules.secret_rules();
        if secrets.skips_path(path) {
            return Vec::new();
        }
        let in_text =
            added.ranges().iter().flat_map(|lines| secrets.find_in_text(path, bytes, index.byte_range(lines)));
        let mut values = Vec::new();
        for secret in secrets.find_in_path(path).chain(in_text) {
            let mut prefix = String::new();
            let lines = secret.range.map(|range| {
                let value = String::from_utf8_lossy(&bytes[range.clone()]).into_owned();
                prefix = describe_secret_prefix(&value);
                values.push(value);
                index.line_number(range.start)..=index.line_number(range.end.saturating_sub(1).max(range.start))
            });
            let title = render_secret_title(&secret.rule.description, &secret.rule.id);
            let finding = new_finding(path, lines, &secret.rule.id, Severity::Critical, title);
            findings.push(SubmittedFinding { body: format!("{prefix}{SECRET_WHY}\n\n{SECRET_FIX}"), ..finding });
        }
        values
    }

    /// Drops findings of language rules that duplicate others: a secret that a secret rule has found already, and all but the
    /// most severe finding of a defect class on a line.
    fn drop_duplicates(&self, mut found: Vec<SubmittedFinding>, earlier: &[SubmittedFinding]) -> Vec<SubmittedFinding> {
        let reported_lines: BTreeSet<u32> = earlier.iter().filter_map(|finding| finding.line).collect();
        let mut seen_classes = BTreeSet::new();
        found.sort_by_key(|finding| Reverse(finding.severity));
        found.retain(|finding| {
            let (Some(line), Some(rule)) = (finding.line, finding.rule.as_deref()) else { return true };
            match self.rules.find_class(rule) {
                "" => true,
                "secret" if reported_lines.contains(&line) => false,
                class => seen_classes.insert((line, class)),
            }
        });
        found
    }

    fn apply_language_rules(
        &mut self,
        language: SupportLang,
        code: &CodeFile<'_>,
    ) -> Result<Vec<SubmittedFinding>, UnreadReason> {
        let rules = self.rules.rules_for_file(code.path, language);
        if rules.is_empty() {
            return Ok(Vec::new());
        }
        if !self.scanners.get(&language).is_some_and(|scan| scan.has_rules(&rules)) {
            self.scanners.insert(language, LanguageScanner::new(rules));
        }
        let Some(scan) = self.scanners.get(&language) else { return Ok(Vec::new()) };
        // Grammars are third-party C code. A panic on one file must not end the review of all others.
        catch_unwind(AssertUnwindSafe(|| code.scan_findings(scan, language))).unwrap_or(Err(UnreadReason::ParseFailed))
    }
}

pub(super) fn new_finding(
    path: &str,
    lines: Option<RangeInclusive<u32>>,
    rule: &str,
    severity: Severity,
    title: String,
) -> SubmittedFinding {
    SubmittedFinding {
        title,
        body: String::new(),
        severity,
        path: path.to_owned(),
        line: lines.as_ref().map(|lines| *lines.start()),
        end_line: lines.filter(|lines| lines.end() > lines.start()).map(|lines| *lines.end()),
        column: None,
        side: Side::default(),
        rule: Some(rule.to_owned()),
        help: None,
        suggestion: None,
    }
}

/// Names the first characters of a secret: enough to find it in a list of issued keys, too few to use it (SAF-4).
fn describe_secret_prefix(value: &str) -> String {
    let shown: String = value.chars().take((value.chars().count() / 4).min(4)).collect();
    match shown.is_ascii() && shown.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        true if !shown.is_empty() => format!("It begins with `{shown}`. "),
        _ => String::new(),
    }
}

/// Masks secrets in a finding, whose message may quote the code.
fn mask_secrets(mut finding: SubmittedFinding, secrets: &[String]) -> SubmittedFinding {
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        finding.title = finding.title.replace(secret.as_str(), "…");
        finding.suggestion = finding.suggestion.filter(|text| !text.contains(secret.as_str()));
    }
    finding
}

/// Returns whether a comment `referee: ignore RULE` suppresses a finding: at the end of its line, or alone on the line above.
///
/// A comment that the change itself adds does not count: the author of a change must not accept findings on it (SAF-2,
/// D10).
fn is_suppressed(finding: &SubmittedFinding, index: &LineIndex<'_>, added: &LineRanges) -> bool {
    let (Some(line), Some(rule)) = (finding.line, finding.rule.as_deref()) else { return false };
    // The text before the comment, if the line suppresses this rule.
    let text_before = |number: u32| {
        if added.intersects(&(number..=number)) {
            return None;
        }
        let text = String::from_utf8_lossy(index.line(number)).into_owned();
        let (before, names) = text.split_once("referee: ignore ")?;
        names.split([',', ' ', '\t']).any(|name| name == rule).then(|| before.to_owned())
    };
    text_before(line).is_some_and(|before| COMMENT_PREFIXES.iter().any(|prefix| before.contains(prefix)))
        || line > 1 && text_before(line - 1).is_some_and(|before| COMMENT_PREFIXES.contains(&before.trim()))
}

/// How comments start in most languages.
const COMMENT_PREFIXES: [&str; 8] = ["//", "#", "/*", "--", "<!--", ";", "%", "*"];
