//! A text that values come from, and how much of it may be shown.

use std::ops::Range;

/// A config file, a variable or a flag.
#[derive(Clone, Debug)]
pub(super) struct ConfigSource {
    /// What it is called in messages.
    pub(super) name: String,
    text: String,
    hidden: Vec<Range<usize>>,
}

/// Where in which source something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceLocation {
    /// The source's number.
    pub(super) source: usize,
    /// Bytes of its text.
    pub(super) span: Range<usize>,
}

/// A run of letters and digits as long as this is taken for a secret wherever it stands.
const MIN_TOKEN_LENGTH: usize = 20;

impl ConfigSource {
    pub(super) fn new(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), text: text.to_owned(), hidden: Vec::new() }
    }

    /// Never shows these bytes.
    pub(super) fn hide_span(&mut self, span: Range<usize>) {
        let span = self.clamp_span(span);
        self.hidden.push(span);
    }

    /// Hides what stands behind keys that sound like a secret, for a text that no parser could tell apart.
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
                let behind = key.map_or(0, |key| key.len() + 1);
                self.hidden.push(start + behind..start + line.len());
            }
            start += line.len();
        }
    }

    /// The nearest span that lies inside the text and cuts no character.
    pub(super) fn clamp_span(&self, span: Range<usize>) -> Range<usize> {
        let end = self.text.ceil_char_boundary(span.end.min(self.text.len()));
        let start = self.text.floor_char_boundary(span.start.min(end));
        start..end
    }

    /// Line and column of a byte, both from 1, the column in characters.
    pub(super) fn line_and_column(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(&self.text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }

    /// The text with secrets starred out, byte for byte, so that spans still fit.
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

/// What looks like a token. A broken line may hide from the parser that a secret stands in it.
fn find_token_like_words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = 0;
    for (at, byte) in text.bytes().chain([b' ']).enumerate() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+') {
            continue;
        }
        let word = text.as_bytes().get(start..at).unwrap_or_default();
        if word.len() >= MIN_TOKEN_LENGTH && word.iter().any(u8::is_ascii_digit) {
            words.push(start..at);
        }
        start = at + 1;
    }
    words
}
