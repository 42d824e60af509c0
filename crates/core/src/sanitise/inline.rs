//! One pass over one line of untrusted text outside code blocks.

use super::code::{SpanContext, push_code_span};
use super::lexicon::{is_bare_command, is_reserved_namespace};
use super::links::{AmpersandToken, AngleToken, MarkdownLink, parse_ampersand, parse_angle, url_length};
use super::word_scan::{
    alphanumeric_length, find_closing_backticks, is_name_byte, looks_like_commit, name_length, skip_plain_word,
};

/// Writes a line so that neither forge nor bots act on it. Never looks beyond the line.
pub(super) fn push_inline(text: &str, context: SpanContext, out: &mut String) {
    let line_start = out.len();
    InlineSanitiser { out, line_start, markers_end: line_start, context, unclosed_runs: 0, may_close_comment: true }
        .push_text(text);
    // A backslash at the end would escape what follows.
    let backslashes = out.len() - out.trim_end_matches('\\').len();
    if backslashes % 2 == 1 {
        out.pop();
    }
}

struct InlineSanitiser<'o> {
    out: &'o mut String,
    /// Start of the line in `out`.
    line_start: usize,
    /// End of the part of the line that consists of markers only.
    markers_end: usize,
    context: SpanContext,
    /// Bit set of the lengths of backtick runs that are not closed in the rest of the line.
    unclosed_runs: u64,
    /// Whether `-->` may occur in the rest of the line.
    may_close_comment: bool,
}

/// What a byte may start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Plain,
    Letter,
    Special,
}

const BYTE_CLASSES: [ByteClass; 256] = {
    let mut classes = [ByteClass::Plain; 256];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() {
            classes[byte] = ByteClass::Letter;
        }
        byte += 1;
    }
    let signs = b"`\\<&[]!@#/:|~>";
    let mut sign = 0;
    while sign < signs.len() {
        classes[signs[sign] as usize] = ByteClass::Special;
        sign += 1;
    }
    classes
};

