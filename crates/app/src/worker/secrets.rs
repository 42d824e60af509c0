//! What a worker is given by name must not come out of it again, in its words or in its change. That is for accidents:
//! whoever wants to can write a value in other letters, and the sandbox is what keeps those in.

/// The variables of an entry whose names say that nobody else is to know them.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerSecrets<'a>(Vec<(&'a str, &'a str)>);

const SECRET_NAME_PARTS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];
/// Shorter values stand in any text, and keep nobody out.
const MIN_SECRET_BYTES: usize = 8;

impl<'a> WorkerSecrets<'a> {
    pub(crate) fn from_env(env: &'a [(String, String)]) -> Self {
        let is_secret = |name: &str| SECRET_NAME_PARTS.iter().any(|word| name.to_ascii_uppercase().contains(word));
        let given = env.iter().filter(|(name, value)| is_secret(name) && value.len() >= MIN_SECRET_BYTES);
        let mut given: Vec<_> = given.map(|(name, value)| (name.as_str(), value.as_str())).collect();
        // One may begin like another: the longer one goes first, or its end would stay.
        given.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        Self(given)
    }

    /// Its words without them.
    pub(super) fn redact(&self, words: Vec<u8>) -> Vec<u8> {
        if self.names_in(&words).next().is_none() {
            return words;
        }
        let words = String::from_utf8_lossy(&words).into_owned();
        self.0.iter().fold(words, |words, (_, value)| words.replace(value, "***")).into_bytes()
    }

    /// The variable whose value a change holds that it did not hold before.
    pub(super) fn find_leak(&self, before: &[u8], after: &[u8]) -> Option<&'a str> {
        let known: Vec<&str> = self.names_in(before).collect();
        self.names_in(after).find(|name| !known.contains(name))
    }

    fn names_in(&self, bytes: &[u8]) -> impl Iterator<Item = &'a str> {
        let holds = |value: &str| bytes.windows(value.len()).any(|part| part == value.as_bytes());
        self.0.iter().filter(move |(_, value)| holds(value)).map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::WorkerSecrets;

    #[test]
    fn what_is_secret_by_its_name_is_left_out_and_found() {
        let env = [
            ("MODEL_KEY", "sk-123456"),
            ("TOKEN", "sk-123456-long"),
            ("MODEL", "a-model-of-ours"),
            ("PIN_TOKEN", "1234"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let given = WorkerSecrets::from_env(&env);
        let words = given.redact(b"a-model-of-ours, 1234, sk-123456-long, sk-123456".to_vec());
        assert_eq!(String::from_utf8_lossy(&words), "a-model-of-ours, 1234, ***, ***");
        assert_eq!(given.find_leak(b"", b"+key = sk-123456\n"), Some("MODEL_KEY"));
        assert_eq!(given.find_leak(b"+key = sk-123456\n", b"+key = sk-123456\n+more\n"), None, "it was there before");
        assert_eq!(given.find_leak(b"", b"+a-model-of-ours 1234\n"), None);
    }
}
