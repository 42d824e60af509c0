//! Loads all config sources and collects their values and faults.

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

/// The sources loaded so far, with their faults and references.
#[derive(Default)]
pub(super) struct ConfigLoader {
    pub(super) sources: Vec<ConfigSource>,
    pub(super) faults: Vec<ConfigFault>,
    pub(super) references: Vec<EntryReference>,
    /// Names of the operator file's entries, by table.
    pub(super) entries: BTreeMap<String, BTreeSet<String>>,
}

/// A value that names an entry of the operator file.
pub(super) struct EntryReference {
    pub(super) table: &'static str,
    pub(super) name: String,
    pub(super) location: SourceLocation,
    pub(super) path: String,
}

/// The result of loading a config file.
pub(super) enum LoadedFile {
    Missing,
    /// The file is not valid TOML.
    Invalid,
    /// The values that passed the check. Those that did not are recorded as faults.
    Parsed(ConfigNode),
}

impl ConfigLoader {
    /// Index of `referee.toml` in `sources`.
    pub(super) const REPOSITORY_SOURCE: usize = 0;

    /// Index of the operator file in `sources`.
    pub(super) const OPERATOR_SOURCE: usize = 1;

    /// Parses and checks a file. A missing file takes its index in `sources` as well.
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
            // After an error the parser reports follow-up errors on the same line. Only the first one is useful.
            if lines.insert(self.sources[source].line_and_column(span.start).0) {
                let message = format!("invalid TOML: {}", error.message().replace('\n', ", "));
                self.faults.push(ConfigFault::new(SourceLocation { source, span }, message, "here"));
            }
        }
        LoadedFile::Invalid
    }

    /// Parses and checks the value of a flag or an environment variable.
    pub(super) fn load_override(
        &mut self,
        key: &str,
        value_type: &'static ValueType,
        name: &str,
        text: &str,
    ) -> Option<ConfigNode> {
        let source = self.sources.len();
        self.sources.push(ConfigSource::new(name, text));
        let is_string = !matches!(value_type, ValueType::Bool | ValueType::Number(..) | ValueType::Usd);
        let string = || Spanned::new(0..text.len(), DeValue::String(text.into()));
        let found = if is_string { string() } else { DeValue::parse(text.trim()).unwrap_or_else(|_| string()) };
        let found = Spanned::new(0..text.len(), found.into_inner());
        SourceValidator { loader: self, source }.validate_value(value_type, &found, key)
    }

    /// Checks that every referenced entry exists. Without an operator file a missing entry is only a warning, because the
    /// other roles can still run.
    pub(super) fn check_references(&mut self, operator: &LoadedFile) -> Vec<String> {
        let mut warnings = Vec::new();
        for EntryReference { table, name, location, path } in std::mem::take(&mut self.references) {
            let entries = self.entries.get(table);
            if entries.is_some_and(|entries| entries.contains(&name)) {
                continue;
            }
            match operator {
                LoadedFile::Invalid => {}
                LoadedFile::Missing => {
                    let (line, _) = self.sources[location.source].line_and_column(location.span.start);
                    let file = &self.sources[location.source].name;
                    warnings.push(format!(
                        "`[{table}.{name}]` is missing: {file}, line {line}, names it, but there is no operator file"
                    ));
                }
                LoadedFile::Parsed(_) => {
                    let message = format!("`{path}` names `{name}`, but the operator file has no `[{table}.{name}]`");
                    let nearest = find_nearest_word(&name, entries.into_iter().flatten().map(String::as_str));
                    self.faults.push(ConfigFault::new(location, message, "no such entry").with_suggestion(nearest));
                }
            }
        }
        warnings
    }

    /// Renders a location as file and line. A value without a location is a default.
    pub(super) fn describe_location(&self, location: Option<&SourceLocation>) -> String {
        let source = location.and_then(|location| Some((self.sources.get(location.source)?, location)));
        let Some((source, location)) = source else { return "default".into() };
        format!("{}, line {}", source.name, source.line_and_column(location.span.start).0)
    }

    /// Returns all faults in the order of the sources, if there are any.
    pub(super) fn into_result(mut self) -> Result<(), ConfigErrors> {
        if self.faults.is_empty() {
            return Ok(());
        }
        self.faults.sort_by_key(|fault| (fault.location.source, fault.location.span.start, fault.location.span.end));
        Err(ConfigErrors { sources: self.sources, faults: self.faults })
    }
}

impl LoadedFile {
    /// Returns the values of the file. A missing or invalid file has none.
    pub(super) fn into_node(self) -> ConfigNode {
        match self {
            Self::Parsed(node) => node,
            Self::Missing | Self::Invalid => ConfigNode { value: ConfigValue::Table(BTreeMap::new()), location: None },
        }
    }
}
