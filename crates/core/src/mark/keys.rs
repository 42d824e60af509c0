//! What a seal is made of. Keys never enter a snapshot, a plan or the journal.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::data::Trust;
use super::field::{decode_base64, encode_base64};
use crate::model::{Pull, PullNumber, RepoId, Time};

/// Bytes of a MAC that are kept: 128 bits.
const MAC_BYTES: usize = 16;
/// Characters of a seal that name its key.
const KEY_ID_CHARS: usize = 4;
/// A shorter secret can be guessed.
const MIN_SECRET_BYTES: usize = 16;

/// The place a Mark or Tag is bound to. The repository's number, not its name: a rename keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The forge kind.
    pub forge: String,
    /// The repository.
    pub repo: RepoId,
    /// The pull.
    pub pull: PullNumber,
}

impl Binding {
    /// Where a pull is.
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

/// All keys in order: the first signs, all verify.
#[derive(Clone, Debug, Default)]
pub struct Keys(Vec<Key>);

impl Key {
    /// A key of that secret; `None` if it is shorter than 16 bytes. With `since`, own texts written before that
    /// moment need no seal yet.
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
    /// These keys, in this order.
    pub fn new(keys: Vec<Key>) -> Self {
        Self(keys)
    }

    /// No keys: nothing is sealed, and every own Mark is believed.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Whether anything is sealed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The seal of a comment: `-` without keys.
    pub(super) fn sign(&self, comment: &SealInput<'_>) -> String {
        let Some(key) = self.0.first() else { return "-".to_owned() };
        let mut seal = key.id.clone();
        encode_base64(&comment.compute_mac(&key.secret), &mut seal);
        seal
    }

    /// What a seal proves, for a text written `at` that moment.
    ///
    /// | keys | seal | text | trust |
    /// |---|---|---|---|
    /// | none | any | any | unsealed |
    /// | some | none | older than every key | adopted: sealed by the next write |
    /// | some | none | younger, or a key without `since` | broken |
    /// | some | by one of them, for this place | any | sealed |
    /// | some | any other | any | broken |
    pub(super) fn verify_seal(&self, comment: &SealInput<'_>, seal: &str, at: Time) -> Trust {
        if self.0.is_empty() {
            return Trust::Unsealed;
        }
        if seal == "-" {
            let before_all = self.0.iter().all(|key| key.since.is_some_and(|since| at < since));
            return if before_all { Trust::Adopted } else { Trust::Broken };
        }
        let Some((id, code)) = seal.split_at_checked(KEY_ID_CHARS) else { return Trust::Broken };
        let Some(code) = decode_base64(code).filter(|code| code.len() == MAC_BYTES) else { return Trust::Broken };
        let fits = self.0.iter().filter(|key| key.id == id).any(|key| comment.verify_mac(&key.secret, &code));
        if fits { Trust::Sealed } else { Trust::Broken }
    }
}

/// What a seal is over: the place, the kind and version of the comment, and all its fields. Role and head are fields;
/// so is the hash of the Block beside a Mark.
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

    /// In constant time.
    fn verify_mac(&self, secret: &[u8], code: &[u8]) -> bool {
        let ours = self.compute_mac(secret);
        ours.len() == code.len() && ours.iter().zip(code).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

/// Each part closed by its length, so that no two lists of parts run together.
fn hmac_parts<'p>(secret: &[u8], parts: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
    // A MAC takes a key of any length; an empty code would verify nothing.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return Vec::new() };
    for part in parts {
        mac.update(part);
        mac.update(&part.len().to_be_bytes());
    }
    mac.finalize().into_bytes().iter().copied().take(MAC_BYTES).collect()
}
