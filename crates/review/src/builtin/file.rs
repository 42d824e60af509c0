//! One file of a change, read by every rule that reads it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ast_grep_core::Language;
use ast_grep_language::SupportLang;
use referee_core::model::{Found, Severity};
use referee_core::track::Side;

use super::code::{Code, Unread};
use super::lines::{Index, Lines};
use super::page::{SECRET_FIX, SECRET_WHY, secret_title, severity};
use super::rules::Rules;
use super::syntax::{LANGUAGES, Scan};
use super::text::Sheet;
use crate::change::Change;

/// What came of one file.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) findings: Vec<Found>,
    /// How many its comments silenced.
    pub(super) silenced: usize,
    /// Its language was not read, and why.
    pub(super) unread: Option<Unread>,
}

/// Reads files one after another, and keeps what the next one can use.
pub(super) struct Reader<'r> {
    rules: &'r Rules,
    scans: HashMap<SupportLang, Scan<'r>>,
}

impl<'r> Reader<'r> {
    pub(super) fn new(rules: &'r Rules) -> Self {
        Self { rules, scans: HashMap::new() }
    }

    /// Reads a file as a text and in its language.
    pub(super) fn read(&mut self, change: &Change<'_>, at: usize) -> Reading {
        let Some((file, bytes)) = change.files.get(at).zip(change.text(at)) else { return Reading::default() };
        let (index, added) = (Index::new(bytes), change.added(at).collect::<Lines>());
        let mut reading = Reading::default();
        let sheet = Sheet { file, bytes: Some(bytes), index: Some(&index), added: &added };
        reading.findings.extend(self.by_text(&sheet));
        if !added.is_empty() {
            let known = self.secrets(&file.path, bytes, &index, &added, &mut reading.findings);
            if let Some(language) = SupportLang::from_path(&file.path).filter(|it| LANGUAGES.contains(it)) {
                let code = Code { path: &file.path, bytes, index: &index, added: &added };
                match self.by_language(language, &code) {
                    Ok(found) => {
                        let new = self.not_told(found, &reading.findings);
                        reading.findings.extend(new.into_iter().map(|it| masked(it, &known)));
                    }
                    Err(why) => reading.unread = Some(why),
                }
            }
        }
        let all = reading.findings.len();
        reading.findings.retain(|found| !silenced(found, &index, &added));
        reading.silenced = all - reading.findings.len();
        reading
    }

    /// Reads what a file that is no text shows: its name and its size.
    pub(super) fn glance(&self, change: &Change<'_>, at: usize) -> Vec<Found> {
        let Some(file) = change.files.get(at) else { return Vec::new() };
        let sheet = Sheet { file, bytes: change.text(at), index: None, added: &Lines::default() };
        self.by_text(&sheet)
    }

    fn by_text(&self, sheet: &Sheet<'_>) -> Vec<Found> {
        let mut findings = Vec::new();
        for rule in self.rules.texts() {
            for place in rule.find(sheet) {
                let head = &rule.head;
                let body = format!("{}\n\n{}", head.why.trim(), head.note.trim());
                let found = found(&sheet.file.path, place, &head.id, severity(&head.severity), head.message.clone());
                findings.push(Found { body, ..found });
            }
        }
        findings
    }

    /// Raises what the added lines give away; the values are for masking alone.
    fn secrets(
        &self,
        path: &str,
        bytes: &[u8],
        index: &Index<'_>,
        added: &Lines,
        findings: &mut Vec<Found>,
    ) -> Vec<String> {
        let secrets = self.rules.secrets();
        if secrets.passes(path) {
            return Vec::new();
        }
        let in_text = added.runs().iter().flat_map(|run| secrets.in_text(path, bytes, index.bytes(run)));
        let mut values = Vec::new();
        for secret in secrets.in_name(path).chain(in_text) {
            let mut begins = String::new();
            let place = secret.range.map(|range| {
                let value = String::from_utf8_lossy(&bytes[range.clone()]).into_owned();
                begins = beginning(&value);
                values.push(value);
                index.number(range.start)..=index.number(range.end.saturating_sub(1).max(range.start))
            });
            let title = secret_title(&secret.rule.description, &secret.rule.id);
            let found = found(path, place, &secret.rule.id, Severity::Critical, title);
            findings.push(Found { body: format!("{begins}{SECRET_WHY}\n\n{SECRET_FIX}"), ..found });
        }
        values
    }

    /// Without what was told before: a secret by the secret rule that knows it better, one kind of defect on one line by
    /// the gravest of its rules.
    fn not_told(&self, mut found: Vec<Found>, told: &[Found]) -> Vec<Found> {
        let secrets: BTreeSet<u32> = told.iter().filter_map(|it| it.line).collect();
        let mut kinds = BTreeSet::new();
        found.sort_by_key(|it| Reverse(it.severity));
        found.retain(|it| {
            let (Some(line), Some(rule)) = (it.line, it.rule.as_deref()) else { return true };
            match self.rules.class(rule) {
                "" => true,
                "secret" if secrets.contains(&line) => false,
                class => kinds.insert((line, class)),
            }
        });
        found
    }

    fn by_language(&mut self, language: SupportLang, code: &Code<'_>) -> Result<Vec<Found>, Unread> {
        let rules = self.rules.for_file(code.path, language);
        if rules.is_empty() {
            return Ok(Vec::new());
        }
        if !self.scans.get(&language).is_some_and(|scan| scan.is_of(&rules)) {
            self.scans.insert(language, Scan::new(rules));
        }
        let Some(scan) = self.scans.get(&language) else { return Ok(Vec::new()) };
        // Grammars are foreign code: what one of them cannot take must not end the review of all other files.
        catch_unwind(AssertUnwindSafe(|| code.findings(scan, language))).unwrap_or(Err(Unread::Failed))
    }
}

pub(super) fn found(
    path: &str,
    place: Option<RangeInclusive<u32>>,
    rule: &str,
    severity: Severity,
    title: String,
) -> Found {
    Found {
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
fn beginning(value: &str) -> String {
    let shown: String = value.chars().take((value.chars().count() / 4).min(4)).collect();
    match shown.is_ascii() && shown.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        true if !shown.is_empty() => format!("It begins with `{shown}`. "),
        _ => String::new(),
    }
}

/// A rule's message may quote the code, and the code a secret.
fn masked(mut found: Found, secrets: &[String]) -> Found {
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
fn silenced(found: &Found, index: &Index<'_>, added: &Lines) -> bool {
    let (Some(line), Some(rule)) = (found.line, found.rule.as_deref()) else { return false };
    // What stands before the words, if the line silences this rule.
    let before = |number: u32| {
        if added.meets(&(number..=number)) {
            return None;
        }
        let text = String::from_utf8_lossy(index.line(number)).into_owned();
        let (before, names) = text.split_once("referee: ignore ")?;
        names.split([',', ' ', '\t']).any(|name| name == rule).then(|| before.to_owned())
    };
    before(line).is_some_and(|it| COMMENTS.iter().any(|mark| it.contains(mark)))
        || line > 1 && before(line - 1).is_some_and(|it| COMMENTS.contains(&it.trim()))
}

/// How comments begin, in most languages.
const COMMENTS: [&str; 8] = ["//", "#", "/*", "--", "<!--", ";", "%", "*"];
