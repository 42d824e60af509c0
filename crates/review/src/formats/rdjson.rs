//! Reviewdog's diagnostics, as one document or one a line. Names are camelCase or snake_case, as protobuf allows both.

use referee_core::model::{Severity, Submission};
use serde::Deserialize;
use serde_json::Value;

use super::draft::{BrokenLines, Draft, Said};
use super::json::{self, count, or_nothing};
use super::lines::Region;
use super::{Ending, Format, FormatError, Origin};

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    source: Option<Value>,
    #[serde(default)]
    severity: Value,
    #[serde(default)]
    diagnostics: Option<Vec<Diagnostic>>,
}

#[derive(Deserialize)]
struct Diagnostic {
    message: String,
    #[serde(default, deserialize_with = "or_nothing")]
    location: Location,
    #[serde(default)]
    severity: Value,
    #[serde(default, deserialize_with = "or_nothing")]
    code: Code,
    #[serde(default, deserialize_with = "or_nothing")]
    suggestions: Vec<Suggestion>,
}

#[derive(Default, Deserialize)]
struct Location {
    #[serde(default)]
    path: String,
    #[serde(default, deserialize_with = "or_nothing")]
    range: Range,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct Range {
    #[serde(default, deserialize_with = "or_nothing")]
    start: Position,
    #[serde(default, deserialize_with = "or_nothing")]
    end: Position,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct Position {
    #[serde(default, deserialize_with = "count")]
    line: Option<u32>,
    #[serde(default, deserialize_with = "count")]
    column: Option<u32>,
}

#[derive(Default, Deserialize)]
struct Code {
    #[serde(default)]
    value: Option<String>,
}

#[derive(Deserialize)]
struct Suggestion {
    #[serde(default, deserialize_with = "or_nothing")]
    range: Range,
    #[serde(default)]
    text: String,
}

pub(super) fn parse(text: &str, origin: &Origin<'_>) -> Result<Submission, FormatError> {
    let document: Document = json::document(Format::Rdjson, text)?;
    if document.source.is_none() && document.diagnostics.is_none() {
        let what = "it has neither `diagnostics` nor a `source`".to_owned();
        return Err(FormatError::Foreign { format: Format::Rdjson, what });
    }
    let mut draft = Draft::new(origin);
    for diagnostic in document.diagnostics.unwrap_or_default() {
        say(&mut draft, diagnostic, &document.severity);
    }
    Ok(draft.finish())
}

pub(super) fn parse_lines(text: &str, origin: &Origin<'_>) -> Result<Submission, FormatError> {
    let mut draft = Draft::new(origin);
    let mut broken = BrokenLines::default();
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line)).filter(|(_, line)| !line.trim().is_empty());
    for (at, (number, line)) in lines.enumerate() {
        match serde_json::from_str(line) {
            Ok(diagnostic) => say(&mut draft, diagnostic, &Value::Null),
            // Whose first line is something else is something else.
            Err(error) if at == 0 => {
                return Err(FormatError::Foreign { format: Format::Rdjsonl, what: format!("line {number}: {error}") });
            }
            Err(_) => broken.add(number),
        }
    }
    broken.tell(&mut draft);
    if origin.ended == Ending::Unknown {
        draft.gap("the format has no end, and nobody saw the tool end");
    }
    Ok(draft.finish())
}

fn say(draft: &mut Draft<'_>, said: Diagnostic, otherwise: &Value) {
    let place = draft.place(&said.location.path);
    let region = said.location.range.region();
    let (line, end_line) = region.lines();
    let suggestion = match said.suggestions.as_slice() {
        [one] => one.range.region().replaces(&region, &one.text),
        _ => None,
    };
    draft.say(Said {
        message: said.message,
        severity: severity(&said.severity).or(severity(otherwise)).unwrap_or(Severity::Warning),
        place,
        line,
        end_line,
        rule: said.code.value.filter(|rule| !rule.is_empty()),
        suggestion,
    });
}

/// By name, or by its number in the protocol.
fn severity(said: &Value) -> Option<Severity> {
    match (said.as_str(), said.as_u64()) {
        (Some("ERROR"), _) | (_, Some(1)) => Some(Severity::Critical),
        (Some("WARNING"), _) | (_, Some(2)) => Some(Severity::Warning),
        (Some("INFO"), _) | (_, Some(3)) => Some(Severity::Suggestion),
        _ => None,
    }
}

impl Range {
    fn region(self) -> Region {
        Region {
            line: self.start.line,
            column: self.start.column,
            end_line: self.end.line,
            end_column: self.end.column,
        }
    }
}
