//! The published schema as a table. The types read it too, but stop at the first thing that is wrong and do not say
//! where; whoever writes reports wants all of it.

use serde_json::Value;

use crate::formats::ReportViolation;

/// What a value may be.
pub(super) enum JsonType {
    Text,
    /// A number that fits a line.
    LineNumber,
    /// `F4`.
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

/// What a field does without.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    /// Nothing.
    Required,
    /// It may be left out.
    Optional,
    /// It may be left out or `null`.
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
    new_field("side", JsonType::OneOf(&["new", "old"]), Presence::Optional),
    new_field("rule", JsonType::Text, Presence::Nullable),
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

const fn new_field(name: &'static str, shape: JsonType, need: Presence) -> JsonField {
    JsonField { name, json_type: shape, presence: need }
}

/// What is wrong, up to as much as anybody reads.
#[derive(Default)]
pub(super) struct ViolationList {
    listed: Vec<ReportViolation>,
    omitted_count: usize,
}

const MAX_LISTED_VIOLATIONS: usize = 50;

impl ViolationList {
    pub(super) fn add(&mut self, pointer: &str, what: String) {
        if self.listed.len() < MAX_LISTED_VIOLATIONS {
            self.listed.push(ReportViolation { pointer: pointer.to_owned(), message: what });
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
    /// Adds all that is wrong with a value.
    pub(super) fn check_value(&self, value: &Value, at: &str, faults: &mut ViolationList) {
        match (self, value) {
            (Self::Text, Value::String(_)) => {}
            (Self::LineNumber, Value::Number(number))
                if number.as_u64().is_some_and(|it| u32::try_from(it).is_ok()) => {}
            (Self::FindingId, Value::String(name)) if is_finding_id(name) => {}
            (Self::OneOf(known), Value::String(word)) if known.contains(&word.as_str()) => {}
            (Self::List(shape), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    shape.check_value(item, &format!("{at}/{index}"), faults);
                }
            }
            (Self::Record(fields), Value::Object(entries)) => {
                for field in *fields {
                    let inside = format!("{at}/{}", field.name);
                    match entries.get(field.name) {
                        None if field.presence == Presence::Required => faults.add(&inside, "is missing".to_owned()),
                        None => {}
                        Some(Value::Null) if field.presence == Presence::Nullable => {}
                        Some(value) => field.json_type.check_value(value, &inside, faults),
                    }
                }
                for name in entries.keys().filter(|name| !fields.iter().any(|field| field.name == *name)) {
                    let known: Vec<String> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
                    faults.add(
                        &format!("{at}/{}", escape_pointer(name)),
                        format!("is unknown: there are {}", known.join(", ")),
                    );
                }
            }
            _ => faults.add(at, format!("should be {}, is {}", self.describe(), describe_value(value))),
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::LineNumber => "a line number".to_owned(),
            Self::FindingId => "a finding's id such as `F4`".to_owned(),
            Self::OneOf(known) => known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or "),
            Self::List(_) => "a list".to_owned(),
            Self::Record(_) => "an object".to_owned(),
        }
    }
}

fn is_finding_id(name: &str) -> bool {
    name.strip_prefix('F').is_some_and(|digits| digits.parse::<u64>().is_ok())
}

/// As JSON pointers write names.
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
