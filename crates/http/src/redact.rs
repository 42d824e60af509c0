//! Masks credentials in texts: known secrets, and user names and passwords in URLs.

use std::borrow::Cow;

/// What a masked secret is replaced with.
const MASK: &str = "…";

/// Shorter values are not masked: they match ordinary text, which would be damaged. Tokens of forges are longer.
const MIN_SECRET_BYTES: usize = 8;

/// Masks every occurrence of a secret. Ignores the case of ASCII letters, because a secret in a host name comes back in
/// lower case.
pub fn mask_secret<'t>(text: &'t str, secret: &str) -> Cow<'t, str> {
    let mut masked = String::new();
    let mut rest = text;
    while let Some(at) = find_ignoring_case(rest.as_bytes(), secret.as_bytes()) {
        // A match begins and ends at a character: UTF-8 is self-synchronising, and the secret is whole characters.
        let (before, from) = rest.split_at(at);
        masked.push_str(before);
        masked.push_str(MASK);
        rest = from.get(secret.len()..).unwrap_or_default();
    }
    if masked.is_empty() {
        return Cow::Borrowed(text);
    }
    masked.push_str(rest);
    Cow::Owned(masked)
}

fn find_ignoring_case(text: &[u8], secret: &[u8]) -> Option<usize> {
    if secret.len() < MIN_SECRET_BYTES {
        return None;
    }
    text.windows(secret.len()).position(|window| window.eq_ignore_ascii_case(secret))
}

/// Removes user names and passwords from the URLs in a text.
pub fn mask_url_credentials(text: &str) -> Cow<'_, str> {
    if !text.contains("://") || !text.contains('@') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split("://");
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_end = |c: char| matches!(c, '/' | '\\' | '?' | '#') || c.is_whitespace();
        let authority_end = part.find(is_end).unwrap_or(part.len());
        let host_start = part[..authority_end].rfind('@').map_or(0, |at| at + 1);
        masked.extend(["://", &part[host_start..]]);
    }
    Cow::Owned(masked)
}

#[cfg(test)]
mod tests {
    use super::{mask_secret, mask_url_credentials};

    #[test]
    fn a_secret_is_masked_wherever_it_stands() {
        for (text, want) in [
            ("abcd1234", "…"),
            ("x abcd1234, https://ABCD1234.example.org/é", "x …, https://….example.org/é"),
            ("abcd1234abcd1234 abcd123", "…… abcd123"),
            ("", ""),
        ] {
            assert_eq!(mask_secret(text, "abcd1234"), want);
        }
        assert_eq!(mask_secret("a secret", "secret"), "a secret", "too short to be told from ordinary text");
        assert_eq!(mask_secret("none", ""), "none");
    }

    #[test]
    fn a_url_loses_its_user_name_and_password() {
        for (text, want) in [
            ("`https://ada:hunter2@host/a@b`: no", "`https://host/a@b`: no"),
            ("https://token@host", "https://host"),
            ("ssh://a:b@c@host and https://host/x@y", "ssh://host and https://host/x@y"),
            ("https://host?to=a@b https://host#a@b", "https://host?to=a@b https://host#a@b"),
            ("no address a@b", "no address a@b"),
        ] {
            assert_eq!(mask_url_credentials(text), want);
        }
    }
}
