//! Cuts long strings out of a JSON text while it arrives, so that memory stays bounded and the rest stays readable.

/// Collects a JSON text and drops what a string has beyond a limit. The result is valid JSON if the input is.
#[derive(Debug)]
pub(crate) struct StringCutter {
    kept: Vec<u8>,
    max_string_bytes: usize,
    state: CutState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CutState {
    OutsideString,
    /// Holds the number of characters so far, each counted as one byte, and how the string may be cut.
    InString(usize, CutPoint),
    /// The limit is passed: everything up to the closing quote is dropped. Holds whether the last byte was a backslash.
    Dropping(bool),
}

/// Whether a string may be cut before the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CutPoint {
    Anywhere,
    /// After a backslash.
    InEscape,
    /// In `\uXXXX`: the digits that are missing, and the first two digits.
    InUnicode(u8, [u8; 2]),
    /// After a high surrogate, whose other half must follow.
    AfterHighSurrogate,
}

impl StringCutter {
    pub(crate) fn new(max_string_bytes: usize) -> Self {
        Self { kept: Vec::new(), max_string_bytes, state: CutState::OutsideString }
    }

    /// Adds the next part of the text.
    pub(crate) fn push(&mut self, mut chunk: &[u8]) {
        while let Some((first, after)) = chunk.split_first() {
            let run = self.take_run(chunk);
            if run > 0 {
                chunk = &chunk[run..];
                continue;
            }
            let (next, keep) = self.advance(*first);
            self.state = next;
            if keep {
                self.kept.push(*first);
            }
            chunk = after;
        }
    }

    /// Handles the bytes at the start of a chunk that leave the state as it is, all at once; returns their number.
    fn take_run(&mut self, chunk: &[u8]) -> usize {
        let until = |ends: fn(&u8) -> bool| chunk.iter().position(ends).unwrap_or(chunk.len());
        match self.state {
            CutState::OutsideString => {
                let run = until(|byte| *byte == b'"');
                self.kept.extend_from_slice(&chunk[..run]);
                run
            }
            CutState::InString(count, CutPoint::Anywhere) => {
                let left = self.max_string_bytes.saturating_sub(count);
                let run = until(|byte| matches!(byte, b'"' | b'\\')).min(left);
                self.kept.extend_from_slice(&chunk[..run]);
                self.state = CutState::InString(count + run, CutPoint::Anywhere);
                run
            }
            CutState::Dropping(false) => until(|byte| matches!(byte, b'"' | b'\\')),
            CutState::InString(..) | CutState::Dropping(true) => 0,
        }
    }

    /// The number of bytes that were kept.
    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.kept
    }

    /// Returns the state after a byte, and whether the byte is kept.
    fn advance(&self, byte: u8) -> (CutState, bool) {
        match self.state {
            CutState::OutsideString if byte == b'"' => (CutState::InString(0, CutPoint::Anywhere), true),
            CutState::OutsideString => (CutState::OutsideString, true),
            CutState::InString(count, point) => self.advance_in_string(byte, count, point),
            CutState::Dropping(false) if byte == b'"' => (CutState::OutsideString, true),
            CutState::Dropping(escaped) => (CutState::Dropping(!escaped && byte == b'\\'), false),
        }
    }

    fn advance_in_string(&self, byte: u8, count: usize, point: CutPoint) -> (CutState, bool) {
        let is_boundary = byte & 0b1100_0000 != 0b1000_0000;
        let next = match point {
            CutPoint::Anywhere | CutPoint::AfterHighSurrogate if byte == b'"' => {
                return (CutState::OutsideString, true);
            }
            CutPoint::Anywhere if count > self.max_string_bytes && is_boundary => {
                return (CutState::Dropping(byte == b'\\'), false);
            }
            CutPoint::Anywhere | CutPoint::AfterHighSurrogate if byte == b'\\' => CutPoint::InEscape,
            CutPoint::Anywhere | CutPoint::AfterHighSurrogate => CutPoint::Anywhere,
            CutPoint::InEscape if byte == b'u' => CutPoint::InUnicode(4, [0; 2]),
            CutPoint::InEscape => CutPoint::Anywhere,
            CutPoint::InUnicode(4, _) => CutPoint::InUnicode(3, [byte, 0]),
            CutPoint::InUnicode(3, [first, _]) => CutPoint::InUnicode(2, [first, byte]),
            CutPoint::InUnicode(1, digits) if is_high_surrogate(digits) => CutPoint::AfterHighSurrogate,
            CutPoint::InUnicode(1, _) => CutPoint::Anywhere,
            CutPoint::InUnicode(missing, digits) => CutPoint::InUnicode(missing.saturating_sub(1), digits),
        };
        // An escape sequence is one character, which is at least one byte of the text that it stands for.
        let ends_unit = matches!(next, CutPoint::Anywhere | CutPoint::AfterHighSurrogate);
        (CutState::InString(count + usize::from(ends_unit), next), true)
    }
}

/// Returns whether `\uXXXX` with these first digits is the first half of a pair: D800 to DBFF.
fn is_high_surrogate([first, second]: [u8; 2]) -> bool {
    first.eq_ignore_ascii_case(&b'd') && matches!(second.to_ascii_lowercase(), b'8' | b'9' | b'a' | b'b')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::StringCutter;

    /// Cuts a text that arrives in chunks of `size` bytes.
    fn cut(text: &str, limit: usize, size: usize) -> Value {
        let mut cutter = StringCutter::new(limit);
        text.as_bytes().chunks(size).for_each(|chunk| cutter.push(chunk));
        let kept = String::from_utf8(cutter.into_bytes()).expect("UTF-8");
        serde_json::from_str(&kept).unwrap_or_else(|error| panic!("{error}: {kept}"))
    }

    #[test]
    fn long_strings_are_cut_and_everything_else_is_kept() {
        let pieces = ["x", "é", "😀", "\\n", "\\\"", "\\\\", "\\u003c", "\\ud83d\\ude00", "\\\\\\\""];
        for piece in pieces {
            let text = format!(r#"[{{"id":7,"body":"{}","k\"ey":[1,null,"short"]}},"last"]"#, piece.repeat(100));
            let whole: Value = serde_json::from_str(&text).expect("JSON");
            for size in [1, 3, text.len()] {
                assert_eq!(cut(&text, 1_000, size), whole, "{piece}: nothing is too long");
                let mut shortened = cut(&text, 20, size);
                let body = shortened[0]["body"].take();
                let body = body.as_str().expect("a string");
                assert!(body.len() > 20 && body.len() < 100, "{piece}: {body}");
                assert!(whole[0]["body"].as_str().expect("a string").starts_with(body), "{piece}: {body}");
                assert_eq!(shortened, json!([{ "id": 7, "body": null, "k\"ey": [1, null, "short"] }, "last"]));
            }
        }
    }
}
