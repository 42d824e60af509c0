//! Findings for the terminal, in the layout of cargo's diagnostics: title, location, source line with carets, notes.

use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use referee_core::model::{FindingDetail, FindingId, FindingState, RoleName, Severity};
use referee_core::plan::{FindingLine, Plan};
use referee_core::render::is_terminal_unsafe;
use referee_review::builtin::RuleSet;

use super::pluralize;

/// A finding of the plan, with owned texts.
#[derive(Clone, Debug)]
pub(super) struct FindingView {
    pub(super) id: FindingId,
    pub(super) role: RoleName,
    pub(super) severity: Severity,
    pub(super) path: String,
    /// `None` for a finding about the whole file.
    pub(super) line: Option<u32>,
    pub(super) end_line: Option<u32>,
    /// Counted from 1.
    pub(super) column: Option<u32>,
    pub(super) title: String,
    pub(super) body: String,
    pub(super) rule: Option<String>,
    /// Web page of the rule.
    pub(super) help: Option<String>,
    /// Identity of the finding, independent of its line.
    pub(super) fingerprint: String,
    pub(super) state: FindingState,
}

/// Returns the findings that still count against the pull, most severe first.
pub(super) fn collect_open_findings(plan: &Plan) -> Vec<FindingView> {
    let mut open: Vec<FindingView> =
        plan.findings.iter().filter(|line| line.counts).map(|line| build_finding_view(&line)).collect();
    open.sort_by(|a, b| {
        b.severity.cmp(&a.severity).then_with(|| (&a.path, a.line, a.id).cmp(&(&b.path, b.line, b.id)))
    });
    open
}

fn build_finding_view(line: &FindingLine<'_>) -> FindingView {
    let FindingDetail { body, end_line, column, help } = line.detail;
    FindingView {
        id: line.id,
        role: RoleName::from(line.role),
        severity: line.severity,
        path: line.path.to_owned(),
        line: line.line,
        end_line,
        column,
        title: line.title.to_owned(),
        body: body.to_owned(),
        rule: line.rule.map(str::to_owned),
        help: help.map(str::to_owned),
        fingerprint: line.fingerprint.to_owned(),
        state: line.state,
    }
}

/// Renders one finding with its source: `critical[static] F1 …`, `--> path:line`, the line, carets, `= help: …`.
pub(super) fn render_finding(
    finding: &FindingView,
    source: Option<&str>,
    rules: Option<&RuleSet>,
    renderer: &Renderer,
) -> String {
    let level = match finding.severity {
        Severity::Critical => Level::ERROR.with_name("critical"),
        Severity::Warning => Level::WARNING.with_name("warning"),
        Severity::Suggestion => Level::NOTE.with_name("suggestion"),
    };
    let state_suffix = match finding.state {
        FindingState::New | FindingState::Open => "",
        FindingState::Answered => " (answered)",
        FindingState::Disputed => " (disputed)",
        FindingState::Stale => " (stale)",
        FindingState::Fixed => " (fixed)",
        FindingState::Accepted => " (accepted)",
        FindingState::Refuted => " (refuted)",
    };
    let title = replace_controls(&format!("{} {}{state_suffix}", finding.id, finding.title));
    let mut group = Group::with_title(level.primary_title(title).id(replace_controls(finding.role.as_str())));
    group = add_location(group, finding, source);
    let reason = first_paragraph(&finding.body);
    if !reason.is_empty() {
        group = group.element(Level::NOTE.message(replace_controls(&reason)));
    }
    if let Some(rule) = finding.rule.as_ref().filter(|rule| rules.is_some_and(|rules| rules.find_page(rule).is_some()))
    {
        let rule = replace_controls(rule);
        group = group.element(Level::HELP.message(format!("`referee explain --rule {rule}` says why")));
    }
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(replace_controls(help)));
    }
    let mut out = renderer.render(&[group]);
    let _ = writeln!(out, "\n");
    out
}

/// Adds the source lines with carets under the first one, or the location alone where there is no source.
fn add_location<'a>(group: Group<'a>, finding: &FindingView, source: Option<&str>) -> Group<'a> {
    let path = replace_controls(&finding.path);
    let Some(line) = finding.line else { return group.element(annotate_snippets::Origin::path(path)) };
    let Some((start, text)) = source.and_then(|source| extract_excerpt(source, line, finding.end_line)) else {
        return group.element(annotate_snippets::Origin::path(path).line(line as usize));
    };
    let text = replace_controls_keep_lines(&text);
    let caret_start = text.len() - text.trim_start().len();
    let text_end = text.trim_end().len().max(caret_start);
    let line_end = text.get(..text_end).and_then(|text| text.find('\n'));
    let caret_end = line_end.map_or(text_end, |line_end| line_end.max(caret_start));
    let carets = AnnotationKind::Primary.span(caret_start..caret_end);
    group.element(Snippet::source(text).line_start(start).path(path).annotation(carets))
}

/// Returns the text up to the first empty line, with its hard wraps joined.
fn first_paragraph(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// Maximum number of source lines shown with a finding.
const MAX_EXCERPT_LINES: usize = 6;

/// Returns the lines of a finding and the number of the first one, counted from 1.
fn extract_excerpt(source: &str, line: u32, end_line: Option<u32>) -> Option<(usize, String)> {
    let start = usize::try_from(line).ok()?.checked_sub(1)?;
    let last = usize::try_from(end_line.unwrap_or(line)).ok()?.clamp(start + 1, start + MAX_EXCERPT_LINES);
    let lines: Vec<&str> = source.lines().skip(start).take(last - start).collect();
    (!lines.is_empty()).then(|| (start + 1, lines.join("\n")))
}

/// Replaces characters that a terminal would interpret, such as escape sequences.
pub(super) fn replace_controls(text: &str) -> String {
    text.chars().map(|c| if is_terminal_unsafe(c) { '\u{fffd}' } else { c }).collect()
}

fn replace_controls_keep_lines(text: &str) -> String {
    text.chars().map(|c| if is_terminal_unsafe(c) && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c }).collect()
}

/// Renders a count by severity, such as `2 findings: 1 critical, 1 suggestion`.
pub(super) fn summarize_counts(findings: &[FindingView]) -> String {
    if findings.is_empty() {
        return "no findings".to_owned();
    }
    let counts: Vec<String> = [Severity::Critical, Severity::Warning, Severity::Suggestion]
        .into_iter()
        .map(|severity| (severity, findings.iter().filter(|finding| finding.severity == severity).count()))
        .filter(|(_, n)| *n > 0)
        .map(|(severity, n)| match severity {
            Severity::Critical => format!("{n} critical"),
            _ if n == 1 => format!("1 {severity}"),
            _ => format!("{n} {severity}s"),
        })
        .collect();
    format!("{}: {}", pluralize(findings.len(), "finding"), counts.join(", "))
}
