//! What must hold between roles and between the keys of one role.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::{DeArray, DeValue};

use super::error::ConfigFault;
use super::key::{REVIEWERS, quote_names};
use super::validate::SourceValidator;

impl SourceValidator<'_> {
    /// Roles have names of their own and one reviewer each. Read from the raw file: a reviewer that is wrong in another
    /// way is still named.
    pub(super) fn validate_roles(&mut self, roles: &DeArray<'_>) {
        let mut names: BTreeMap<String, Range<usize>> = BTreeMap::new();
        for role in roles {
            let Some(table) = role.get_ref().as_table() else { continue };
            let named = table.iter().find(|(key, _)| key.get_ref() == "name").map(|(_, name)| name);
            let name = named.and_then(|name| name.get_ref().as_str()).unwrap_or_default().to_lowercase();
            let span = named.map_or(role.span(), |name| name.span());
            let reviewers: Vec<&str> = table.keys().map(|key| key.get_ref().as_ref()).collect();
            let reviewers: Vec<&str> = REVIEWERS.into_iter().filter(|it| reviewers.contains(it)).collect();
            let what = format!("role `{name}` needs exactly one of {}", quote_names(REVIEWERS.into_iter()));
            match reviewers.as_slice() {
                [_] => {}
                [] => self.loader.faults.push(
                    ConfigFault::new(self.locate(span.clone()), what, "nobody reviews for it").with_hint(
                        "`builtin = true` takes the embedded rules; `command` and `model` name entries of the operator file",
                    ),
                ),
                several => self.add_fault(span.clone(), what, format!("it has {}", quote_names(several.iter().copied()))),
            }
            if name.is_empty() {
                continue;
            }
            if let Some(first) = names.get(&name) {
                let what = format!("role `{name}` is there twice");
                let mut fault = ConfigFault::new(self.locate(span), what, "a second one");
                fault.related = Some((first.clone(), "the first one".into()));
                self.loader.faults.push(fault);
            } else if matches!(named.map(|name| name.get_ref()), Some(DeValue::String(_))) {
                names.insert(name, span);
            }
        }
    }
}
