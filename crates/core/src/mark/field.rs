//! Encodes single values in a hidden comment.
//!
//! | value | encoding |
//! |---|---|
//! | number, time | decimal |
//! | list of numbers | runs such as `3-5,9`, in the given order |
//! | list of texts | separated by `,` |
//! | hex of even length, at least 16 characters | `*` and base64, so that a commit id takes 28 bytes |
//! | any other text | letters and digits unchanged, space as `+`, the rest as `%xx` |
//! | `None` | `-` |
//!
//! No encoded value contains `;`, `|`, `,`, a space, `<`, `>` or `--`, nor `@` or `#`, which forges turn into links.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};

use sha2::{Digest, Sha256};

/// Sanity limit: referee never writes a longer list.
const MAX_LIST_LEN: u64 = 1_000_000;

/// With `_` and `.` as the last two characters, because base64url's `-` could produce `--`.
const BASE64_ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.";

/// Writes a sequence of fields.
#[derive(Default)]
pub(super) struct FieldWriter {
    fields: String,
    needs_separator: bool,
}

impl FieldWriter {
    /// Writes a field that is already encoded.
    pub(super) fn write_raw(&mut self, field: &str) -> &mut Self {
        self.begin_field(';').push_str(field);
        self
    }

    pub(super) fn write_text(&mut self, text: &str) -> &mut Self {
        encode_text_into(text, self.begin_field(';'));
        self
    }

    pub(super) fn write_optional_text(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.write_text(text),
            None => self.write_raw("-"),
        }
    }

    pub(super) fn write_number(&mut self, number: impl Display) -> &mut Self {
        let _ = write!(self.begin_field(';'), "{number}");
        self
    }

    pub(super) fn write_optional_number<N: Display>(&mut self, number: Option<N>) -> &mut Self {
        match number {
            Some(number) => self.write_number(number),
            None => self.write_raw("-"),
        }
    }

    pub(super) fn write_list<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) -> &mut Self {
        let mut texts = texts.into_iter();
        let Some(first) = texts.next() else { return self.write_raw("-") };
        self.write_text(first);
        for text in texts {
            encode_text_into(text, self.begin_field(','));
        }
        self
    }

    /// Starts a new part.
    pub(super) fn begin_part(&mut self) -> &mut Self {
        self.begin_field('|');
        self.needs_separator = false;
        self
    }

    fn begin_field(&mut self, separator: char) -> &mut String {
        if std::mem::replace(&mut self.needs_separator, true) {
            self.fields.push(separator);
        }
        &mut self.fields
    }

    pub(super) fn finish(self) -> String {
        self.fields
    }
}

/// Reads a sequence of fields. Methods return `None` if a field is missing or invalid.
pub(super) struct FieldReader<'a>(std::str::Split<'a, char>);

impl<'a> FieldReader<'a> {
    pub(super) fn new(payload: &'a str) -> Self {
        Self(payload.split(';'))
    }

    pub(super) fn read_raw(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    pub(super) fn read_text(&mut self) -> Option<String> {
        decode_text(self.read_raw()?)
    }

    pub(super) fn read_optional_text(&mut self) -> Option<Option<String>> {
        match self.read_raw()? {
            "-" => Some(None),
            field => decode_text(field).map(Some),
        }
    }

    pub(super) fn read_list(&mut self) -> Option<Vec<String>> {
        match self.read_raw()? {
            "-" => Some(Vec::new()),
            field => field.split(',').map(decode_text).collect(),
        }
    }

    pub(super) fn read_number<N: std::str::FromStr>(&mut self) -> Option<N> {
        self.read_raw()?.parse().ok()
    }

    pub(super) fn read_optional_number<N: std::str::FromStr>(&mut self) -> Option<Option<N>> {
        match self.read_raw()? {
            "-" => Some(None),
            field => field.parse().ok().map(Some),
        }
    }
}

pub(super) fn encode_text(text: &str) -> String {
    let mut field = String::with_capacity(text.len() + 8);
    encode_text_into(text, &mut field);
    field
}

fn encode_text_into(text: &str, out: &mut String) {
    if let Some(bytes) = is_packable(text).then(|| decode_hex(text)).flatten() {
        out.push('*');
        encode_base64(&bytes, out);
        return;
    }
    let start = out.len();
    for c in text.chars() {
        match c {
            ' ' => out.push('+'),
            '-' if out.len() > start && !out.ends_with('-') => out.push('-'),
            c if is_unescaped(c) => out.push(c),
            c => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(out, "%{byte:02x}");
                }
            }
        }
    }
}

/// Returns the length of the encoded text, in bytes.
pub(super) fn encoded_len(text: &str) -> usize {
    if is_packable(text) {
        return 1 + (text.len() * 2).div_ceil(3);
    }
    let mut after_dash = true;
    let mut length = 0;
    for c in text.chars() {
        let is_plain_dash = c == '-' && !after_dash;
        after_dash = is_plain_dash;
        length += if is_plain_dash || c == ' ' || c.is_ascii() && is_unescaped(c) {
            1
        } else if is_unescaped(c) {
            c.len_utf8()
        } else {
            3 * c.len_utf8()
        };
    }
    length
}

