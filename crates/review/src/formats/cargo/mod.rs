//! `cargo … --message-format=json`: one message a line, among whatever else the build prints.

mod wire;

use referee_core::model::{Severity, Submission};

use self::wire::{Diagnostic, Message, Span};
use super::draft::{BrokenLines, Draft, Place, Said};
use super::{Format, FormatError, Origin};

pub(super) fn parse(text: &str, origin: &Origin<'_>) -> Result<Submission, FormatError> {
    let mut draft = Draft::new(origin);
    let mut state = Build::Unseen;
    let mut broken = BrokenLines::default();
    // Programs and macros print into the same stream; cargo's messages are the lines that are JSON objects.
    for (number, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with('{')) {
        match serde_json::from_str(line) {
            Ok(Message::Said { message, manifest_path }) => {
                state = Build::Running;
                say(&mut draft, &message, &manifest_path);
            }
            Ok(Message::Finished { success }) => {
                state = Build::Finished;
                if !success {
                    draft.gap("the build failed, so what depends on the failed part was not read");
                }
            }
            Ok(Message::Other) => state = Build::Running,
            // Behind the end of the build it is the output of what was built.
            Err(_) if state == Build::Finished => {}
            Err(_) => broken.add(number + 1),
        }
    }
    broken.tell(&mut draft);
    match state {
        Build::Unseen => {
            let what = "no line of it is a message of cargo".to_owned();
            return Err(FormatError::Foreign { format: Format::Cargo, what });
        }
        Build::Running => draft.gap("there is no `build-finished`"),
        Build::Finished => {}
    }
    Ok(draft.finish())
}

#[derive(PartialEq, Eq)]
enum Build {
    Unseen,
    Running,
    Finished,
}

fn say(draft: &mut Draft<'_>, said: &Diagnostic, manifest: &str) {
    let Some(severity) = said.severity().filter(|_| !said.is_tally()) else { return };
    let place = Placed::of(draft, said, manifest);
    draft.say(Said {
        message: said.words(),
        severity,
        line: place.span.map(|span| span.line_start).filter(|line| *line > 0),
        end_line: place.span.map(|span| span.line_end).filter(|end| place.span.is_some_and(|it| it.line_start < *end)),
        rule: said.code.as_ref().map(|code| code.code.clone()),
        suggestion: place.span.and_then(|span| said.suggestion(span)),
        place: place.place,
    });
}

/// Where a message is about: its primary span, or in a macro's body of another crate, the call of that macro.
struct Placed<'m> {
    place: Place,
    span: Option<&'m Span>,
}

impl<'m> Placed<'m> {
    fn of(draft: &Draft<'_>, said: &'m Diagnostic, manifest: &str) -> Self {
        let Some(primary) = said.spans.iter().find(|span| span.is_primary).or(said.spans.first()) else {
            return Self { place: Place::Outside(String::new()), span: None };
        };
        let mut span = primary;
        loop {
            if let Some(path) = path(draft, &span.file_name, manifest) {
                return Self { place: Place::Inside(path), span: Some(span) };
            }
            match &span.expansion {
                Some(expansion) => span = &expansion.span,
                None => return Self { place: Place::Outside(primary.file_name.clone()), span: Some(primary) },
            }
        }
    }
}

/// Names are relative to the workspace, which may be a folder of the repository: the deepest folder on the way to the
/// package in which the change has such a file, else as it is written.
fn path(draft: &Draft<'_>, name: &str, manifest: &str) -> Option<String> {
    let plain = draft.places.path(name)?;
    let manifest = draft.places.path(manifest).unwrap_or_default();
    let folders = manifest.match_indices('/').map(|(at, _)| &manifest[..at]);
    let deepest = folders.map(|folder| format!("{folder}/{plain}")).rfind(|path| draft.places.has(path));
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
    fn is_tally(&self) -> bool {
        let counts = self.message.starts_with("aborting due to ")
            || self.message.ends_with(" warning emitted")
            || self.message.ends_with(" warnings emitted");
        self.spans.is_empty() && self.code.is_none() && counts
    }

    fn words(&self) -> String {
        let children = self.children.iter().map(|child| format!("{}: {}", child.level, child.message));
        let labels = self.spans.iter().filter(|span| span.is_primary).filter_map(|span| span.label.clone());
        let rest: Vec<String> = labels.chain(children).collect();
        format!("{}\n\n{}", self.message, rest.join("\n"))
    }

    /// The lines of the place as the compiler would have them; only what it is sure of, and only within those lines.
    fn suggestion(&self, place: &Span) -> Option<String> {
        let sure = |span: &&Span| {
            span.suggested_replacement.is_some() && span.applicability.as_deref() == Some("MachineApplicable")
        };
        let child = self.children.iter().find(|child| child.spans.iter().any(|span| sure(&span)))?;
        let mut edits: Vec<&Span> = child.spans.iter().collect();
        if !edits.iter().all(sure) || edits.iter().any(|edit| edit.file_name != place.file_name) {
            return None;
        }
        edits.sort_by_key(|edit| (edit.line_start, edit.column_start));
        place.rewritten(&edits)
    }
}
