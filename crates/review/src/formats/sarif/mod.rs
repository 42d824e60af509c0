//! SARIF 2.1.0.

mod wire;

use referee_core::model::{Severity, Submission};
use serde_json::Value;

use self::wire::{Fix, Log, Message, Outcome, PhysicalLocation, Rule, Run};
use super::draft::{Draft, Place, Said};
use super::lines::Region;
use super::{Format, FormatError, Origin, json};

pub(super) fn parse(text: &str, origin: &Origin<'_>) -> Result<Submission, FormatError> {
    let log: Log = json::document(Format::Sarif, text)?;
    let Some(runs) = log.runs else {
        return Err(FormatError::Foreign { format: Format::Sarif, what: "it has no `runs`".to_owned() });
    };
    let mut draft = Draft::new(origin);
    if runs.is_empty() {
        draft.gap("there is no run in it");
    }
    for run in &runs {
        take(&mut draft, run);
    }
    Ok(draft.finish())
}

fn take(draft: &mut Draft<'_>, run: &Run) {
    for failed in run.invocations.iter().filter(|it| it.execution_successful == Some(false)) {
        let notice = failed.notices.iter().find_map(|notice| notice.message.text.as_deref());
        let notice = notice.map(|text| format!(": {text}")).unwrap_or_default();
        draft.gap(format!("{} says that it did not succeed{notice}", run.tool.driver.name));
    }
    if !run.elsewhere.results.is_empty() {
        draft.gap("some results are in other files");
    }
    let Some(results) = &run.results else {
        draft.gap("a run has no results");
        return;
    };
    let suppressed = results.iter().filter(|it| it.is_suppressed()).count();
    if suppressed > 0 {
        draft.note(format!("Suppressed, so not raised: {suppressed}."));
    }
    let rules = run.rules();
    for result in results.iter().filter(|it| it.is_about_now() && !it.is_suppressed()) {
        say(draft, run, result, run.rule(result, &rules));
    }
}

fn say(draft: &mut Draft<'_>, run: &Run, result: &Outcome, rule: Option<&Rule>) {
    let physical = result.locations.iter().find_map(|it| it.physical.as_ref());
    let place = physical.map_or(Place::Outside(String::new()), |physical| place(draft, run, physical));
    let region = physical.map(|it| it.region).unwrap_or_default();
    let (line, end_line) = region.lines();
    let suggestion = match &place {
        Place::Inside(path) => result.fixes.first().and_then(|fix| suggestion(draft, run, fix, path, &region)),
        Place::Outside(_) => None,
    };
    let message = run.words(&result.message, rule).or_else(|| rule?.short.text.clone());
    draft.say(Said {
        message: message.unwrap_or_default(),
        severity: severity(result, rule),
        place,
        line,
        end_line,
        rule: result.rule_id().or(rule.map(|rule| rule.id.as_str())).map(str::to_owned),
        suggestion,
    });
}

fn place(draft: &Draft<'_>, run: &Run, physical: &PhysicalLocation) -> Place {
    let uri = run.uri(&physical.artifact);
    draft.places.uri(&uri).map_or(Place::Outside(uri), Place::Inside)
}

/// What is not a failure of the code is at most worth considering; a security score of 7 and more is critical.
fn severity(result: &Outcome, rule: Option<&Rule>) -> Severity {
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
fn suggestion(draft: &Draft<'_>, run: &Run, fix: &Fix, path: &str, place: &Region) -> Option<String> {
    let [change] = fix.changes.as_slice() else { return None };
    let [replacement] = change.replacements.as_slice() else { return None };
    let same = draft.places.uri(&run.uri(&change.artifact)).as_deref() == Some(path);
    replacement.deleted.replaces(place, replacement.inserted.text.as_deref().filter(|_| same)?)
}

impl Run {
    fn words(&self, message: &Message, rule: Option<&Rule>) -> Option<String> {
        if let Some(text) = message.text.as_ref().or(message.markdown.as_ref()) {
            return Some(text.clone());
        }
        let id = message.id.as_ref()?;
        let own = rule.and_then(|rule| rule.messages.get(id));
        let template = own.or_else(|| self.tool.driver.messages.get(id))?.text.as_deref()?;
        Some(filled(template, &message.arguments))
    }
}

/// `{0}` is the first argument; an argument that looks like a placeholder is none.
fn filled(template: &str, arguments: &[String]) -> String {
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
