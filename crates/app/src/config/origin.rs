//! Every value with where it comes from, as `doctor` shows them.

use std::collections::BTreeMap;

use super::layers::ResolvedValue;
use super::loader::ConfigLoader;
use super::resolved::ValueOrigin;
use super::value::{ConfigNode, ConfigValue};

/// The policy's values as they hold, then the entries of both files.
pub(super) fn collect_origins(
    reading: &ConfigLoader,
    settled: &BTreeMap<String, ResolvedValue>,
    repository: &ConfigNode,
    operator: &ConfigNode,
) -> Vec<ValueOrigin> {
    let mut origins: Vec<ValueOrigin> = settled
        .iter()
        .map(|(key, settled)| ValueOrigin {
            key: key.clone(),
            value: settled.node.value.to_string(),
            origin: settled.origin.clone(),
        })
        .collect();
    for (file, tables) in [(repository, &["checks", "role"][..]), (operator, OPERATOR_TABLES)] {
        for table in tables {
            if let Some(at) = file.get(table) {
                collect_node(reading, at, table, &mut origins);
            }
        }
    }
    origins
}

/// All but the ceilings, which show in what they cap.
const OPERATOR_TABLES: &[&str] =
    &["forge", "identity", "models", "commands", "agents", "workers", "serve", "store", "journal", "mark"];

fn collect_node(reading: &ConfigLoader, at: &ConfigNode, path: &str, origins: &mut Vec<ValueOrigin>) {
    match &at.value {
        ConfigValue::Table(table) => {
            for (key, at) in table {
                collect_node(reading, at, &format!("{path}.{key}"), origins);
            }
        }
        ConfigValue::List(list) if list.iter().any(|at| matches!(at.value, ConfigValue::Table(_))) => {
            for (number, at) in list.iter().enumerate() {
                let name =
                    at.get("name").and_then(ConfigNode::as_text).map_or_else(|| number.to_string(), str::to_owned);
                collect_node(reading, at, &format!("{path}.{name}"), origins);
            }
        }
        value => {
            let from = reading.describe_location(at.location.as_ref());
            origins.push(ValueOrigin { key: path.to_owned(), value: value.to_string(), origin: from });
        }
    }
}
