//! One source against the table of keys. It never stops at the first error: what is wrong is noted and left out.

use std::collections::BTreeMap;
use std::ops::Range;

use referee_core::say::nearest;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::error::Fault;
use super::reading::{Mention, Reading};
use super::shape::{Absent, Key, Shape, list};
use super::source::Place;
use super::table::{OPERATOR, REPOSITORY, SECRET};
use super::value::{self, At, Value};

/// The walk through one source.
pub(super) struct Walk<'a> {
    /// What is found goes here.
    pub(super) reading: &'a mut Reading,
    /// The source's number.
    pub(super) source: usize,
}

impl Walk<'_> {
    /// A whole file.
    pub(super) fn root(&mut self, keys: &'static [Key], table: &DeTable<'_>) -> At {
        for (name, value) in table {
            if let DeValue::Table(entries) = value.get_ref()
                && self.source == Reading::OPERATOR
            {
                let entries = entries.keys().map(|entry| entry.get_ref().to_string());
                self.reading.entries.entry(name.get_ref().to_string()).or_default().extend(entries);
            }
        }
        if let Some((_, version)) = table.iter().find(|(name, _)| name.get_ref() == "version")
            && keys.iter().any(|key| key.name == "version")
            && self.value(&Shape::Version, version, "version").is_none()
        {
            // Another version has other keys: what else is wrong with it is not ours to say.
            return self.place(version.span()).holds(Value::Table(BTreeMap::new()));
        }
        self.table(keys, table, 0..0, "")
    }

    /// Anything, at a dotted path.
    pub(super) fn value(&mut self, shape: &'static Shape, found: &Spanned<DeValue<'_>>, path: &str) -> Option<At> {
        let span = found.span();
        let value = match (shape, found.get_ref()) {
            (Shape::Table(keys), DeValue::Table(table)) => return Some(self.table(keys, table, span, path)),
            (Shape::One(keys), DeValue::Table(table)) => return self.one(keys, table, span, path),
            (Shape::Secret, DeValue::Table(table)) => return self.one(SECRET, table, span, path),
            (Shape::Secret, _) => {
                self.hide_bytes(span.clone());
                self.refuse_literal(span, path);
                return None;
            }
            (Shape::Map(shape), DeValue::Table(table)) => self.map(shape, table, path),
            (Shape::Roles(keys), DeValue::Array(array)) => {
                self.roles_apart(array);
                let tables = array.iter().map(|entry| match entry.get_ref() {
                    DeValue::Table(table) => Some(self.table(keys, table, entry.span(), path)),
                    other => self.wrong(shape, other, entry.span(), path),
                });
                Value::List(tables.collect::<Vec<_>>().into_iter().flatten().collect())
            }
            (Shape::List(shape), DeValue::Array(array)) => {
                let entries = array.iter().map(|entry| self.value(shape, entry, path));
                Value::List(entries.collect::<Vec<_>>().into_iter().flatten().collect())
            }
            (Shape::Row(length, entry), DeValue::Array(array)) => {
                let entries: Vec<_> = array.iter().map(|found| self.value(entry, found, path)).collect();
                if entries.len() != *length {
                    let label = format!("this has {}", entries.len());
                    self.fault(span, format!("`{path}` must be {}", shape.wanted()), label);
                    return None;
                }
                Value::List(entries.into_iter().collect::<Option<_>>()?)
            }
            (Shape::Argv, DeValue::Array(array)) => {
                let words: Vec<_> = array.iter().map(|word| self.value(&Shape::Text, word, path)).collect();
                let program = array.first().and_then(|word| word.get_ref().as_str());
                if program.is_none_or(|program| program.trim().is_empty()) {
                    self.fault(span, format!("`{path}` must be {}", shape.wanted()), "no program is named");
                    return None;
                }
                Value::List(words.into_iter().collect::<Option<_>>()?)
            }
            (Shape::Either(word, _), DeValue::String(_)) => return self.value(word, found, path),
            (Shape::Either(_, table), DeValue::Table(_)) => return self.value(table, found, path),
            (shape, found) => return self.leaf(shape, found, span, path),
        };
        Some(self.place(span).holds(value))
    }

    fn table(&mut self, keys: &'static [Key], table: &DeTable<'_>, span: Range<usize>, path: &str) -> At {
        let mut values = BTreeMap::new();
        for (name, found) in table {
            match keys.iter().find(|key| key.name == name.get_ref()) {
                Some(key) => {
                    let value = self.value(&key.shape, found, &join(path, key.name));
                    values.extend(value.map(|value| (key.name.to_owned(), value)));
                }
                None => self.unknown(keys, name, found, path),
            }
        }
        for key in keys.iter().filter(|key| !table.keys().any(|name| name.get_ref() == key.name)) {
            match key.absent {
                Absent::Required => {
                    let what = format!("`{path}` needs `{}`: {}", key.name, key.about);
                    self.fault(span.clone(), what, format!("`{}` is missing here", key.name));
                }
                Absent::Is(default) => {
                    values.extend(default_value(&key.shape, default).map(|value| (key.name.to_owned(), value)));
                }
                Absent::Unset | Absent::Layered { .. } => {}
            }
        }
        self.place(span).holds(Value::Table(values))
    }

    fn map(&mut self, shape: &'static Shape, table: &DeTable<'_>, path: &str) -> Value {
        let mut values = BTreeMap::new();
        for (name, found) in table {
            let key = name.get_ref();
            if !value::is_name(key) {
                let what = format!("an entry of `{path}` must have {}", Shape::Name.wanted());
                self.fault(name.span(), what, "this has others");
            }
            let found = self.value(shape, found, &join(path, key));
            values.extend(found.map(|found| (key.to_string(), found)));
        }
        Value::Table(values)
    }

    fn one(&mut self, keys: &'static [Key], table: &DeTable<'_>, span: Range<usize>, path: &str) -> Option<At> {
        let before = self.reading.faults.len();
        let at = self.table(keys, table, span.clone(), path);
        let found = keys.iter().filter(|key| table.keys().any(|name| name.get_ref() == key.name)).count();
        if found != 1 && self.reading.faults.len() == before {
            let what = format!("`{path}` needs exactly one of {}", list(keys.iter().map(|key| key.name)));
            self.fault(span, what, format!("this has {found}"));
        }
        (self.reading.faults.len() == before).then_some(at)
    }

    fn leaf(&mut self, shape: &'static Shape, found: &DeValue<'_>, span: Range<usize>, path: &str) -> Option<At> {
        let value = match (shape, found) {
            (Shape::Version, DeValue::Integer(number)) if number.radix() == 10 && number.as_str() == "1" => {
                Value::Number(1)
            }
            (Shape::Version, DeValue::Integer(number)) => {
                let what = format!("version {number} of the config is not known to this version of referee");
                self.reading.faults.push(
                    Fault::new(self.place(span), what, "only 1 is known")
                        .hint("install a newer referee, or write `version = 1`"),
                );
                return None;
            }
            (Shape::Switch, DeValue::Boolean(switch)) => Value::Switch(*switch),
            (Shape::Yes, DeValue::Boolean(true)) => Value::Switch(true),
            (Shape::Yes, DeValue::Boolean(false)) => return self.outside(shape, span, path),
            (Shape::Number(least, most), DeValue::Integer(number)) => {
                let read = u64::from_str_radix(number.as_str(), number.radix()).ok();
                match read.filter(|read| (*least..=*most).contains(read)) {
                    Some(read) => Value::Number(read),
                    None => return self.outside(shape, span, path),
                }
            }
            (Shape::Money, DeValue::Integer(_) | DeValue::Float(_)) => {
                let text = match found {
                    DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
                    DeValue::Float(number) => number.as_str(),
                    _ => "",
                };
                match value::money(text) {
                    Some(micro) => Value::Money(micro),
                    None => return self.outside(shape, span, path),
                }
            }
            (Shape::Text, DeValue::String(text)) => Value::Text(text.to_string()),
            (Shape::Entry(table), DeValue::String(text)) => {
                let place = self.place(span.clone());
                self.reading.mentions.push(Mention { table, name: text.to_string(), place, path: path.to_owned() });
                Value::Text(text.to_string())
            }
            (Shape::Word(words), DeValue::String(text)) => {
                if !words.contains(&text.as_ref()) {
                    let what = format!("`{path}` must be {}", shape.wanted());
                    let fault = Fault::new(self.place(span), what, "this is none of them");
                    self.reading.faults.push(fault.meant(nearest(text, words.iter().copied())));
                    return None;
                }
                Value::Text(text.to_string())
            }
            (Shape::Time, DeValue::String(text)) => match value::time(text) {
                Some(time) => Value::Time(time),
                None => return self.outside(shape, span, path),
            },
            (Shape::Name | Shape::Url | Shape::Address | Shape::File | Shape::Date, DeValue::String(text)) => {
                let fits = match shape {
                    Shape::Date => value::day(text).is_some(),
                    Shape::Name => value::is_name(text),
                    Shape::Url => value::is_url(text),
                    Shape::Address => value::is_address(text),
                    _ => value::is_fixed_path(text),
                };
                if !fits {
                    // Credentials may stand in a URL, and a secret where its file should be named.
                    if matches!(shape, Shape::Url | Shape::File) {
                        self.hide(found, span.clone());
                    }
                    return self.outside(shape, span, path);
                }
                Value::Text(text.to_string())
            }
            (shape, found) => return self.wrong(shape, found, span, path),
        };
        Some(self.place(span).holds(value))
    }

    fn wrong(&mut self, shape: &Shape, found: &DeValue<'_>, span: Range<usize>, path: &str) -> Option<At> {
        let kind = match found {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "`true` or `false`",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        if matches!(shape, Shape::List(Shape::Secret)) {
            self.hide(found, span.clone());
        }
        self.fault(span, format!("`{path}` must be {}", shape.wanted()), format!("this is {kind}"));
        None
    }

    fn outside(&mut self, shape: &Shape, span: Range<usize>, path: &str) -> Option<At> {
        self.fault(span, format!("`{path}` must be {}", shape.wanted()), "this is not");
        None
    }

    fn unknown(&mut self, keys: &[Key], name: &Spanned<DeString<'_>>, found: &Spanned<DeValue<'_>>, path: &str) {
        self.hide(found.get_ref(), found.span());
        let (word, place) = (name.get_ref().as_ref(), self.place(name.span()));
        let (own, other, home) = if self.source == Reading::REPOSITORY {
            (REPOSITORY, OPERATOR, "the operator file, never into the repository")
        } else {
            (OPERATOR, REPOSITORY, "`referee.toml`, not into the operator file")
        };
        if path.is_empty() && other.iter().any(|key| key.name == word) {
            let fault = Fault::new(place, format!("`{word}` belongs into {home}"), "not here");
            self.reading.faults.push(fault);
            return;
        }
        let what = format!("`{}` is not a known key", join(path, word));
        let fault = Fault::new(place, what, "unknown key");
        let elsewhere = own.iter().find(|table| table.shape.keys().iter().any(|key| key.name == word));
        let near = nearest(word, keys.iter().map(|key| key.name));
        let fault = match (near, elsewhere) {
            (None, Some(table)) => fault.hint(format!("`{word}` is a key of `[{}]`", table.name)),
            (None, None) => fault.hint(format!("known here: {}", list(keys.iter().map(|key| key.name)))),
            (near, _) => fault.meant(near),
        };
        self.reading.faults.push(fault);
    }

    fn refuse_literal(&mut self, span: Range<usize>, path: &str) {
        let what = format!("`{path}` is refused: a secret must not stand in a file");
        let hint = "write it as `{ env = \"NAME\" }`, `{ file = \"/path\" }` or `{ command = [\"program\"] }`; \
                    replace this one, others may have seen it";
        self.reading.faults.push(Fault::new(self.place(span), what, "a literal, not shown here").hint(hint));
    }

    /// Keeps texts out of messages: where a key is unknown, its text may be a secret.
    fn hide(&mut self, found: &DeValue<'_>, span: Range<usize>) {
        match found {
            DeValue::Table(table) => table.values().for_each(|value| self.hide(value.get_ref(), value.span())),
            DeValue::Array(array) => array.iter().for_each(|value| self.hide(value.get_ref(), value.span())),
            DeValue::String(_) => self.hide_bytes(span),
            _ => {}
        }
    }

    fn hide_bytes(&mut self, span: Range<usize>) {
        if let Some(source) = self.reading.sources.get_mut(self.source) {
            source.hide(span);
        }
    }

    pub(super) fn fault(&mut self, span: Range<usize>, what: impl Into<String>, label: impl Into<String>) {
        let fault = Fault::new(self.place(span), what, label);
        self.reading.faults.push(fault);
    }

    pub(super) fn place(&self, span: Range<usize>) -> Place {
        let span = self.reading.sources.get(self.source).map_or(0..0, |source| source.within(span));
        Place { source: self.source, span }
    }
}

impl Place {
    fn holds(self, value: Value) -> At {
        At { value, place: Some(self) }
    }
}

/// A default of the table, read like a file; a test reads them all.
pub(super) fn default_value(shape: &'static Shape, text: &str) -> Option<At> {
    let found = DeValue::parse(text).ok()?;
    let mut reading = Reading::default();
    let at = Walk { reading: &mut reading, source: 0 }.value(shape, &found, "")?;
    reading.faults.is_empty().then(|| nowhere(at))
}

fn nowhere(at: At) -> At {
    let value = match at.value {
        Value::List(list) => Value::List(list.into_iter().map(nowhere).collect()),
        value => value,
    };
    At { value, place: None }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
