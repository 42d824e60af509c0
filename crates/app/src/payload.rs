//! JSON files passed to commands: size limit, validation against the published schema, all violations reported at once.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::Failure;

const MAX_PAYLOAD_BYTES: u64 = 100 << 20;
/// Number of violations listed at most. A scan has fewer threads, so one violation per thread always fits.
const MAX_NAMED_VIOLATIONS: usize = 1000;

/// Reads a file, or stdin if the path is `-`.
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
        return Err(Failure::usage(format!("`{shown}` was not read: it is larger than 100 MB")));
    }
    Ok(bytes)
}

/// Reads and validates a payload. `schema` is the name that `referee schema` takes.
pub(crate) fn parse_payload<T: DeserializeOwned + JsonSchema>(path: &Path, schema: &str) -> Result<T, Failure> {
    let bytes = read_bytes(path)?;
    let shown = path.display();
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
        Failure::usage(format!("`{shown}` is not valid JSON: {error}"))
            .with_hint(format!("`referee schema {schema}` prints its schema"))
    })?;
    let violations = find_violations(&value, self::build_payload_schema::<T>().as_value())?;
    if violations.is_empty() {
        return serde_json::from_value(value).map_err(|error| reject_payload(path, schema, &[error.to_string()]));
    }
    Err(reject_payload(path, schema, &violations))
}

/// Builds the published schema. It forbids additional properties: otherwise a misspelt optional field would be ignored.
pub(crate) fn build_payload_schema<T: JsonSchema>() -> Schema {
    let closed = RecursiveTransform(|schema: &mut Schema| {
        if schema.get("properties").is_some() {
            schema.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
    });
    SchemaSettings::default().with_transform(closed).into_generator().into_root_schema_for::<T>()
}

/// Creates the failure that lists all violations of a payload.
pub(crate) fn reject_payload(path: &Path, schema: &str, violations: &[String]) -> Failure {
    let count = match violations.len() {
        1 => "it has an error".to_owned(),
        count => format!("it has {count} errors"),
    };
    let mut message = format!("`{}` was not used: {count}", path.display());
    for violation in violations.iter().take(MAX_NAMED_VIOLATIONS) {
        message.push_str("\n  ");
        message.push_str(violation);
    }
    if violations.len() > MAX_NAMED_VIOLATIONS {
        message.push_str(&format!("\n  … and {} more", violations.len() - MAX_NAMED_VIOLATIONS));
    }
    Failure::usage(message).with_hint(format!("`referee schema {schema}` prints its schema"))
}

fn find_violations(value: &Value, schema: &Value) -> Result<Vec<String>, Failure> {
    let validator = jsonschema::validator_for(schema)
        .map_err(|error| Failure::failed(format!("the published schema is invalid: {error}")))?;
    let violations = validator.iter_errors(value).map(|error| {
        let pointer = error.instance_path().to_string();
        let pointer = if pointer.is_empty() { "/".to_owned() } else { pointer };
        let message: String = error.to_string().chars().take(200).collect();
        format!("{pointer}: {message}{}", describe_thread(value, &pointer))
    });
    Ok(violations.collect())
}

/// Returns the id of the thread that a JSON pointer leads into, for the message.
fn describe_thread(value: &Value, pointer: &str) -> String {
    let mut parts = pointer.split('/').skip(1);
    let (Some("threads"), Some(index)) = (parts.next(), parts.next()) else { return String::new() };
    let id = value.pointer(&format!("/threads/{index}/threadId")).and_then(Value::as_str);
    id.map(|id| format!(" (thread `{id}`)")).unwrap_or_default()
}
