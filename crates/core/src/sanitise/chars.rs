//! Removes or replaces invisible characters.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Normalises line ends to line feeds, and makes every character visible. Keeps tabs.
pub(super) fn normalise_chars(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    let Some(start) = text.char_indices().find(|(_, c)| classify_char(*c) != CharKind::Visible).map(|(at, _)| at)
    else {
        return Cow::Borrowed(text);
    };
    let (head, tail) = text.split_at(start);
    let mut out = String::with_capacity(text.len());
    out.push_str(head);
    let mut rest = tail;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match classify_char(c) {
            CharKind::Visible => out.push(c),
            CharKind::LineBreak => {
                // CRLF is one line end.
                rest = if c == '\r' { rest.strip_prefix('\n').unwrap_or(rest) } else { rest };
                out.push('\n');
            }
            CharKind::Space => out.push(' '),
            CharKind::BidiControl => {
                let _ = write!(out, "U+{:04X}", u32::from(c));
            }
            CharKind::Invisible if c == '\u{1b}' => rest = skip_escape_sequence(rest),
            CharKind::Invisible => {}
        }
    }
    Cow::Owned(out)
}

#[derive(PartialEq, Eq)]
enum CharKind {
    Visible,
    LineBreak,
    Space,
    BidiControl,
    Invisible,
}

fn classify_char(c: char) -> CharKind {
    match c {
        ' '..='~' | '\n' | '\t' => CharKind::Visible,
        '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{b}' | '\u{c}' => CharKind::LineBreak,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            CharKind::BidiControl
        }
        c if c.is_control() || is_invisible(c) => CharKind::Invisible,
        c if c.is_whitespace() => CharKind::Space,
        _ => CharKind::Visible,
    }
}

/// Format characters, fillers, variation selectors, tags, private use and noncharacters.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}'
        | '\u{34f}'
        | '\u{600}'..='\u{605}'
        | '\u{6dd}'
        | '\u{70f}'
        | '\u{890}'..='\u{891}'
        | '\u{8e2}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{e000}'..='\u{f8ff}'
        | '\u{fdd0}'..='\u{fdef}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffc}'
        | '\u{fffe}'..='\u{ffff}'
        | '\u{110bd}'
        | '\u{110cd}'
        | '\u{13430}'..='\u{1345f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{10ffff}')
}

/// Returns the text after a terminal escape sequence: CSI (`[` to a letter) or OSC (`]` to BEL or the next ESC).
fn skip_escape_sequence(rest: &str) -> &str {
    if let Some(body) = rest.strip_prefix('[') {
        let end = body.find(|c: char| !matches!(c, ' '..='?')).unwrap_or(body.len());
        let tail = body.get(end..).unwrap_or_default();
        return tail.strip_prefix(|c: char| matches!(c, '@'..='~')).unwrap_or(tail);
    }
    match rest.strip_prefix(']') {
        Some(body) => body.find(['\u{7}', '\u{1b}', '\n']).and_then(|end| body.get(end..)).unwrap_or(body),
        None => rest,
    }
}
