//! Checks single values: numbers, switches and strings.

use std::ops::Range;

use referee_core::say::find_nearest_word;
use referee_review::find_glob_error;
use toml::de::{DeInteger, DeValue};

use super::error::ConfigFault;
use super::key::ValueType;
use super::loader::EntryReference;
use super::validate::SourceValidator;
use super::value::{self, ConfigNode, ConfigValue};

impl SourceValidator<'_> {
    /// Checks a value that is neither a table nor a list. Returns `None` after recording a fault.
    pub(super) fn validate_scalar(
        &mut self,
        value_type: &'static ValueType,
        found: &DeValue<'_>,
        span: Range<usize>,
        path: &str,
    ) -> Option<ConfigNode> {
        let value = match (value_type, found) {
            (ValueType::Version, DeValue::Integer(number)) => self.validate_version(number, span.clone())?,
            (ValueType::Bool, DeValue::Boolean(switch)) => ConfigValue::Bool(*switch),
            (ValueType::OnlyTrue, DeValue::Boolean(true)) => ConfigValue::Bool(true),
            (ValueType::OnlyTrue, DeValue::Boolean(false)) => return self.reject_value(value_type, span, path),
            (ValueType::Number(min, max), DeValue::Integer(number)) => {
                let parsed = u64::from_str_radix(number.as_str(), number.radix()).ok();
                match parsed.filter(|parsed| (*min..=*max).contains(parsed)) {
                    Some(parsed) => ConfigValue::Number(parsed),
                    None => return self.reject_value(value_type, span, path),
                }
            }
            (ValueType::Usd, DeValue::Integer(_) | DeValue::Float(_)) => match parse_usd(found) {
                Some(micro_usd) => ConfigValue::MicroUsd(micro_usd),
                None => return self.reject_value(value_type, span, path),
            },
            (_, DeValue::String(text)) => return self.validate_string(value_type, text, found, span, path),
            (value_type, found) => return self.reject_type(value_type, found, span, path),
        };
        Some(self.locate(span).with_value(value))
    }

    fn validate_version(&mut self, number: &DeInteger<'_>, span: Range<usize>) -> Option<ConfigValue> {
        if number.radix() == 10 && number.as_str() == "1" {
            return Some(ConfigValue::Number(1));
        }
        let message = format!("this version of referee does not know version {number} of the config format");
        self.loader.faults.push(
            ConfigFault::new(self.locate(span), message, "only 1 is known")
                .with_hint("install a newer referee, or write `version = 1`"),
        );
        None
    }

    /// Returns whether a text is a valid glob, and records a fault if not.
    pub(super) fn validate_glob(&mut self, text: &str, span: Range<usize>, path: &str) -> bool {
        let error = if text.is_empty() { Some("it is empty".to_owned()) } else { find_glob_error(text) };
        let is_valid = error.is_none();
        if let Some(error) = error {
            self.add_fault(span, format!("`{path}` must be {}", ValueType::Glob.describe()), error);
        }
        is_valid
    }

    fn validate_string(
        &mut self,
        value_type: &'static ValueType,
        text: &str,
        found: &DeValue<'_>,
        span: Range<usize>,
        path: &str,
    ) -> Option<ConfigNode> {
        let fits = match value_type {
            ValueType::Text => true,
            ValueType::Glob if !self.validate_glob(text, span.clone(), path) => return None,
            ValueType::Glob => true,
            ValueType::EntryName(table) => {
                let (name, location, path) = (text.to_owned(), self.locate(span.clone()), path.to_owned());
                self.loader.references.push(EntryReference { table, name, location, path });
                true
            }
            ValueType::Enum(words) if !words.contains(&text) => {
                let message = format!("`{path}` must be {}", value_type.describe());
                let fault = ConfigFault::new(self.locate(span), message, "unknown value");
                self.loader.faults.push(fault.with_suggestion(find_nearest_word(text, words.iter().copied())));
                return None;
            }
            ValueType::Enum(_) => true,
            ValueType::Duration => match value::parse_duration(text) {
                Some(duration) => return Some(self.locate(span).with_value(ConfigValue::Duration(duration))),
                None => false,
            },
            ValueType::Date => value::parse_day(text).is_some(),
            ValueType::Name => value::is_name(text),
            ValueType::Url => value::is_url(text),
            ValueType::Address => value::is_address(text),
            ValueType::FilePath => value::is_fixed_path(text),
            _ => return self.reject_type(value_type, found, span, path),
        };
        if !fits {
            // A URL may contain credentials, and a secret may have been written where its file is expected.
            if matches!(value_type, ValueType::Url | ValueType::FilePath) {
                self.hide_span(span.clone());
            }
            return self.reject_value(value_type, span, path);
        }
        Some(self.locate(span).with_value(ConfigValue::Text(text.to_owned())))
    }
}

/// Parses an amount in dollars, written in decimal, into millionths.
fn parse_usd(found: &DeValue<'_>) -> Option<u64> {
    match found {
        DeValue::Integer(number) if number.radix() == 10 => value::parse_micro_usd(number.as_str()),
        DeValue::Float(number) => value::parse_micro_usd(number.as_str()),
        _ => None,
    }
}
