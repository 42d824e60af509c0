//! Which layer has the last word on each value of the policy.
//!
//! | layer | |
//! |---|---|
//! | flag | the command line of this run |
//! | environment | `REFEREE_` and the key: `REFEREE_LOOP_ROUNDS` |
//! | repository | `referee.toml` at the base |
//! | default | on local pulls another one for some keys |
//!
//! The operator's value of the same key is a ceiling: it caps whatever came out, and never raises it.

use std::collections::BTreeMap;

use super::ConfigLayers;
use super::key::{ConfigKey, KeyDefault, ValueType};
use super::key_table::REPOSITORY_KEYS;
use super::loader::ConfigLoader;
use super::validate::parse_default;
use super::value::{ConfigNode, ConfigValue};

/// A value that holds, and where it comes from.
pub(super) struct ResolvedValue {
    pub(super) node: ConfigNode,
    pub(super) origin: String,
}

/// What holds, by dotted path. A key without value and default is missing.
pub(super) fn resolve_layers(
    reading: &mut ConfigLoader,
    layers: &ConfigLayers<'_>,
    repository: &ConfigNode,
    operator: &ConfigNode,
) -> BTreeMap<String, ResolvedValue> {
    let mut settled = BTreeMap::new();
    debug_assert!(layers.flags.iter().all(|flag| collect_policy_keys().iter().any(|(path, _)| path == flag.key)));
    for (path, key) in collect_policy_keys() {
        let mut holds = resolve_uncapped(reading, layers, repository, &path, key);
        if let Some(ceiling) = operator.get(&path)
            && let Some(asked) =
                holds.as_ref().filter(|asked| exceeds(&key.value_type, &asked.node.value, &ceiling.value))
        {
            let origin = reading.describe_location(ceiling.location.as_ref());
            let from = format!("{origin} (a ceiling; {} says {})", asked.origin, asked.node.value);
            holds = Some(ResolvedValue { node: ceiling.clone(), origin: from });
        }
        settled.extend(holds.map(|holds| (path, holds)));
    }
    settled
}

/// What is asked for, before the ceiling.
fn resolve_uncapped(
    reading: &mut ConfigLoader,
    layers: &ConfigLayers<'_>,
    repository: &ConfigNode,
    path: &str,
    key: &'static ConfigKey,
) -> Option<ResolvedValue> {
    if let Some(flag) = layers.flags.iter().find(|flag| flag.key == path) {
        let at = reading.load_override(path, &key.value_type, flag.name, flag.value)?;
        return Some(ResolvedValue { node: at, origin: flag.name.to_owned() });
    }
    if let Some(variable) = variable_name(path, key)
        && let Some(text) = (layers.env)(&variable).filter(|text| !text.is_empty())
    {
        let at = reading.load_override(path, &key.value_type, &variable, &text)?;
        return Some(ResolvedValue { node: at, origin: format!("the variable {variable}") });
    }
    if let Some(at) = repository.get(path) {
        return Some(ResolvedValue { node: at.clone(), origin: reading.describe_location(at.location.as_ref()) });
    }
    if let Some(user) = layers.user.as_ref().filter(|_| layers.is_local && path == "loop.operator") {
        let at = ConfigNode { value: ConfigValue::Text(user.to_string()), location: None };
        return Some(ResolvedValue { node: at, origin: "the git user, by default on local pulls".to_owned() });
    }
    let KeyDefault::Layered { forge, local } = key.default else { return None };
    let (default, from) = match layers.is_local {
        true if local != forge => (local, "default on local pulls"),
        _ => (forge, "default"),
    };
    Some(ResolvedValue { node: parse_default(&key.value_type, default)?, origin: from.to_owned() })
}

/// All keys of the policy.
pub(super) fn collect_policy_keys() -> Vec<(String, &'static ConfigKey)> {
    fn collect(keys: &'static [ConfigKey], path: &str, all: &mut Vec<(String, &'static ConfigKey)>) {
        for key in keys {
            let path = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
            match (&key.value_type, &key.default) {
                (ValueType::Table(keys), _) => collect(keys, &path, all),
                (_, KeyDefault::Layered { .. }) => all.push((path, key)),
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    collect(REPOSITORY_KEYS, "", &mut all);
    all
}

/// The variable that overrides a key; lists have none.
fn variable_name(path: &str, key: &ConfigKey) -> Option<String> {
    let listed = matches!(key.value_type, ValueType::List(_) | ValueType::FixedList(..));
    (!listed).then(|| format!("REFEREE_{}", path.replace('.', "_").to_uppercase()))
}

/// Whether a value goes beyond a ceiling: more in number, or later in the list of words.
fn exceeds(shape: &ValueType, asked: &ConfigValue, ceiling: &ConfigValue) -> bool {
    match (shape, asked, ceiling) {
        (_, ConfigValue::Number(asked), ConfigValue::Number(ceiling))
        | (_, ConfigValue::MicroUsd(asked), ConfigValue::MicroUsd(ceiling)) => asked > ceiling,
        (ValueType::Enum(words), ConfigValue::Text(asked), ConfigValue::Text(ceiling)) => {
            let rank = |word: &String| words.iter().position(|it| it == word);
            rank(asked) > rank(ceiling)
        }
        _ => false,
    }
}
