//! The JSON schema of both files, made from the table that the walk obeys.

use serde_json::{Map, Value, json};

use super::shape::{Absent, Key, REVIEWERS, Shape};
use super::table::{OPERATOR, REPOSITORY, SECRET};

/// The schema of `referee.toml`; that of the operator file is its `$defs/operator`.
pub(crate) fn schema() -> Value {
    let mut schema = table(REPOSITORY);
    let operator = table(OPERATOR);
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        schema.insert("title".into(), json!("referee.toml"));
        schema.insert("$defs".into(), json!({ "operator": operator, "secret": one(SECRET) }));
    }
    schema
}

fn table(keys: &[Key]) -> Value {
    let properties: Map<String, Value> = keys.iter().map(|key| (key.name.to_owned(), described(key))).collect();
    let required: Vec<&str> =
        keys.iter().filter(|key| matches!(key.absent, Absent::Required)).map(|key| key.name).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn one(keys: &[Key]) -> Value {
    let mut schema = table(keys);
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("minProperties".into(), json!(1));
        schema.insert("maxProperties".into(), json!(1));
    }
    schema
}

fn described(key: &Key) -> Value {
    let mut schema = shape(&key.shape);
    let default = match key.absent {
        Absent::Is(default) | Absent::Layered { forge: default, .. } if !default.is_empty() => default,
        _ => "",
    };
    let default = toml::from_str::<toml::Table>(&format!("it = {default}")).ok();
    let default = default.and_then(|table| serde_json::to_value(table.get("it")?).ok());
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".into(), json!(key.about));
        schema.extend(default.map(|default| ("default".to_owned(), default)));
    }
    schema
}

fn shape(it: &Shape) -> Value {
    match it {
        Shape::Version => json!({ "const": 1 }),
        Shape::Switch => json!({ "type": "boolean" }),
        Shape::Yes => json!({ "const": true }),
        Shape::Number(least, u64::MAX) => json!({ "type": "integer", "minimum": least }),
        Shape::Number(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Shape::Money => json!({ "type": "number", "minimum": 0 }),
        Shape::Text | Shape::Entry(_) => json!({ "type": "string" }),
        Shape::Name => json!({ "type": "string", "pattern": NAME }),
        Shape::Url => json!({ "type": "string", "pattern": "^https?://[^/?#@\\s]+([/?#]\\S*)?$" }),
        Shape::Address => json!({ "type": "string", "pattern": ":[0-9]+$" }),
        Shape::File => json!({ "type": "string", "minLength": 1 }),
        Shape::Time => json!({ "type": "string", "pattern": "^([0-9]+[smhd])+$" }),
        Shape::Date => json!({ "type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" }),
        Shape::Word(words) => json!({ "enum": words }),
        Shape::List(entry) => json!({ "type": "array", "items": shape(entry) }),
        Shape::Row(length, entry) => {
            json!({ "type": "array", "items": shape(entry), "minItems": length, "maxItems": length })
        }
        Shape::Argv => json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 }),
        Shape::Secret => json!({ "$ref": "#/$defs/secret" }),
        Shape::Table(keys) => table(keys),
        Shape::One(keys) => one(keys),
        Shape::Map(entry) => json!({
            "type": "object", "propertyNames": { "pattern": NAME }, "additionalProperties": shape(entry),
        }),
        Shape::Roles(keys) => {
            let mut role = table(keys);
            let reviewers: Vec<Value> = REVIEWERS.iter().map(|reviewer| json!({ "required": [reviewer] })).collect();
            if let Some(role) = role.as_object_mut() {
                role.insert("oneOf".into(), json!(reviewers));
            }
            json!({ "type": "array", "items": role })
        }
        Shape::Either(one, other) => json!({ "anyOf": [shape(one), shape(other)] }),
    }
}

const NAME: &str = "^[A-Za-z0-9._-]{1,64}$";