impl InlineSanitiser<'_> {
    fn push_text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        // Plain text is copied in one go, once the line has content.
        let (mut copied, mut at, mut has_content) = (0, 0, false);
        while let Some(byte) = bytes.get(at) {
            match BYTE_CLASSES[usize::from(*byte)] {
                ByteClass::Plain => at += 1,
                ByteClass::Letter => {
                    if !has_content {
                        self.push_verbatim(text.get(copied..at).unwrap_or_default());
                        copied = at;
                        has_content = !self.is_at_line_start();
                    }
                    match skip_plain_word(bytes, at) {
                        Some(end) if has_content => at = end,
                        _ => {
                            self.push_verbatim(text.get(copied..at).unwrap_or_default());
                            at += self.push_word(text.get(at..).unwrap_or_default());
                            copied = at;
                        }
                    }
                }
                ByteClass::Special => {
                    self.push_verbatim(text.get(copied..at).unwrap_or_default());
                    at += self.push_special(*byte, text.get(at..).unwrap_or_default());
                    copied = at;
                }
            }
        }
        self.push_verbatim(text.get(copied..).unwrap_or_default());
    }

    fn push_special(&mut self, sign: u8, rest: &str) -> usize {
        match sign {
            b'`' => self.push_backticks(rest),
            b'\\' => self.push_backslash(rest),
            b'<' => self.push_angle(rest),
            b'&' => self.push_ampersand(rest),
            b'[' => self.push_opening_bracket(rest),
            b']' => self.push_closing_bracket(rest),
            b'!' => self.push_exclamation(rest),
            b'@' => self.push_at_sign(rest),
            b'#' => self.push_reference(rest),
            b'/' => self.push_slash(rest),
            b':' => self.push_colon(rest),
            b'|' => self.push_pipe(),
            b'~' => self.push_tildes(rest),
            _ => self.push_quote_markers(rest),
        }
    }

    fn push_verbatim(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn push_prefix(&mut self, rest: &str, length: usize) -> usize {
        self.push_verbatim(rest.get(..length).unwrap_or_default());
        length
    }

    fn push_prefix_as_code(&mut self, rest: &str, length: usize) -> usize {
        push_code_span(rest.get(..length).unwrap_or_default(), self.context, self.out);
        length
    }

    /// Returns whether the line contains only whitespace and markers of lists, quotes, headings and terms so far.
    fn is_at_line_start(&mut self) -> bool {
        let new = self.out.as_bytes().get(self.markers_end..).unwrap_or_default();
        let markers = new.iter().take_while(|b| b" \t>-*+#.):~".contains(b) || b.is_ascii_digit()).count();
        self.markers_end += markers;
        self.markers_end == self.out.len()
    }

    fn push_word(&mut self, rest: &str) -> usize {
        let end = rest.bytes().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        let next = |at: usize| tail.as_bytes().get(at).copied().unwrap_or(b' ');
        if tail.starts_with("://") || (word.eq_ignore_ascii_case("www") && next(0) == b'.') {
            return self.push_prefix_as_code(rest, url_length(rest));
        }
        if next(0) == b'@' && is_name_byte(next(1)) {
            return self.push_prefix_as_code(rest, end + 1 + name_length(tail.get(1..).unwrap_or_default()));
        }
        if looks_like_commit(word) {
            return self.push_prefix_as_code(rest, end);
        }
        if word.eq_ignore_ascii_case("gh") && next(0) == b'-' && next(1).is_ascii_digit() {
            return self.push_prefix_as_code(rest, end + 1 + alphanumeric_length(tail.get(1..).unwrap_or_default()));
        }
        if self.is_at_line_start() && is_bare_command(rest, word) {
            return self.push_prefix_as_code(rest, if next(0) == b'?' { end + 1 } else { end });
        }
        self.push_prefix(rest, end)
    }

    fn push_backticks(&mut self, rest: &str) -> usize {
        let body = rest.trim_start_matches('`');
        let run = rest.len() - body.len();
        let bit = u32::try_from(run).ok().and_then(|run| 1_u64.checked_shl(run)).unwrap_or_default();
        let content = if bit == 0 || self.unclosed_runs & bit != 0 { None } else { find_closing_backticks(body, run) };
        match content {
            Some(length) => {
                push_code_span(body.get(..length).unwrap_or_default(), self.context, self.out);
                2 * run + length
            }
            None => {
                self.unclosed_runs |= bit;
                self.out.push_str(&"'".repeat(run.min(3)));
                run
            }
        }
    }

    fn push_backslash(&mut self, rest: &str) -> usize {
        match rest.as_bytes().get(1) {
            // Forges process these after removing the backslash, so it protects nothing.
            Some(b'<' | b'&' | b'@' | b'/' | b'`' | b'#' | b'!' | b':' | b'.') => 1,
            // An escaped checkbox is still a checkbox.
            Some(b'[') if self.is_at_line_start() => 1,
            Some(next) if next.is_ascii_punctuation() => self.push_prefix(rest, 2),
            _ => self.push_prefix(rest, 1),
        }
    }

    fn push_angle(&mut self, rest: &str) -> usize {
        let is_comment = rest.starts_with("<!--");
        let token = if is_comment && !self.may_close_comment { AngleToken::Literal } else { parse_angle(rest) };
        self.may_close_comment &= !is_comment || matches!(token, AngleToken::Markup(_));
        match token {
            AngleToken::Markup(length) => {
                if !self.out.ends_with([' ', '\n']) && self.out.len() > self.line_start {
                    self.out.push(' ');
                }
                length
            }
            AngleToken::Autolink(url) => {
                push_code_span(url, self.context, self.out);
                url.len() + 2
            }
            AngleToken::Literal => {
                self.out.push_str("&lt;");
                1
            }
        }
    }

    fn push_ampersand(&mut self, rest: &str) -> usize {
        match parse_ampersand(rest) {
            AmpersandToken::BasicEntity(length) => self.push_prefix(rest, length),
            AmpersandToken::OtherEntity => {
                self.out.push_str("&amp;");
                1
            }
            AmpersandToken::Literal => self.push_reference(rest),
        }
    }

    fn push_opening_bracket(&mut self, rest: &str) -> usize {
        for (checkbox, round) in [("[ ]", "( )"), ("[x]", "(x)"), ("[X]", "(x)")] {
            if rest.starts_with(checkbox) && self.is_at_line_start() {
                self.out.push_str(round);
                return checkbox.len();
            }
        }
        let Some(link) = MarkdownLink::parse(rest) else {
            // `[[` starts a wiki link.
            self.out.push_str(if rest.starts_with("[[") { "[ " } else { "[" });
            return 1;
        };
        match link.url {
            Some(url) if url == link.text.trim() => push_code_span(url, self.context, self.out),
            Some(url) => {
                self.push_text(link.text);
                self.out.push_str(" (");
                push_code_span(url, self.context, self.out);
                self.out.push(')');
            }
            None => self.push_text(link.text),
        }
        link.length
    }

    /// A space after the bracket breaks links, references and definitions.
    fn push_closing_bracket(&mut self, rest: &str) -> usize {
        self.out.push(']');
        if rest.get(1..).is_some_and(|tail| tail.starts_with(['(', '[', ':'])) {
            self.out.push(' ');
        }
        1
    }

    fn push_exclamation(&mut self, rest: &str) -> usize {
        let Some(bracket) = rest.strip_prefix('!').filter(|tail| tail.starts_with('[')) else {
            return self.push_reference(rest);
        };
        match MarkdownLink::parse(bracket) {
            Some(image) => {
                self.push_text(image.text);
                1 + image.length
            }
            None => 1,
        }
    }

    fn push_at_sign(&mut self, rest: &str) -> usize {
        let tail = rest.get(1..).unwrap_or_default();
        match name_length(tail) {
            // An invisible escape may precede the name.
            0 if tail.starts_with('\\') => {
                self.out.push_str("@ ");
                1
            }
            0 => self.push_prefix(rest, 1),
            length => self.push_prefix_as_code(rest, 1 + length),
        }
    }

    /// `#12`, `!12`, `&12` are references.
    fn push_reference(&mut self, rest: &str) -> usize {
        if rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
            return self.push_prefix_as_code(rest, 1 + alphanumeric_length(rest.get(1..).unwrap_or_default()));
        }
        self.push_prefix(rest, 1)
    }

    fn push_slash(&mut self, rest: &str) -> usize {
        let is_command = rest.as_bytes().get(1).is_some_and(|b| b.is_ascii_alphanumeric() || b"_-".contains(b))
            && self.is_at_line_start();
        if !is_command {
            return self.push_prefix(rest, 1);
        }
        let end = rest.bytes().position(|b| !(b.is_ascii_alphanumeric() || b"_-./".contains(&b))).unwrap_or(rest.len());
        self.push_prefix_as_code(rest, rest.get(..end).unwrap_or_default().trim_end_matches('.').len())
    }

    fn push_colon(&mut self, rest: &str) -> usize {
        let tail = rest.get(1..).unwrap_or_default();
        let is_reserved = is_reserved_namespace(self.out.get(self.line_start..).unwrap_or_default(), tail);
        self.out.push(if is_reserved { ' ' } else { ':' });
        1
    }

    fn push_pipe(&mut self) -> usize {
        self.out.push_str(match self.context {
            SpanContext::Prose => "|",
            SpanContext::TableCell => "\\|",
        });
        1
    }

    /// Disables a fence inside a list or quote.
    fn push_tildes(&mut self, rest: &str) -> usize {
        let run = rest.len() - rest.trim_start_matches('~').len();
        if run >= 3 && self.is_at_line_start() {
            self.out.push_str("'''");
            return run;
        }
        self.push_prefix(rest, run)
    }

    /// Collapses quote markers: `>>>` opens a multi-line quote on GitLab.
    fn push_quote_markers(&mut self, rest: &str) -> usize {
        let run = rest.len() - rest.trim_start_matches('>').len();
        let shown = if self.is_at_line_start() { 1 } else { run };
        self.push_prefix(rest, shown);
        run
    }
}
