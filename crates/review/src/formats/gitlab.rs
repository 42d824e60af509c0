//! GitLab's code quality report: an array of issues.

use referee_core::model::{Severity, Submission};
use serde::Deserialize;

use super::draft::{Draft, Said};
use super::json::{self, count, or_nothing};
use super::{Format, FormatError, Origin};

#[derive(Deserialize)]
struct Issue {
    description: String,
    #[serde(default)]
    check_name: Option<String>,
    #[serde(default)]
    severity: Option<String>,
    #[serde(default, deserialize_with = "or_nothing")]
    content: Content,
    location: Location,
}

#[derive(Default, Deserialize)]
struct Content {
    #[serde(default)]
    body: Option<String>,
}

#[derive(Deserialize)]
struct Location {
    path: String,
    #[serde(default)]
    lines: Option<Lines>,
    #[serde(default)]
    positions: Option<Positions>,
}

#[derive(Deserialize)]
struct Lines {
    #[serde(default, deserialize_with = "count")]
    begin: Option<u32>,
    #[serde(default, deserialize_with = "count")]
    end: Option<u32>,
}

#[derive(Deserialize)]
struct Positions {
    begin: Position,
    #[serde(default)]
    end: Option<Position>,
}

#[derive(Deserialize)]
struct Position {
    #[serde(default, deserialize_with = "count")]
    line: Option<u32>,
}

pub(super) fn parse(text: &str, origin: &Origin<'_>) -> Result<Submission, FormatError> {
    let issues: Vec<Issue> = json::document(Format::Gitlab, text)?;
    let mut draft = Draft::new(origin);
    for issue in issues {
        let (line, end) = issue.location.lines();
        let place = draft.place(&issue.location.path);
        let body = issue.content.body.unwrap_or_default();
        draft.say(Said {
            message: format!("{}\n\n{body}", issue.description),
            severity: severity(issue.severity.as_deref()),
            place,
            line,
            end_line: end.filter(|end| line < Some(*end)),
            rule: issue.check_name,
            suggestion: None,
        });
    }
    Ok(draft.finish())
}

impl Location {
    fn lines(&self) -> (Option<u32>, Option<u32>) {
        match (&self.lines, &self.positions) {
            (Some(lines), _) => (lines.begin, lines.end),
            (None, Some(positions)) => (positions.begin.line, positions.end.as_ref().and_then(|end| end.line)),
            (None, None) => (None, None),
        }
    }
}

fn severity(said: Option<&str>) -> Severity {
    match said {
        Some("blocker" | "critical") => Severity::Critical,
        Some("minor" | "info") => Severity::Suggestion,
        _ => Severity::Warning,
    }
}
