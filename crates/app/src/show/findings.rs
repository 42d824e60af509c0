//! Findings for people: cargo's shape, with the source and carets.

use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use referee_core::mark::TagKind;
use referee_core::model::{FindingId, FindingState, RoleName, Severity, Snapshot};
use referee_core::plan::{FindingLine, Plan};
use referee_core::render::is_terminal_unsafe;
use referee_review::builtin::RuleSet;

/// A finding with all that is known of it.
#[derive(Clone, Debug)]
pub(crate) struct FindingView {
    /// Its id.
    pub(crate) id: FindingId,
    /// Its role.
    pub(crate) role: RoleName,
    /// How grave.
    pub(crate) severity: Severity,
    /// Where.
    pub(crate) path: String,
    /// First line.
    pub(crate) line: Option<u32>,
    /// Last line.
    pub(crate) end_line: Option<u32>,
    /// In a line.
    pub(crate) title: String,
    /// At length; empty where it was raised in an earlier run.
    pub(crate) body: String,
    /// Which rule.
    pub(crate) rule: Option<String>,
    /// Its identity, whatever its line.
    pub(crate) fingerprint: String,
    /// How it stands.
    pub(crate) state: FindingState,
}

/// The findings that still count, gravest first.
pub(crate) fn collect_open_findings(snapshot: &Snapshot, plan: &Plan) -> Vec<FindingView> {
    let mut open: Vec<FindingView> =
        plan.findings.iter().filter(|line| line.counts).map(|line| build_finding_view(snapshot, &line)).collect();
    open.sort_by(|a, b| {
        b.severity.cmp(&a.severity).then_with(|| (&a.path, a.line, a.id).cmp(&(&b.path, b.line, b.id)))
    });
    open
}

fn build_finding_view(snapshot: &Snapshot, line: &FindingLine<'_>) -> FindingView {
    let role = RoleName::from(line.role);
    let report = snapshot.latest_report(&role);
    let same = |raised: &&referee_core::model::RaisedFinding| {
        raised.same_as == Some(line.id)
            || (raised.path == line.path
                && raised.line == line.line
                && referee_core::render::render_title(&raised.title).as_str() == line.title)
    };
    let raised = report.and_then(|report| report.findings.iter().find(same));
    FindingView {
        id: line.id,
        role,
        severity: line.severity,
        path: line.path.to_string(),
        line: line.line,
        end_line: raised.and_then(|raised| raised.end_line),
        title: raised.map_or_else(|| line.title.to_string(), |raised| raised.title.clone()),
        body: raised.map(|raised| raised.body.clone()).unwrap_or_default(),
        rule: raised.and_then(|raised| raised.rule.clone()),
        fingerprint: raised
            .map(|raised| raised.fingerprint.0.clone())
            .or_else(|| find_tagged_fingerprint(snapshot, line))
            .unwrap_or_else(|| format!("{}/{}", line.role, line.id)),
        state: line.state,
    }
}

/// The fingerprint in the thread that it opened.
fn find_tagged_fingerprint(snapshot: &Snapshot, line: &FindingLine<'_>) -> Option<String> {
    let thread = snapshot.threads.iter().find(|thread| Some(thread.id.as_str()) == line.thread)?;
    match &thread.root()?.text.trusted_tag()?.kind {
        TagKind::Root { fingerprint, .. } => Some(fingerprint.0.clone()),
        TagKind::Reply { .. } | TagKind::Topic(_) => None,
    }
}

