//! Keeps the secrets of a worker's environment out of its commits, its result, its log and everything that referee
//! prints. A worker that means to leak a value can always invent an encoding; only the sandbox's network policy and a key
//! with few rights limit that.

use std::cmp::Reverse;
use std::ops::Range;

/// Environment variables of a worker whose names suggest a secret.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerSecrets<'a>(Vec<SecretValue<'a>>);

#[derive(Clone, Debug)]
struct SecretValue<'a> {
    /// The name of the variable.
    name: &'a str,
    /// The value, then its plain encodings.
    forms: Vec<Vec<u8>>,
}

const SECRET_NAME_PARTS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];
/// Shorter values occur in ordinary text and are too weak to be secrets.
const MIN_SECRET_BYTES: usize = 8;
const REPLACEMENT: &str = "***";

impl<'a> WorkerSecrets<'a> {
    pub(crate) fn from_env(env: &'a [(String, String)]) -> Self {
        let is_secret = |name: &str| SECRET_NAME_PARTS.iter().any(|word| name.to_ascii_uppercase().contains(word));
        let values = env.iter().map(|(name, value)| (name, value.trim()));
        let secrets = values.filter(|(name, value)| is_secret(name) && value.len() >= MIN_SECRET_BYTES);
        let mut secrets: Vec<_> =
            secrets.map(|(name, value)| SecretValue { name, forms: list_forms(value.as_bytes()) }).collect();
        // Longest first: if one value is a prefix of another, replacing it first would leave the rest of the longer one.
        secrets.sort_by_key(|secret| Reverse(secret.forms[0].len()));
        Self(secrets)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns every form of every secret, longest first.
    pub(crate) fn to_patterns(&self) -> Vec<Vec<u8>> {
        let mut forms: Vec<Vec<u8>> = self.0.iter().flat_map(|secret| secret.forms.clone()).collect();
        forms.sort_by_key(|form| Reverse(form.len()));
        forms
    }

    /// Replaces every secret in a text by `***`. Also finds a value with spaces or invisible characters between its
    /// letters, because those are removed before a text is posted or printed.
    pub(crate) fn redact_text(&self, text: &str) -> String {
        self.to_patterns().iter().fold(text.to_owned(), |text, form| match std::str::from_utf8(form) {
            Ok(form) => replace_loosely(text, form),
            Err(_) => text,
        })
    }

    /// Returns the variables whose values occur in these bytes.
    pub(super) fn find_in(&self, bytes: &[u8]) -> Vec<&'a str> {
        let is_in = |form: &Vec<u8>| contains(bytes, form);
        self.0.iter().filter(|secret| secret.forms.iter().any(is_in)).map(|secret| secret.name).collect()
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    let Some((first, rest)) = part.split_first() else { return false };
    let mut from = bytes;
    while let Some(at) = from.iter().position(|byte| byte == first) {
        from = &from[at + 1..];
        if from.starts_with(rest) {
            return true;
        }
    }
    false
}

/// Lists a value with the encodings that programs use without being asked: UTF-16, hex, base64, and the escapes of URLs
/// and JSON.
fn list_forms(value: &[u8]) -> Vec<Vec<u8>> {
    let hex = |upper: bool| -> String {
        value.iter().map(|byte| if upper { format!("{byte:02X}") } else { format!("{byte:02x}") }).collect()
    };
    let mut forms = vec![value.to_vec(), hex(false).into_bytes(), hex(true).into_bytes()];
    // Both byte orders contain this: the first letter, then pairs of a zero byte and a letter.
    forms.push(
        value.iter().enumerate().flat_map(|(at, byte)| if at == 0 { vec![*byte] } else { vec![0, *byte] }).collect(),
    );
    for offset in 0..3 {
        let standard = encode_base64(value, offset);
        let url_safe = standard.iter().map(|letter| match letter {
            b'+' => b'-',
            b'/' => b'_',
            other => *other,
        });
        forms.push(url_safe.collect());
        forms.push(standard);
    }
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    forms.push(
        value
            .iter()
            .flat_map(|byte| if is_plain(byte) { vec![*byte] } else { format!("%{byte:02X}").into_bytes() })
            .collect(),
    );
    if let Ok(text) = std::str::from_utf8(value) {
        let quoted = serde_json::Value::from(text).to_string();
        forms.push(quoted.trim_matches('"').replace('/', "\\/").into_bytes());
        forms.push(quoted.trim_matches('"').as_bytes().to_vec());
    }
    let value = forms.remove(0);
    forms.retain(|form| *form != value && form.len() >= MIN_SECRET_BYTES);
    forms.sort();
    forms.dedup();
    forms.insert(0, value);
    forms
}

const BASE64_ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes a value that begins `offset` bytes after a group of three, without the letters that depend on its neighbours.
fn encode_base64(value: &[u8], offset: usize) -> Vec<u8> {
    let bit = |at: usize| {
        let byte = (at / 8).checked_sub(offset).and_then(|index| value.get(index)).copied().unwrap_or(0);
        usize::from(byte >> (7 - at % 8) & 1)
    };
    let letters = (offset * 8).div_ceil(6)..(offset + value.len()) * 8 / 6;
    letters.map(|letter| BASE64_ALPHABET[(0..6).fold(0, |index, at| index << 1 | bit(letter * 6 + at))]).collect()
}

/// Replaces a secret of visible ASCII characters, whatever other characters are between its letters.
fn replace_loosely(text: String, secret: &str) -> String {
    if !secret.chars().all(|char| char.is_ascii_graphic()) {
        return text.replace(secret, REPLACEMENT);
    }
    let visible: Vec<(usize, u8)> =
        text.char_indices().filter(|(_, char)| char.is_ascii_graphic()).map(|(at, char)| (at, char as u8)).collect();
    let letters: Vec<u8> = visible.iter().map(|(_, letter)| *letter).collect();
    let mut places: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    while let Some(found) = letters.get(from..).and_then(|rest| find(rest, secret.as_bytes())) {
        let first = from + found;
        from = first + secret.len();
        places.push(visible[first].0..visible[from - 1].0 + 1);
    }
    let mut text = text;
    for place in places.into_iter().rev() {
        text.replace_range(place, REPLACEMENT);
    }
    text
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::WorkerSecrets;

    fn env() -> [(String, String); 4] {
        [("MODEL_KEY", "sk-123456"), ("TOKEN", "sk-123456-long"), ("MODEL", "a-model-of-ours"), ("PIN_TOKEN", "1234")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    }

    #[test]
    fn variables_with_a_secret_name_are_redacted_and_detected() {
        let env = env();
        let secrets = WorkerSecrets::from_env(&env);
        let text = "sk-123456-long, sk-123456, a-model-of-ours, 1234";
        assert_eq!(secrets.redact_text(text), "***, ***, a-model-of-ours, 1234");
        for (text, want) in [
            ("key: s\u{200b}k-12\n3 456!", "key: ***!"),
            ("c2stMTIzNDU2 and 736b2d313233343536", "*** and ***"),
            ("größe sk-123456 größe", "größe *** größe"),
            ("sk-12345", "sk-12345"),
        ] {
            assert_eq!(secrets.redact_text(text), want);
        }
        assert_eq!(secrets.find_in(b"+a\n+sk-123456\n"), ["MODEL_KEY"]);
        assert_eq!(secrets.find_in(b"\xffsk-123456-long"), ["TOKEN", "MODEL_KEY"]);
        assert_eq!(secrets.find_in(b"a-model-of-ours 1234"), [] as [&str; 0]);
    }

    #[test]
    fn plain_encodings_are_detected() {
        let env = [("API_KEY".to_owned(), "a/b+c\"d e~f".to_owned())];
        let secrets = WorkerSecrets::from_env(&env);
        for text in [
            &b"a\0/\0b\0+\0c\0\"\0d\0 \0e\0~\0f\0"[..],
            b"612f622b63226420657e66",
            b"612F622B63226420657E66",
            // Behind no byte, one byte and two bytes.
            b"YS9iK2MiZCBlfmY=",
            b"eGEvYitjImQgZX5m",
            b"eHhhL2IrYyJkIGV+Zg==",
            b"eHhhL2IrYyJkIGV-Zg",
            b"a%2Fb%2Bc%22d%20e~f",
            br#"a\/b+c\"d e~f"#,
            br#"a/b+c\"d e~f"#,
        ] {
            assert_eq!(secrets.find_in(text), ["API_KEY"], "{}", String::from_utf8_lossy(text));
        }
        assert_eq!(secrets.find_in(b"a/b+c"), [] as [&str; 0]);
    }
}
