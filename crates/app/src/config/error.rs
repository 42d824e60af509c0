//! Errors of the config, all reported at once in the layout of cargo's diagnostics.

use std::fmt;
use std::ops::Range;

use super::source::{ConfigSource, SourceLocation};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// Every fault found in the config, with the sources they refer to.
#[derive(Clone, Debug)]
pub(crate) struct ConfigErrors {
    pub(super) sources: Vec<ConfigSource>,
    pub(super) faults: Vec<ConfigFault>,
}

/// One error in a config source.
#[derive(Clone, Debug)]
pub(super) struct ConfigFault {
    pub(super) location: SourceLocation,
    pub(super) message: String,
    /// Stands under the carets that mark `location`.
    pub(super) label: String,
    pub(super) hint: Option<String>,
    /// A second span of the same source, with its label.
    pub(super) related: Option<(Range<usize>, String)>,
}

impl ConfigFault {
    pub(super) fn new(location: SourceLocation, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { location, message: message.into(), label: label.into(), hint: None, related: None }
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the hint "did you mean …?" if there is a similar word.
    pub(super) fn with_suggestion(self, word: Option<&str>) -> Self {
        match word {
            Some(word) => self.with_hint(format!("did you mean `{word}`?")),
            None => self,
        }
    }
}

impl ConfigErrors {
    pub(crate) fn count(&self) -> usize {
        self.faults.len()
    }

    /// Renders the errors with colours; `to_string` renders them without.
    pub(crate) fn render_coloured(&self) -> String {
        self.render(&Renderer::styled())
    }

    fn render(&self, renderer: &Renderer) -> String {
        let blocks = self.faults.iter().map(|fault| self.render_fault(renderer, fault));
        let count = match self.count() {
            1 => "1 error".to_owned(),
            count => format!("{count} errors"),
        };
        let summary = Level::ERROR.primary_title(format!("the config cannot be used: {count}"));
        let summary = renderer.render(&[Group::with_title(summary)]);
        blocks.chain([summary]).collect::<Vec<_>>().join("\n\n")
    }

    fn render_fault(&self, renderer: &Renderer, fault: &ConfigFault) -> String {
        let title = Level::ERROR.primary_title(fault.message.as_str());
        let mut group = Group::with_title(title);
        if let Some(source) = self.sources.get(fault.location.source) {
            let primary = AnnotationKind::Primary.span(fault.location.span.clone()).label(fault.label.as_str());
            let related = fault.related.iter().map(|(span, label)| {
                AnnotationKind::Context.span(source.clamp_span(span.clone())).label(label.as_str())
            });
            let snippet = Snippet::source(source.redacted_text()).path(source.name.as_str());
            group = group.element(snippet.annotation(primary).annotations(related));
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
