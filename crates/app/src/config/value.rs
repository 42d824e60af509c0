//! Checked config values, and the parsers of single values.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::Path;

use referee_core::model::{Span, Time};
use serde::de::DeserializeOwned;
use serde::de::value::{Error, StrDeserializer};

use super::source::SourceLocation;

/// A value and its location. A default has none.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ConfigNode {
    pub(super) value: ConfigValue,
    pub(super) location: Option<SourceLocation>,
}

/// A value of the type that its key asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ConfigValue {
    Bool(bool),
    Number(u64),
    /// Millionths of a dollar.
    MicroUsd(u64),
    Text(String),
    Duration(Span),
    List(Vec<ConfigNode>),
    Table(BTreeMap<String, ConfigNode>),
}

impl ConfigNode {
    /// Returns the value at a dotted path.
    pub(super) fn get(&self, path: &str) -> Option<&ConfigNode> {
        path.split('.').try_fold(self, |node, name| match &node.value {
            ConfigValue::Table(table) => table.get(name),
            _ => None,
        })
    }

    /// Returns the entries of the table at a dotted path.
    pub(super) fn entries(&self, path: &str) -> impl Iterator<Item = (&String, &ConfigNode)> {
        let table = match self.get(path).map(|node| &node.value) {
            Some(ConfigValue::Table(table)) => Some(table),
            _ => None,
        };
        table.into_iter().flatten()
    }

    pub(super) fn as_list(&self) -> &[ConfigNode] {
        match &self.value {
            ConfigValue::List(list) => list,
            _ => &[],
        }
    }

    pub(super) fn to_strings(&self) -> Vec<String> {
        self.as_list().iter().filter_map(ConfigNode::as_text).map(str::to_owned).collect()
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.value {
            ConfigValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Parses a word into the enum it stands for.
    pub(super) fn parse_word<T: DeserializeOwned>(&self) -> Option<T> {
        T::deserialize(StrDeserializer::<Error>::new(self.as_text()?)).ok()
    }

    pub(super) fn parse_words<C: FromIterator<T>, T: DeserializeOwned>(&self) -> C {
        self.as_list().iter().filter_map(ConfigNode::parse_word).collect()
    }

    pub(super) fn as_bool(&self) -> Option<bool> {
        match self.value {
            ConfigValue::Bool(switch) => Some(switch),
            _ => None,
        }
    }

    pub(super) fn as_number<T: TryFrom<u64>>(&self) -> Option<T> {
        match self.value {
            ConfigValue::Number(number) | ConfigValue::MicroUsd(number) => T::try_from(number).ok(),
            _ => None,
        }
    }

    pub(super) fn as_duration(&self) -> Option<Span> {
        match self.value {
            ConfigValue::Duration(time) => Some(time),
            _ => None,
        }
    }
}

/// Renders the value in TOML.
impl fmt::Display for ConfigValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(switch) => write!(f, "{switch}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::MicroUsd(micro) => {
                let (dollars, fraction) = (micro / 1_000_000, format!("{:06}", micro % 1_000_000));
                write!(f, "{dollars}.{:0<2}", fraction.trim_end_matches('0'))
            }
            Self::Text(text) => write!(f, "{}", toml::Value::from(text.as_str())),
            Self::Duration(Span(seconds)) => match seconds {
                seconds if seconds % 3600 == 0 => write!(f, "\"{}h\"", seconds / 3600),
                seconds if seconds % 60 == 0 => write!(f, "\"{}m\"", seconds / 60),
                seconds => write!(f, "\"{seconds}s\""),
            },
            Self::List(list) => {
                let list: Vec<String> = list.iter().map(|node| node.value.to_string()).collect();
                write!(f, "[{}]", list.join(", "))
            }
            Self::Table(table) => {
                let pairs: Vec<String> = table.iter().map(|(key, node)| format!("{key} = {}", node.value)).collect();
                write!(f, "{{ {} }}", pairs.join(", "))
            }
        }
    }
}

/// Parses a duration such as `50m` or `1h30m`.
pub(crate) fn parse_duration(text: &str) -> Option<Span> {
    let mut seconds: i64 = 0;
    let mut digits = String::new();
    for c in text.chars() {
        let unit = match c {
            '0'..='9' => {
                digits.push(c);
                continue;
            }
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            _ => return None,
        };
        let count: i64 = digits.parse().ok()?;
        digits.clear();
        seconds = seconds.checked_add(count.checked_mul(unit)?)?;
    }
    (digits.is_empty() && seconds > 0).then_some(Span(seconds))
}

/// Parses a date such as `2026-11-15` into its first second in UTC.
pub(super) fn parse_day(text: &str) -> Option<Time> {
    if text.len() != "2026-11-15".len() {
        return None;
    }
    let mut parts = text.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    // Count years from March, so that the leap day is the last day of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let time = Time((days + (153 * month + 2) / 5 + day - 1 - 719_468) * 86_400);
    // An impossible date such as `2026-02-30` renders as another day.
    ((1970..10_000).contains(&year) && time.to_string() == format!("{text} 00:00 UTC")).then_some(time)
}

/// Parses an amount in dollars into millionths.
pub(super) fn parse_micro_usd(text: &str) -> Option<u64> {
    let dollars: f64 = text.parse().ok()?;
    let micro = (dollars * 1e6).round();
    // Above this bound an `f64` cannot represent every whole number.
    (dollars.is_finite() && (0.0..9e15).contains(&micro)).then_some(micro as u64)
}

pub(super) fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&text.len()) && text.chars().all(fits)
}

pub(super) fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    host.is_some_and(|host| !host.is_empty() && !host.contains('@') && !text.contains(char::is_whitespace))
}

pub(super) fn is_address(text: &str) -> bool {
    text.parse::<SocketAddr>().is_ok()
}

pub(super) fn is_fixed_path(text: &str) -> bool {
    text.starts_with("~/") || Path::new(text).is_absolute()
}
