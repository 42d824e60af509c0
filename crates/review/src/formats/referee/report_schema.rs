//! The published schema as a table. Deserialising would stop at the first error and not say where; authors of reports need
//! all errors, each with its place.

use serde_json::Value;

use crate::formats::ReportViolation;

/// The type of a JSON value.
pub(super) enum JsonType {
    Text,
    /// An integer of 32 bits.
    LineNumber,
    /// Such as `F4`.
    FindingId,
    OneOf(&'static [&'static str]),
    List(&'static JsonType),
    Record(&'static [JsonField]),
}

pub(super) struct JsonField {
    name: &'static str,
    json_type: JsonType,
    presence: Presence,
}

/// Whether a field may be missing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Required,
    Optional,
    /// It may be missing or `null`.
    Nullable,
}

pub(super) const REPORT_TYPE: JsonType = JsonType::Record(&[
    new_field("schema", JsonType::Text, Presence::Required),
    new_field("role", JsonType::Text, Presence::Required),
    new_field("head", JsonType::Text, Presence::Required),
    new_field("outcome", JsonType::OneOf(&["findings", "clean", "failed"]), Presence::Required),
    new_field("reason", JsonType::Text, Presence::Optional),
    new_field("coverage", COVERAGE_TYPE, Presence::Nullable),
    new_field("summary", JsonType::Text, Presence::Optional),
    new_field("findings", JsonType::List(&FINDING_TYPE), Presence::Optional),
    new_field("positions", JsonType::List(&POSITION_TYPE), Presence::Optional),
]);

const COVERAGE_TYPE: JsonType = JsonType::Record(&[
    new_field("read", JsonType::List(&JsonType::Text), Presence::Required),
    new_field("skipped", JsonType::List(&SKIPPED_TYPE), Presence::Required),
]);

const SKIPPED_TYPE: JsonType = JsonType::Record(&[
    new_field("path", JsonType::Text, Presence::Required),
    new_field("why", JsonType::Text, Presence::Required),
]);

const FINDING_TYPE: JsonType = JsonType::Record(&[
    new_field("title", JsonType::Text, Presence::Required),
    new_field("body", JsonType::Text, Presence::Optional),
    new_field("severity", JsonType::OneOf(&["critical", "warning", "suggestion"]), Presence::Required),
    new_field("path", JsonType::Text, Presence::Required),
    new_field("line", JsonType::LineNumber, Presence::Nullable),
    new_field("end_line", JsonType::LineNumber, Presence::Nullable),
    new_field("column", JsonType::LineNumber, Presence::Nullable),
    new_field("side", JsonType::OneOf(&["new", "old"]), Presence::Optional),
    new_field("rule", JsonType::Text, Presence::Nullable),
    new_field("help", JsonType::Text, Presence::Nullable),
    new_field("suggestion", JsonType::Text, Presence::Nullable),
]);

const POSITION_TYPE: JsonType = JsonType::Record(&[
    new_field("finding", JsonType::FindingId, Presence::Required),
    new_field(
        "position",
        JsonType::OneOf(&["fixed", "still_there", "worsened", "conceded", "stands"]),
        Presence::Required,
    ),
    new_field("evidence", JsonType::Text, Presence::Optional),
    new_field("reply", JsonType::Text, Presence::Optional),
]);

const fn new_field(name: &'static str, json_type: JsonType, presence: Presence) -> JsonField {
    JsonField { name, json_type, presence }
}

/// The violations of a report. Beyond a limit they are only counted.
#[derive(Default)]
pub(super) struct ViolationList {
    listed: Vec<ReportViolation>,
    omitted_count: usize,
}

const MAX_LISTED_VIOLATIONS: usize = 50;

impl ViolationList {
    pub(super) fn add(&mut self, pointer: &str, message: String) {
        if self.listed.len() < MAX_LISTED_VIOLATIONS {
            self.listed.push(ReportViolation { pointer: pointer.to_owned(), message });
        } else {
            self.omitted_count += 1;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    pub(super) fn into_violations(mut self) -> Vec<ReportViolation> {
        if self.omitted_count > 0 {
            self.listed
                .push(ReportViolation { pointer: String::new(), message: format!("and {} more", self.omitted_count) });
        }
        self.listed
    }
}

impl JsonType {
    /// Adds all violations in a value; `at` is the JSON pointer to it.
    pub(super) fn check_value(&self, value: &Value, at: &str, violations: &mut ViolationList) {
        match (self, value) {
            (Self::Text, Value::String(_)) => {}
            (Self::LineNumber, Value::Number(number))
                if number.as_u64().is_some_and(|number| u32::try_from(number).is_ok()) => {}
            (Self::FindingId, Value::String(name)) if is_finding_id(name) => {}
            (Self::OneOf(known), Value::String(word)) if known.contains(&word.as_str()) => {}
            (Self::List(shape), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    shape.check_value(item, &format!("{at}/{index}"), violations);
                }
            }
            (Self::Record(fields), Value::Object(entries)) => {
                for field in *fields {
                    let inside = format!("{at}/{}", field.name);
                    match entries.get(field.name) {
                        None if field.presence == Presence::Required => {
                            violations.add(&inside, "is missing".to_owned())
                        }
                        None => {}
                        Some(Value::Null) if field.presence == Presence::Nullable => {}
                        Some(value) => field.json_type.check_value(value, &inside, violations),
                    }
                }
                for name in entries.keys().filter(|name| !fields.iter().any(|field| field.name == *name)) {
                    let known: Vec<String> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
                    violations.add(
                        &format!("{at}/{}", escape_pointer(name)),
                        format!("is not a known field; known are {}", known.join(", ")),
                    );
                }
            }
            _ => violations.add(at, format!("must be {}, but is {}", self.describe(), describe_value(value))),
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::LineNumber => "a line number".to_owned(),
            Self::FindingId => "a finding id such as `F4`".to_owned(),
            Self::OneOf(known) => known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or "),
            Self::List(_) => "a list".to_owned(),
            Self::Record(_) => "an object".to_owned(),
        }
    }
}

fn is_finding_id(name: &str) -> bool {
    name.strip_prefix('F').is_some_and(|digits| digits.parse::<u64>().is_ok())
}

/// Escapes a name for a JSON pointer (RFC 6901 §3).
fn escape_pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn describe_value(value: &Value) -> String {
    match value {
        Value::String(text) if text.chars().count() > 40 => "a long text".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => format!("`{value}`"),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
