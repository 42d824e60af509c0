//! Records what is wrong with a value, and keeps possible secrets out of the message.

use std::ops::Range;

use referee_core::say::find_nearest_word;
use toml::Spanned;
use toml::de::{DeString, DeValue};

use super::error::ConfigFault;
use super::key::{ConfigKey, ValueType, quote_names};
use super::key_table::{OPERATOR_KEYS, REPOSITORY_KEYS};
use super::loader::ConfigLoader;
use super::validate::{SourceValidator, join_path};
use super::value::ConfigNode;

impl SourceValidator<'_> {
    /// Records that a value has the wrong TOML type.
    pub(super) fn reject_type(
        &mut self,
        value_type: &ValueType,
        found: &DeValue<'_>,
        span: Range<usize>,
        path: &str,
    ) -> Option<ConfigNode> {
        let kind = match found {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "`true` or `false`",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        if matches!(value_type, ValueType::List(ValueType::Secret)) {
            self.hide_strings(found, span.clone());
        }
        self.add_fault(span, format!("`{path}` must be {}", value_type.describe()), format!("this is {kind}"));
        None
    }

    /// Records that a value has the right TOML type but is out of range or malformed.
    pub(super) fn reject_value(
        &mut self,
        value_type: &ValueType,
        span: Range<usize>,
        path: &str,
    ) -> Option<ConfigNode> {
        self.add_fault(span, format!("`{path}` must be {}", value_type.describe()), "invalid value");
        None
    }

    /// Records an unknown key, and where the key belongs if another table or the other file has it.
    pub(super) fn reject_unknown_key(
        &mut self,
        keys: &[ConfigKey],
        name: &Spanned<DeString<'_>>,
        found: &Spanned<DeValue<'_>>,
        path: &str,
    ) {
        self.hide_strings(found.get_ref(), found.span());
        let (word, location) = (name.get_ref().as_ref(), self.locate(name.span()));
        let (this_file, other_file, files) = if self.source == ConfigLoader::REPOSITORY_SOURCE {
            (REPOSITORY_KEYS, OPERATOR_KEYS, "the operator file, not in `referee.toml`")
        } else {
            (OPERATOR_KEYS, REPOSITORY_KEYS, "`referee.toml`, not in the operator file")
        };
        if path.is_empty() && other_file.iter().any(|key| key.name == word) {
            let fault = ConfigFault::new(location, format!("`{word}` belongs in {files}"), "wrong file");
            self.loader.faults.push(fault);
            return;
        }
        let message = format!("`{}` is not a known key", join_path(path, word));
        let fault = ConfigFault::new(location, message, "unknown key");
        let other_table = this_file.iter().find(|table| table.value_type.keys().iter().any(|key| key.name == word));
        let nearest = find_nearest_word(word, keys.iter().map(|key| key.name));
        let fault = match (nearest, other_table) {
            (None, Some(table)) => fault.with_hint(format!("`{word}` is a key of `[{}]`", table.name)),
            (None, None) => fault.with_hint(format!("this table has {}", quote_names(keys.iter().map(|key| key.name)))),
            (nearest, _) => fault.with_suggestion(nearest),
        };
        self.loader.faults.push(fault);
    }

    /// Records a secret that is written out in the file.
    pub(super) fn refuse_literal(&mut self, span: Range<usize>, path: &str) {
        let message = format!("`{path}` is refused: a config file must not contain a secret");
        let hint = "write `{ env = \"NAME\" }`, `{ file = \"/path\" }` or `{ command = [\"program\"] }`; \
                    replace this secret, because others may have seen it";
        let fault = ConfigFault::new(self.locate(span), message, "a literal secret, hidden here");
        self.loader.faults.push(fault.with_hint(hint));
    }

    /// Hides every string of a value: the value of an unknown key may be a secret.
    pub(super) fn hide_strings(&mut self, found: &DeValue<'_>, span: Range<usize>) {
        match found {
            DeValue::Table(table) => table.values().for_each(|value| self.hide_strings(value.get_ref(), value.span())),
            DeValue::Array(array) => array.iter().for_each(|value| self.hide_strings(value.get_ref(), value.span())),
            DeValue::String(_) => self.hide_span(span),
            _ => {}
        }
    }

    pub(super) fn hide_span(&mut self, span: Range<usize>) {
        if let Some(source) = self.loader.sources.get_mut(self.source) {
            source.hide_span(span);
        }
    }
}
