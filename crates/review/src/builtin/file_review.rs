//! One file of a change, read by every rule that reads it.

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
use super::text_rule::TextRuleInput;
use crate::change::ChangeSet;

/// What came of one file.
#[derive(Default)]
pub(super) struct FileReview {
    pub(super) findings: Vec<SubmittedFinding>,
    /// How many its comments silenced.
    pub(super) suppressed_count: usize,
    /// Its language was not read, and why.
    pub(super) unread_reason: Option<UnreadReason>,
}

/// Reads files one after another, and keeps what the next one can use.
pub(super) struct FileReviewer<'r> {
    rules: &'r RuleSet,
    scanners: HashMap<SupportLang, LanguageScanner<'r>>,
}

impl<'r> FileReviewer<'r> {
    pub(super) fn new(rules: &'r RuleSet) -> Self {
        Self { rules, scanners: HashMap::new() }
    }

    /// Reads a file as a text and in its language.
    pub(super) fn review_file(&mut self, change: &ChangeSet<'_>, at: usize) -> FileReview {
        let Some((file, bytes)) = change.files.get(at).zip(change.text(at)) else { return FileReview::default() };
        let (index, added) = (LineIndex::new(bytes), change.added_lines(at).collect::<LineRanges>());
        let mut reading = FileReview::default();
        let sheet = TextRuleInput { file, bytes: Some(bytes), line_index: Some(&index), added_lines: &added };
        reading.findings.extend(self.apply_text_rules(&sheet));
        if !added.is_empty() {
            let known = self.find_secrets(&file.path, bytes, &index, &added, &mut reading.findings);
            if let Some(language) = SupportLang::from_path(&file.path).filter(|it| LANGUAGES.contains(it)) {
                let code = CodeFile { path: &file.path, bytes, line_index: &index, added_lines: &added };
                match self.apply_language_rules(language, &code) {
                    Ok(found) => {
                        let new = self.drop_duplicates(found, &reading.findings);
                        reading.findings.extend(new.into_iter().map(|it| mask_secrets(it, &known)));
                    }
                    Err(why) => reading.unread_reason = Some(why),
                }
            }
        }
        let all = reading.findings.len();
        reading.findings.retain(|found| !is_suppressed(found, &index, &added));
        reading.suppressed_count = all - reading.findings.len();
        reading
    }

    /// Reads what a file that is no text shows: its name and its size.
    pub(super) fn review_metadata(&self, change: &ChangeSet<'_>, at: usize) -> Vec<SubmittedFinding> {
        let Some(file) = change.files.get(at) else { return Vec::new() };
        let sheet =
            TextRuleInput { file, bytes: change.text(at), line_index: None, added_lines: &LineRanges::default() };
        self.apply_text_rules(&sheet)
    }

    fn apply_text_rules(&self, sheet: &TextRuleInput<'_>) -> Vec<SubmittedFinding> {
        let mut findings = Vec::new();
        for rule in self.rules.text_rules() {
            for place in rule.find(sheet) {
                let head = &rule.header;
                let body = format!("{}\n\n{}", head.why.trim(), head.note.trim());
                let found =
                    new_finding(&sheet.file.path, place, &head.id, map_severity(&head.severity), head.message.clone());
                findings.push(SubmittedFinding { body, ..found });
            }
        }
        findings
    }

