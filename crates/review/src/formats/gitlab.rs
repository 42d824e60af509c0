//! The code quality report of GitLab: an array of issues.

use referee_core::model::{Severity, Submission};
use serde::Deserialize;

use super::json::{self, null_as_default, positive_number};
use super::report_builder::{ToolMessage, ToolReportBuilder};
use super::{Format, FormatError, ReportContext};

#[derive(Deserialize)]
struct GitlabIssue {
    description: String,
    #[serde(default)]
    check_name: Option<String>,
    #[serde(default)]
    severity: Option<String>,
    #[serde(default, deserialize_with = "null_as_default")]
    content: GitlabContent,
    location: GitlabLocation,
}

#[derive(Default, Deserialize)]
struct GitlabContent {
    #[serde(default)]
    body: Option<String>,
}

#[derive(Deserialize)]
struct GitlabLocation {
    path: String,
    #[serde(default)]
    lines: Option<GitlabLines>,
    #[serde(default)]
    positions: Option<GitlabPositions>,
}

#[derive(Deserialize)]
struct GitlabLines {
    #[serde(default, deserialize_with = "positive_number")]
    begin: Option<u32>,
    #[serde(default, deserialize_with = "positive_number")]
    end: Option<u32>,
}

#[derive(Deserialize)]
struct GitlabPositions {
    begin: GitlabPosition,
    #[serde(default)]
    end: Option<GitlabPosition>,
}

#[derive(Deserialize)]
struct GitlabPosition {
    #[serde(default, deserialize_with = "positive_number")]
    line: Option<u32>,
}

pub(super) fn parse_gitlab(text: &str, context: &ReportContext<'_>) -> Result<Submission, FormatError> {
    let issues: Vec<GitlabIssue> = json::parse_document(Format::Gitlab, text)?;
    let mut report = ToolReportBuilder::new(context);
    for issue in issues {
        let (line, end) = issue.location.line_range();
        let location = report.locate(&issue.location.path);
        let body = issue.content.body.unwrap_or_default();
        report.add_message(ToolMessage {
            message: format!("{}\n\n{body}", issue.description),
            severity: map_severity(issue.severity.as_deref()),
            level: issue.severity,
            location,
            line,
            end_line: end.filter(|end| line < Some(*end)),
            column: None,
            rule: issue.check_name,
            help: None,
            suggestion: None,
        });
    }
    Ok(report.finish())
}

impl GitlabLocation {
    fn line_range(&self) -> (Option<u32>, Option<u32>) {
        match (&self.lines, &self.positions) {
            (Some(lines), _) => (lines.begin, lines.end),
            (None, Some(positions)) => (positions.begin.line, positions.end.as_ref().and_then(|end| end.line)),
            (None, None) => (None, None),
        }
    }
}

fn map_severity(severity: Option<&str>) -> Severity {
    match severity {
        Some("blocker" | "critical") => Severity::Critical,
        Some("minor" | "info") => Severity::Suggestion,
        _ => Severity::Warning,
    }
}
