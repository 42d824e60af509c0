//! Open findings without a thread: beyond `max_inline`, outside the diff, second on a line, or refused by the forge. They
//! stand in the summary only, so a scan of threads lists them separately.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Phase, PhaseNow, ThreadFilter};
use crate::model::{FindingId, Severity};
use crate::plan::{Findings, Reason};
use crate::render::TerminalSafe;
use crate::rule::Rule;
use crate::sanitise::SafeText;

/// Maximum findings that are listed as text.
const MAX_LINES: usize = 50;
/// Maximum characters of a title or location that are shown.
const PREVIEW_CHARS: usize = 100;

/// An open finding without a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnthreadedFinding {
    /// Such as `F12`.
    pub id: String,
    pub role: String,
    pub severity: Severity,
    pub path: String,
    /// `None` for a finding on a whole file.
    pub line: Option<u32>,
    pub end_line: Option<u32>,
    pub column: Option<u32>,
    pub title: String,
    pub body: String,
    pub rule: Option<String>,
    /// Web page that explains the rule.
    pub help: Option<String>,
}

/// Returns the open findings of a plan that have no thread, in its order. A filter of authors selects threads only.
pub fn list_unthreaded(findings: &Findings, filter: &ThreadFilter) -> Vec<UnthreadedFinding> {
    let selected = findings.iter().filter(|line| {
        line.counts && line.thread.is_none() && filter.authors.is_empty() && filter.selects_path(line.path)
    });
    let unthreaded = selected.map(|line| UnthreadedFinding {
        id: line.id.to_string(),
        role: line.role.to_owned(),
        severity: line.severity,
        path: line.path.to_owned(),
        line: line.line,
        end_line: line.detail.end_line,
        column: line.detail.column,
        title: line.title.to_owned(),
        body: line.detail.body.to_owned(),
        rule: line.rule.map(str::to_owned),
        help: line.detail.help.map(str::to_owned),
    });
    unthreaded.collect()
}

/// Renders the findings as text, bounded like the list of threads. Empty if there are none.
pub fn render_unthreaded(findings: &[UnthreadedFinding]) -> String {
    let mut lines: Vec<String> = Vec::new();
    if !findings.is_empty() {
        lines.push(format!("{} without a thread", pluralize_findings(findings.len())));
    }
    for finding in findings.iter().take(MAX_LINES) {
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let location = SafeText::sanitise_line(&format!("{}{line}", finding.path), PREVIEW_CHARS);
        let title = SafeText::sanitise_line(&finding.title, PREVIEW_CHARS);
        lines.push(format!("{} {} {}: {}", finding.id, finding.severity, location.as_str(), title.as_str()));
    }
    let more = findings.len().saturating_sub(MAX_LINES);
    if more > 0 {
        lines.push(format!("… and {more} more; `--json` lists all of them"));
    }
    lines.iter().map(|line| format!("{}\n", TerminalSafe(line))).collect()
}

impl PhaseNow {
    /// Returns the phase of a pull with open findings without a thread: they leave something to do, as an open thread does.
    #[must_use]
    pub fn with_unthreaded(self, findings: &Findings) -> Self {
        let open = list_unthreaded(findings, &ThreadFilter::include_all()).len();
        if open == 0 || !matches!(self.phase, Phase::Unverified | Phase::Verified) {
            return self;
        }
        let why =
            Reason::new(Rule::UnresolvedThreads).with_fact(format!("{} without a thread", pluralize_findings(open)));
        Self { phase: Phase::ReviewTriage, why, ..self }
    }
}

/// Returns the finding that a person named instead of a thread, such as `F12`, and its thread.
pub fn find_named_finding<'a>(findings: &'a Findings, name: &str) -> Option<(FindingId, Option<&'a str>)> {
    findings.iter().find(|line| line.id.to_string().eq_ignore_ascii_case(name)).map(|line| (line.id, line.thread))
}

fn pluralize_findings(count: usize) -> String {
    if count == 1 { "1 finding".to_owned() } else { format!("{count} findings") }
}
