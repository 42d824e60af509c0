//! Keeps the secrets of a worker's environment out of its result and its change. This catches accidents only: a worker
//! that means to leak a value can encode it, and only the sandbox's network policy prevents that.

/// Environment variables of a worker whose names suggest a secret.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerSecrets<'a>(Vec<(&'a str, &'a str)>);

const SECRET_NAME_PARTS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];
/// Shorter values occur in ordinary text and are too weak to be secrets.
const MIN_SECRET_BYTES: usize = 8;

impl<'a> WorkerSecrets<'a> {
    pub(crate) fn from_env(env: &'a [(String, String)]) -> Self {
        let is_secret = |name: &str| SECRET_NAME_PARTS.iter().any(|word| name.to_ascii_uppercase().contains(word));
        let secrets = env.iter().filter(|(name, value)| is_secret(name) && value.len() >= MIN_SECRET_BYTES);
        let mut secrets: Vec<_> = secrets.map(|(name, value)| (name.as_str(), value.as_str())).collect();
        // Longest first: if one value is a prefix of another, replacing it first would leave the rest of the longer one.
        secrets.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        Self(secrets)
    }

    /// Replaces every secret in a text by `***`.
    pub(super) fn redact(&self, text: Vec<u8>) -> Vec<u8> {
        if self.names_in(&text).next().is_none() {
            return text;
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        self.0.iter().fold(text, |text, (_, value)| text.replace(value, "***")).into_bytes()
    }

    /// Returns the name of a variable whose value occurs in `after` but not in `before`.
    pub(super) fn find_leak(&self, before: &[u8], after: &[u8]) -> Option<&'a str> {
        let names_before: Vec<&str> = self.names_in(before).collect();
        self.names_in(after).find(|name| !names_before.contains(name))
    }

    fn names_in(&self, bytes: &[u8]) -> impl Iterator<Item = &'a str> {
        let contains = |value: &str| bytes.windows(value.len()).any(|part| part == value.as_bytes());
        self.0.iter().filter(move |(_, value)| contains(value)).map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::WorkerSecrets;

    #[test]
    fn variables_with_a_secret_name_are_redacted_and_detected() {
        let env = [
            ("MODEL_KEY", "sk-123456"),
            ("TOKEN", "sk-123456-long"),
            ("MODEL", "a-model-of-ours"),
            ("PIN_TOKEN", "1234"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let secrets = WorkerSecrets::from_env(&env);
        let text = secrets.redact(b"a-model-of-ours, 1234, sk-123456-long, sk-123456".to_vec());
        assert_eq!(String::from_utf8_lossy(&text), "a-model-of-ours, 1234, ***, ***");
        assert_eq!(secrets.find_leak(b"", b"+key = sk-123456\n"), Some("MODEL_KEY"));
        assert_eq!(secrets.find_leak(b"+key = sk-123456\n", b"+key = sk-123456\n+more\n"), None, "it was there before");
        assert_eq!(secrets.find_leak(b"", b"+a-model-of-ours 1234\n"), None);
    }
}
