//! Makes text safe to print: whatever a stranger wrote moves no cursor, hides nothing and adds no line.
//!
//! | function | for | line feed, tab | other unsafe characters |
//! |---|---|---|---|
//! | [`to_printable`] | everything that is printed | kept | `U+001B`; colours of a terminal are kept |
//! | [`to_one_line`] | untrusted text within a line | `U+000A` | `U+001B` |
//! | [`escape_json`] | a JSON document | kept: they are between its values | `\u001b` |

use std::borrow::Cow;
use std::fmt::Write as _;

use referee_core::render::{TerminalSafe, is_terminal_unsafe};

/// Shows every unsafe character except line feeds, tabs and the colours that this program prints.
pub(crate) fn to_printable(text: &str) -> Cow<'_, str> {
    let is_unsafe = |c: char| is_terminal_unsafe(c) && !matches!(c, '\n' | '\t');
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_unsafe) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let colour = colour_length(from);
        if colour > 0 {
            let (sequence, after) = from.split_at(colour);
            out.push_str(sequence);
            rest = after;
        } else {
            let (first, after) = from.split_at(from.chars().next().map_or(0, char::len_utf8));
            let _ = write!(out, "{}", TerminalSafe(first));
            rest = after;
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Shows every unsafe character, line feeds included.
pub(crate) fn to_one_line(text: &str) -> String {
    TerminalSafe(text).to_string()
}

/// Escapes every unsafe character of a JSON document. The serialiser escapes only those below U+0020.
pub(crate) fn escape_json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        if is_terminal_unsafe(c) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns the length of the colour sequence at the start of a text, or 0. `8` is not a colour: it hides text.
fn colour_length(text: &str) -> usize {
    let Some(body) = text.strip_prefix("\u{1b}[") else { return 0 };
    let end = body.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(body.len());
    let (parameters, after) = body.split_at(end);
    let hides = parameters.split(';').any(|parameter| parameter.trim_start_matches('0') == "8");
    if after.starts_with('m') && !hides { "\u{1b}[m".len() + end } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::{escape_json, to_one_line, to_printable};

    #[test]
    fn only_lines_tabs_and_colours_are_printed_as_they_are() {
        for (text, want) in [
            ("plain\n\ttext é 🦀", "plain\n\ttext é 🦀"),
            ("\u{1b}[1;31mred\u{1b}[0m", "\u{1b}[1;31mred\u{1b}[0m"),
            ("\u{1b}[8mhidden", "U+001B[8mhidden"),
            ("\u{1b}[2J\u{1b}]0;title\u{7}", "U+001B[2JU+001B]0;titleU+0007"),
            ("a\rb\u{9b}31m\u{85}\u{202e}c\u{2028}", "aU+000DbU+009B31mU+0085U+202EcU+2028"),
            ("\u{1b}", "U+001B"),
        ] {
            assert_eq!(to_printable(text), want);
        }
        assert_eq!(to_one_line("a\nb\u{1b}[0m"), "aU+000AbU+001B[0m");
    }

    #[test]
    fn a_json_document_means_the_same_after_escaping() {
        let value = serde_json::json!({ "a\u{9b}": ["\u{202e}x", "\u{e0041}", "\n\u{7f}", "é"] });
        let document = escape_json(&format!("{value:#}"));
        assert!(!document.contains(|c: char| c != '\n' && referee_core::render::is_terminal_unsafe(c)), "{document}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&document).expect("JSON"), value);
    }
}
