//! Replaces secrets in a stream of bytes, also where a secret is cut between two chunks.

/// What a log shows in place of a secret.
const REPLACEMENT: &[u8] = b"***";
/// A shorter beginning of a secret at the end of a stream is ordinary text.
const MIN_PREFIX_BYTES: usize = 8;

/// The state of one stream.
#[derive(Debug)]
pub(super) struct Redactor {
    /// Longest first, so that a secret that begins with another one is replaced whole.
    secrets: Vec<Vec<u8>>,
    /// The end of the stream so far, if it may be the beginning of a secret.
    pending: Vec<u8>,
}

impl Redactor {
    pub(super) fn new(secrets: &[Vec<u8>]) -> Self {
        let mut secrets: Vec<Vec<u8>> = secrets.iter().filter(|secret| !secret.is_empty()).cloned().collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets, pending: Vec::new() }
    }

    /// Returns what can be written of the stream with this chunk.
    pub(super) fn redact_chunk(&mut self, chunk: &[u8]) -> Vec<u8> {
        if self.secrets.is_empty() {
            return chunk.to_vec();
        }
        let mut first_bytes = [false; 256];
        self.secrets.iter().for_each(|secret| first_bytes[usize::from(secret[0])] = true);
        let mut bytes = std::mem::take(&mut self.pending);
        bytes.extend_from_slice(chunk);
        let mut written = Vec::with_capacity(bytes.len());
        let mut rest = bytes.as_slice();
        while let Some(first) = rest.first() {
            if !first_bytes[usize::from(*first)] {
                written.push(*first);
                rest = &rest[1..];
                continue;
            }
            // A longer secret may still be incomplete where a shorter one matches.
            if self.secrets.iter().any(|secret| secret.len() > rest.len() && secret.starts_with(rest)) {
                break;
            }
            match self.secrets.iter().find(|secret| rest.starts_with(secret)) {
                Some(secret) => {
                    written.extend_from_slice(REPLACEMENT);
                    rest = &rest[secret.len()..];
                }
                None => {
                    written.push(*first);
                    rest = &rest[1..];
                }
            }
        }
        self.pending = rest.to_vec();
        written
    }

    /// Returns what is left at the end of the stream. Most of a secret is hidden like all of it.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let rest = std::mem::take(&mut self.pending);
        if rest.len() < MIN_PREFIX_BYTES { rest } else { REPLACEMENT.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::Redactor;

    fn redact(secrets: &[&str], chunks: &[&str]) -> String {
        let secrets: Vec<Vec<u8>> = secrets.iter().map(|secret| secret.as_bytes().to_vec()).collect();
        let mut redactor = Redactor::new(&secrets);
        let mut written: Vec<u8> = chunks.iter().flat_map(|chunk| redactor.redact_chunk(chunk.as_bytes())).collect();
        written.extend(redactor.finish());
        String::from_utf8(written).expect("a text")
    }

    #[test]
    fn a_secret_is_replaced_wherever_the_stream_is_cut() {
        let text = "the key is hunter2-hunter3, again hunter2-hunter3";
        for at in 0..text.len() {
            let (first, second) = text.split_at(at);
            assert_eq!(redact(&["hunter2-hunter3"], &[first, second]), "the key is ***, again ***", "{at}");
        }
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(redact(&["hunter2-hunter3"], &letters), "the key is ***, again ***");
    }

    #[test]
    fn a_longer_secret_wins_and_ordinary_text_stays() {
        assert_eq!(redact(&["12345678", "1234567890"], &["a 12345678", "90 b 12345678 c"]), "a *** b *** c");
        assert_eq!(redact(&["12345678"], &["1123", "45678 12345"]), "1*** 12345");
        assert_eq!(redact(&["1234567890"], &["key 123456789"]), "key ***", "most of it");
        assert_eq!(redact(&[], &["1234567890"]), "1234567890");
    }
}
