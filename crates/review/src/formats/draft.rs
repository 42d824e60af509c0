//! A tool's report while it is read.

use std::collections::HashSet;

use referee_core::model::{Coverage, Ended, Found, Severity, Submission};
use referee_core::track::Side;

use super::Origin;
use super::places::Places;
use super::strays::Strays;
use super::words::title_and_body;

#[derive(Debug)]
pub(super) struct Draft<'a> {
    origin: Origin<'a>,
    pub(super) places: Places<'a>,
    findings: Vec<Found>,
    seen: HashSet<Identity>,
    strays: Strays,
    notes: Vec<String>,
    gaps: Vec<String>,
}

/// What one message of a tool says.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) message: String,
    pub(super) severity: Severity,
    pub(super) place: Place,
    pub(super) line: Option<u32>,
    pub(super) end_line: Option<u32>,
    pub(super) rule: Option<String>,
    pub(super) suggestion: Option<String>,
}

/// Where, as far as the repository goes.
#[derive(Debug)]
pub(super) enum Place {
    Inside(String),
    /// As the tool wrote it; empty where it wrote nothing.
    Outside(String),
}

/// Two messages with the same are one: cargo repeats itself for each target of a crate.
type Identity = (String, Option<u32>, Option<u32>, Option<String>, String, String);

impl<'a> Draft<'a> {
    pub(super) fn new(origin: &Origin<'a>) -> Self {
        Self {
            origin: *origin,
            places: Places::new(origin),
            findings: Vec::new(),
            seen: HashSet::new(),
            strays: Strays::default(),
            notes: Vec::new(),
            gaps: Vec::new(),
        }
    }

    /// A path that is written as paths are.
    pub(super) fn place(&self, written: &str) -> Place {
        self.places.path(written).map_or_else(|| Place::Outside(written.to_owned()), Place::Inside)
    }

    pub(super) fn say(&mut self, said: Said) {
        let (mut title, body) = title_and_body(&said.message);
        if title.is_empty() {
            title = said.rule.clone().unwrap_or_else(|| "no message".to_owned());
        }
        let (path, inside) = match said.place {
            Place::Inside(path) => (path, true),
            Place::Outside(path) => (path, false),
        };
        let identity = (path.clone(), said.line, said.end_line, said.rule.clone(), title.clone(), body.clone());
        if !self.seen.insert(identity) {
            return;
        }
        let found = Found {
            title,
            body,
            severity: said.severity,
            path,
            line: said.line,
            end_line: said.end_line,
            side: Side::New,
            rule: said.rule,
            suggestion: said.suggestion,
        };
        if inside { self.findings.push(found) } else { self.strays.add(&found) }
    }

    /// Something that a reader should know.
    pub(super) fn note(&mut self, words: String) {
        self.notes.push(words);
    }

    /// Something was not read, so absence says nothing.
    pub(super) fn gap(&mut self, why: impl Into<String>) {
        let why = why.into();
        if !self.gaps.contains(&why) {
            self.gaps.push(why);
        }
    }

    pub(super) fn finish(mut self) -> Submission {
        if self.strays.is_grave() {
            self.gap("a critical finding has no place in this repository");
        }
        let gaps = self.gaps.join("; ");
        let incomplete = (!gaps.is_empty()).then(|| format!("Not everything was read: {gaps}."));
        self.notes.extend(self.strays.words());
        self.notes.extend(incomplete);
        let summary = self.notes.join("\n\n");
        let mut report = Submission { summary, ..self.origin.blank() };
        if gaps.is_empty() {
            report.coverage = Some(Coverage { read: self.origin.files.to_vec(), skipped: Vec::new() });
        }
        report.outcome = match (self.findings.is_empty(), gaps.is_empty()) {
            (false, _) => Ended::Findings,
            (true, true) => Ended::Clean,
            (true, false) => Ended::Failed,
        };
        if report.outcome == Ended::Failed {
            report.reason = gaps;
        }
        report.findings = self.findings;
        report
    }
}

/// Lines that are no records, in a format of one record a line.
#[derive(Debug, Default)]
pub(super) struct BrokenLines {
    first: Option<usize>,
    more: usize,
}

impl BrokenLines {
    pub(super) fn add(&mut self, line: usize) {
        match self.first {
            None => self.first = Some(line),
            Some(_) => self.more += 1,
        }
    }

    pub(super) fn tell(self, draft: &mut Draft<'_>) {
        match (self.first, self.more) {
            (None, _) => {}
            (Some(line), 0) => draft.gap(format!("line {line} cannot be read")),
            (Some(line), more) => draft.gap(format!("line {line} and {more} more cannot be read")),
        }
    }
}
