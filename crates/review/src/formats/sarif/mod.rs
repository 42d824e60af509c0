//! SARIF 2.1.0.

mod wire;

use referee_core::model::{Severity, Submission};
use serde_json::Value;

use self::wire::{Fix, Log, Message, PhysicalLocation, ReportingDescriptor, Run, SarifResult};
use super::region::Region;
use super::report_builder::{MessageLocation, ToolMessage, ToolReportBuilder};
use super::{Format, FormatError, ReportContext, json};

pub(super) fn parse_sarif(text: &str, origin: &ReportContext<'_>) -> Result<Submission, FormatError> {
    let log: Log = json::parse_document(Format::Sarif, text)?;
    let Some(runs) = log.runs else {
        return Err(FormatError::WrongFormat { format: Format::Sarif, what: "it has no `runs`".to_owned() });
    };
    let mut draft = ToolReportBuilder::new(origin);
    if runs.is_empty() {
        draft.add_gap("there is no run in it");
    }
    for run in &runs {
        add_run(&mut draft, run);
    }
    Ok(draft.finish())
}

fn add_run(draft: &mut ToolReportBuilder<'_>, run: &Run) {
    for failed in run.invocations.iter().filter(|it| it.execution_successful == Some(false)) {
        let notice = failed.notices.iter().find_map(|notice| notice.message.text.as_deref());
        let notice = notice.map(|text| format!(": {text}")).unwrap_or_default();
        draft.add_gap(format!("{} says that it did not succeed{notice}", run.tool.driver.name));
    }
    if !run.external_files.results.is_empty() {
        draft.add_gap("some results are in other files");
    }
    let Some(results) = &run.results else {
        draft.add_gap("a run has no results");
        return;
    };
    let suppressed = results.iter().filter(|it| it.is_suppressed()).count();
    if suppressed > 0 {
        draft.add_note(format!("Suppressed, so not raised: {suppressed}."));
    }
    let rules = run.rules_by_id();
    for result in results.iter().filter(|it| it.is_current() && !it.is_suppressed()) {
        add_result(draft, run, result, run.find_rule(result, &rules));
    }
}

fn add_result(draft: &mut ToolReportBuilder<'_>, run: &Run, result: &SarifResult, rule: Option<&ReportingDescriptor>) {
    let physical = result.locations.iter().find_map(|it| it.physical.as_ref());
    let place =
        physical.map_or(MessageLocation::OutsideRepository(String::new()), |physical| locate(draft, run, physical));
    let region = physical.map(|it| it.region).unwrap_or_default();
    let (line, end_line) = region.line_range();
    let suggestion = match &place {
        MessageLocation::InRepository(path) => {
            result.fixes.first().and_then(|fix| build_suggestion(draft, run, fix, path, &region))
        }
        MessageLocation::OutsideRepository(_) => None,
    };
    let message = run.render_message(&result.message, rule).or_else(|| rule?.short.text.clone());
    draft.add_message(ToolMessage {
        message: message.unwrap_or_default(),
        severity: map_severity(result, rule),
        location: place,
        line,
        end_line,
        rule: result.rule_id().or(rule.map(|rule| rule.id.as_str())).map(str::to_owned),
        suggestion,
    });
}

fn locate(draft: &ToolReportBuilder<'_>, run: &Run, physical: &PhysicalLocation) -> MessageLocation {
    let uri = run.resolve_uri(&physical.artifact);
    draft.paths.resolve_uri(&uri).map_or(MessageLocation::OutsideRepository(uri), MessageLocation::InRepository)
}

/// What is not a failure of the code is at most worth considering; a security score of 7 and more is critical.
fn map_severity(result: &SarifResult, rule: Option<&ReportingDescriptor>) -> Severity {
    let score = result.properties.score().or_else(|| rule?.properties.score());
    if score.is_some_and(|score| score >= 7.0) {
        return Severity::Critical;
    }
    if result.kind.as_deref().is_some_and(|kind| kind != "fail") {
        return Severity::Suggestion;
    }
    match result.level.as_deref().or_else(|| rule?.configuration.level.as_deref()) {
        Some("error") => Severity::Critical,
        Some("note" | "none") => Severity::Suggestion,
        _ => Severity::Warning,
    }
}

/// Only where the fix is one replacement of just the lines that the finding is about.
fn build_suggestion(draft: &ToolReportBuilder<'_>, run: &Run, fix: &Fix, path: &str, place: &Region) -> Option<String> {
    let [change] = fix.changes.as_slice() else { return None };
    let [replacement] = change.replacements.as_slice() else { return None };
    let same = draft.paths.resolve_uri(&run.resolve_uri(&change.artifact)).as_deref() == Some(path);
    replacement.deleted.to_line_replacement(place, replacement.inserted.text.as_deref().filter(|_| same)?)
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

/// `{0}` is the first argument; an argument that looks like a placeholder is none.
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
