//! Builds the report of a tool from its messages.

use std::collections::BTreeSet;

use referee_core::model::{Accounting, Coverage, Severity, Submission, SubmittedFinding, SubmittedOutcome};
use referee_core::track::Side;

use super::ReportContext;
use super::path_resolver::PathResolver;
use super::title::split_title_and_body;
use super::unplaced::UnplacedFindings;
use crate::levels::ReportedResult;

#[derive(Debug)]
pub(super) struct ToolReportBuilder<'a> {
    context: ReportContext<'a>,
    pub(super) paths: PathResolver<'a>,
    findings: Vec<SubmittedFinding>,
    left_out: Accounting,
    tools: BTreeSet<String>,
    /// Name of the tool that wrote the current part of the report.
    tool_name: Option<String>,
    unplaced: UnplacedFindings,
    gaps: Vec<String>,
}

/// One message of a tool.
#[derive(Debug)]
pub(super) struct ToolMessage {
    pub(super) message: String,
    /// The level as the tool writes it.
    pub(super) level: Option<String>,
    /// What the level means without a setting of the config (D37).
    pub(super) severity: Severity,
    pub(super) location: MessageLocation,
    pub(super) line: Option<u32>,
    pub(super) end_line: Option<u32>,
    /// Column of the first character, counted from 1.
    pub(super) column: Option<u32>,
    pub(super) rule: Option<String>,
    /// Web page of the rule.
    pub(super) help: Option<String>,
    pub(super) suggestion: Option<String>,
}

/// The file that a message is about.
#[derive(Debug)]
pub(super) enum MessageLocation {
    /// A path relative to the repository.
    InRepository(String),
    /// The path as the tool wrote it; empty if it wrote none.
    OutsideRepository(String),
}

impl<'a> ToolReportBuilder<'a> {
    pub(super) fn new(context: &ReportContext<'a>) -> Self {
        Self {
            context: *context,
            paths: PathResolver::new(context),
            findings: Vec::new(),
            left_out: Accounting::default(),
            tools: BTreeSet::new(),
            tool_name: None,
            unplaced: UnplacedFindings::default(),
            gaps: Vec::new(),
        }
    }

    /// Resolves a path that is not a URI.
    pub(super) fn locate(&self, path: &str) -> MessageLocation {
        self.paths
            .resolve_path(path)
            .map_or_else(|| MessageLocation::OutsideRepository(path.to_owned()), MessageLocation::InRepository)
    }

    /// Adds a message, unless the config switches it off.
    pub(super) fn add_message(&mut self, message: ToolMessage) {
        let (mut title, body) = split_title_and_body(&message.message);
        if title.is_empty() {
            title = message.rule.clone().unwrap_or_else(|| "no message".to_owned());
        }
        let (path, inside) = match message.location {
            MessageLocation::InRepository(path) => (path, true),
            MessageLocation::OutsideRepository(path) => (path, false),
        };
        let Some(severity) = self.context.levels.assign(&ReportedResult {
            tool: self.tool_name.as_deref(),
            rule: message.rule.as_deref(),
            path: &path,
            level: message.level.as_deref(),
            default: message.severity,
        }) else {
            return self.count_off();
        };
        let finding = SubmittedFinding {
            title,
            body,
            severity,
            path,
            line: message.line,
            end_line: message.end_line,
            column: message.column,
            side: Side::New,
            rule: message.rule,
            help: message.help,
            suggestion: message.suggestion,
        };
        if inside {
            self.findings.push(finding);
            return;
        }
        if finding.path.is_empty() {
            self.left_out.without_place += 1;
        } else {
            self.left_out.outside += 1;
        }
        self.unplaced.add(&finding);
    }

    /// Counts a result that the config, the tool, or a comment in the code, switched off.
    pub(super) fn count_off(&mut self) {
        self.left_out.off += 1;
    }

    /// Counts a result that is no finding, such as a passed check.
    pub(super) fn count_unsupported(&mut self) {
        self.left_out.unsupported += 1;
    }

    /// Sets the name of the tool that wrote the following messages.
    pub(super) fn set_tool_name(&mut self, name: &str) {
        self.tool_name = Some(name.to_owned());
    }

    /// Adds what the report says of its tool and rule set (D34).
    pub(super) fn add_tool(&mut self, tool: String) {
        self.tools.insert(tool);
    }

    /// Marks the report as incomplete. The absence of a finding then does not mean that it is fixed.
    pub(super) fn add_gap(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if !self.gaps.contains(&reason) {
            self.gaps.push(reason);
        }
    }

    pub(super) fn finish(mut self) -> Submission {
        self.gaps.extend(self.unplaced.describe_gap());
        let gaps = self.gaps.join("; ");
        let incomplete = (!gaps.is_empty()).then(|| format!("The report is incomplete: {gaps}."));
        let summary = self.unplaced.render().into_iter().chain(incomplete).collect::<Vec<_>>().join("\n\n");
        let tool = (!self.tools.is_empty()).then(|| self.tools.into_iter().collect::<Vec<_>>().join("\n"));
        let mut report = Submission { summary, left_out: self.left_out, tool, ..self.context.empty_report() };
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

/// Lines that could not be parsed, in a format of one record per line.
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

    pub(super) fn report_gap(self, report: &mut ToolReportBuilder<'_>) {
        match (self.first_line, self.further_count) {
            (None, _) => {}
            (Some(line), 0) => report.add_gap(format!("line {line} cannot be parsed")),
            (Some(line), more) => report.add_gap(format!("line {line} and {more} more cannot be parsed")),
        }
    }
}
