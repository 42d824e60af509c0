//! SARIF 2.1.0.

mod wire;

use referee_core::model::{Severity, Submission};
use serde_json::Value;

use self::wire::{Fix, Log, Message, PhysicalLocation, ReportingDescriptor, Run, SarifResult};
use super::region::Region;
use super::report_builder::{MessageLocation, ToolMessage, ToolReportBuilder};
use super::{Format, FormatError, ReportContext, json};

pub(super) fn parse_sarif(text: &str, context: &ReportContext<'_>) -> Result<Submission, FormatError> {
    let log: Log = json::parse_document(Format::Sarif, text)?;
    let Some(runs) = log.runs else {
        return Err(FormatError::WrongFormat { format: Format::Sarif, what: "it has no `runs`".to_owned() });
    };
    let mut report = ToolReportBuilder::new(context);
    if runs.is_empty() {
        report.add_gap("it contains no run");
    }
    for run in &runs {
        add_run(&mut report, run);
    }
    Ok(report.finish())
}

fn add_run(report: &mut ToolReportBuilder<'_>, run: &Run) {
    for failed in run.invocations.iter().filter(|invocation| invocation.execution_successful == Some(false)) {
        let notice = failed.notices.iter().find_map(|notice| notice.message.text.as_deref());
        let notice = notice.map(|text| format!(": {text}")).unwrap_or_default();
        report.add_gap(format!("{} reports that it failed{notice}", run.tool.driver.name));
    }
    if !run.external_files.results.is_empty() {
        report.add_gap("some results are in external files");
    }
    let Some(results) = &run.results else {
        report.add_gap("a run has no results");
        return;
    };
    let rules = run.rules_by_id();
    report.add_tool(run.describe_tool(&rules));
    report.set_tool_name(&run.tool.driver.name);
    for result in results {
        if !result.is_current() {
            report.count_unsupported();
        } else if result.is_suppressed() {
            report.count_off();
        } else {
            add_result(report, run, result, run.find_rule(result, &rules));
        }
    }
}

fn add_result(report: &mut ToolReportBuilder<'_>, run: &Run, result: &SarifResult, rule: Option<&ReportingDescriptor>) {
    let places: Vec<ResultPlace> = result
        .locations
        .iter()
        .filter_map(|it| it.physical.as_ref())
        .map(|it| ResultPlace::new(report, run, it))
        .collect();
    // A result may name several places that have to change together. The finding is at the first in the repository.
    let first = places.iter().position(|place| matches!(place.location, MessageLocation::InRepository(_)));
    let place = first.or((!places.is_empty()).then_some(0));
    let others: Vec<String> =
        places.iter().enumerate().filter(|(index, _)| Some(*index) != place).map(|(_, it)| it.describe()).collect();
    let (location, region) = match place.and_then(|index| places.into_iter().nth(index)) {
        Some(place) => (place.location, place.region),
        None => (MessageLocation::OutsideRepository(String::new()), Region::default()),
    };
    let (line, end_line) = region.line_range();
    let suggestion = match &location {
        MessageLocation::InRepository(path) => {
            result.fixes.first().and_then(|fix| build_suggestion(report, run, fix, path, &region))
        }
        MessageLocation::OutsideRepository(_) => None,
    };
    let message = run.render_message(&result.message, rule).or_else(|| rule?.short.text.clone());
    let also = if others.is_empty() { String::new() } else { format!("\n\nAlso at {}.", others.join(", ")) };
    report.add_message(ToolMessage {
        message: message.unwrap_or_default() + &also,
        severity: map_severity(result, rule),
        level: Some(read_level(result, rule).to_owned()),
        location,
        line,
        end_line,
        column: region.column,
        rule: result.rule_id().or(rule.map(|rule| rule.id.as_str())).map(str::to_owned),
        help: rule.and_then(|rule| rule.help_uri.clone()),
        suggestion,
    });
}

/// A place of a result.
struct ResultPlace {
    location: MessageLocation,
    region: Region,
}

impl ResultPlace {
    fn new(report: &ToolReportBuilder<'_>, run: &Run, physical: &PhysicalLocation) -> Self {
        Self { location: locate(report, run, physical), region: physical.region }
    }

    fn describe(&self) -> String {
        let (MessageLocation::InRepository(path) | MessageLocation::OutsideRepository(path)) = &self.location;
        let line = self.region.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("`{path}{line}`")
    }
}

fn locate(report: &ToolReportBuilder<'_>, run: &Run, physical: &PhysicalLocation) -> MessageLocation {
    let uri = run.resolve_uri(&physical.artifact);
    report.paths.resolve_uri(&uri).map_or(MessageLocation::OutsideRepository(uri), MessageLocation::InRepository)
}

/// Maps the severity of a result (D37): by its security score, if it has one, else by its level. Most linters report
/// everything as `error`, so an error is a warning.
fn map_severity(result: &SarifResult, rule: Option<&ReportingDescriptor>) -> Severity {
    if let Some(score) = result.properties.score().or_else(|| rule?.properties.score()) {
        return match score {
            score if score >= 7.0 => Severity::Critical,
            score if score >= 4.0 => Severity::Warning,
            _ => Severity::Suggestion,
        };
    }
    match read_level(result, rule) {
        "note" | "none" => Severity::Suggestion,
        _ => Severity::Warning,
    }
}

/// Returns the level of a result. A result that is not a failure has the level `none` (SARIF 2.1.0 §3.27.10).
fn read_level<'r>(result: &'r SarifResult, rule: Option<&'r ReportingDescriptor>) -> &'r str {
    if result.kind.as_deref().is_some_and(|kind| kind != "fail") {
        return "none";
    }
    result.level.as_deref().or_else(|| rule?.configuration.level.as_deref()).unwrap_or("warning")
}

/// Returns a suggestion if the fix is one replacement of exactly the lines of the finding.
fn build_suggestion(
    report: &ToolReportBuilder<'_>,
    run: &Run,
    fix: &Fix,
    path: &str,
    region: &Region,
) -> Option<String> {
    let [change] = fix.changes.as_slice() else { return None };
    let [replacement] = change.replacements.as_slice() else { return None };
    let is_same_file = report.paths.resolve_uri(&run.resolve_uri(&change.artifact)).as_deref() == Some(path);
    replacement.deleted.to_line_replacement(region, replacement.inserted.text.as_deref().filter(|_| is_same_file)?)
}

impl Run {
    fn render_message(&self, message: &Message, rule: Option<&ReportingDescriptor>) -> Option<String> {
        if let Some(text) = message.text.as_ref().or(message.markdown.as_ref()) {
            return Some(text.clone());
        }
        let id = message.id.as_ref()?;
        let own = rule.and_then(|rule| rule.messages.get(id));
        let template = own.or_else(|| self.tool.driver.messages.get(id))?.text.as_deref()?;
        Some(fill_placeholders(template, &message.arguments))
    }
}

/// Replaces `{0}` with the first argument, and so on. Placeholders inside arguments are not replaced.
fn fill_placeholders(template: &str, arguments: &[String]) -> String {
    let mut parts = template.split('{');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let filled =
            part.split_once('}').and_then(|(at, rest)| Some((arguments.get(at.parse::<usize>().ok()?)?, rest)));
        match filled {
            Some((argument, rest)) => text.extend([argument, rest]),
            None => text.extend(["{", part]),
        }
    }
    text
}

impl wire::Properties {
    fn score(&self) -> Option<f64> {
        match &self.security_severity {
            Value::Number(score) => score.as_f64(),
            Value::String(score) => score.parse().ok(),
            _ => None,
        }
    }
}
