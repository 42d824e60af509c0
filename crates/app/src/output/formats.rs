//! Findings in other tools' formats. Fingerprints contain no line number, so that a moved finding keeps its identity.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use referee_core::model::{Severity, Snapshot};
use referee_core::plan::Plan;
use referee_core::render::is_terminal_unsafe;
use serde_json::{Value, json};

use super::findings::{FindingView, summarize_counts};
use super::review_ending::ReviewEnding;
use crate::printable::{escape_json, to_one_line};

/// The output format of `review`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    Human,
    Json,
    Jsonl,
    Sarif,
    Rdjson,
    Checkstyle,
    Gitlab,
    Github,
    Md,
}

/// Renders the findings in another tool's format. Returns `None` for `human` and `json`, which show more than findings.
pub(super) fn render_findings(
    format: OutputFormat,
    findings: &[FindingView],
    snapshot: &Snapshot,
    plan: &Plan,
    ending: &ReviewEnding,
) -> Option<String> {
    Some(match format {
        OutputFormat::Human | OutputFormat::Json => return None,
        OutputFormat::Jsonl => render_jsonl(findings, plan),
        OutputFormat::Sarif => to_pretty_json(&render_sarif(findings, snapshot, ending)),
        OutputFormat::Rdjson => to_pretty_json(&render_rdjson(findings)),
        OutputFormat::Checkstyle => render_checkstyle(findings),
        OutputFormat::Gitlab => to_pretty_json(&render_gitlab(findings)),
        OutputFormat::Github => render_github(findings),
        OutputFormat::Md => render_markdown(findings, plan, ending),
    })
}

fn to_pretty_json(value: &Value) -> String {
    escape_json(&format!("{value:#}\n"))
}

fn render_jsonl(findings: &[FindingView], plan: &Plan) -> String {
    let mut lines = String::new();
    for finding in findings {
        let event = json!({
            "event": "finding", "id": finding.id.to_string(), "role": finding.role, "severity": finding.severity,
            "path": finding.path, "line": finding.line, "end_line": finding.end_line, "column": finding.column,
            "title": finding.title, "body": finding.body, "rule": finding.rule, "help": finding.help,
            "state": finding.state,
        });
        let _ = writeln!(lines, "{event}");
    }
    for role in &plan.roles {
        let event = json!({ "event": "verdict", "role": role.role, "own": role.own, "enforced": role.enforced });
        let _ = writeln!(lines, "{event}");
    }
    escape_json(&lines)
}

fn render_sarif(findings: &[FindingView], snapshot: &Snapshot, ending: &ReviewEnding) -> Value {
    let mut rules: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for finding in findings {
        let help = rules.entry(rule_or_role(finding)).or_default();
        *help = help.or(finding.help.as_deref());
    }
    let results: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let level = match finding.severity {
                Severity::Critical => "error",
                Severity::Warning => "warning",
                Severity::Suggestion => "note",
            };
            let mut location =
                json!({ "artifactLocation": { "uri": encode_uri(&finding.path), "uriBaseId": "%SRCROOT%" } });
            if let (Some(line), Some(location)) = (finding.line, location.as_object_mut()) {
                let end_line = finding.end_line.unwrap_or(line).max(line).max(1);
                let mut region = json!({ "startLine": line.max(1), "endLine": end_line });
                if let Some(column) = finding.column {
                    region["startColumn"] = json!(column.max(1));
                }
                location.insert("region".to_owned(), region);
            }
            json!({
                "ruleId": rule_or_role(finding),
                "level": level,
                "message": { "text": full_text(finding) },
                "locations": [{ "physicalLocation": location }],
                "partialFingerprints": { "referee/v1": finding.fingerprint },
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "referee",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|(id, help)| build_rule(id, *help)).collect::<Vec<_>>(),
            } },
            "versionControlProvenance": [{ "repositoryUri": snapshot.pull.url, "revisionId": snapshot.pull.head }],
            "invocations": [{ "executionSuccessful": ending.is_reviewed() }],
            "results": results,
        }],
    })
}

fn build_rule(id: &str, help: Option<&str>) -> Value {
    match help {
        Some(help) => json!({ "id": id, "helpUri": help }),
        None => json!({ "id": id }),
    }
}

fn render_rdjson(findings: &[FindingView]) -> Value {
    let diagnostics: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let severity = match finding.severity {
                Severity::Critical => "ERROR",
                Severity::Warning => "WARNING",
                Severity::Suggestion => "INFO",
            };
            let mut location = json!({ "path": finding.path });
            if let (Some(line), Some(location)) = (finding.line, location.as_object_mut()) {
                let end = finding.end_line.unwrap_or(line);
                let mut range = json!({ "start": { "line": line }, "end": { "line": end } });
                if let Some(column) = finding.column {
                    range["start"]["column"] = json!(column);
                }
                location.insert("range".to_owned(), range);
            }
            json!({
                "message": full_text(finding), "location": location, "severity": severity,
                "code": { "value": rule_or_role(finding), "url": finding.help.as_deref().unwrap_or_default() },
            })
        })
        .collect();
    json!({ "source": { "name": "referee" }, "diagnostics": diagnostics })
}

