//! Every value with where it comes from, as `doctor` shows them.

use std::collections::BTreeMap;

use super::layers::Settled;
use super::reading::Reading;
use super::setup::Origin;
use super::value::{At, Value};

/// The policy's values as they hold, then the entries of both files.
pub(super) fn all(
    reading: &Reading,
    settled: &BTreeMap<String, Settled>,
    repository: &At,
    operator: &At,
) -> Vec<Origin> {
    let mut origins: Vec<Origin> = settled
        .iter()
        .map(|(key, settled)| Origin {
            key: key.clone(),
            value: settled.at.value.to_string(),
            from: settled.from.clone(),
        })
        .collect();
    for (file, tables) in [(repository, &["checks", "role"][..]), (operator, OPERATOR_TABLES)] {
        for table in tables {
            if let Some(at) = file.at(table) {
                collect(reading, at, table, &mut origins);
            }
        }
    }
    origins
}

/// All but the ceilings, which show in what they cap.
const OPERATOR_TABLES: &[&str] =
    &["forge", "identity", "models", "commands", "agents", "workers", "serve", "store", "journal", "mark"];

fn collect(reading: &Reading, at: &At, path: &str, origins: &mut Vec<Origin>) {
    match &at.value {
        Value::Table(table) => {
            for (key, at) in table {
                collect(reading, at, &format!("{path}.{key}"), origins);
            }
        }
        Value::List(list) if list.iter().any(|at| matches!(at.value, Value::Table(_))) => {
            for (number, at) in list.iter().enumerate() {
                let name = at.at("name").and_then(At::text).map_or_else(|| number.to_string(), str::to_owned);
                collect(reading, at, &format!("{path}.{name}"), origins);
            }
        }
        value => {
            let from = reading.origin(at.place.as_ref());
            origins.push(Origin { key: path.to_owned(), value: value.to_string(), from });
        }
    }
}
