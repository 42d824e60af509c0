//! One source against the table of keys. It never stops at the first error: what is wrong is noted and left out.

use std::collections::BTreeMap;
use std::ops::Range;

use referee_core::say::find_nearest_word;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::error::ConfigFault;
use super::key::{ConfigKey, KeyDefault, ValueType, quote_names};
use super::key_table::{OPERATOR_KEYS, REPOSITORY_KEYS, SECRET_KEYS};
use super::loader::{ConfigLoader, EntryReference};
use super::source::SourceLocation;
use super::value::{self, ConfigNode, ConfigValue};

/// The walk through one source.
pub(super) struct SourceValidator<'a> {
    /// What is found goes here.
    pub(super) loader: &'a mut ConfigLoader,
    /// The source's number.
    pub(super) source: usize,
}

impl SourceValidator<'_> {
    /// A whole file.
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
            // Another version has other keys: what else is wrong with it is not ours to say.
            return self.locate(version.span()).with_value(ConfigValue::Table(BTreeMap::new()));
        }
        self.validate_table(keys, table, 0..0, "")
    }

    /// Anything, at a dotted path.
    pub(super) fn validate_value(
        &mut self,
        shape: &'static ValueType,
        found: &Spanned<DeValue<'_>>,
        path: &str,
    ) -> Option<ConfigNode> {
        let span = found.span();
        let value = match (shape, found.get_ref()) {
            (ValueType::Table(keys), DeValue::Table(table)) => {
                return Some(self.validate_table(keys, table, span, path));
            }
            (ValueType::OneOf(keys), DeValue::Table(table)) => return self.validate_one_of(keys, table, span, path),
            (ValueType::Secret, DeValue::Table(table)) => return self.validate_one_of(SECRET_KEYS, table, span, path),
            (ValueType::Secret, _) => {
                self.hide_span(span.clone());
                self.refuse_literal(span, path);
                return None;
            }
            (ValueType::Map(shape), DeValue::Table(table)) => self.validate_map(shape, table, path),
            (ValueType::Roles(keys), DeValue::Array(array)) => {
                self.validate_roles(array);
                let tables = array.iter().map(|entry| match entry.get_ref() {
                    DeValue::Table(table) => Some(self.validate_table(keys, table, entry.span(), path)),
                    other => self.reject_type(shape, other, entry.span(), path),
                });
                ConfigValue::List(tables.collect::<Vec<_>>().into_iter().flatten().collect())
            }
            (ValueType::List(shape), DeValue::Array(array)) => {
                let entries = array.iter().map(|entry| self.validate_value(shape, entry, path));
                ConfigValue::List(entries.collect::<Vec<_>>().into_iter().flatten().collect())
            }
            (ValueType::FixedList(length, entry), DeValue::Array(array)) => {
                let entries: Vec<_> = array.iter().map(|found| self.validate_value(entry, found, path)).collect();
                if entries.len() != *length {
                    let label = format!("this has {}", entries.len());
                    self.add_fault(span, format!("`{path}` must be {}", shape.describe()), label);
                    return None;
                }
                ConfigValue::List(entries.into_iter().collect::<Option<_>>()?)
            }
            (ValueType::Argv, DeValue::Array(array)) => {
                let words: Vec<_> =
                    array.iter().map(|word| self.validate_value(&ValueType::Text, word, path)).collect();
                let program = array.first().and_then(|word| word.get_ref().as_str());
                if program.is_none_or(|program| program.trim().is_empty()) {
                    self.add_fault(span, format!("`{path}` must be {}", shape.describe()), "no program is named");
                    return None;
                }
                ConfigValue::List(words.into_iter().collect::<Option<_>>()?)
            }
            (ValueType::Either(word, _), DeValue::String(_)) => return self.validate_value(word, found, path),
            (ValueType::Either(_, table), DeValue::Table(_)) => return self.validate_value(table, found, path),
            (shape, found) => return self.validate_scalar(shape, found, span, path),
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
        for key in keys.iter().filter(|key| !table.keys().any(|name| name.get_ref() == key.name)) {
            match key.default {
                KeyDefault::Required => {
                    let what = format!("`{path}` needs `{}`: {}", key.name, key.about);
                    self.add_fault(span.clone(), what, format!("`{}` is missing here", key.name));
                }
                KeyDefault::Literal(default) => {
                    values.extend(parse_default(&key.value_type, default).map(|value| (key.name.to_owned(), value)));
                }
                KeyDefault::Unset | KeyDefault::Layered { .. } => {}
            }
        }
        self.locate(span).with_value(ConfigValue::Table(values))
    }

    fn validate_map(&mut self, shape: &'static ValueType, table: &DeTable<'_>, path: &str) -> ConfigValue {
        let mut values = BTreeMap::new();
        for (name, found) in table {
            let key = name.get_ref();
            if !value::is_name(key) {
                let what = format!("an entry of `{path}` must have {}", ValueType::Name.describe());
                self.add_fault(name.span(), what, "this has others");
            }
            let found = self.validate_value(shape, found, &join_path(path, key));
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
        let before = self.loader.faults.len();
        let at = self.validate_table(keys, table, span.clone(), path);
        let found = keys.iter().filter(|key| table.keys().any(|name| name.get_ref() == key.name)).count();
        if found != 1 && self.loader.faults.len() == before {
            let what = format!("`{path}` needs exactly one of {}", quote_names(keys.iter().map(|key| key.name)));
            self.add_fault(span, what, format!("this has {found}"));
        }
        (self.loader.faults.len() == before).then_some(at)
    }

    fn validate_scalar(
        &mut self,
        shape: &'static ValueType,
        found: &DeValue<'_>,
        span: Range<usize>,
        path: &str,
    ) -> Option<ConfigNode> {
        let value = match (shape, found) {
            (ValueType::Version, DeValue::Integer(number)) if number.radix() == 10 && number.as_str() == "1" => {
                ConfigValue::Number(1)
            }
            (ValueType::Version, DeValue::Integer(number)) => {
                let what = format!("version {number} of the config is not known to this version of referee");
                self.loader.faults.push(
                    ConfigFault::new(self.locate(span), what, "only 1 is known")
                        .with_hint("install a newer referee, or write `version = 1`"),
                );
                return None;
            }
            (ValueType::Bool, DeValue::Boolean(switch)) => ConfigValue::Bool(*switch),
            (ValueType::OnlyTrue, DeValue::Boolean(true)) => ConfigValue::Bool(true),
            (ValueType::OnlyTrue, DeValue::Boolean(false)) => return self.reject_value(shape, span, path),
            (ValueType::Number(least, most), DeValue::Integer(number)) => {
                let read = u64::from_str_radix(number.as_str(), number.radix()).ok();
                match read.filter(|read| (*least..=*most).contains(read)) {
                    Some(read) => ConfigValue::Number(read),
                    None => return self.reject_value(shape, span, path),
                }
            }
            (ValueType::Usd, DeValue::Integer(_) | DeValue::Float(_)) => {
                let text = match found {
                    DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
                    DeValue::Float(number) => number.as_str(),
                    _ => "",
                };
                match value::parse_micro_usd(text) {
                    Some(micro) => ConfigValue::MicroUsd(micro),
                    None => return self.reject_value(shape, span, path),
                }
            }
            (ValueType::Text, DeValue::String(text)) => ConfigValue::Text(text.to_string()),
            (ValueType::EntryName(table), DeValue::String(text)) => {
                let place = self.locate(span.clone());
                self.loader.references.push(EntryReference {
                    table,
                    name: text.to_string(),
                    location: place,
                    path: path.to_owned(),
                });
                ConfigValue::Text(text.to_string())
            }
            (ValueType::Enum(words), DeValue::String(text)) => {
                if !words.contains(&text.as_ref()) {
                    let what = format!("`{path}` must be {}", shape.describe());
                    let fault = ConfigFault::new(self.locate(span), what, "this is none of them");
                    self.loader.faults.push(fault.with_suggestion(find_nearest_word(text, words.iter().copied())));
                    return None;
                }
                ConfigValue::Text(text.to_string())
            }
            (ValueType::Duration, DeValue::String(text)) => match value::parse_duration(text) {
                Some(time) => ConfigValue::Duration(time),
                None => return self.reject_value(shape, span, path),
            },
            (
                ValueType::Name | ValueType::Url | ValueType::Address | ValueType::FilePath | ValueType::Date,
                DeValue::String(text),
            ) => {
                let fits = match shape {
                    ValueType::Date => value::parse_day(text).is_some(),
                    ValueType::Name => value::is_name(text),
                    ValueType::Url => value::is_url(text),
                    ValueType::Address => value::is_address(text),
                    _ => value::is_fixed_path(text),
                };
                if !fits {
                    // Credentials may stand in a URL, and a secret where its file should be named.
                    if matches!(shape, ValueType::Url | ValueType::FilePath) {
                        self.hide_strings(found, span.clone());
                    }
                    return self.reject_value(shape, span, path);
                }
                ConfigValue::Text(text.to_string())
            }
            (shape, found) => return self.reject_type(shape, found, span, path),
        };
        Some(self.locate(span).with_value(value))
    }

    fn reject_type(
        &mut self,
        shape: &ValueType,
        found: &DeValue<'_>,
        span: Range<usize>,
        path: &str,
    ) -> Option<ConfigNode> {
        let kind = match found {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "`true` or `false`",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        if matches!(shape, ValueType::List(ValueType::Secret)) {
            self.hide_strings(found, span.clone());
        }
        self.add_fault(span, format!("`{path}` must be {}", shape.describe()), format!("this is {kind}"));
        None
    }

    fn reject_value(&mut self, shape: &ValueType, span: Range<usize>, path: &str) -> Option<ConfigNode> {
        self.add_fault(span, format!("`{path}` must be {}", shape.describe()), "this is not");
        None
    }

    fn reject_unknown_key(
        &mut self,
        keys: &[ConfigKey],
        name: &Spanned<DeString<'_>>,
        found: &Spanned<DeValue<'_>>,
        path: &str,
    ) {
        self.hide_strings(found.get_ref(), found.span());
        let (word, place) = (name.get_ref().as_ref(), self.locate(name.span()));
        let (own, other, home) = if self.source == ConfigLoader::REPOSITORY_SOURCE {
            (REPOSITORY_KEYS, OPERATOR_KEYS, "the operator file, never into the repository")
        } else {
            (OPERATOR_KEYS, REPOSITORY_KEYS, "`referee.toml`, not into the operator file")
        };
        if path.is_empty() && other.iter().any(|key| key.name == word) {
            let fault = ConfigFault::new(place, format!("`{word}` belongs into {home}"), "not here");
            self.loader.faults.push(fault);
            return;
        }
        let what = format!("`{}` is not a known key", join_path(path, word));
        let fault = ConfigFault::new(place, what, "unknown key");
        let elsewhere = own.iter().find(|table| table.value_type.keys().iter().any(|key| key.name == word));
        let near = find_nearest_word(word, keys.iter().map(|key| key.name));
        let fault = match (near, elsewhere) {
            (None, Some(table)) => fault.with_hint(format!("`{word}` is a key of `[{}]`", table.name)),
            (None, None) => fault.with_hint(format!("known here: {}", quote_names(keys.iter().map(|key| key.name)))),
            (near, _) => fault.with_suggestion(near),
        };
        self.loader.faults.push(fault);
    }

    fn refuse_literal(&mut self, span: Range<usize>, path: &str) {
        let what = format!("`{path}` is refused: a secret must not stand in a file");
        let hint = "write it as `{ env = \"NAME\" }`, `{ file = \"/path\" }` or `{ command = [\"program\"] }`; \
                    replace this one, others may have seen it";
        self.loader.faults.push(ConfigFault::new(self.locate(span), what, "a literal, not shown here").with_hint(hint));
    }

    /// Keeps texts out of messages: where a key is unknown, its text may be a secret.
    fn hide_strings(&mut self, found: &DeValue<'_>, span: Range<usize>) {
        match found {
            DeValue::Table(table) => table.values().for_each(|value| self.hide_strings(value.get_ref(), value.span())),
            DeValue::Array(array) => array.iter().for_each(|value| self.hide_strings(value.get_ref(), value.span())),
            DeValue::String(_) => self.hide_span(span),
            _ => {}
        }
    }

    fn hide_span(&mut self, span: Range<usize>) {
        if let Some(source) = self.loader.sources.get_mut(self.source) {
            source.hide_span(span);
        }
    }

    pub(super) fn add_fault(&mut self, span: Range<usize>, what: impl Into<String>, label: impl Into<String>) {
        let fault = ConfigFault::new(self.locate(span), what, label);
        self.loader.faults.push(fault);
    }

    pub(super) fn locate(&self, span: Range<usize>) -> SourceLocation {
        let span = self.loader.sources.get(self.source).map_or(0..0, |source| source.clamp_span(span));
        SourceLocation { source: self.source, span }
    }
}

impl SourceLocation {
    fn with_value(self, value: ConfigValue) -> ConfigNode {
        ConfigNode { value, location: Some(self) }
    }
}

/// A default of the table, read like a file; a test reads them all.
pub(super) fn parse_default(shape: &'static ValueType, text: &str) -> Option<ConfigNode> {
    let found = DeValue::parse(text).ok()?;
    let mut reading = ConfigLoader::default();
    let at = SourceValidator { loader: &mut reading, source: 0 }.validate_value(shape, &found, "")?;
    reading.faults.is_empty().then(|| strip_location(at))
}

fn strip_location(at: ConfigNode) -> ConfigNode {
    let value = match at.value {
        ConfigValue::List(list) => ConfigValue::List(list.into_iter().map(strip_location).collect()),
        value => value,
    };
    ConfigNode { value, location: None }
}

fn join_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
