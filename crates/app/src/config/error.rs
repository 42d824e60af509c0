//! What is wrong with the config, all of it at once, as cargo would print it.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;

use super::source::{ConfigSource, SourceLocation};

/// Everything that is wrong with the config.
#[derive(Clone, Debug)]
pub(crate) struct ConfigErrors {
    pub(super) sources: Vec<ConfigSource>,
    pub(super) faults: Vec<ConfigFault>,
}

/// One thing that is wrong.
#[derive(Clone, Debug)]
pub(super) struct ConfigFault {
    pub(super) location: SourceLocation,
    /// The consequence.
    pub(super) message: String,
    /// What stands there.
    pub(super) label: String,
    /// What to write instead.
    pub(super) hint: Option<String>,
    /// Another place of the same source that has to do with it.
    pub(super) related: Option<(Range<usize>, String)>,
}

/// One thing that is wrong, for `--json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ConfigErrorEntry {
    /// The file, variable or flag.
    pub(crate) file: String,
    /// From 1.
    pub(crate) line: usize,
    /// In characters, from 1.
    pub(crate) column: usize,
    /// The consequence.
    pub(crate) message: String,
    /// What to write instead.
    pub(crate) hint: Option<String>,
}

impl ConfigFault {
    pub(super) fn new(place: SourceLocation, what: impl Into<String>, label: impl Into<String>) -> Self {
        Self { location: place, message: what.into(), label: label.into(), hint: None, related: None }
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with "did you mean", if there is something to mean.
    pub(super) fn with_suggestion(self, word: Option<&str>) -> Self {
        match word {
            Some(word) => self.with_hint(format!("did you mean `{word}`?")),
            None => self,
        }
    }
}

impl ConfigErrors {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.faults.len()
    }

    /// For a terminal; `to_string` is the same without colours.
    pub(crate) fn render_coloured(&self) -> String {
        self.render(&Renderer::styled())
    }

    /// Each of them, for programs.
    pub(crate) fn entries(&self) -> Vec<ConfigErrorEntry> {
        let told = |fault: &ConfigFault| {
            let source = self.sources.get(fault.location.source)?;
            let (line, column) = source.line_and_column(fault.location.span.start);
            let (message, hint) = (fault.message.clone(), fault.hint.clone());
            Some(ConfigErrorEntry { file: source.name.clone(), line, column, message, hint })
        };
        self.faults.iter().filter_map(told).collect()
    }

    fn render(&self, renderer: &Renderer) -> String {
        let blocks = self.faults.iter().map(|fault| self.render_fault(renderer, fault));
        let count = match self.count() {
            1 => "1 error".to_owned(),
            count => format!("{count} errors"),
        };
        let end = Level::ERROR.primary_title(format!("the config cannot be used: {count}"));
        let end = renderer.render(&[Group::with_title(end)]);
        blocks.chain([end]).collect::<Vec<_>>().join("\n\n")
    }

    fn render_fault(&self, renderer: &Renderer, fault: &ConfigFault) -> String {
        let title = Level::ERROR.primary_title(fault.message.as_str());
        let mut group = Group::with_title(title);
        if let Some(source) = self.sources.get(fault.location.source) {
            let main = AnnotationKind::Primary.span(fault.location.span.clone()).label(fault.label.as_str());
            let also = fault.related.iter().map(|(span, label)| {
                AnnotationKind::Context.span(source.clamp_span(span.clone())).label(label.as_str())
            });
            let snippet = Snippet::source(source.redacted_text()).path(source.name.as_str());
            group = group.element(snippet.annotation(main).annotations(also));
        }
        if let Some(hint) = &fault.hint {
            group = group.element(Level::HELP.with_name("hint").message(hint.as_str()));
        }
        renderer.render(&[group])
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Renderer::plain()))
    }
}

impl std::error::Error for ConfigErrors {}
