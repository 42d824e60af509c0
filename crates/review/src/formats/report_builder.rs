//! A tool's report while it is read.

use std::collections::HashSet;

use referee_core::model::{Coverage, Severity, Submission, SubmittedFinding, SubmittedOutcome};
use referee_core::track::Side;

use super::ReportContext;
use super::path_resolver::PathResolver;
use super::title::split_title_and_body;
use super::unplaced::UnplacedFindings;

#[derive(Debug)]
pub(super) struct ToolReportBuilder<'a> {
    context: ReportContext<'a>,
    pub(super) paths: PathResolver<'a>,
    findings: Vec<SubmittedFinding>,
    seen_messages: HashSet<MessageKey>,
    unplaced: UnplacedFindings,
    notes: Vec<String>,
    gaps: Vec<String>,
}

/// What one message of a tool says.
#[derive(Debug)]
pub(super) struct ToolMessage {
    pub(super) message: String,
    pub(super) severity: Severity,
    pub(super) location: MessageLocation,
    pub(super) line: Option<u32>,
    pub(super) end_line: Option<u32>,
    pub(super) rule: Option<String>,
    pub(super) suggestion: Option<String>,
}

/// Where, as far as the repository goes.
#[derive(Debug)]
pub(super) enum MessageLocation {
    InRepository(String),
    /// As the tool wrote it; empty where it wrote nothing.
    OutsideRepository(String),
}

/// Two messages with the same are one: cargo repeats itself for each target of a crate.
type MessageKey = (String, Option<u32>, Option<u32>, Option<String>, String, String);

impl<'a> ToolReportBuilder<'a> {
    pub(super) fn new(origin: &ReportContext<'a>) -> Self {
        Self {
            context: *origin,
            paths: PathResolver::new(origin),
            findings: Vec::new(),
            seen_messages: HashSet::new(),
            unplaced: UnplacedFindings::default(),
            notes: Vec::new(),
            gaps: Vec::new(),
        }
    }

    /// A path that is written as paths are.
    pub(super) fn locate(&self, written: &str) -> MessageLocation {
        self.paths
            .resolve_path(written)
            .map_or_else(|| MessageLocation::OutsideRepository(written.to_owned()), MessageLocation::InRepository)
    }

    pub(super) fn add_message(&mut self, said: ToolMessage) {
        let (mut title, body) = split_title_and_body(&said.message);
        if title.is_empty() {
            title = said.rule.clone().unwrap_or_else(|| "no message".to_owned());
        }
        let (path, inside) = match said.location {
            MessageLocation::InRepository(path) => (path, true),
            MessageLocation::OutsideRepository(path) => (path, false),
        };
        let identity = (path.clone(), said.line, said.end_line, said.rule.clone(), title.clone(), body.clone());
        if !self.seen_messages.insert(identity) {
            return;
        }
        let found = SubmittedFinding {
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
        if inside { self.findings.push(found) } else { self.unplaced.add(&found) }
    }

    /// Something that a reader should know.
    pub(super) fn add_note(&mut self, words: String) {
        self.notes.push(words);
    }

    /// Something was not read, so absence says nothing.
    pub(super) fn add_gap(&mut self, why: impl Into<String>) {
        let why = why.into();
        if !self.gaps.contains(&why) {
            self.gaps.push(why);
        }
    }

    pub(super) fn finish(mut self) -> Submission {
        if self.unplaced.has_critical() {
            self.add_gap("a critical finding has no place in this repository");
        }
        let gaps = self.gaps.join("; ");
        let incomplete = (!gaps.is_empty()).then(|| format!("Not everything was read: {gaps}."));
        self.notes.extend(self.unplaced.render());
        self.notes.extend(incomplete);
        let summary = self.notes.join("\n\n");
        let mut report = Submission { summary, ..self.context.empty_report() };
        if gaps.is_empty() {
            report.coverage = Some(Coverage { read: self.context.changed_files.to_vec(), skipped: Vec::new() });
        }
        report.outcome = match (self.findings.is_empty(), gaps.is_empty()) {
            (false, _) => SubmittedOutcome::Findings,
            (true, true) => SubmittedOutcome::Clean,
            (true, false) => SubmittedOutcome::Failed,
        };
        if report.outcome == SubmittedOutcome::Failed {
            report.reason = gaps;
        }
        report.findings = self.findings;
        report
    }
}

/// Lines that are no records, in a format of one record a line.
#[derive(Debug, Default)]
pub(super) struct BrokenLines {
    first_line: Option<usize>,
    further_count: usize,
}

impl BrokenLines {
    pub(super) fn add_line(&mut self, line: usize) {
        match self.first_line {
            None => self.first_line = Some(line),
            Some(_) => self.further_count += 1,
        }
    }

    pub(super) fn report_gap(self, draft: &mut ToolReportBuilder<'_>) {
        match (self.first_line, self.further_count) {
            (None, _) => {}
            (Some(line), 0) => draft.add_gap(format!("line {line} cannot be read")),
            (Some(line), more) => draft.add_gap(format!("line {line} and {more} more cannot be read")),
        }
    }
}