    /// Raises what the added lines give away; the values are for masking alone.
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
        let in_text = added.ranges().iter().flat_map(|run| secrets.find_in_text(path, bytes, index.byte_range(run)));
        let mut values = Vec::new();
        for secret in secrets.find_in_path(path).chain(in_text) {
            let mut begins = String::new();
            let place = secret.range.map(|range| {
                let value = String::from_utf8_lossy(&bytes[range.clone()]).into_owned();
                begins = describe_secret_prefix(&value);
                values.push(value);
                index.line_number(range.start)..=index.line_number(range.end.saturating_sub(1).max(range.start))
            });
            let title = render_secret_title(&secret.rule.description, &secret.rule.id);
            let found = new_finding(path, place, &secret.rule.id, Severity::Critical, title);
            findings.push(SubmittedFinding { body: format!("{begins}{SECRET_WHY}\n\n{SECRET_FIX}"), ..found });
        }
        values
    }

    /// Without what was told before: a secret by the secret rule that knows it better, one kind of defect on one line by
    /// the gravest of its rules.
    fn drop_duplicates(&self, mut found: Vec<SubmittedFinding>, told: &[SubmittedFinding]) -> Vec<SubmittedFinding> {
        let secrets: BTreeSet<u32> = told.iter().filter_map(|it| it.line).collect();
        let mut kinds = BTreeSet::new();
        found.sort_by_key(|it| Reverse(it.severity));
        found.retain(|it| {
            let (Some(line), Some(rule)) = (it.line, it.rule.as_deref()) else { return true };
            match self.rules.find_class(rule) {
                "" => true,
                "secret" if secrets.contains(&line) => false,
                class => kinds.insert((line, class)),
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
        // Grammars are foreign code: what one of them cannot take must not end the review of all other files.
        catch_unwind(AssertUnwindSafe(|| code.scan_findings(scan, language))).unwrap_or(Err(UnreadReason::ParseFailed))
    }
}

pub(super) fn new_finding(
    path: &str,
    place: Option<RangeInclusive<u32>>,
    rule: &str,
    severity: Severity,
    title: String,
) -> SubmittedFinding {
    SubmittedFinding {
        title,
        body: String::new(),
        severity,
        path: path.to_owned(),
        line: place.as_ref().map(|lines| *lines.start()),
        end_line: place.filter(|lines| lines.end() > lines.start()).map(|lines| *lines.end()),
        side: Side::default(),
        rule: Some(rule.to_owned()),
        suggestion: None,
    }
}

/// Enough to find it in a list of issued ones, too little to use it (SAF-4).
fn describe_secret_prefix(value: &str) -> String {
    let shown: String = value.chars().take((value.chars().count() / 4).min(4)).collect();
    match shown.is_ascii() && shown.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        true if !shown.is_empty() => format!("It begins with `{shown}`. "),
        _ => String::new(),
    }
}

/// A rule's message may quote the code, and the code a secret.
fn mask_secrets(mut found: SubmittedFinding, secrets: &[String]) -> SubmittedFinding {
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        found.title = found.title.replace(secret.as_str(), "…");
        found.suggestion = found.suggestion.filter(|text| !text.contains(secret.as_str()));
    }
    found
}

/// Whether a comment on the line names the rule, or one that has the line above for itself.
///
/// A comment that the change itself brings is its author's word: who may accept a finding is not for a rule to say, and
/// what silences comes from the base (SAF-2, D10).
fn is_suppressed(found: &SubmittedFinding, index: &LineIndex<'_>, added: &LineRanges) -> bool {
    let (Some(line), Some(rule)) = (found.line, found.rule.as_deref()) else { return false };
    // What stands before the words, if the line silences this rule.
    let before = |number: u32| {
        if added.intersects(&(number..=number)) {
            return None;
        }
        let text = String::from_utf8_lossy(index.line(number)).into_owned();
        let (before, names) = text.split_once("referee: ignore ")?;
        names.split([',', ' ', '\t']).any(|name| name == rule).then(|| before.to_owned())
    };
    before(line).is_some_and(|it| COMMENT_PREFIXES.iter().any(|mark| it.contains(mark)))
        || line > 1 && before(line - 1).is_some_and(|it| COMMENT_PREFIXES.contains(&it.trim()))
}

/// How comments begin, in most languages.
const COMMENT_PREFIXES: [&str; 8] = ["//", "#", "/*", "--", "<!--", ";", "%", "*"];