fn render_gitlab(findings: &[FindingView]) -> Value {
    let issues = findings.iter().map(|finding| {
        let severity = match finding.severity {
            Severity::Critical => "critical",
            Severity::Warning => "major",
            Severity::Suggestion => "minor",
        };
        json!({
            "description": finding.title, "check_name": rule_or_role(finding), "fingerprint": finding.fingerprint,
            "severity": severity, "content": { "body": finding.body },
            "location": { "path": finding.path, "lines": { "begin": finding.line.unwrap_or(1).max(1) } },
        })
    });
    Value::Array(issues.collect())
}

fn render_checkstyle(findings: &[FindingView]) -> String {
    let mut out = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<checkstyle version=\"4.3\">\n".to_owned();
    let mut paths: Vec<&str> = findings.iter().map(|finding| finding.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    for path in paths {
        let _ = writeln!(out, "  <file name=\"{}\">", escape_xml(path));
        for finding in findings.iter().filter(|finding| finding.path == path) {
            let severity = match finding.severity {
                Severity::Critical => "error",
                Severity::Warning => "warning",
                Severity::Suggestion => "info",
            };
            let (line, title) = (finding.line.unwrap_or(1), escape_xml(&finding.title));
            let source = escape_xml(rule_or_role(finding));
            let column = finding.column.map(|column| format!(" column=\"{column}\"")).unwrap_or_default();
            let _ = writeln!(
                out,
                "    <error line=\"{line}\"{column} severity=\"{severity}\" message=\"{title}\" source=\"referee.{source}\"/>"
            );
        }
        out.push_str("  </file>\n");
    }
    out.push_str("</checkstyle>\n");
    out
}

fn render_github(findings: &[FindingView]) -> String {
    let mut out = String::new();
    for finding in findings {
        let command = match finding.severity {
            Severity::Critical => "error",
            Severity::Warning => "warning",
            Severity::Suggestion => "notice",
        };
        let line = finding.line.map(|line| format!(",line={line}")).unwrap_or_default();
        let column = finding.column.map(|column| format!(",col={column}")).unwrap_or_default();
        let (path, id, title) =
            (escape_command_property(&finding.path), finding.id, escape_command_data(&finding.title));
        let _ = writeln!(out, "::{command} file={path}{line}{column},title={id}::{title}");
    }
    out
}

fn render_markdown(findings: &[FindingView], plan: &Plan, ending: &ReviewEnding) -> String {
    let counts = if findings.is_empty() && !ending.is_reviewed() {
        String::new()
    } else {
        format!(" · {}", summarize_counts(findings))
    };
    let mut out = format!("**{}**{counts} · `{}`\n", ending.heading(), plan.head.short());
    if !findings.is_empty() {
        out.push_str("\n| Severity | Finding | Where |\n|---|---|---|\n");
    }
    for finding in findings {
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let (title, path) = (escape_table_cell(&finding.title), escape_table_cell(&finding.path));
        let _ = writeln!(out, "| **{}** {} | {title} | `{path}{line}` |", finding.severity, finding.id);
    }
    out
}

fn rule_or_role(finding: &FindingView) -> &str {
    finding.rule.as_deref().unwrap_or(finding.role.as_str())
}

fn full_text(finding: &FindingView) -> String {
    if finding.body.is_empty() { finding.title.clone() } else { format!("{}\n\n{}", finding.title, finding.body) }
}

/// Percent-encodes a path as a URI reference.
fn encode_uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'~') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Escapes a text for an attribute. XML 1.0 has no form for most characters below U+0020, so they are left out.
fn escape_xml(text: &str) -> String {
    let allowed = text.chars().filter(|c| !c.is_ascii_control() || matches!(c, '\t' | '\n' | '\r' | '\u{7f}'));
    allowed.fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            c if is_terminal_unsafe(c) => {
                let _ = write!(out, "&#x{:X};", u32::from(c));
            }
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
        out
    })
}

/// Escapes the data of a GitHub workflow command: a line break would start another command. Control characters other
/// than line breaks are shown.
fn escape_command_data(text: &str) -> String {
    let escaped = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    to_one_line(&escaped)
}

fn escape_command_property(text: &str) -> String {
    escape_command_data(text).replace(':', "%3A").replace(',', "%2C")
}

fn escape_table_cell(text: &str) -> String {
    text.chars().filter(|c| !is_terminal_unsafe(*c)).collect::<String>().replace('|', "\\|").replace('`', "'")
}