/// A colon is escaped, so that no text in a Block reads as a hidden comment of referee or another bot.
///
/// Letters of any script stay unescaped, because the visible text contains them too. Characters beyond the basic
/// multilingual plane are escaped, because old MySQL databases reject them.
fn is_unescaped(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '_' | '.' | '/' | '~' | '=' | '(' | ')' | '…')
        || (!c.is_ascii() && c.is_alphanumeric() && c <= '\u{ffff}')
}

pub(super) fn decode_text(field: &str) -> Option<String> {
    if let Some(packed) = field.strip_prefix('*') {
        return Some(encode_hex(&decode_base64(packed)?));
    }
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let (pair, tail) = rest.split_at_checked(2)?;
                rest = tail;
                hex_digit_value(*pair.first()?)? << 4 | hex_digit_value(*pair.last()?)?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Returns the text, or its start and a hash if the encoded text is longer than `max` bytes. Idempotent, so that names
/// can be compared by their shortened forms.
pub(super) fn shorten(text: &str, max: usize) -> Cow<'_, str> {
    if encoded_len(text) <= max {
        return Cow::Borrowed(text);
    }
    let mut name = String::new();
    for c in text.chars() {
        name.push(c);
        // Measured with the `~`, because a prefix that is hex would be packed on its own.
        if encoded_len(&format!("{name}~")) + 16 > max {
            name.pop();
            break;
        }
    }
    name.push('~');
    let digest = Sha256::digest(text.as_bytes());
    encode_base64(digest.get(..12).unwrap_or_default(), &mut name);
    Cow::Owned(name)
}

pub(super) fn encode_runs(numbers: impl IntoIterator<Item = u64>) -> String {
    let mut field = String::new();
    let mut numbers = numbers.into_iter().peekable();
    while let Some(first) = numbers.next() {
        let mut last = first;
        while let Some(next) = numbers.next_if(|next| last.checked_add(1) == Some(*next)) {
            last = next;
        }
        if !field.is_empty() {
            field.push(',');
        }
        let _ = if first == last { write!(field, "{first}") } else { write!(field, "{first}-{last}") };
    }
    field
}

pub(super) fn decode_runs(field: &str) -> Option<Vec<u64>> {
    let mut numbers = Vec::new();
    for run in field.split(',').filter(|run| !run.is_empty()) {
        let (first, last) = run.split_once('-').unwrap_or((run, run));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        if last.checked_sub(first)? >= MAX_LIST_LEN.checked_sub(numbers.len() as u64)? {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// Returns how many of the first numbers fit into `max` bytes.
pub(super) fn count_fitting_numbers(numbers: &[u64], max: usize) -> usize {
    let mut fit = numbers.len().min(MAX_LIST_LEN as usize);
    while let Some(head) = numbers.get(..fit) {
        let size = encode_runs(head.iter().copied()).len();
        if size <= max {
            break;
        }
        // A number takes at most 20 digits, a dash and a separator, so this never removes too many.
        fit = fit.saturating_sub(((size - max) / 22).max(1));
    }
    fit
}

/// Returns whether a text is hex that is long enough to pack.
fn is_packable(text: &str) -> bool {
    (16..=128).contains(&text.len())
        && text.len().is_multiple_of(2)
        && text.bytes().fold(true, |hex, byte| hex & hex_digit_value(byte).is_some())
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks_exact(2);
    pairs.map(|pair| Some(hex_digit_value(*pair.first()?)? << 4 | hex_digit_value(*pair.last()?)?)).collect()
}

/// Accepts lower case only, so that packing is lossless.
fn hex_digit_value(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

fn encode_hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Encodes base64 without padding.
pub(super) fn encode_base64(bytes: &[u8], out: &mut String) {
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for position in 0..=chunk.len() {
            let index = (group >> (18 - 6 * position)) & 63;
            out.push(char::from(BASE64_ALPHABET.get(index as usize).copied().unwrap_or(b'A')));
        }
    }
}

/// Decodes the output of [`encode_base64`]. Returns `None` for anything else.
pub(super) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for chunk in text.as_bytes().chunks(4) {
        let mut group = 0_u32;
        for byte in chunk {
            let index = BASE64_ALPHABET.iter().position(|letter| letter == byte)?;
            group = group << 6 | index as u32;
        }
        let missing = 4 - chunk.len();
        group <<= 6 * missing;
        let [_, first, second, third] = group.to_be_bytes();
        // Unused bits must be zero, so that every value has exactly one encoding.
        match (missing, second, third) {
            (0, _, _) => bytes.extend([first, second, third]),
            (1, _, 0) => bytes.extend([first, second]),
            (2, 0, 0) => bytes.push(first),
            _ => return None,
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests;
