//! A response and what can be read from it.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::HttpError;

/// Maximum length of a server's error message that referee repeats.
const MAX_MESSAGE_CHARS: usize = 200;

/// A complete response, whatever its status.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    /// Header names are in lower case.
    pub headers: BTreeMap<String, String>,
    /// JSON, plain text, HTML or nothing. The token is masked.
    pub body: Vec<u8>,
}

impl Response {
    /// Returns whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns a header by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Parses the body as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HttpError> {
        serde_json::from_slice(&self.body).map_err(|error| HttpError::UnreadableResponse(error.to_string()))
    }

    /// Returns the server's error message on one line: `message` or `error` of a JSON object, or the first line of
    /// plain text. Empty for HTML.
    pub fn message(&self) -> String {
        let text = String::from_utf8_lossy(&self.body);
        let message = match serde_json::from_str::<Value>(&text) {
            Ok(value) => ["message", "error"].iter().find_map(|key| value.get(key)?.as_str()).unwrap_or("").to_owned(),
            Err(_) if self.is_html(&text) => String::new(),
            Err(_) => text.trim().lines().next().unwrap_or_default().to_owned(),
        };
        let words: Vec<&str> = message.split(|c: char| c.is_whitespace() || c.is_control()).collect();
        words
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(MAX_MESSAGE_CHARS)
            .collect()
    }

    /// When the server answered, by its own clock, in seconds since 1970.
    pub fn date(&self) -> Option<i64> {
        let date = httpdate::parse_http_date(self.header("date")?).ok()?;
        i64::try_from(date.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
    }

    /// Returns the `Retry-After` header, given in seconds or as a date.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let after = self.header("retry-after")?.trim();
        let date = || httpdate::parse_http_date(after).ok();
        // Relative to the server's `Date` header if there is one: the local clock may be wrong.
        let now = || self.date().and_then(|it| u64::try_from(it).ok()).map(|it| UNIX_EPOCH + Duration::from_secs(it));
        after
            .parse()
            .ok()
            .map(Duration::from_secs)
            .or_else(|| Some(date()?.duration_since(now().unwrap_or_else(SystemTime::now)).unwrap_or_default()))
    }

    fn is_html(&self, text: &str) -> bool {
        self.header("content-type").is_some_and(|it| it.contains("html")) || text.trim_start().starts_with('<')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(headers: &[(&str, &str)], body: &str) -> Response {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Response { status: 422, headers, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn an_error_message_is_one_short_line_without_html() {
        let cases = [
            (r#"{"message":"no such label","url":"x"}"#, "no such label"),
            (r#"{"message":"a\nb\u001b[31m c"}"#, "a b [31m c"),
            (r#"{"error":"invalid"}"#, "invalid"),
            (r#"{"message":7}"#, ""),
            ("[]", ""),
            ("404 page not found\n", "404 page not found"),
            ("\n first \n second", "first"),
            ("<!DOCTYPE html><h1>Bad Gateway</h1>", ""),
            ("", ""),
        ];
        for (body, want) in cases {
            assert_eq!(response(&[], body).message(), want, "{body}");
        }
        assert_eq!(response(&[("content-type", "text/html; charset=utf-8")], "Forbidden").message(), "");
        assert_eq!(response(&[], &"é".repeat(1000)).message().chars().count(), 200);
        let broken = Response { body: vec![0xff, b'a'], ..response(&[], "") };
        assert_eq!(broken.message(), "\u{fffd}a");
    }

    #[test]
    fn a_date_header_is_parsed_and_an_invalid_one_is_none() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(response(&[("date", date)], "").date(), Some(784_111_777));
        assert_eq!(response(&[("date", "yesterday")], "").date(), None);
        assert_eq!(response(&[], "").date(), None);
    }

    #[test]
    fn retry_after_is_parsed_as_seconds_and_as_a_date_relative_to_the_servers_clock() {
        let at = |date, after| response(&[("date", date), ("retry-after", after)], "").retry_after();
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(at(date, "7"), Some(Duration::from_secs(7)));
        assert_eq!(at(date, "Sun, 06 Nov 1994 08:50:07 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(at(date, "Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(at(date, "-1"), None);
        assert_eq!(response(&[], "").retry_after(), None);
    }
}
