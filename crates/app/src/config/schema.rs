//! The JSON schema of both files, generated from the key table.

use serde_json::{Map, Value, json};

use super::key::{ConfigKey, KeyDefault, REVIEWERS, ValueType};
use super::key_table::{OPERATOR_KEYS, REPOSITORY_KEYS, SECRET_KEYS};

/// Builds the schema of `referee.toml`. The schema of the operator file is its `$defs/operator`.
pub(crate) fn build_config_schema() -> Value {
    let mut schema = build_table_schema(REPOSITORY_KEYS);
    let operator = build_table_schema(OPERATOR_KEYS);
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        schema.insert("title".into(), json!("referee.toml"));
        schema.insert("$defs".into(), json!({ "operator": operator, "secret": build_one_of_schema(SECRET_KEYS) }));
    }
    schema
}

fn build_table_schema(keys: &[ConfigKey]) -> Value {
    let properties: Map<String, Value> = keys.iter().map(|key| (key.name.to_owned(), build_key_schema(key))).collect();
    let required: Vec<&str> =
        keys.iter().filter(|key| matches!(key.default, KeyDefault::Required)).map(|key| key.name).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn build_one_of_schema(keys: &[ConfigKey]) -> Value {
    let mut schema = build_table_schema(keys);
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("minProperties".into(), json!(1));
        schema.insert("maxProperties".into(), json!(1));
    }
    schema
}

fn build_key_schema(key: &ConfigKey) -> Value {
    let mut schema = build_type_schema(&key.value_type);
    let default = match key.default {
        KeyDefault::Literal(default) | KeyDefault::Layered { forge: default, .. } if !default.is_empty() => default,
        _ => "",
    };
    let default = toml::from_str::<toml::Table>(&format!("default = {default}")).ok();
    let default = default.and_then(|table| serde_json::to_value(table.get("default")?).ok());
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".into(), json!(key.about));
        schema.extend(default.map(|default| ("default".to_owned(), default)));
    }
    schema
}

fn build_type_schema(value_type: &ValueType) -> Value {
    match value_type {
        ValueType::Version => json!({ "const": 1 }),
        ValueType::Bool => json!({ "type": "boolean" }),
        ValueType::OnlyTrue => json!({ "const": true }),
        ValueType::Number(min, u64::MAX) => json!({ "type": "integer", "minimum": min }),
        ValueType::Number(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
        ValueType::Usd => json!({ "type": "number", "minimum": 0 }),
        ValueType::Glob => json!({ "type": "string", "minLength": 1 }),
        ValueType::Text | ValueType::EntryName(_) => json!({ "type": "string" }),
        ValueType::Name => json!({ "type": "string", "pattern": NAME_PATTERN }),
        ValueType::Url => json!({ "type": "string", "pattern": "^https?://[^/?#@\\s]+([/?#]\\S*)?$" }),
        ValueType::Address => json!({ "type": "string", "pattern": ":[0-9]+$" }),
        ValueType::FilePath => json!({ "type": "string", "minLength": 1 }),
        ValueType::Duration => json!({ "type": "string", "pattern": "^([0-9]+[smhd])+$" }),
        ValueType::Date => json!({ "type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" }),
        ValueType::Enum(words) => json!({ "enum": words }),
        ValueType::List(entry) => json!({ "type": "array", "items": build_type_schema(entry) }),
        ValueType::FixedList(length, entry) => {
            json!({ "type": "array", "items": build_type_schema(entry), "minItems": length, "maxItems": length })
        }
        ValueType::Argv => json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 }),
        ValueType::Secret => json!({ "$ref": "#/$defs/secret" }),
        ValueType::Table(keys) => build_table_schema(keys),
        ValueType::OneOf(keys) => build_one_of_schema(keys),
        ValueType::Globs(keys, value) => {
            let mut schema = build_table_schema(keys);
            schema["additionalProperties"] = build_type_schema(value);
            schema
        }
        ValueType::Map(entry) => json!({
            "type": "object", "propertyNames": { "pattern": NAME_PATTERN }, "additionalProperties": build_type_schema(entry),
        }),
        ValueType::Roles(keys) => {
            let mut role = build_table_schema(keys);
            let reviewers: Vec<Value> = REVIEWERS.iter().map(|reviewer| json!({ "required": [reviewer] })).collect();
            if let Some(role) = role.as_object_mut() {
                role.insert("oneOf".into(), json!(reviewers));
            }
            json!({ "type": "array", "items": role })
        }
        ValueType::Either(one, other) => json!({ "anyOf": [build_type_schema(one), build_type_schema(other)] }),
    }
}

const NAME_PATTERN: &str = "^[A-Za-z0-9._-]{1,64}$";
