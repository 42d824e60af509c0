//! One reading of all sources: what they say, and all that is wrong with it.

use std::collections::{BTreeMap, BTreeSet};

use referee_core::say::find_nearest_word;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ConfigFile;
use super::error::{ConfigErrors, ConfigFault};
use super::key::{ConfigKey, ValueType};
use super::source::{ConfigSource, SourceLocation};
use super::validate::SourceValidator;
use super::value::{ConfigNode, ConfigValue};

/// What was read so far.
#[derive(Default)]
pub(super) struct ConfigLoader {
    pub(super) sources: Vec<ConfigSource>,
    pub(super) faults: Vec<ConfigFault>,
    /// Entries that values name.
    pub(super) references: Vec<EntryReference>,
    /// Entries that are there, by table.
    pub(super) entries: BTreeMap<String, BTreeSet<String>>,
}

/// An entry of the operator file that a value names.
pub(super) struct EntryReference {
    pub(super) table: &'static str,
    pub(super) name: String,
    pub(super) location: SourceLocation,
    pub(super) path: String,
}

/// How a file was read.
pub(super) enum LoadedFile {
    /// There is none.
    Missing,
    /// It is no TOML.
    Invalid,
    /// It was read, as far as it is right.
    Parsed(ConfigNode),
}

impl ConfigLoader {
    /// The number of the repository's file among the sources.
    pub(super) const REPOSITORY_SOURCE: usize = 0;

    /// The number of the operator file.
    pub(super) const OPERATOR_SOURCE: usize = 1;

    /// Reads a file, or notes that there is none.
    pub(super) fn load_file(&mut self, keys: &'static [ConfigKey], file: Option<&ConfigFile<'_>>) -> LoadedFile {
        let (source, text) = (self.sources.len(), file.map_or("", |file| file.text));
        self.sources.push(ConfigSource::new(file.map_or("", |file| file.name), text));
        if file.is_none() {
            return LoadedFile::Missing;
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        if errors.is_empty() {
            return LoadedFile::Parsed(SourceValidator { loader: self, source }.validate_file(keys, table.get_ref()));
        }
        self.sources[source].hide_likely_secrets();
        let mut lines = BTreeSet::new();
        for error in errors {
            let span = self.sources[source].clamp_span(error.span().unwrap_or(0..0));
            // One slip makes the parser stumble over the rest of its line.
            if lines.insert(self.sources[source].line_and_column(span.start).0) {
                let what = format!("this is no TOML: {}", error.message().replace('\n', ", "));
                self.faults.push(ConfigFault::new(SourceLocation { source, span }, what, "here"));
            }
        }
        LoadedFile::Invalid
    }

    /// Reads what a flag or a variable says.
    pub(super) fn load_override(
        &mut self,
        key: &str,
        shape: &'static ValueType,
        name: &str,
        text: &str,
    ) -> Option<ConfigNode> {
        let source = self.sources.len();
        self.sources.push(ConfigSource::new(name, text));
        let quoted = !matches!(shape, ValueType::Bool | ValueType::Number(..) | ValueType::Usd);
        let plain = || Spanned::new(0..text.len(), DeValue::String(text.into()));
        let found = if quoted { plain() } else { DeValue::parse(text.trim()).unwrap_or_else(|_| plain()) };
        let found = Spanned::new(0..text.len(), found.into_inner());
        SourceValidator { loader: self, source }.validate_value(shape, &found, key)
    }

    /// Entries that are named and not there. Without an operator file a role cannot run, but the rest can.
    pub(super) fn check_references(&mut self, operator: &LoadedFile) -> Vec<String> {
        let mut warnings = Vec::new();
        for EntryReference { table, name, location: place, path } in std::mem::take(&mut self.references) {
            let entries = self.entries.get(table);
            if entries.is_some_and(|entries| entries.contains(&name)) {
                continue;
            }
            match operator {
                LoadedFile::Invalid => {}
                LoadedFile::Missing => {
                    let (line, _) = self.sources[place.source].line_and_column(place.span.start);
                    let file = &self.sources[place.source].name;
                    warnings.push(format!(
                        "`[{table}.{name}]` is missing: {file}, line {line}, names it, and there is no operator file"
                    ));
                }
                LoadedFile::Parsed(_) => {
                    let what = format!("`{path}` names `{name}`, and the operator file has no `[{table}.{name}]`");
                    let near = find_nearest_word(&name, entries.into_iter().flatten().map(String::as_str));
                    self.faults.push(ConfigFault::new(place, what, "not there").with_suggestion(near));
                }
            }
        }
        warnings
    }

    /// Where a value stands, as people find it.
    pub(super) fn describe_location(&self, place: Option<&SourceLocation>) -> String {
        let Some((source, place)) = place.and_then(|place| Some((self.sources.get(place.source)?, place))) else {
            return "default".into();
        };
        format!("{}, line {}", source.name, source.line_and_column(place.span.start).0)
    }

    /// Everything that was wrong, in the order of the files.
    pub(super) fn into_result(mut self) -> Result<(), ConfigErrors> {
        if self.faults.is_empty() {
            return Ok(());
        }
        self.faults.sort_by_key(|fault| (fault.location.source, fault.location.span.start, fault.location.span.end));
        Err(ConfigErrors { sources: self.sources, faults: self.faults })
    }
}

impl LoadedFile {
    /// What it says; an absent or broken file says nothing.
    pub(super) fn into_node(self) -> ConfigNode {
        match self {
            Self::Parsed(at) => at,
            Self::Missing | Self::Invalid => ConfigNode { value: ConfigValue::Table(BTreeMap::new()), location: None },
        }
    }
}
