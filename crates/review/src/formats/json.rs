//! Documents of JSON, and the looseness with which tools fill them.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::error::Category;

use super::{Format, FormatError};

/// A whole document: a cut one is told from one that is something else.
pub(super) fn parse_document<T: DeserializeOwned>(format: Format, text: &str) -> Result<T, FormatError> {
    serde_json::from_str(text).map_err(|error| match error.classify() {
        Category::Eof => FormatError::Truncated { format, line: error.line() },
        Category::Data => FormatError::WrongFormat { format, what: error.to_string() },
        Category::Syntax | Category::Io => FormatError::Syntax { format, what: error.to_string() },
    })
}

/// A line or column, counted from one. Tools write 0, -1 or a string where there is none, or where it is one.
pub(super) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let number = match Value::deserialize(from)? {
        Value::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
        Value::String(digits) => digits.parse().ok(),
        _ => None,
    };
    Ok(number.filter(|number| *number > 0))
}

/// `null` is nothing.
pub(super) fn or_nothing<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
