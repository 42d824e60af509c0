//! The text of a config source, and which parts of it messages may show.

use std::ops::Range;

/// A config file, a variable or a flag.
#[derive(Clone, Debug)]
pub(super) struct ConfigSource {
    /// The name in messages.
    pub(super) name: String,
    text: String,
    /// Byte ranges that messages must not show.
    hidden: Vec<Range<usize>>,
}

/// A byte range of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceLocation {
    /// Index in `ConfigLoader::sources`.
    pub(super) source: usize,
    pub(super) span: Range<usize>,
}

/// A word of at least this length that contains a digit counts as a secret.
const MIN_TOKEN_LENGTH: usize = 20;

impl ConfigSource {
    pub(super) fn new(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned(), hidden: Vec::new() }
    }

    /// Hides a byte range from messages.
    pub(super) fn hide_span(&mut self, span: Range<usize>) {
        let span = self.clamp_span(span);
        self.hidden.push(span);
    }

    /// Hides the values of keys whose name suggests a secret. For a text that is not valid TOML.
    pub(super) fn hide_likely_secrets(&mut self) {
        let (mut start, mut secret) = (0, false);
        for line in self.text.split_inclusive('\n') {
            let key = line.find('=').map(|equals| line[..equals].to_ascii_lowercase());
            if line.starts_with('[') {
                secret = false;
            } else if let Some(key) = &key {
                secret = ["token", "key", "secret", "pass"].iter().any(|word| key.contains(word));
            }
            if secret {
                let value_start = key.map_or(0, |key| key.len() + 1);
                self.hidden.push(start + value_start..start + line.len());
            }
            start += line.len();
        }
    }

    /// Returns the nearest span that lies inside the text and on character boundaries.
    pub(super) fn clamp_span(&self, span: Range<usize>) -> Range<usize> {
        let end = self.text.ceil_char_boundary(span.end.min(self.text.len()));
        let start = self.text.floor_char_boundary(span.start.min(end));
        start..end
    }

    /// Returns line and column of a byte offset, both counted from 1, the column in characters.
    pub(super) fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }

    /// Returns the text with every hidden byte replaced by `*`, so that spans stay valid.
    pub(super) fn redacted_text(&self) -> String {
        let mut bytes = self.text.clone().into_bytes();
        for span in self.hidden.iter().cloned().chain(find_token_like_words(&self.text)) {
            for byte in bytes.get_mut(span).into_iter().flatten().filter(|byte| **byte != b'\n') {
                *byte = b'*';
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Finds words that look like a token. In a malformed line the parser cannot tell which value is a secret.
fn find_token_like_words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = 0;
    for (end, byte) in text.bytes().chain([b' ']).enumerate() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+') {
            continue;
        }
        let word = text.as_bytes().get(start..end).unwrap_or_default();
        if word.len() >= MIN_TOKEN_LENGTH && word.iter().any(u8::is_ascii_digit) {
            words.push(start..end);
        }
        start = end + 1;
    }
    words
}
