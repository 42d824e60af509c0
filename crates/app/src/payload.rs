//! Files that programs hand in: read whole, checked against the published schema, every violation named at once.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::Failure;

/// Larger ones are no payload.
const MAX_PAYLOAD_BYTES: u64 = 100 << 20;
/// How many violations are named: more than a scan keeps threads.
const MAX_NAMED_VIOLATIONS: usize = 1000;

/// The bytes of a file, or of stdin for `-`.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let shown = path.display();
    let read = if path == Path::new("-") {
        io::stdin().lock().take(MAX_PAYLOAD_BYTES + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(MAX_PAYLOAD_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::usage(format!("`{shown}` cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_PAYLOAD_BYTES {
        return Err(Failure::usage(format!("`{shown}` is larger than 100 MB: nothing was read of it")));
    }
    Ok(bytes)
}

/// A payload of that type.
pub(crate) fn parse_payload<T: DeserializeOwned + JsonSchema>(path: &Path, schema: &str) -> Result<T, Failure> {
    let bytes = read_bytes(path)?;
    let shown = path.display();
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
        Failure::usage(format!("`{shown}` is no JSON: {error}"))
            .with_hint(format!("`referee schema {schema}` says its form"))
    })?;
    let violations = find_violations(&value, self::build_payload_schema::<T>().as_value())?;
    if violations.is_empty() {
        return serde_json::from_value(value).map_err(|error| reject_payload(path, schema, &[error.to_string()]));
    }
    Err(reject_payload(path, schema, &violations))
}

/// The published schema. It takes nothing that it does not name: a slip in an optional field would be lost otherwise.
pub(crate) fn build_payload_schema<T: JsonSchema>() -> Schema {
    let closed = RecursiveTransform(|schema: &mut Schema| {
        if schema.get("properties").is_some() {
            schema.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
    });
    SchemaSettings::default().with_transform(closed).into_generator().into_root_schema_for::<T>()
}

/// What is wrong with a payload, all at once.
pub(crate) fn reject_payload(path: &Path, schema: &str, faults: &[String]) -> Failure {
    let mut words = format!("nothing was taken from `{}`: ", path.display());
    words.push_str(&if faults.len() == 1 {
        "it is wrong".to_owned()
    } else {
        format!("{} things are wrong", faults.len())
    });
    for fault in faults.iter().take(MAX_NAMED_VIOLATIONS) {
        words.push_str("\n  ");
        words.push_str(fault);
    }
    if faults.len() > MAX_NAMED_VIOLATIONS {
        words.push_str(&format!("\n  … and {} more", faults.len() - MAX_NAMED_VIOLATIONS));
    }
    Failure::usage(words).with_hint(format!("`referee schema {schema}` says its form"))
}

fn find_violations(value: &Value, schema: &Value) -> Result<Vec<String>, Failure> {
    let validator = jsonschema::validator_for(schema)
        .map_err(|error| Failure::failed(format!("a published schema is wrong: {error}")))?;
    let named = validator.iter_errors(value).map(|error| {
        let at = error.instance_path().to_string();
        let at = if at.is_empty() { "/".to_owned() } else { at };
        let what: String = error.to_string().chars().take(200).collect();
        format!("{at}: {what}{}", describe_thread(value, &at))
    });
    Ok(named.collect())
}

/// The thread that an item is about, so that the message names it.
fn describe_thread(value: &Value, pointer: &str) -> String {
    let mut parts = pointer.split('/').skip(1);
    let (Some("threads"), Some(at)) = (parts.next(), parts.next()) else { return String::new() };
    let id = value.pointer(&format!("/threads/{at}/threadId")).and_then(Value::as_str);
    id.map(|id| format!(" (thread `{id}`)")).unwrap_or_default()
}
