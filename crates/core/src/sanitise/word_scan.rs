//! Scans words: their length, and whether they need escaping.

/// Returns the end of a word that needs no further check. `None` if it may be a commit id, URL, email address or
/// command.
pub(super) fn skip_plain_word(bytes: &[u8], start: usize) -> Option<usize> {
    let mut end = start;
    let mut has_digits = false;
    while let Some(byte) = bytes.get(end).filter(|byte| byte.is_ascii_alphanumeric()) {
        has_digits |= byte.is_ascii_digit();
        end += 1;
    }
    let may_be_commit = has_digits && end - start >= 7;
    let continues = bytes.get(end).is_some_and(|byte| matches!(byte, b':' | b'@' | b'.' | b'-'));
    (!may_be_commit && !continues).then_some(end)
}

/// Returns the end of a code span's content: before a run of exactly `run` backticks.
pub(super) fn find_closing_backticks(body: &str, run: usize) -> Option<usize> {
    let mut from = 0;
    loop {
        let start = from + body.get(from..)?.find('`')?;
        let tail = body.get(start..)?;
        let length = tail.len() - tail.trim_start_matches('`').len();
        if length == run {
            return Some(start);
        }
        from = start + length;
    }
}

pub(super) fn looks_like_commit(word: &str) -> bool {
    (7..=64).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_hexdigit())
        && word.bytes().any(|b| b.is_ascii_digit())
}

pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Returns the length of the name after an `@`: a person, a team, a package.
pub(super) fn name_length(text: &str) -> usize {
    let end = text.bytes().position(|b| !(is_name_byte(b) || b == b'/')).unwrap_or(text.len());
    let name = text.get(..end).unwrap_or_default().trim_end_matches(['.', '/']);
    if name.bytes().any(|b| b.is_ascii_alphanumeric() || b == b'_') { name.len() } else { 0 }
}

pub(super) fn alphanumeric_length(text: &str) -> usize {
    text.bytes().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(text.len())
}
