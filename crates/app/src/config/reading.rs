//! One reading of all sources: what they say, and all that is wrong with it.

use std::collections::{BTreeMap, BTreeSet};

use referee_core::say::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::File;
use super::error::{Errors, Fault};
use super::shape::{Key, Shape};
use super::source::{Place, Source};
use super::value::{At, Value};
use super::walk::Walk;

/// What was read so far.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) sources: Vec<Source>,
    pub(super) faults: Vec<Fault>,
    /// Entries that values name.
    pub(super) mentions: Vec<Mention>,
    /// Entries that are there, by table.
    pub(super) entries: BTreeMap<String, BTreeSet<String>>,
}

/// An entry of the operator file that a value names.
pub(super) struct Mention {
    pub(super) table: &'static str,
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) path: String,
}

/// How a file was read.
pub(super) enum Read {
    /// There is none.
    Absent,
    /// It is no TOML.
    Broken,
    /// It was read, as far as it is right.
    Whole(At),
}

impl Reading {
    /// The number of the repository's file among the sources.
    pub(super) const REPOSITORY: usize = 0;

    /// The number of the operator file.
    pub(super) const OPERATOR: usize = 1;

    /// Reads a file, or notes that there is none.
    pub(super) fn file(&mut self, keys: &'static [Key], file: Option<&File<'_>>) -> Read {
        let (source, text) = (self.sources.len(), file.map_or("", |file| file.text));
        self.sources.push(Source::new(file.map_or("", |file| file.name), text));
        if file.is_none() {
            return Read::Absent;
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        if errors.is_empty() {
            return Read::Whole(Walk { reading: self, source }.root(keys, table.get_ref()));
        }
        self.sources[source].hide_likely_secrets();
        let mut lines = BTreeSet::new();
        for error in errors {
            let span = self.sources[source].within(error.span().unwrap_or(0..0));
            // One slip makes the parser stumble over the rest of its line.
            if lines.insert(self.sources[source].position(span.start).0) {
                let what = format!("this is no TOML: {}", error.message().replace('\n', ", "));
                self.faults.push(Fault::new(Place { source, span }, what, "here"));
            }
        }
        Read::Broken
    }

    /// Reads what a flag or a variable says.
    pub(super) fn word(&mut self, key: &str, shape: &'static Shape, name: &str, text: &str) -> Option<At> {
        let source = self.sources.len();
        self.sources.push(Source::new(name, text));
        let quoted = !matches!(shape, Shape::Switch | Shape::Number(..) | Shape::Money);
        let plain = || Spanned::new(0..text.len(), DeValue::String(text.into()));
        let found = if quoted { plain() } else { DeValue::parse(text.trim()).unwrap_or_else(|_| plain()) };
        let found = Spanned::new(0..text.len(), found.into_inner());
        Walk { reading: self, source }.value(shape, &found, key)
    }

    /// Entries that are named and not there. Without an operator file a role cannot run, but the rest can.
    pub(super) fn check_mentions(&mut self, operator: &Read) -> Vec<String> {
        let mut warnings = Vec::new();
        for Mention { table, name, place, path } in std::mem::take(&mut self.mentions) {
            let entries = self.entries.get(table);
            if entries.is_some_and(|entries| entries.contains(&name)) {
                continue;
            }
            match operator {
                Read::Broken => {}
                Read::Absent => {
                    let (line, _) = self.sources[place.source].position(place.span.start);
                    let file = &self.sources[place.source].name;
                    warnings.push(format!(
                        "`[{table}.{name}]` is missing: {file}, line {line}, names it, and there is no operator file"
                    ));
                }
                Read::Whole(_) => {
                    let what = format!("`{path}` names `{name}`, and the operator file has no `[{table}.{name}]`");
                    let near = nearest(&name, entries.into_iter().flatten().map(String::as_str));
                    self.faults.push(Fault::new(place, what, "not there").meant(near));
                }
            }
        }
        warnings
    }

    /// Where a value stands, as people find it.
    pub(super) fn origin(&self, place: Option<&Place>) -> String {
        let Some((source, place)) = place.and_then(|place| Some((self.sources.get(place.source)?, place))) else {
            return "default".into();
        };
        format!("{}, line {}", source.name, source.position(place.span.start).0)
    }

    /// Everything that was wrong, in the order of the files.
    pub(super) fn errors(mut self) -> Result<(), Errors> {
        if self.faults.is_empty() {
            return Ok(());
        }
        self.faults.sort_by_key(|fault| (fault.place.source, fault.place.span.start, fault.place.span.end));
        Err(Errors { sources: self.sources, faults: self.faults })
    }
}

impl Read {
    /// What it says; an absent or broken file says nothing.
    pub(super) fn into_at(self) -> At {
        match self {
            Self::Whole(at) => at,
            Self::Absent | Self::Broken => At { value: Value::Table(BTreeMap::new()), place: None },
        }
    }
}
