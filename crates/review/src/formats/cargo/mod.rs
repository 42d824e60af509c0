//! `cargo … --message-format=json`: one message a line, among whatever else the build prints.

mod wire;

use referee_core::model::{Severity, Submission};

use self::wire::{Diagnostic, Message, Span};
use super::report_builder::{BrokenLines, MessageLocation, ToolMessage, ToolReportBuilder};
use super::{Format, FormatError, ReportContext};

pub(super) fn parse_cargo(text: &str, origin: &ReportContext<'_>) -> Result<Submission, FormatError> {
    let mut draft = ToolReportBuilder::new(origin);
    let mut state = BuildState::NotStarted;
    let mut broken = BrokenLines::default();
    // Programs and macros print into the same stream; cargo's messages are the lines that are JSON objects.
    for (number, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with('{')) {
        match serde_json::from_str(line) {
            Ok(Message::Said { message, manifest_path }) => {
                state = BuildState::Running;
                add_diagnostic(&mut draft, &message, &manifest_path);
            }
            Ok(Message::Finished { success }) => {
                state = BuildState::Finished;
                if !success {
                    draft.add_gap("the build failed, so what depends on the failed part was not read");
                }
            }
            Ok(Message::Other) => state = BuildState::Running,
            // Behind the end of the build it is the output of what was built.
            Err(_) if state == BuildState::Finished => {}
            Err(_) => broken.add_line(number + 1),
        }
    }
    broken.report_gap(&mut draft);
    match state {
        BuildState::NotStarted => {
            let what = "no line of it is a message of cargo".to_owned();
            return Err(FormatError::WrongFormat { format: Format::Cargo, what });
        }
        BuildState::Running => draft.add_gap("there is no `build-finished`"),
        BuildState::Finished => {}
    }
    Ok(draft.finish())
}

#[derive(PartialEq, Eq)]
enum BuildState {
    NotStarted,
    Running,
    Finished,
}

fn add_diagnostic(draft: &mut ToolReportBuilder<'_>, said: &Diagnostic, manifest: &str) {
    let Some(severity) = said.severity().filter(|_| !said.is_summary()) else { return };
    let place = LocatedSpan::locate(draft, said, manifest);
    draft.add_message(ToolMessage {
        message: said.render_message(),
        severity,
        line: place.span.map(|span| span.line_start).filter(|line| *line > 0),
        end_line: place.span.map(|span| span.line_end).filter(|end| place.span.is_some_and(|it| it.line_start < *end)),
        rule: said.code.as_ref().map(|code| code.code.clone()),
        suggestion: place.span.and_then(|span| said.build_suggestion(span)),
        location: place.location,
    });
}

/// Where a message is about: its primary span, or in a macro's body of another crate, the call of that macro.
struct LocatedSpan<'m> {
    location: MessageLocation,
    span: Option<&'m Span>,
}

impl<'m> LocatedSpan<'m> {
    fn locate(draft: &ToolReportBuilder<'_>, said: &'m Diagnostic, manifest: &str) -> Self {
        let Some(primary) = said.spans.iter().find(|span| span.is_primary).or(said.spans.first()) else {
            return Self { location: MessageLocation::OutsideRepository(String::new()), span: None };
        };
        let mut span = primary;
        loop {
            if let Some(path) = resolve_workspace_path(draft, &span.file_name, manifest) {
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

/// Names are relative to the workspace, which may be a folder of the repository: the deepest folder on the way to the
/// package in which the change has such a file, else as it is written.
fn resolve_workspace_path(draft: &ToolReportBuilder<'_>, name: &str, manifest: &str) -> Option<String> {
    let plain = draft.paths.resolve_path(name)?;
    let manifest = draft.paths.resolve_path(manifest).unwrap_or_default();
    let folders = manifest.match_indices('/').map(|(at, _)| &manifest[..at]);
    let deepest = folders.map(|folder| format!("{folder}/{plain}")).rfind(|path| draft.paths.is_changed_file(path));
    Some(deepest.unwrap_or(plain))
}

impl Diagnostic {
    fn severity(&self) -> Option<Severity> {
        match self.level.as_str() {
            "warning" => Some(Severity::Warning),
            "note" | "help" => Some(Severity::Suggestion),
            "failure-note" => None,
            // `error`, and the compiler's own crash.
            _ => Some(Severity::Critical),
        }
    }

    /// A count of the messages before it.
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

    /// The lines of the place as the compiler would have them; only what it is sure of, and only within those lines.
    fn build_suggestion(&self, place: &Span) -> Option<String> {
        let sure = |span: &&Span| {
            span.suggested_replacement.is_some() && span.applicability.as_deref() == Some("MachineApplicable")
        };
        let child = self.children.iter().find(|child| child.spans.iter().any(|span| sure(&span)))?;
        let mut edits: Vec<&Span> = child.spans.iter().collect();
        if !edits.iter().all(sure) || edits.iter().any(|edit| edit.file_name != place.file_name) {
            return None;
        }
        edits.sort_by_key(|edit| (edit.line_start, edit.column_start));
        place.apply_edits(&edits)
    }
}
