//! One hash for everything that is compared or remembered.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Half a SHA-256 in hex: enough that nobody finds a second text, short enough for a hidden comment.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Hash(pub String);

impl Hash {
    /// Of bytes as they are.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self::finish(Sha256::new().chain_update(bytes))
    }

    /// Of parts, each closed by its length, so that no two lists of parts run together.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
            hasher.update(part.len().to_le_bytes());
        }
        Self::finish(hasher)
    }

    /// Of a value, through its derived `Hash`: a new field cannot be forgotten.
    pub fn of_value(value: &impl std::hash::Hash) -> Self {
        let mut taken = Taken(Sha256::new());
        value.hash(&mut taken);
        Self::finish(taken.0)
    }

    /// Of a text's visible words: hidden comments of our namespace left out, line ends and trailing blanks
    /// folded, since forges and editors change those (D28).
    pub fn of_words(text: &str) -> Self {
        let visible = crate::mark::visible(text);
        let mut hasher = Sha256::new();
        for line in visible.trim_end().lines() {
            hasher.update(line.trim_end());
            hasher.update(b"\n");
        }
        Self::finish(hasher)
    }

    fn finish(hasher: Sha256) -> Self {
        let digest = hasher.finalize();
        let mut hex = String::with_capacity(32);
        for byte in digest.iter().take(16) {
            for nibble in [byte >> 4, byte & 15] {
                hex.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
            }
        }
        Self(hex)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Takes in what a value hashes as.
struct Taken(Sha256);

impl std::hash::Hasher for Taken {
    fn finish(&self) -> u64 {
        0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}
