//! The published schema as a table. The types read it too, but stop at the first thing that is wrong and do not say
//! where; whoever writes reports wants all of it.

use serde_json::Value;

use crate::formats::Violation;

/// What a value may be.
pub(super) enum Shape {
    Text,
    /// A number that fits a line.
    Line,
    /// `F4`.
    Finding,
    OneOf(&'static [&'static str]),
    List(&'static Shape),
    Record(&'static [Field]),
}

pub(super) struct Field {
    name: &'static str,
    shape: Shape,
    need: Need,
}

/// What a field does without.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// Nothing.
    Given,
    /// It may be left out.
    Free,
    /// It may be left out or `null`.
    Nullable,
}

pub(super) const REPORT: Shape = Shape::Record(&[
    field("schema", Shape::Text, Need::Given),
    field("role", Shape::Text, Need::Given),
    field("head", Shape::Text, Need::Given),
    field("outcome", Shape::OneOf(&["findings", "clean", "failed"]), Need::Given),
    field("reason", Shape::Text, Need::Free),
    field("coverage", COVERAGE, Need::Nullable),
    field("summary", Shape::Text, Need::Free),
    field("findings", Shape::List(&FOUND), Need::Free),
    field("positions", Shape::List(&STATED), Need::Free),
]);

const COVERAGE: Shape = Shape::Record(&[
    field("read", Shape::List(&Shape::Text), Need::Given),
    field("skipped", Shape::List(&SKIPPED), Need::Given),
]);

const SKIPPED: Shape =
    Shape::Record(&[field("path", Shape::Text, Need::Given), field("why", Shape::Text, Need::Given)]);

const FOUND: Shape = Shape::Record(&[
    field("title", Shape::Text, Need::Given),
    field("body", Shape::Text, Need::Free),
    field("severity", Shape::OneOf(&["critical", "warning", "suggestion"]), Need::Given),
    field("path", Shape::Text, Need::Given),
    field("line", Shape::Line, Need::Nullable),
    field("end_line", Shape::Line, Need::Nullable),
    field("side", Shape::OneOf(&["new", "old"]), Need::Free),
    field("rule", Shape::Text, Need::Nullable),
    field("suggestion", Shape::Text, Need::Nullable),
]);

const STATED: Shape = Shape::Record(&[
    field("finding", Shape::Finding, Need::Given),
    field("position", Shape::OneOf(&["fixed", "still_there", "worsened", "conceded", "stands"]), Need::Given),
    field("evidence", Shape::Text, Need::Free),
    field("reply", Shape::Text, Need::Free),
]);

const fn field(name: &'static str, shape: Shape, need: Need) -> Field {
    Field { name, shape, need }
}

/// What is wrong, up to as much as anybody reads.
#[derive(Default)]
pub(super) struct Faults {
    told: Vec<Violation>,
    more: usize,
}

const TOLD: usize = 50;

impl Faults {
    pub(super) fn add(&mut self, pointer: &str, what: String) {
        if self.told.len() < TOLD {
            self.told.push(Violation { pointer: pointer.to_owned(), what });
        } else {
            self.more += 1;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    pub(super) fn into_violations(mut self) -> Vec<Violation> {
        if self.more > 0 {
            self.told.push(Violation { pointer: String::new(), what: format!("and {} more", self.more) });
        }
        self.told
    }
}

impl Shape {
    /// Adds all that is wrong with a value.
    pub(super) fn check(&self, value: &Value, at: &str, faults: &mut Faults) {
        match (self, value) {
            (Self::Text, Value::String(_)) => {}
            (Self::Line, Value::Number(number)) if number.as_u64().is_some_and(|it| u32::try_from(it).is_ok()) => {}
            (Self::Finding, Value::String(name)) if is_finding(name) => {}
            (Self::OneOf(known), Value::String(word)) if known.contains(&word.as_str()) => {}
            (Self::List(shape), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    shape.check(item, &format!("{at}/{index}"), faults);
                }
            }
            (Self::Record(fields), Value::Object(entries)) => {
                for field in *fields {
                    let inside = format!("{at}/{}", field.name);
                    match entries.get(field.name) {
                        None if field.need == Need::Given => faults.add(&inside, "is missing".to_owned()),
                        None => {}
                        Some(Value::Null) if field.need == Need::Nullable => {}
                        Some(value) => field.shape.check(value, &inside, faults),
                    }
                }
                for name in entries.keys().filter(|name| !fields.iter().any(|field| field.name == *name)) {
                    let known: Vec<String> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
                    faults
                        .add(&format!("{at}/{}", escaped(name)), format!("is unknown: there are {}", known.join(", ")));
                }
            }
            _ => faults.add(at, format!("should be {}, is {}", self.words(), told(value))),
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Line => "a line number".to_owned(),
            Self::Finding => "a finding's id such as `F4`".to_owned(),
            Self::OneOf(known) => known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or "),
            Self::List(_) => "a list".to_owned(),
            Self::Record(_) => "an object".to_owned(),
        }
    }
}

fn is_finding(name: &str) -> bool {
    name.strip_prefix('F').is_some_and(|digits| digits.parse::<u64>().is_ok())
}

/// As JSON pointers write names.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn told(value: &Value) -> String {
    match value {
        Value::String(text) if text.chars().count() > 40 => "a long text".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => format!("`{value}`"),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
