//! Reviewdog's diagnostics, as one document or one a line. Names are camelCase or snake_case, as protobuf allows both.

use referee_core::model::{Severity, Submission};
use serde::Deserialize;
use serde_json::Value;

use super::json::{self, count, or_nothing};
use super::region::Region;
use super::report_builder::{BrokenLines, ToolMessage, ToolReportBuilder};
use super::{Format, FormatError, ReportContext, ToolExit};

#[derive(Deserialize)]
struct RdjsonDocument {
    #[serde(default)]
    source: Option<Value>,
    #[serde(default)]
    severity: Value,
    #[serde(default)]
    diagnostics: Option<Vec<RdjsonDiagnostic>>,
}

#[derive(Deserialize)]
struct RdjsonDiagnostic {
    message: String,
    #[serde(default, deserialize_with = "or_nothing")]
    location: RdjsonLocation,
    #[serde(default)]
    severity: Value,
    #[serde(default, deserialize_with = "or_nothing")]
    code: RdjsonCode,
    #[serde(default, deserialize_with = "or_nothing")]
    suggestions: Vec<RdjsonSuggestion>,
}

#[derive(Default, Deserialize)]
struct RdjsonLocation {
    #[serde(default)]
    path: String,
    #[serde(default, deserialize_with = "or_nothing")]
    range: RdjsonRange,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct RdjsonRange {
    #[serde(default, deserialize_with = "or_nothing")]
    start: RdjsonPosition,
    #[serde(default, deserialize_with = "or_nothing")]
    end: RdjsonPosition,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct RdjsonPosition {
    #[serde(default, deserialize_with = "count")]
    line: Option<u32>,
    #[serde(default, deserialize_with = "count")]
    column: Option<u32>,
}

#[derive(Default, Deserialize)]
struct RdjsonCode {
    #[serde(default)]
    value: Option<String>,
}

#[derive(Deserialize)]
struct RdjsonSuggestion {
    #[serde(default, deserialize_with = "or_nothing")]
    range: RdjsonRange,
    #[serde(default)]
    text: String,
}

pub(super) fn parse_rdjson(text: &str, origin: &ReportContext<'_>) -> Result<Submission, FormatError> {
    let document: RdjsonDocument = json::parse_document(Format::Rdjson, text)?;
    if document.source.is_none() && document.diagnostics.is_none() {
        let what = "it has neither `diagnostics` nor a `source`".to_owned();
        return Err(FormatError::WrongFormat { format: Format::Rdjson, what });
    }
    let mut draft = ToolReportBuilder::new(origin);
    for diagnostic in document.diagnostics.unwrap_or_default() {
        add_diagnostic(&mut draft, diagnostic, &document.severity);
    }
    Ok(draft.finish())
}

pub(super) fn parse_rdjsonl(text: &str, origin: &ReportContext<'_>) -> Result<Submission, FormatError> {
    let mut draft = ToolReportBuilder::new(origin);
    let mut broken = BrokenLines::default();
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line)).filter(|(_, line)| !line.trim().is_empty());
    for (at, (number, line)) in lines.enumerate() {
        match serde_json::from_str(line) {
            Ok(diagnostic) => add_diagnostic(&mut draft, diagnostic, &Value::Null),
            // Whose first line is something else is something else.
            Err(error) if at == 0 => {
                return Err(FormatError::WrongFormat {
                    format: Format::Rdjsonl,
                    what: format!("line {number}: {error}"),
                });
            }
            Err(_) => broken.add_line(number),
        }
    }
    broken.report_gap(&mut draft);
    if origin.tool_exit == ToolExit::Unknown {
        draft.add_gap("the format has no end, and nobody saw the tool end");
    }
    Ok(draft.finish())
}

fn add_diagnostic(draft: &mut ToolReportBuilder<'_>, said: RdjsonDiagnostic, otherwise: &Value) {
    let place = draft.locate(&said.location.path);
    let region = said.location.range.to_region();
    let (line, end_line) = region.line_range();
    let suggestion = match said.suggestions.as_slice() {
        [one] => one.range.to_region().to_line_replacement(&region, &one.text),
        _ => None,
    };
    draft.add_message(ToolMessage {
        message: said.message,
        severity: map_severity(&said.severity).or(map_severity(otherwise)).unwrap_or(Severity::Warning),
        location: place,
        line,
        end_line,
        rule: said.code.value.filter(|rule| !rule.is_empty()),
        suggestion,
    });
}

/// By name, or by its number in the protocol.
fn map_severity(said: &Value) -> Option<Severity> {
    match (said.as_str(), said.as_u64()) {
        (Some("ERROR"), _) | (_, Some(1)) => Some(Severity::Critical),
        (Some("WARNING"), _) | (_, Some(2)) => Some(Severity::Warning),
        (Some("INFO"), _) | (_, Some(3)) => Some(Severity::Suggestion),
        _ => None,
    }
}

impl RdjsonRange {
    fn to_region(self) -> Region {
        Region {
            line: self.start.line,
            column: self.start.column,
            end_line: self.end.line,
            end_column: self.end.column,
        }
    }
}
