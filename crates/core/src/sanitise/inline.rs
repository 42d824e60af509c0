//! One pass over one line of tainted words, outside code blocks.

use super::code::{Place, push_span};
use super::lexicon::{is_bare_order, is_namespace};
use super::links::{Ampersand, Angle, Link, address_length, ampersand, angle};
use super::words::{alphanumeric_length, closing, dull_word, is_commit, is_name, name_length};

/// Writes a line so that nothing in it is acted upon. Never looks beyond the line.
pub(super) fn push_inline(text: &str, place: Place, out: &mut String) {
    let line = out.len();
    Inline { out, line, marks: line, place, unclosed: 0, comments_end: true }.text(text);
    // A backslash at the end would take what is written next.
    let backslashes = out.len() - out.trim_end_matches('\\').len();
    if backslashes % 2 == 1 {
        out.pop();
    }
}

struct Inline<'o> {
    out: &'o mut String,
    /// Where the line begins in `out`.
    line: usize,
    /// How far the line is known to hold nothing but marks.
    marks: usize,
    place: Place,
    /// Lengths of backtick runs that were looked for and close nowhere in the rest of the line.
    unclosed: u64,
    /// A hidden comment may end in the rest of the line.
    comments_end: bool,
}

/// What a byte may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    Letter,
    Sign,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() {
            classes[byte] = Class::Letter;
        }
        byte += 1;
    }
    let signs = b"`\\<&[]!@#/:|~>";
    let mut sign = 0;
    while sign < signs.len() {
        classes[signs[sign] as usize] = Class::Sign;
        sign += 1;
    }
    classes
};

