//! Lists every value with its origin, for `doctor`.

use std::collections::BTreeMap;

use super::layers::ResolvedValue;
use super::loader::ConfigLoader;
use super::resolved::ValueOrigin;
use super::value::{ConfigNode, ConfigValue};

/// Returns the resolved values of the policy, then the entries of both files.
pub(super) fn collect_origins(
    loader: &ConfigLoader,
    resolved: &BTreeMap<String, ResolvedValue>,
    repository: &ConfigNode,
    operator: &ConfigNode,
) -> Vec<ValueOrigin> {
    let mut origins: Vec<ValueOrigin> = resolved
        .iter()
        .map(|(key, resolved)| ValueOrigin {
            key: key.clone(),
            value: resolved.node.value.to_string(),
            origin: resolved.origin.clone(),
        })
        .collect();
    for (file, tables) in [(repository, &["checks", "rules", "role"][..]), (operator, OPERATOR_TABLES)] {
        for table in tables {
            if let Some(node) = file.get(table) {
                collect_node(loader, node, table, &mut origins);
            }
        }
    }
    origins
}

/// The tables of the operator file without its ceilings, which appear in the origin of the values they lower.
const OPERATOR_TABLES: &[&str] =
    &["forge", "identity", "models", "commands", "agents", "workers", "serve", "store", "journal", "mark"];

fn collect_node(loader: &ConfigLoader, node: &ConfigNode, path: &str, origins: &mut Vec<ValueOrigin>) {
    match &node.value {
        ConfigValue::Table(table) => {
            for (key, node) in table {
                collect_node(loader, node, &format!("{path}.{key}"), origins);
            }
        }
        ConfigValue::List(list) if list.iter().any(|node| matches!(node.value, ConfigValue::Table(_))) => {
            for (index, node) in list.iter().enumerate() {
                let name =
                    node.get("name").and_then(ConfigNode::as_text).map_or_else(|| index.to_string(), str::to_owned);
                collect_node(loader, node, &format!("{path}.{name}"), origins);
            }
        }
        value => {
            let origin = loader.describe_location(node.location.as_ref());
            origins.push(ValueOrigin { key: path.to_owned(), value: value.to_string(), origin });
        }
    }
}
