//! What is wrong with the config, all of it at once, as cargo would print it.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;

use super::source::{Place, Source};

/// Everything that is wrong with the config.
#[derive(Clone, Debug)]
pub(crate) struct Errors {
    pub(super) sources: Vec<Source>,
    pub(super) faults: Vec<Fault>,
}

/// One thing that is wrong.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) place: Place,
    /// The consequence.
    pub(super) what: String,
    /// What stands there.
    pub(super) label: String,
    /// What to write instead.
    pub(super) hint: Option<String>,
    /// Another place of the same source that has to do with it.
    pub(super) also: Option<(Range<usize>, String)>,
}

/// One thing that is wrong, for `--json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Told {
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

impl Fault {
    pub(super) fn new(place: Place, what: impl Into<String>, label: impl Into<String>) -> Self {
        Self { place, what: what.into(), label: label.into(), hint: None, also: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with "did you mean", if there is something to mean.
    pub(super) fn meant(self, word: Option<&str>) -> Self {
        match word {
            Some(word) => self.hint(format!("did you mean `{word}`?")),
            None => self,
        }
    }
}

impl Errors {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.faults.len()
    }

    /// For a terminal; `to_string` is the same without colours.
    pub(crate) fn coloured(&self) -> String {
        self.render(&Renderer::styled())
    }

    /// Each of them, for programs.
    pub(crate) fn told(&self) -> Vec<Told> {
        let told = |fault: &Fault| {
            let source = self.sources.get(fault.place.source)?;
            let (line, column) = source.position(fault.place.span.start);
            let (message, hint) = (fault.what.clone(), fault.hint.clone());
            Some(Told { file: source.name.clone(), line, column, message, hint })
        };
        self.faults.iter().filter_map(told).collect()
    }

    fn render(&self, renderer: &Renderer) -> String {
        let blocks = self.faults.iter().map(|fault| self.block(renderer, fault));
        let count = match self.count() {
            1 => "1 error".to_owned(),
            count => format!("{count} errors"),
        };
        let end = Level::ERROR.primary_title(format!("the config cannot be used: {count}"));
        let end = renderer.render(&[Group::with_title(end)]);
        blocks.chain([end]).collect::<Vec<_>>().join("\n\n")
    }

    fn block(&self, renderer: &Renderer, fault: &Fault) -> String {
        let title = Level::ERROR.primary_title(fault.what.as_str());
        let mut group = Group::with_title(title);
        if let Some(source) = self.sources.get(fault.place.source) {
            let main = AnnotationKind::Primary.span(fault.place.span.clone()).label(fault.label.as_str());
            let also = fault
                .also
                .iter()
                .map(|(span, label)| AnnotationKind::Context.span(source.within(span.clone())).label(label.as_str()));
            let snippet = Snippet::source(source.shown()).path(source.name.as_str());
            group = group.element(snippet.annotation(main).annotations(also));
        }
        if let Some(hint) = &fault.hint {
            group = group.element(Level::HELP.with_name("hint").message(hint.as_str()));
        }
        renderer.render(&[group])
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Renderer::plain()))
    }
}

impl std::error::Error for Errors {}
