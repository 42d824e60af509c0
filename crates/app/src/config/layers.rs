//! Resolves each value of the policy from its layers. The first layer that sets a value wins.
//!
//! | layer | source |
//! |---|---|
//! | flag | the command line of this run |
//! | environment | `REFEREE_` and the key, such as `REFEREE_LOOP_ROUNDS` |
//! | repository | `referee.toml` at the base |
//! | default | some keys have another default on local pulls |
//!
//! The operator's value of the same key is a ceiling: it lowers the result and never raises it.

use std::collections::BTreeMap;

use super::ConfigLayers;
use super::key::{ConfigKey, KeyDefault, ValueType};
use super::key_table::REPOSITORY_KEYS;
use super::loader::ConfigLoader;
use super::validate::parse_default;
use super::value::{ConfigNode, ConfigValue};

/// The resolved value of a key and the layer that set it.
pub(super) struct ResolvedValue {
    pub(super) node: ConfigNode,
    pub(super) origin: String,
}

/// Returns the resolved values by dotted path. A key that has neither value nor default is missing.
pub(super) fn resolve_layers(
    loader: &mut ConfigLoader,
    layers: &ConfigLayers<'_>,
    repository: &ConfigNode,
    operator: &ConfigNode,
) -> BTreeMap<String, ResolvedValue> {
    let mut resolved = BTreeMap::new();
    debug_assert!(layers.flags.iter().all(|flag| collect_policy_keys().iter().any(|(path, _)| path == flag.key)));
    for (path, key) in collect_policy_keys() {
        let mut value = resolve_uncapped(loader, layers, repository, &path, key);
        if let Some(ceiling) = operator.get(&path)
            && let Some(requested) =
                value.as_ref().filter(|requested| exceeds(&key.value_type, &requested.node.value, &ceiling.value))
        {
            let location = loader.describe_location(ceiling.location.as_ref());
            let origin = format!("{location} (a ceiling; {} says {})", requested.origin, requested.node.value);
            value = Some(ResolvedValue { node: ceiling.clone(), origin });
        }
        resolved.extend(value.map(|value| (path, value)));
    }
    resolved
}

/// Resolves one key without the operator's ceiling.
fn resolve_uncapped(
    loader: &mut ConfigLoader,
    layers: &ConfigLayers<'_>,
    repository: &ConfigNode,
    path: &str,
    key: &'static ConfigKey,
) -> Option<ResolvedValue> {
    if let Some(flag) = layers.flags.iter().find(|flag| flag.key == path) {
        let node = loader.load_override(path, &key.value_type, flag.name, flag.value)?;
        return Some(ResolvedValue { node, origin: flag.name.to_owned() });
    }
    if let Some(variable) = variable_name(path, key)
        && let Some(text) = (layers.env)(&variable).filter(|text| !text.is_empty())
    {
        let node = loader.load_override(path, &key.value_type, &variable, &text)?;
        return Some(ResolvedValue { node, origin: format!("the variable {variable}") });
    }
    if let Some(node) = repository.get(path) {
        return Some(ResolvedValue { node: node.clone(), origin: loader.describe_location(node.location.as_ref()) });
    }
    if let Some(user) = layers.user.as_ref().filter(|_| layers.is_local && path == "loop.operator") {
        let node = ConfigNode { value: ConfigValue::Text(user.to_string()), location: None };
        return Some(ResolvedValue { node, origin: "the git user, by default on local pulls".to_owned() });
    }
    let KeyDefault::Layered { forge, local } = key.default else { return None };
    let (default, origin) = match layers.is_local {
        true if local != forge => (local, "default on local pulls"),
        _ => (forge, "default"),
    };
    Some(ResolvedValue { node: parse_default(&key.value_type, default)?, origin: origin.to_owned() })
}

/// Returns every key of the policy with its dotted path.
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

/// Returns the environment variable that overrides a key. Lists have none.
fn variable_name(path: &str, key: &ConfigKey) -> Option<String> {
    let is_list = matches!(key.value_type, ValueType::List(_) | ValueType::FixedList(..));
    (!is_list).then(|| format!("REFEREE_{}", path.replace('.', "_").to_uppercase()))
}

/// Returns whether a value is above a ceiling: a larger number, or a word later in the list of words.
fn exceeds(value_type: &ValueType, requested: &ConfigValue, ceiling: &ConfigValue) -> bool {
    match (value_type, requested, ceiling) {
        (_, ConfigValue::Number(requested), ConfigValue::Number(ceiling))
        | (_, ConfigValue::MicroUsd(requested), ConfigValue::MicroUsd(ceiling)) => requested > ceiling,
        (ValueType::Enum(words), ConfigValue::Text(requested), ConfigValue::Text(ceiling)) => {
            let rank = |word: &String| words.iter().position(|listed| listed == word);
            rank(requested) > rank(ceiling)
        }
        _ => false,
    }
}
