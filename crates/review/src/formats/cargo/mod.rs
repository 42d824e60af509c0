//! `cargo … --message-format=json`: one message per line, mixed with other output of the build.

mod wire;

use referee_core::model::{Severity, Submission};

use self::wire::{Diagnostic, Message, Span};
use super::report_builder::{BrokenLines, MessageLocation, ToolMessage, ToolReportBuilder};
use super::{Format, FormatError, ReportContext};

pub(super) fn parse_cargo(text: &str, context: &ReportContext<'_>) -> Result<Submission, FormatError> {
    let mut report = ToolReportBuilder::new(context);
    let mut state = BuildState::NotStarted;
    let mut broken = BrokenLines::default();
    // Build scripts and macros print to the same stream. The messages of cargo are the lines that are JSON objects.
    for (number, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with('{')) {
        match serde_json::from_str(line) {
            Ok(Message::Diagnostic { message, manifest_path }) => {
                state = BuildState::Running;
                add_diagnostic(&mut report, &message, &manifest_path);
            }
            Ok(Message::Finished { success }) => {
                state = BuildState::Finished;
                if !success {
                    report.add_gap("the build failed, so crates that depend on the failed one were not checked");
                }
            }
            Ok(Message::Other) => state = BuildState::Running,
            // After the end of the build, this is output of the program that was built.
            Err(_) if state == BuildState::Finished => {}
            Err(_) => broken.add_line(number + 1),
        }
    }
    broken.report_gap(&mut report);
    match state {
        BuildState::NotStarted => {
            let what = "no line is a message of cargo".to_owned();
            return Err(FormatError::WrongFormat { format: Format::Cargo, what });
        }
        BuildState::Running => report.add_gap("there is no `build-finished` message"),
        BuildState::Finished => {}
    }
    Ok(report.finish())
}

#[derive(PartialEq, Eq)]
enum BuildState {
    NotStarted,
    Running,
    Finished,
}

fn add_diagnostic(report: &mut ToolReportBuilder<'_>, diagnostic: &Diagnostic, manifest: &str) {
    let Some(severity) = diagnostic.severity().filter(|_| !diagnostic.is_summary()) else {
        return report.count_unsupported();
    };
    let located = LocatedSpan::locate(report, diagnostic, manifest);
    report.add_message(ToolMessage {
        message: diagnostic.render_message(),
        // `error: internal compiler error` is an error too.
        level: diagnostic.level.split(':').next().map(str::to_owned),
        severity,
        line: located.span.map(|span| span.line_start).filter(|line| *line > 0),
        end_line: located
            .span
            .map(|span| span.line_end)
            .filter(|end| located.span.is_some_and(|span| span.line_start < *end)),
        column: located.span.and_then(|span| u32::try_from(span.column_start).ok()),
        help: None,
        rule: diagnostic.code.as_ref().map(|code| code.code.clone()),
        suggestion: located.span.and_then(|span| diagnostic.build_suggestion(span)),
        location: located.location,
    });
}

/// The location of a message: its primary span, or the call of the macro if that span is in a macro of another crate.
struct LocatedSpan<'m> {
    location: MessageLocation,
    span: Option<&'m Span>,
}

impl<'m> LocatedSpan<'m> {
    fn locate(report: &ToolReportBuilder<'_>, diagnostic: &'m Diagnostic, manifest: &str) -> Self {
        let Some(primary) = diagnostic.spans.iter().find(|span| span.is_primary).or(diagnostic.spans.first()) else {
            return Self { location: MessageLocation::OutsideRepository(String::new()), span: None };
        };
        let mut span = primary;
        loop {
            if let Some(path) = resolve_workspace_path(report, &span.file_name, manifest) {
                return Self { location: MessageLocation::InRepository(path), span: Some(span) };
            }
            match &span.expansion {
                Some(expansion) => span = &expansion.span,
                None => {
                    return Self {
                        location: MessageLocation::OutsideRepository(primary.file_name.clone()),
                        span: Some(primary),
                    };
                }
            }
        }
    }
}

/// Resolves a file name, which is relative to the workspace. The workspace may be a folder of the repository: the deepest
/// folder above the package wins in which the change has such a file. Otherwise the name is relative to the repository.
fn resolve_workspace_path(report: &ToolReportBuilder<'_>, name: &str, manifest: &str) -> Option<String> {
    let plain = report.paths.resolve_path(name)?;
    let manifest = report.paths.resolve_path(manifest).unwrap_or_default();
    let folders = manifest.match_indices('/').map(|(at, _)| &manifest[..at]);
    let deepest = folders.map(|folder| format!("{folder}/{plain}")).rfind(|path| report.paths.is_changed_file(path));
    Some(deepest.unwrap_or(plain))
}

impl Diagnostic {
    fn severity(&self) -> Option<Severity> {
        match self.level.as_str() {
            "warning" => Some(Severity::Warning),
            "note" | "help" => Some(Severity::Suggestion),
            "failure-note" => None,
            // `error`, and `error: internal compiler error`.
            _ => Some(Severity::Critical),
        }
    }

    /// Returns whether this only counts the messages before it.
    fn is_summary(&self) -> bool {
        let counts = self.message.starts_with("aborting due to ")
            || self.message.ends_with(" warning emitted")
            || self.message.ends_with(" warnings emitted");
        self.spans.is_empty() && self.code.is_none() && counts
    }

    fn render_message(&self) -> String {
        let children = self.children.iter().map(|child| format!("{}: {}", child.level, child.message));
        let labels = self.spans.iter().filter(|span| span.is_primary).filter_map(|span| span.label.clone());
        let rest: Vec<String> = labels.chain(children).collect();
        format!("{}\n\n{}", self.message, rest.join("\n"))
    }

    /// Applies the compiler's suggestion to the lines of a span. Returns `None` unless every edit is machine-applicable and
    /// within those lines.
    fn build_suggestion(&self, target: &Span) -> Option<String> {
        let is_applicable = |span: &&Span| {
            span.suggested_replacement.is_some() && span.applicability.as_deref() == Some("MachineApplicable")
        };
        let child = self.children.iter().find(|child| child.spans.iter().any(|span| is_applicable(&span)))?;
        let mut edits: Vec<&Span> = child.spans.iter().collect();
        if !edits.iter().all(is_applicable) || edits.iter().any(|edit| edit.file_name != target.file_name) {
            return None;
        }
        edits.sort_by_key(|edit| (edit.line_start, edit.column_start));
        target.apply_edits(&edits)
    }
}
