//! Checks across roles, and across the keys of one role.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::{DeArray, DeValue};

use super::error::ConfigFault;
use super::key::{REVIEWERS, quote_names};
use super::validate::SourceValidator;

impl SourceValidator<'_> {
    /// Checks that role names are unique and that each role has exactly one reviewer. Reads the raw TOML, so that a
    /// reviewer with another error still counts as present.
    pub(super) fn validate_roles(&mut self, roles: &DeArray<'_>) {
        let mut first_spans: BTreeMap<String, Range<usize>> = BTreeMap::new();
        for role in roles {
            let Some(table) = role.get_ref().as_table() else { continue };
            let name_value = table.iter().find(|(key, _)| key.get_ref() == "name").map(|(_, value)| value);
            let name = name_value.and_then(|value| value.get_ref().as_str()).unwrap_or_default().to_lowercase();
            let span = name_value.map_or(role.span(), |value| value.span());
            let keys: Vec<&str> = table.keys().map(|key| key.get_ref().as_ref()).collect();
            let reviewers: Vec<&str> = REVIEWERS.into_iter().filter(|reviewer| keys.contains(reviewer)).collect();
            let message = format!("role `{name}` needs exactly one of {}", quote_names(REVIEWERS.into_iter()));
            match reviewers.as_slice() {
                [_] => {}
                [] => self.loader.faults.push(
                    ConfigFault::new(self.locate(span.clone()), message, "no reviewer").with_hint(
                        "`builtin = true` selects the embedded rules; `command` and `model` name entries of the operator file",
                    ),
                ),
                several => self.add_fault(span.clone(), message, format!("this has {}", quote_names(several.iter().copied()))),
            }
            if name.is_empty() {
                continue;
            }
            if let Some(first) = first_spans.get(&name) {
                let message = format!("role `{name}` is defined twice");
                let mut fault = ConfigFault::new(self.locate(span), message, "second definition");
                fault.related = Some((first.clone(), "first definition".into()));
                self.loader.faults.push(fault);
            } else if matches!(name_value.map(|value| value.get_ref()), Some(DeValue::String(_))) {
                first_spans.insert(name, span);
            }
        }
    }
}
