//! What came back.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use crate::error::HttpError;

/// An answer of the server, whatever its status.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// What it holds: JSON, plain text, HTML or nothing.
    pub body: Vec<u8>,
}

impl Answer {
    /// Whether it was done.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The body as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HttpError> {
        serde_json::from_slice(&self.body).map_err(|error| HttpError::Unreadable(error.to_string()))
    }

    /// The server's own words for why not: its `message`, else the first line of a plain text; short, one line, and
    /// nothing of a page.
    pub fn message(&self) -> String {
        let value: Option<serde_json::Value> = serde_json::from_slice(&self.body).ok();
        let said = value.as_ref().and_then(|value| value.get("message")).and_then(|message| message.as_str());
        said.unwrap_or_default().chars().take(200).collect()
    }
}
