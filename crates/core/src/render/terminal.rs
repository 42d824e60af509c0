//! Makes text safe for a terminal: control characters are shown, not obeyed.

use std::fmt;

use crate::model::RoleName;

/// Untrusted text for a terminal: control, bidi and zero-width characters become `U+001B`, so that
/// no title can move the cursor or hide text. One line stays one line.
pub struct TerminalSafe<'a>(pub &'a str);

impl fmt::Display for TerminalSafe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(is_terminal_unsafe) {
            let (before, from) = rest.split_at(at);
            f.write_str(before)?;
            let mut chars = from.chars();
            if let Some(char) = chars.next() {
                write!(f, "U+{:04X}", u32::from(char))?;
            }
            rest = chars.as_str();
        }
        f.write_str(rest)
    }
}

pub(super) fn write_terminal_safe(out: &mut String, tainted: &str) {
    use fmt::Write as _;
    let _ = write!(out, "{}", TerminalSafe(tainted));
}

/// Renders what a role's report says as a whole: `lint: …`, with further lines indented. Empty if it says nothing.
pub fn render_report_words(role: &RoleName, summary: &str) -> String {
    let mut out = String::new();
    let lines: Vec<&str> = summary.trim().lines().filter(|line| !line.trim().is_empty()).collect();
    for (at, line) in lines.iter().take(MAX_REPORT_LINES).enumerate() {
        if at == 0 {
            out.push_str(role.as_str());
            out.push_str(": ");
        } else {
            out.push_str("\n  ");
        }
        let end = line.char_indices().nth(MAX_REPORT_LINE_CHARS).map(|(end, _)| end);
        write_terminal_safe(&mut out, end.and_then(|end| line.get(..end)).unwrap_or(line));
        if end.is_some() {
            out.push('…');
        }
    }
    if lines.len() > MAX_REPORT_LINES {
        out.push_str("\n  …");
    }
    out
}

/// A list of twenty findings fits, with the sentences around it.
const MAX_REPORT_LINES: usize = 25;
const MAX_REPORT_LINE_CHARS: usize = 500;

/// Returns whether a character would control a terminal, or hide or reverse the text around it.
pub fn is_terminal_unsafe(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}