impl Inline<'_> {
    fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        // What lies between is copied in one go, once the line has begun.
        let (mut copied, mut at, mut begun) = (0, 0, false);
        while let Some(byte) = bytes.get(at) {
            match CLASSES[usize::from(*byte)] {
                Class::Plain => at += 1,
                Class::Letter => {
                    if !begun {
                        self.copy(text.get(copied..at).unwrap_or_default());
                        copied = at;
                        begun = !self.at_start();
                    }
                    match dull_word(bytes, at) {
                        Some(end) if begun => at = end,
                        _ => {
                            self.copy(text.get(copied..at).unwrap_or_default());
                            at += self.word(text.get(at..).unwrap_or_default());
                            copied = at;
                        }
                    }
                }
                Class::Sign => {
                    self.copy(text.get(copied..at).unwrap_or_default());
                    at += self.sign(*byte, text.get(at..).unwrap_or_default());
                    copied = at;
                }
            }
        }
        self.copy(text.get(copied..).unwrap_or_default());
    }

    fn sign(&mut self, sign: u8, rest: &str) -> usize {
        match sign {
            b'`' => self.backticks(rest),
            b'\\' => self.backslash(rest),
            b'<' => self.angle(rest),
            b'&' => self.ampersand(rest),
            b'[' => self.bracket(rest),
            b']' => self.closing_bracket(rest),
            b'!' => self.exclamation(rest),
            b'@' => self.at(rest),
            b'#' => self.numbered(rest),
            b'/' => self.slash(rest),
            b':' => self.colon(rest),
            b'|' => self.pipe(),
            b'~' => self.tildes(rest),
            _ => self.quotes(rest),
        }
    }

    fn copy(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn take(&mut self, rest: &str, length: usize) -> usize {
        self.copy(rest.get(..length).unwrap_or_default());
        length
    }

    fn span(&mut self, rest: &str, length: usize) -> usize {
        push_span(rest.get(..length).unwrap_or_default(), self.place, self.out);
        length
    }

    /// Whether the line holds nothing yet but blanks and the marks of lists, quotes, headings and terms.
    fn at_start(&mut self) -> bool {
        let new = self.out.as_bytes().get(self.marks..).unwrap_or_default();
        let more = new.iter().take_while(|b| b" \t>-*+#.):~".contains(b) || b.is_ascii_digit()).count();
        self.marks += more;
        self.marks == self.out.len()
    }

    fn word(&mut self, rest: &str) -> usize {
        let end = rest.bytes().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        let next = |at: usize| tail.as_bytes().get(at).copied().unwrap_or(b' ');
        if tail.starts_with("://") || (word.eq_ignore_ascii_case("www") && next(0) == b'.') {
            return self.span(rest, address_length(rest));
        }
        if next(0) == b'@' && is_name(next(1)) {
            return self.span(rest, end + 1 + name_length(tail.get(1..).unwrap_or_default()));
        }
        if is_commit(word) {
            return self.span(rest, end);
        }
        if word.eq_ignore_ascii_case("gh") && next(0) == b'-' && next(1).is_ascii_digit() {
            return self.span(rest, end + 1 + alphanumeric_length(tail.get(1..).unwrap_or_default()));
        }
        if self.at_start() && is_bare_order(rest, word) {
            return self.span(rest, if next(0) == b'?' { end + 1 } else { end });
        }
        self.take(rest, end)
    }

    fn backticks(&mut self, rest: &str) -> usize {
        let body = rest.trim_start_matches('`');
        let run = rest.len() - body.len();
        let bit = u32::try_from(run).ok().and_then(|run| 1_u64.checked_shl(run)).unwrap_or_default();
        let content = if bit == 0 || self.unclosed & bit != 0 { None } else { closing(body, run) };
        match content {
            Some(length) => {
                push_span(body.get(..length).unwrap_or_default(), self.place, self.out);
                2 * run + length
            }
            None => {
                self.unclosed |= bit;
                self.out.push_str(&"'".repeat(run.min(3)));
                run
            }
        }
    }

    fn backslash(&mut self, rest: &str) -> usize {
        match rest.as_bytes().get(1) {
            // Forges look for these after the backslash is gone, so it protects nothing.
            Some(b'<' | b'&' | b'@' | b'/' | b'`' | b'#' | b'!' | b':' | b'.') => 1,
            // A checkbox is one with its backslash, too.
            Some(b'[') if self.at_start() => 1,
            Some(next) if next.is_ascii_punctuation() => self.take(rest, 2),
            _ => self.take(rest, 1),
        }
    }

    fn angle(&mut self, rest: &str) -> usize {
        let comment = rest.starts_with("<!--");
        let angle = if comment && !self.comments_end { Angle::Sign } else { angle(rest) };
        self.comments_end &= !comment || matches!(angle, Angle::Dropped(_));
        match angle {
            Angle::Dropped(length) => {
                if !self.out.ends_with([' ', '\n']) && self.out.len() > self.line {
                    self.out.push(' ');
                }
                length
            }
            Angle::Address(address) => {
                push_span(address, self.place, self.out);
                address.len() + 2
            }
            Angle::Sign => {
                self.out.push_str("&lt;");
                1
            }
        }
    }

    fn ampersand(&mut self, rest: &str) -> usize {
        match ampersand(rest) {
            Ampersand::Kept(length) => self.take(rest, length),
            Ampersand::Entity => {
                self.out.push_str("&amp;");
                1
            }
            Ampersand::Sign => self.numbered(rest),
        }
    }

    fn bracket(&mut self, rest: &str) -> usize {
        for (checkbox, round) in [("[ ]", "( )"), ("[x]", "(x)"), ("[X]", "(x)")] {
            if rest.starts_with(checkbox) && self.at_start() {
                self.out.push_str(round);
                return checkbox.len();
            }
        }
        let Some(link) = Link::at(rest) else {
            // Two brackets link to a page of the wiki.
            self.out.push_str(if rest.starts_with("[[") { "[ " } else { "[" });
            return 1;
        };
        match link.address {
            Some(address) if address == link.text.trim() => push_span(address, self.place, self.out),
            Some(address) => {
                self.text(link.text);
                self.out.push_str(" (");
                push_span(address, self.place, self.out);
                self.out.push(')');
            }
            None => self.text(link.text),
        }
        link.length
    }

    /// No link, no reference and no definition survives a blank behind its bracket.
    fn closing_bracket(&mut self, rest: &str) -> usize {
        self.out.push(']');
        if rest.get(1..).is_some_and(|tail| tail.starts_with(['(', '[', ':'])) {
            self.out.push(' ');
        }
        1
    }

    fn exclamation(&mut self, rest: &str) -> usize {
        let Some(bracket) = rest.strip_prefix('!').filter(|tail| tail.starts_with('[')) else {
            return self.numbered(rest);
        };
        match Link::at(bracket) {
            Some(image) => {
                self.text(image.text);
                1 + image.length
            }
            None => 1,
        }
    }

    fn at(&mut self, rest: &str) -> usize {
        let tail = rest.get(1..).unwrap_or_default();
        match name_length(tail) {
            // The name may follow an escape that nobody sees.
            0 if tail.starts_with('\\') => {
                self.out.push_str("@ ");
                1
            }
            0 => self.take(rest, 1),
            length => self.span(rest, 1 + length),
        }
    }

    /// `#12`, `!12`, `&12` are references.
    fn numbered(&mut self, rest: &str) -> usize {
        if rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
            return self.span(rest, 1 + alphanumeric_length(rest.get(1..).unwrap_or_default()));
        }
        self.take(rest, 1)
    }

    fn slash(&mut self, rest: &str) -> usize {
        let orders = rest.as_bytes().get(1).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') && self.at_start();
        if !orders {
            return self.take(rest, 1);
        }
        let end = rest.bytes().position(|b| !(b.is_ascii_alphanumeric() || b"_-./".contains(&b))).unwrap_or(rest.len());
        self.span(rest, rest.get(..end).unwrap_or_default().trim_end_matches('.').len())
    }

    fn colon(&mut self, rest: &str) -> usize {
        let tail = rest.get(1..).unwrap_or_default();
        let names = is_namespace(self.out.get(self.line..).unwrap_or_default(), tail);
        self.out.push(if names { ' ' } else { ':' });
        1
    }

    fn pipe(&mut self) -> usize {
        self.out.push_str(match self.place {
            Place::Prose => "|",
            Place::Cell => "\\|",
        });
        1
    }

    /// A fence inside a list or quote is none.
    fn tildes(&mut self, rest: &str) -> usize {
        let run = rest.len() - rest.trim_start_matches('~').len();
        if run >= 3 && self.at_start() {
            self.out.push_str("'''");
            return run;
        }
        self.take(rest, run)
    }

    /// Three in a row open a block of their own on one forge.
    fn quotes(&mut self, rest: &str) -> usize {
        let run = rest.len() - rest.trim_start_matches('>').len();
        let shown = if self.at_start() { 1 } else { run };
        self.take(rest, shown);
        run
    }
}
