//! The diagnostics of reviewdog, as one document or one per line.

use referee_core::model::{Severity, Submission};
use serde::Deserialize;
use serde_json::Value;

use super::json::{self, null_as_default, positive_number};
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
    #[serde(default, deserialize_with = "null_as_default")]
    location: RdjsonLocation,
    #[serde(default)]
    severity: Value,
    #[serde(default, deserialize_with = "null_as_default")]
    code: RdjsonCode,
    #[serde(default, deserialize_with = "null_as_default")]
    suggestions: Vec<RdjsonSuggestion>,
}

#[derive(Default, Deserialize)]
struct RdjsonLocation {
    #[serde(default)]
    path: String,
    #[serde(default, deserialize_with = "null_as_default")]
    range: RdjsonRange,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct RdjsonRange {
    #[serde(default, deserialize_with = "null_as_default")]
    start: RdjsonPosition,
    #[serde(default, deserialize_with = "null_as_default")]
    end: RdjsonPosition,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct RdjsonPosition {
    #[serde(default, deserialize_with = "positive_number")]
    line: Option<u32>,
    #[serde(default, deserialize_with = "positive_number")]
    column: Option<u32>,
}

#[derive(Default, Deserialize)]
struct RdjsonCode {
    #[serde(default)]
    value: Option<String>,
    #[serde(default)]
    url: Option<String>,
}

#[derive(Deserialize)]
struct RdjsonSuggestion {
    #[serde(default, deserialize_with = "null_as_default")]
    range: RdjsonRange,
    #[serde(default)]
    text: String,
}

pub(super) fn parse_rdjson(text: &str, context: &ReportContext<'_>) -> Result<Submission, FormatError> {
    let document: RdjsonDocument = json::parse_document(Format::Rdjson, text)?;
    if document.source.is_none() && document.diagnostics.is_none() {
        let what = "it has neither `diagnostics` nor `source`".to_owned();
        return Err(FormatError::WrongFormat { format: Format::Rdjson, what });
    }
    let mut report = ToolReportBuilder::new(context);
    if let Some(name) = document.source.as_ref().and_then(|source| source["name"].as_str()) {
        report.set_tool_name(name);
    }
    for diagnostic in document.diagnostics.unwrap_or_default() {
        add_diagnostic(&mut report, diagnostic, &document.severity);
    }
    Ok(report.finish())
}

pub(super) fn parse_rdjsonl(text: &str, context: &ReportContext<'_>) -> Result<Submission, FormatError> {
    let mut report = ToolReportBuilder::new(context);
    let mut broken = BrokenLines::default();
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line)).filter(|(_, line)| !line.trim().is_empty());
    for (at, (number, line)) in lines.enumerate() {
        match serde_json::from_str(line) {
            Ok(diagnostic) => add_diagnostic(&mut report, diagnostic, &Value::Null),
            // If the first line is not a diagnostic, the text is in another format.
            Err(error) if at == 0 => {
                return Err(FormatError::WrongFormat {
                    format: Format::Rdjsonl,
                    what: format!("line {number}: {error}"),
                });
            }
            Err(_) => broken.add_line(number),
        }
    }
    broken.report_gap(&mut report);
    if context.tool_exit == ToolExit::Unknown {
        report.add_gap("the format has no end mark, and referee did not run the tool");
    }
    Ok(report.finish())
}

fn add_diagnostic(report: &mut ToolReportBuilder<'_>, diagnostic: RdjsonDiagnostic, default_severity: &Value) {
    let location = report.locate(&diagnostic.location.path);
    let region = diagnostic.location.range.to_region();
    let (line, end_line) = region.line_range();
    let suggestion = match diagnostic.suggestions.as_slice() {
        [one] => one.range.to_region().to_line_replacement(&region, &one.text),
        _ => None,
    };
    let level = read_level(&diagnostic.severity).or_else(|| read_level(default_severity));
    report.add_message(ToolMessage {
        message: diagnostic.message,
        // An error of a linter is a warning (D37).
        severity: if level == Some("info") { Severity::Suggestion } else { Severity::Warning },
        level: level.map(str::to_owned),
        location,
        line,
        end_line,
        column: region.column,
        help: diagnostic.code.url.filter(|url| !url.is_empty()),
        rule: diagnostic.code.value.filter(|rule| !rule.is_empty()),
        suggestion,
    });
}

/// Returns the level of a severity, given by name or by its number in the protobuf enum.
fn read_level(severity: &Value) -> Option<&'static str> {
    match (severity.as_str(), severity.as_u64()) {
        (Some("ERROR"), _) | (_, Some(1)) => Some("error"),
        (Some("WARNING"), _) | (_, Some(2)) => Some("warning"),
        (Some("INFO"), _) | (_, Some(3)) => Some("info"),
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