/// One finding with its source: `critical[static] F1 …`, `--> path:line`, the line, carets, `= help: …`.
pub(crate) fn render_finding(
    finding: &FindingView,
    source: Option<&str>,
    pages: Option<&RuleSet>,
    renderer: &Renderer,
) -> String {
    let level = match finding.severity {
        Severity::Critical => Level::ERROR.with_name("critical"),
        Severity::Warning => Level::WARNING.with_name("warning"),
        Severity::Suggestion => Level::NOTE.with_name("suggestion"),
    };
    let aside = match finding.state {
        FindingState::New | FindingState::Open => "",
        FindingState::Answered => " (answered)",
        FindingState::Disputed => " (disputed)",
        FindingState::Stale => " (stale)",
        FindingState::Fixed => " (fixed)",
        FindingState::Accepted => " (accepted)",
        FindingState::Refuted => " (refuted)",
    };
    let title = replace_controls(&format!("{} {}{aside}", finding.id, finding.title));
    let mut group = Group::with_title(level.primary_title(title).id(replace_controls(finding.role.as_str())));
    let path = replace_controls(&finding.path);
    let lines = finding.line.zip(source).and_then(|(line, source)| extract_excerpt(source, line, finding.end_line));
    group = match (&lines, finding.line) {
        (Some((start, text)), _) => {
            let text = replace_controls_keep_lines(text);
            let begin = text.len() - text.trim_start().len();
            let end = text.trim_end().len().max(begin);
            let first = text.get(..end).and_then(|text| text.find('\n')).map_or(end, |at| at.max(begin));
            let snippet = Snippet::source(text)
                .line_start(*start)
                .path(path)
                .annotation(AnnotationKind::Primary.span(begin..first));
            group.element(snippet)
        }
        (None, Some(line)) => group.element(annotate_snippets::Origin::path(path).line(line as usize)),
        (None, None) => group.element(annotate_snippets::Origin::path(path)),
    };
    let why = first_paragraph(&finding.body);
    if !why.is_empty() {
        group = group.element(Level::NOTE.message(replace_controls(&why)));
    }
    if let Some(rule) = finding.rule.as_ref().filter(|rule| pages.is_some_and(|pages| pages.find_page(rule).is_some()))
    {
        group =
            group.element(Level::HELP.message(format!("`referee explain --rule {}` says why", replace_controls(rule))));
    }
    let mut out = renderer.render(&[group]);
    let _ = writeln!(out, "\n");
    out
}

/// Up to the first empty line, in one line: where a text was wrapped is no end of a sentence.
fn first_paragraph(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// At most so many lines of source are shown.
const MAX_EXCERPT_LINES: usize = 6;

/// The lines of a finding, and the number of the first.
fn extract_excerpt(source: &str, line: u32, end_line: Option<u32>) -> Option<(usize, String)> {
    let start = usize::try_from(line).ok()?.checked_sub(1)?;
    let last = usize::try_from(end_line.unwrap_or(line)).ok()?.clamp(start + 1, start + MAX_EXCERPT_LINES);
    let taken: Vec<&str> = source.lines().skip(start).take(last - start).collect();
    (!taken.is_empty()).then(|| (start + 1, taken.join("\n")))
}

/// Without what a terminal would obey.
fn replace_controls(text: &str) -> String {
    text.chars().map(|c| if is_terminal_unsafe(c) { '\u{fffd}' } else { c }).collect()
}

fn replace_controls_keep_lines(text: &str) -> String {
    text.chars().map(|c| if is_terminal_unsafe(c) && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c }).collect()
}

/// `2 findings: 1 critical, 1 suggestion`.
pub(crate) fn summarize_counts(findings: &[FindingView]) -> String {
    if findings.is_empty() {
        return "no findings".to_owned();
    }
    let each: Vec<String> = [Severity::Critical, Severity::Warning, Severity::Suggestion]
        .into_iter()
        .map(|severity| (severity, findings.iter().filter(|finding| finding.severity == severity).count()))
        .filter(|(_, n)| *n > 0)
        .map(|(severity, n)| match severity {
            Severity::Critical => format!("{n} critical"),
            _ if n == 1 => format!("1 {severity}"),
            _ => format!("{n} {severity}s"),
        })
        .collect();
    let s = if findings.len() == 1 { "" } else { "s" };
    format!("{} finding{s}: {}", findings.len(), each.join(", "))
}
