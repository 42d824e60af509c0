//! Helpers for JSON documents that tools fill loosely.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::error::Category;

use super::{Format, FormatError};

/// Parses a whole document, and tells a truncated one from one in another format.
pub(super) fn parse_document<T: DeserializeOwned>(format: Format, text: &str) -> Result<T, FormatError> {
    serde_json::from_str(text).map_err(|error| match error.classify() {
        Category::Eof => FormatError::Truncated { format, line: error.line() },
        Category::Data => FormatError::WrongFormat { format, what: error.to_string() },
        Category::Syntax | Category::Io => FormatError::Syntax { format, what: error.to_string() },
    })
}

/// Deserialises a line or column, counted from 1. Tools write 0 or -1 for "none", and some write numbers as strings.
pub(super) fn positive_number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let number = match Value::deserialize(from)? {
        Value::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
        Value::String(digits) => digits.parse().ok(),
        _ => None,
    };
    Ok(number.filter(|number| *number > 0))
}

/// Deserialises `null` as the default value.
pub(super) fn null_as_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
