//! One pass over untrusted text, line by line. Code blocks are handled separately.

use super::code::{CodeFence, SpanContext};
use super::inline::push_inline;

/// Deeper indentation is cut to this.
const MAX_INDENT_COLUMNS: usize = 8;

pub(super) fn sanitise_block_once(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8 + 8);
    let mut fence: Option<CodeFence> = None;
    let mut blank = true;
    for line in text.lines() {
        if let Some(open) = fence {
            if open.is_closed_by(line) {
                out.push_str("```");
                fence = None;
            } else {
                open.push_line(line, &mut out);
            }
        } else if let Some((open, language)) = CodeFence::parse_opening(line) {
            out.push_str("```");
            out.push_str(language);
            fence = Some(open);
        } else if line.trim().is_empty() {
            // Collapse blank lines.
            if blank {
                continue;
            }
            blank = true;
            out.push('\n');
            continue;
        } else {
            push_line(line, &mut out);
        }
        blank = false;
        out.push('\n');
    }
    if fence.is_some() {
        out.push_str("```");
    }
    out.truncate(out.trim_end().len());
    out
}

fn push_line(line: &str, out: &mut String) {
    let start = out.len();
    let body = line.trim();
    let indent = line.get(..line.len() - line.trim_start().len()).unwrap_or_default();
    let columns: usize = indent.bytes().map(|b| if b == b'\t' { 4 } else { 1 }).sum();
    out.extend(std::iter::repeat_n(' ', columns.min(MAX_INDENT_COLUMNS)));
    let body = match body.strip_prefix('>') {
        Some(quote) => {
            out.push_str("> ");
            quote.trim_start_matches([' ', '\t', '>'])
        }
        None => body,
    };
    if is_table_delimiter(body) {
        out.push_str(&body.replace(['|', ':'], " "));
    } else {
        push_inline(body, SpanContext::Prose, out);
    }
    let end = out.trim_end().len().max(start);
    out.truncate(end);
}

/// Tables are not allowed: in a table a pipe ends a cell even in code, so that code spans would break.
fn is_table_delimiter(line: &str) -> bool {
    line.contains('-') && line.contains(['|', ':']) && line.bytes().all(|b| b"-|: \t".contains(&b))
}

pub(super) fn sanitise_line_once(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut joined = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    push_inline(strip_block_markers(&joined), SpanContext::TableCell, &mut out);
    out
}

/// Removes the markers of headings, quotes and lists from a line that will follow other text.
fn strip_block_markers(mut line: &str) -> &str {
    loop {
        let rest = line.trim_start_matches(['#', '>']);
        let marked = line.strip_prefix(['-', '*', '+']).filter(|tail| tail.starts_with(' ')).unwrap_or(rest);
        let next = marked.trim_start();
        // `#12` is not a heading.
        if next.len() == line.len() || (line.starts_with('#') && !rest.starts_with([' ', '>'])) {
            return line;
        }
        line = next;
    }
}
