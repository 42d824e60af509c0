//! The hash for everything that is compared or stored.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The first 128 bits of a SHA-256 in hex: collision-resistant enough, and short enough for a hidden comment.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Hash(pub String);

impl Hash {
    /// Hashes bytes.
    pub fn digest(bytes: impl AsRef<[u8]>) -> Self {
        Self::from_hasher(Sha256::new().chain_update(bytes))
    }

    /// Hashes parts, each followed by its length, so that different lists never give the same input.
    pub fn digest_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
            hasher.update(part.len().to_le_bytes());
        }
        Self::from_hasher(hasher)
    }

    /// Hashes a value through its derived `Hash`, so that a new field cannot be forgotten.
    pub fn digest_value(value: &impl std::hash::Hash) -> Self {
        let mut bytes = ByteCollector(Vec::with_capacity(TYPICAL_VALUE_BYTES));
        value.hash(&mut bytes);
        Self::digest(bytes.0)
    }

    /// Hashes the visible part of a text: without referee's hidden comments, with line ends and trailing whitespace
    /// normalised, because forges and editors change those (D28).
    pub fn digest_visible_text(text: &str) -> Self {
        let visible = crate::mark::strip_hidden_comments(text);
        let mut hasher = Sha256::new();
        for line in visible.trim_end().lines() {
            hasher.update(line.trim_end());
            hasher.update(b"\n");
        }
        Self::from_hasher(hasher)
    }

    fn from_hasher(hasher: Sha256) -> Self {
        let digest = hasher.finalize();
        let mut hex = String::with_capacity(32);
        for byte in digest.iter().take(16) {
            hex.push(char::from(HEX_DIGITS[usize::from(byte >> 4)]));
            hex.push(char::from(HEX_DIGITS[usize::from(byte & 15)]));
        }
        Self(hex)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Initial capacity. Most values fit, so their many small fields are hashed in one call.
const TYPICAL_VALUE_BYTES: usize = 1_024;

/// Collects what a value hashes. Numbers are encoded as varints, the same on every platform.
struct ByteCollector(Vec<u8>);

impl std::hash::Hasher for ByteCollector {
    fn finish(&self) -> u64 {
        0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn write_u8(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    /// LEB128: seven bits a byte, the eighth set in all but the last, so that numbers are self-delimiting.
    fn write_u64(&mut self, mut number: u64) {
        while 0x80 <= number {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    /// Used for the discriminant of an enum.
    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::Hash;

    #[test]
    fn a_value_has_the_same_hash_on_every_platform_and_fields_are_delimited() {
        // Text and its terminator, a discriminant, a varint.
        assert_eq!(Hash::digest_value(&("F4", Some(300_u32))), Hash::digest(b"F4\xff\x01\xac\x02"));
        assert_eq!(Hash::digest_value(&(1_u64, u64::MAX)), Hash::digest([&[1][..], &[0xff; 9], &[1]].concat()));
        assert_ne!(Hash::digest_value(&(1_u64, 0_u64)), Hash::digest_value(&(1_u64, 128_u64)));
    }
}
