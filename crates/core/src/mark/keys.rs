//! Keys and seals. Keys never enter a snapshot, a plan or the journal.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::data::Trust;
use super::field::{decode_base64, encode_base64};
use crate::model::{Pull, PullNumber, RepoId, Time};

/// The MAC is truncated to 128 bits.
const MAC_BYTES: usize = 16;
/// Length of the key id at the start of a seal.
const KEY_ID_CHARS: usize = 4;
/// Shorter secrets can be guessed.
const MIN_SECRET_BYTES: usize = 16;

/// The pull that a Mark or Tag is bound to. Uses the repository's id, which survives a rename.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Kind of the forge.
    pub forge: String,
    pub repo: RepoId,
    pub pull: PullNumber,
}

impl Binding {
    pub fn from_pull(pull: &Pull) -> Self {
        Self { forge: pull.forge.clone(), repo: pull.repo, pull: pull.number }
    }
}

/// A secret that seals Marks and Tags.
#[derive(Clone)]
pub struct Key {
    id: String,
    secret: Vec<u8>,
    since: Option<Time>,
}

/// The configured keys. The first signs, all verify.
#[derive(Clone, Debug, Default)]
pub struct Keys(Vec<Key>);

impl Key {
    /// Creates a key. Returns `None` if the secret is shorter than 16 bytes. Texts of referee written before `since`
    /// need no seal.
    pub fn new(secret: impl Into<Vec<u8>>, since: Option<Time>) -> Option<Self> {
        let secret = secret.into();
        if secret.len() < MIN_SECRET_BYTES {
            return None;
        }
        let mut id = String::with_capacity(KEY_ID_CHARS);
        encode_base64(hmac_parts(&secret, [&b"referee key id"[..]]).get(..3)?, &mut id);
        Some(Self { id, secret, since })
    }
}

/// Never shows the secret.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, secret: _, since } = self;
        f.debug_struct("Key").field("id", id).field("since", since).finish_non_exhaustive()
    }
}

impl Keys {
    pub fn new(keys: Vec<Key>) -> Self {
        Self(keys)
    }

    /// No keys: nothing is sealed, and every Mark of referee is trusted.
    pub fn empty() -> Self {
        Self::default()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the seal of a comment, or `-` without keys.
    pub(super) fn sign(&self, comment: &SealInput<'_>) -> String {
        let Some(key) = self.0.first() else { return "-".to_owned() };
        let mut seal = key.id.clone();
        encode_base64(&comment.compute_mac(&key.secret), &mut seal);
        seal
    }

    /// Returns what a seal proves.
    ///
    /// | keys | seal | text | trust |
    /// |---|---|---|---|
    /// | none | any | any | `Unsealed` |
    /// | some | none | older than every key's `since` | `Adopted`: sealed by the next write |
    /// | some | none | newer, or a key without `since` | `Broken` |
    /// | some | valid for one of the keys and this pull | any | `Sealed` |
    /// | some | any other | any | `Broken` |
    pub(super) fn verify_seal(&self, comment: &SealInput<'_>, seal: &str, written_at: Time) -> Trust {
        if self.0.is_empty() {
            return Trust::Unsealed;
        }
        if seal == "-" {
            let predates_all_keys = self.0.iter().all(|key| key.since.is_some_and(|since| written_at < since));
            return if predates_all_keys { Trust::Adopted } else { Trust::Broken };
        }
        let Some((id, mac)) = seal.split_at_checked(KEY_ID_CHARS) else { return Trust::Broken };
        let Some(mac) = decode_base64(mac).filter(|mac| mac.len() == MAC_BYTES) else { return Trust::Broken };
        let is_valid = self.0.iter().filter(|key| key.id == id).any(|key| comment.verify_mac(&key.secret, &mac));
        if is_valid { Trust::Sealed } else { Trust::Broken }
    }
}

/// What a seal signs: the pull, the kind and version of the comment, and all fields. Role, head and the hash of the
/// Block are among the fields.
pub(super) struct SealInput<'a> {
    pub(super) binding: &'a Binding,
    pub(super) kind: &'a str,
    pub(super) version: &'a str,
    pub(super) payload: &'a str,
}

impl SealInput<'_> {
    fn compute_mac(&self, secret: &[u8]) -> Vec<u8> {
        let Binding { forge, repo, pull } = self.binding;
        let (repo, pull) = (repo.0.to_be_bytes(), pull.0.to_be_bytes());
        let parts =
            [forge.as_bytes(), &repo, &pull, self.kind.as_bytes(), self.version.as_bytes(), self.payload.as_bytes()];
        hmac_parts(secret, parts)
    }

    /// Compares in constant time.
    fn verify_mac(&self, secret: &[u8], mac: &[u8]) -> bool {
        let expected = self.compute_mac(secret);
        expected.len() == mac.len() && expected.iter().zip(mac).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

/// Computes the MAC of parts, each followed by its length, so that different lists never give the same input.
fn hmac_parts<'p>(secret: &[u8], parts: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
    // HMAC accepts keys of any length, so this cannot fail. An empty MAC would match no seal.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return Vec::new() };
    for part in parts {
        mac.update(part);
        mac.update(&part.len().to_be_bytes());
    }
    mac.finalize().into_bytes().iter().copied().take(MAC_BYTES).collect()
}
