//! Checks one source against the table of keys. A wrong value is recorded as a fault and left out, and the check goes
//! on, so that one run reports every error.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::ConfigFault;
use super::key::{ConfigKey, KeyDefault, ValueType, quote_names};
use super::key_table::SECRET_KEYS;
use super::loader::ConfigLoader;
use super::source::SourceLocation;
use super::value::{self, ConfigNode, ConfigValue};

/// Checks the values of one source.
pub(super) struct SourceValidator<'a> {
    /// Collects faults and references.
    pub(super) loader: &'a mut ConfigLoader,
    /// Index of the source in [`ConfigLoader::sources`].
    pub(super) source: usize,
}

impl SourceValidator<'_> {
    /// Checks a whole file.
    pub(super) fn validate_file(&mut self, keys: &'static [ConfigKey], table: &DeTable<'_>) -> ConfigNode {
        for (name, value) in table {
            if let DeValue::Table(entries) = value.get_ref()
                && self.source == ConfigLoader::OPERATOR_SOURCE
            {
                let entries = entries.keys().map(|entry| entry.get_ref().to_string());
                self.loader.entries.entry(name.get_ref().to_string()).or_default().extend(entries);
            }
        }
        if let Some((_, version)) = table.iter().find(|(name, _)| name.get_ref() == "version")
            && keys.iter().any(|key| key.name == "version")
            && self.validate_value(&ValueType::Version, version, "version").is_none()
        {
            // Another version has other keys, so nothing else in the file can be checked.
            return self.locate(version.span()).with_value(ConfigValue::Table(BTreeMap::new()));
        }
        self.validate_table(keys, table, 0..0, "")
    }

    /// Checks a value at a dotted path. Returns `None` after recording a fault.
    pub(super) fn validate_value(
        &mut self,
        value_type: &'static ValueType,
        found: &Spanned<DeValue<'_>>,
        path: &str,
    ) -> Option<ConfigNode> {
        let span = found.span();
        let value = match (value_type, found.get_ref()) {
            (ValueType::Table(keys), DeValue::Table(table)) => {
                return Some(self.validate_table(keys, table, span, path));
            }
            (ValueType::Globs(keys, level), DeValue::Table(table)) => {
                return Some(self.validate_globs(keys, level, table, span, path));
            }
            (ValueType::OneOf(keys), DeValue::Table(table)) => return self.validate_one_of(keys, table, span, path),
            (ValueType::Secret, DeValue::Table(table)) => return self.validate_one_of(SECRET_KEYS, table, span, path),
            (ValueType::Secret, _) => {
                self.hide_span(span.clone());
                self.refuse_literal(span, path);
                return None;
            }
            (ValueType::Map(value_type), DeValue::Table(table)) => self.validate_map(value_type, table, path),
            (ValueType::Roles(keys), DeValue::Array(array)) => {
                self.validate_roles(array);
                let tables = array.iter().map(|entry| match entry.get_ref() {
                    DeValue::Table(table) => Some(self.validate_table(keys, table, entry.span(), path)),
                    other => self.reject_type(value_type, other, entry.span(), path),
                });
                ConfigValue::List(tables.collect::<Vec<_>>().into_iter().flatten().collect())
            }
            (ValueType::List(value_type), DeValue::Array(array)) => {
                let entries = array.iter().map(|entry| self.validate_value(value_type, entry, path));
                ConfigValue::List(entries.collect::<Vec<_>>().into_iter().flatten().collect())
            }
            (ValueType::FixedList(length, entry), DeValue::Array(array)) => {
                let entries: Vec<_> = array.iter().map(|found| self.validate_value(entry, found, path)).collect();
                if entries.len() != *length {
                    let label = format!("this has {}", entries.len());
                    self.add_fault(span, format!("`{path}` must be {}", value_type.describe()), label);
                    return None;
                }
                ConfigValue::List(entries.into_iter().collect::<Option<_>>()?)
            }
            (ValueType::Argv, DeValue::Array(array)) => {
                let words: Vec<_> =
                    array.iter().map(|word| self.validate_value(&ValueType::Text, word, path)).collect();
                let program = array.first().and_then(|word| word.get_ref().as_str());
                if program.is_none_or(|program| program.trim().is_empty()) {
                    let message = format!("`{path}` must be {}", value_type.describe());
                    self.add_fault(span, message, "the program is missing");
                    return None;
                }
                ConfigValue::List(words.into_iter().collect::<Option<_>>()?)
            }
            (ValueType::Either(word, _), DeValue::String(_)) => return self.validate_value(word, found, path),
            (ValueType::Either(_, table), DeValue::Table(_)) => return self.validate_value(table, found, path),
            (value_type, found) => return self.validate_scalar(value_type, found, span, path),
        };
        Some(self.locate(span).with_value(value))
    }

    fn validate_table(
        &mut self,
        keys: &'static [ConfigKey],
        table: &DeTable<'_>,
        span: Range<usize>,
        path: &str,
    ) -> ConfigNode {
        let mut values = BTreeMap::new();
        for (name, found) in table {
            match keys.iter().find(|key| key.name == name.get_ref()) {
                Some(key) => {
                    let value = self.validate_value(&key.value_type, found, &join_path(path, key.name));
                    values.extend(value.map(|value| (key.name.to_owned(), value)));
                }
                None => self.reject_unknown_key(keys, name, found, path),
            }
        }
        self.fill_defaults(keys, table, &mut values, span.clone(), path);
        self.locate(span).with_value(ConfigValue::Table(values))
    }

    /// Checks a table whose further keys are globs.
    fn validate_globs(
        &mut self,
        keys: &'static [ConfigKey],
        value_type: &'static ValueType,
        table: &DeTable<'_>,
        span: Range<usize>,
        path: &str,
    ) -> ConfigNode {
        let mut values = BTreeMap::new();
        for (name, found) in table {
            let fixed = keys.iter().find(|key| key.name == name.get_ref());
            let path = join_path(path, name.get_ref());
            if fixed.is_none() && matches!(found.get_ref(), DeValue::Table(_)) {
                let message = format!("`{path}` must be {}", value_type.describe());
                let fault = ConfigFault::new(self.locate(name.span()), message, "this is a table");
                self.loader.faults.push(fault.with_hint("put an id that contains a dot in quotes"));
                continue;
            }
            if fixed.is_none() && !self.validate_glob(name.get_ref(), name.span(), &path) {
                continue;
            }
            let value = self.validate_value(fixed.map_or(value_type, |key| &key.value_type), found, &path);
            values.extend(value.map(|value| (name.get_ref().to_string(), value)));
        }
        self.fill_defaults(keys, table, &mut values, span.clone(), path);
        self.locate(span).with_value(ConfigValue::Table(values))
    }

    /// Adds the defaults of missing keys, and records a fault for each required one.
    fn fill_defaults(
        &mut self,
        keys: &'static [ConfigKey],
        table: &DeTable<'_>,
        values: &mut BTreeMap<String, ConfigNode>,
        span: Range<usize>,
        path: &str,
    ) {
        for key in keys.iter().filter(|key| !table.keys().any(|name| name.get_ref() == key.name)) {
            match key.default {
                KeyDefault::Required => {
                    let message = format!("`{path}` needs `{}`: {}", key.name, key.about);
                    self.add_fault(span.clone(), message, format!("`{}` is missing here", key.name));
                }
                KeyDefault::Literal(default) => {
                    values.extend(parse_default(&key.value_type, default).map(|value| (key.name.to_owned(), value)));
                }
                KeyDefault::Unset | KeyDefault::Layered { .. } => {}
            }
        }
    }

    fn validate_map(&mut self, value_type: &'static ValueType, table: &DeTable<'_>, path: &str) -> ConfigValue {
        let mut values = BTreeMap::new();
        for (name, found) in table {
            let key = name.get_ref();
            if !value::is_name(key) {
                let message = format!("an entry of `{path}` must have {}", ValueType::Name.describe());
                self.add_fault(name.span(), message, "invalid name");
            }
            let found = self.validate_value(value_type, found, &join_path(path, key));
            values.extend(found.map(|found| (key.to_string(), found)));
        }
        ConfigValue::Table(values)
    }

    fn validate_one_of(
        &mut self,
        keys: &'static [ConfigKey],
        table: &DeTable<'_>,
        span: Range<usize>,
        path: &str,
    ) -> Option<ConfigNode> {
        let faults_before = self.loader.faults.len();
        let node = self.validate_table(keys, table, span.clone(), path);
        let found = keys.iter().filter(|key| table.keys().any(|name| name.get_ref() == key.name)).count();
        if found != 1 && self.loader.faults.len() == faults_before {
            let message = format!("`{path}` needs exactly one of {}", quote_names(keys.iter().map(|key| key.name)));
            self.add_fault(span, message, format!("this has {found}"));
        }
        (self.loader.faults.len() == faults_before).then_some(node)
    }

    pub(super) fn add_fault(&mut self, span: Range<usize>, message: impl Into<String>, label: impl Into<String>) {
        let fault = ConfigFault::new(self.locate(span), message, label);
        self.loader.faults.push(fault);
    }

    pub(super) fn locate(&self, span: Range<usize>) -> SourceLocation {
        let span = self.loader.sources.get(self.source).map_or(0..0, |source| source.clamp_span(span));
        SourceLocation { source: self.source, span }
    }
}

impl SourceLocation {
    pub(super) fn with_value(self, value: ConfigValue) -> ConfigNode {
        ConfigNode { value, location: Some(self) }
    }
}

/// Parses a default of the key table with the checks of a file. A test parses every default.
pub(super) fn parse_default(value_type: &'static ValueType, text: &str) -> Option<ConfigNode> {
    let found = DeValue::parse(text).ok()?;
    let mut loader = ConfigLoader::default();
    let node = SourceValidator { loader: &mut loader, source: 0 }.validate_value(value_type, &found, "")?;
    loader.faults.is_empty().then(|| strip_location(node))
}

fn strip_location(node: ConfigNode) -> ConfigNode {
    let value = match node.value {
        ConfigValue::List(list) => ConfigValue::List(list.into_iter().map(strip_location).collect()),
        value => value,
    };
    ConfigNode { value, location: None }
}

pub(super) fn join_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
