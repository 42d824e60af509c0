//! The secrets that this run has read. Whatever the program prints is searched for them: a server or a program may repeat
//! a secret in any text.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use referee_http::mask_secret;

static SECRETS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Adds a secret. Its text is masked in everything that is printed from now on.
pub(crate) fn remember(secret: &str) {
    let mut secrets = SECRETS.lock().unwrap_or_else(PoisonError::into_inner);
    if !secrets.iter().any(|known| known == secret) {
        secrets.push(secret.to_owned());
        // One may be a part of another: the longer one is masked first, so that no rest of it stays.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }
}

/// Masks all known secrets in a text.
pub(crate) fn mask(text: &str) -> Cow<'_, str> {
    let secrets = SECRETS.lock().unwrap_or_else(PoisonError::into_inner);
    secrets.iter().fold(Cow::Borrowed(text), |text, secret| match mask_secret(&text, secret) {
        Cow::Owned(masked) => Cow::Owned(masked),
        Cow::Borrowed(_) => text,
    })
}
