//! Findings in other tools' formats. Fingerprints leave line numbers out: a moved finding stays the same one.

use std::fmt::Write as _;

use clap::ValueEnum;
use referee_core::model::{Severity, Snapshot, Verdict};
use referee_core::plan::Plan;
use serde_json::{Value, json};

use super::{Shown, count};

/// How `review` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Human,
    /// One document, `referee/turn-1`
    Json,
    /// One event a line
    Jsonl,
    /// SARIF 2.1.0
    Sarif,
    /// reviewdog's JSON
    Rdjson,
    /// Checkstyle XML
    Checkstyle,
    /// GitLab code quality
    Gitlab,
    /// GitHub workflow commands
    Github,
    /// Markdown
    Md,
}

/// The findings in a format of another tool; `None` for the formats that are more than findings.
pub(crate) fn write(format: Format, findings: &[Shown], snapshot: &Snapshot, plan: &Plan) -> Option<String> {
    Some(match format {
        Format::Human | Format::Json => return None,
        Format::Jsonl => jsonl(findings, plan),
        Format::Sarif => pretty(&sarif(findings, snapshot)),
        Format::Rdjson => pretty(&rdjson(findings)),
        Format::Checkstyle => checkstyle(findings),
        Format::Gitlab => pretty(&gitlab(findings)),
        Format::Github => github(findings),
        Format::Md => markdown(findings, plan),
    })
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn jsonl(findings: &[Shown], plan: &Plan) -> String {
    let mut lines = String::new();
    for finding in findings {
        let event = json!({
            "event": "finding", "id": finding.id.to_string(), "role": finding.role, "severity": finding.severity,
            "path": finding.path, "line": finding.line, "title": finding.title, "state": finding.state,
        });
        let _ = writeln!(lines, "{event}");
    }
    for role in &plan.roles {
        let event = json!({ "event": "verdict", "role": role.role, "own": role.own, "enforced": role.enforced });
        let _ = writeln!(lines, "{event}");
    }
    lines
}

fn sarif(findings: &[Shown], snapshot: &Snapshot) -> Value {
    let mut rules: Vec<&str> = findings.iter().map(rule).collect();
    rules.sort_unstable();
    rules.dedup();
    let results: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let level = match finding.severity {
                Severity::Critical => "error",
                Severity::Warning => "warning",
                Severity::Suggestion => "note",
            };
            let mut place = json!({ "artifactLocation": { "uri": uri(&finding.path), "uriBaseId": "%SRCROOT%" } });
            if let (Some(line), Some(at)) = (finding.line, place.as_object_mut()) {
                at.insert(
                    "region".to_owned(),
                    json!({ "startLine": line.max(1), "endLine": finding.end_line.unwrap_or(line).max(line).max(1) }),
                );
            }
            json!({
                "ruleId": rule(finding),
                "level": level,
                "message": { "text": text(finding) },
                "locations": [{ "physicalLocation": place }],
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
                "rules": rules.iter().map(|id| json!({ "id": id })).collect::<Vec<_>>(),
            } },
            "versionControlProvenance": [{ "repositoryUri": snapshot.pull.url, "revisionId": snapshot.pull.head }],
            "invocations": [{ "executionSuccessful": true }],
            "results": results,
        }],
    })
}

fn rdjson(findings: &[Shown]) -> Value {
    let diagnostics: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let severity = match finding.severity {
                Severity::Critical => "ERROR",
                Severity::Warning => "WARNING",
                Severity::Suggestion => "INFO",
            };
            let mut place = json!({ "path": finding.path });
            if let (Some(line), Some(at)) = (finding.line, place.as_object_mut()) {
                let end = finding.end_line.unwrap_or(line);
                at.insert("range".to_owned(), json!({ "start": { "line": line }, "end": { "line": end } }));
            }
            json!({
                "message": text(finding), "location": place, "severity": severity, "code": { "value": rule(finding) },
            })
        })
        .collect();
    json!({ "source": { "name": "referee" }, "diagnostics": diagnostics })
}

fn gitlab(findings: &[Shown]) -> Value {
    let issues = findings.iter().map(|finding| {
        let severity = match finding.severity {
            Severity::Critical => "critical",
            Severity::Warning => "major",
            Severity::Suggestion => "minor",
        };
        json!({
            "description": finding.title, "check_name": rule(finding), "fingerprint": finding.fingerprint,
            "severity": severity,
            "location": { "path": finding.path, "lines": { "begin": finding.line.unwrap_or(1).max(1) } },
        })
    });
    Value::Array(issues.collect())
}

fn checkstyle(findings: &[Shown]) -> String {
    let mut out = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<checkstyle version=\"4.3\">\n".to_owned();
    let mut paths: Vec<&str> = findings.iter().map(|finding| finding.path.as_str()).collect();
    paths.sort_unstable();
    paths.dedup();
    for path in paths {
        let _ = writeln!(out, "  <file name=\"{}\">", xml(path));
        for finding in findings.iter().filter(|finding| finding.path == path) {
            let severity = match finding.severity {
                Severity::Critical => "error",
                Severity::Warning => "warning",
                Severity::Suggestion => "info",
            };
            let (line, title) = (finding.line.unwrap_or(1), xml(&finding.title));
            let source = xml(rule(finding));
            let _ = writeln!(
                out,
                "    <error line=\"{line}\" severity=\"{severity}\" message=\"{title}\" source=\"referee.{source}\"/>"
            );
        }
        out.push_str("  </file>\n");
    }
    out.push_str("</checkstyle>\n");
    out
}

fn github(findings: &[Shown]) -> String {
    let mut out = String::new();
    for finding in findings {
        let word = match finding.severity {
            Severity::Critical => "error",
            Severity::Warning => "warning",
            Severity::Suggestion => "notice",
        };
        let place = finding.line.map(|line| format!(",line={line}")).unwrap_or_default();
        let (path, id, title) = (property(&finding.path), finding.id, message(&finding.title));
        let _ = writeln!(out, "::{word} file={path}{place},title={id}::{title}");
    }
    out
}

fn markdown(findings: &[Shown], plan: &Plan) -> String {
    let verdict = plan.roles.iter().filter_map(|role| role.enforced.or(role.own)).max();
    let said = match verdict {
        Some(Verdict::RequestChanges) => "Changes requested",
        Some(Verdict::Approve | Verdict::Comment) => "Nothing blocking",
        None => "Not reviewed",
    };
    let mut out = format!("**{said}** · {} · `{}`\n", count(findings), plan.head.short());
    if !findings.is_empty() {
        out.push_str("\n| Severity | Finding | Where |\n|---|---|---|\n");
    }
    for finding in findings {
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let (title, path) = (cell(&finding.title), cell(&finding.path));
        let _ = writeln!(out, "| **{}** {} | {title} | `{path}{line}` |", finding.severity, finding.id);
    }
    out
}

fn rule(finding: &Shown) -> &str {
    finding.rule.as_deref().unwrap_or(finding.role.as_str())
}

fn text(finding: &Shown) -> String {
    if finding.body.is_empty() { finding.title.clone() } else { format!("{}\n\n{}", finding.title, finding.body) }
}

/// A path as a URI reference: what is not plain is written by its bytes.
fn uri(path: &str) -> String {
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

fn xml(text: &str) -> String {
    let kept = text.chars().filter(|c| !c.is_control());
    kept.fold(String::with_capacity(text.len()), |mut out, c| {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
        out
    })
}

/// The data of a workflow command: one line, nothing that begins another.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

fn cell(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect::<String>().replace('|', "\\|").replace('`', "'")
}
