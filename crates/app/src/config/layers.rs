//! Which layer has the last word on each value of the policy.
//!
//! | layer | |
//! |---|---|
//! | flag | the command line of this run |
//! | environment | `REFEREE_` and the key: `REFEREE_LOOP_ROUNDS` |
//! | repository | `referee.toml` at the base |
//! | default | on local pulls another one for some keys |
//!
//! The operator's value of the same key is a ceiling: it caps whatever came out, and never raises it.

use std::collections::BTreeMap;

use super::Layers;
use super::reading::Reading;
use super::shape::{Absent, Key, Shape};
use super::table::REPOSITORY;
use super::value::{At, Value};
use super::walk::default_value;

/// A value that holds, and where it comes from.
pub(super) struct Settled {
    pub(super) at: At,
    pub(super) from: String,
}

/// What holds, by dotted path. A key without value and default is missing.
pub(super) fn settle(
    reading: &mut Reading,
    layers: &Layers<'_>,
    repository: &At,
    operator: &At,
) -> BTreeMap<String, Settled> {
    let mut settled = BTreeMap::new();
    debug_assert!(layers.flags.iter().all(|flag| leaves().iter().any(|(path, _)| path == flag.key)));
    for (path, key) in leaves() {
        let mut holds = asked(reading, layers, repository, &path, key);
        if let Some(ceiling) = operator.at(&path)
            && let Some(asked) = holds.as_ref().filter(|asked| above(&key.shape, &asked.at.value, &ceiling.value))
        {
            let origin = reading.origin(ceiling.place.as_ref());
            let from = format!("{origin} (a ceiling; {} says {})", asked.from, asked.at.value);
            holds = Some(Settled { at: ceiling.clone(), from });
        }
        settled.extend(holds.map(|holds| (path, holds)));
    }
    settled
}

/// What is asked for, before the ceiling.
fn asked(
    reading: &mut Reading,
    layers: &Layers<'_>,
    repository: &At,
    path: &str,
    key: &'static Key,
) -> Option<Settled> {
    if let Some(flag) = layers.flags.iter().find(|flag| flag.key == path) {
        let at = reading.word(path, &key.shape, flag.name, flag.value)?;
        return Some(Settled { at, from: flag.name.to_owned() });
    }
    if let Some(variable) = variable(path, key)
        && let Some(text) = (layers.env)(&variable).filter(|text| !text.is_empty())
    {
        let at = reading.word(path, &key.shape, &variable, &text)?;
        return Some(Settled { at, from: format!("the variable {variable}") });
    }
    if let Some(at) = repository.at(path) {
        return Some(Settled { at: at.clone(), from: reading.origin(at.place.as_ref()) });
    }
    if let Some(user) = layers.user.as_ref().filter(|_| layers.local && path == "loop.operator") {
        let at = At { value: Value::Text(user.to_string()), place: None };
        return Some(Settled { at, from: "the git user, by default on local pulls".to_owned() });
    }
    let Absent::Layered { forge, local } = key.absent else { return None };
    let (default, from) = match layers.local {
        true if local != forge => (local, "default on local pulls"),
        _ => (forge, "default"),
    };
    Some(Settled { at: default_value(&key.shape, default)?, from: from.to_owned() })
}

/// All keys of the policy.
pub(super) fn leaves() -> Vec<(String, &'static Key)> {
    fn collect(keys: &'static [Key], path: &str, all: &mut Vec<(String, &'static Key)>) {
        for key in keys {
            let path = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
            match (&key.shape, &key.absent) {
                (Shape::Table(keys), _) => collect(keys, &path, all),
                (_, Absent::Layered { .. }) => all.push((path, key)),
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    collect(REPOSITORY, "", &mut all);
    all
}

/// The variable that overrides a key; lists have none.
fn variable(path: &str, key: &Key) -> Option<String> {
    let listed = matches!(key.shape, Shape::List(_) | Shape::Row(..));
    (!listed).then(|| format!("REFEREE_{}", path.replace('.', "_").to_uppercase()))
}

/// Whether a value goes beyond a ceiling: more in number, or later in the list of words.
fn above(shape: &Shape, asked: &Value, ceiling: &Value) -> bool {
    match (shape, asked, ceiling) {
        (_, Value::Number(asked), Value::Number(ceiling)) | (_, Value::Money(asked), Value::Money(ceiling)) => {
            asked > ceiling
        }
        (Shape::Word(words), Value::Text(asked), Value::Text(ceiling)) => {
            let rank = |word: &String| words.iter().position(|it| it == word);
            rank(asked) > rank(ceiling)
        }
        _ => false,
    }
}
