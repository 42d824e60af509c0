//! Writes code spans and fenced code blocks. Forges create no mentions and references in code, so untrusted names are
//! put there. Some bots, and every parser of hidden comments, read code all the same.

use super::lexicon::{filter_language, is_reserved_namespace, starts_with_bot_name};

/// The context of a code span.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanContext {
    Prose,
    /// Possibly a table cell, which a pipe would end.
    TableCell,
}

/// Writes untrusted text as a code span.
pub(super) fn push_code_span(content: &str, context: SpanContext, out: &mut String) {
    let content = content.trim();
    if content.is_empty() {
        return;
    }
    // Adjacent runs of backticks would merge, and a backslash would escape the first one.
    if out.ends_with(['`', '\\']) {
        out.push(' ');
    }
    let run = longest_backtick_run(content) + 1;
    let padding = if content.starts_with('`') || content.ends_with('`') { " " } else { "" };
    out.extend(std::iter::repeat_n('`', run));
    out.push_str(padding);
    if context == SpanContext::TableCell && content.contains('|') {
        let mut defanged = String::with_capacity(content.len() + 4);
        push_defanged(content, &mut defanged);
        push_escaping_pipes(&defanged, out);
    } else {
        push_defanged(content, out);
    }
    out.push_str(padding);
    out.extend(std::iter::repeat_n('`', run));
}

/// A pipe ends a table cell even in code, unless an odd number of backslashes precedes it.
fn push_escaping_pipes(content: &str, out: &mut String) {
    let mut backslashes = 0;
    for c in content.chars() {
        if c == '|' && backslashes % 2 == 0 {
            out.push('\\');
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        out.push(c);
    }
}

fn longest_backtick_run(content: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for byte in content.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Writes text so that mentions of bots and names of hidden comments have no effect.
pub(super) fn push_defanged(text: &str, out: &mut String) {
    let start = out.len();
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|b| matches!(b, b'@' | b':')) {
        let (before, sign) = rest.split_at(at);
        let after = sign.get(1..).unwrap_or_default();
        out.push_str(before);
        match sign.starts_with('@') {
            true if starts_with_bot_name(after) => out.push_str("@ "),
            true => out.push('@'),
            false if is_reserved_namespace(out.get(start..).unwrap_or_default(), after) => out.push(' '),
            false => out.push(':'),
        }
        rest = after;
    }
    out.push_str(rest);
}

/// The opening fence of a code block.
#[derive(Clone, Copy)]
pub(super) struct CodeFence {
    mark: char,
    length: usize,
    indent: usize,
}

impl CodeFence {
    /// Parses an opening fence and its language.
    pub(super) fn parse_opening(line: &str) -> Option<(Self, &str)> {
        let body = line.trim_start_matches([' ', '\t']);
        let mark = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = body.trim_start_matches(mark);
        let length = body.len() - info.len();
        let is_fence = length >= 3 && (mark == '~' || !info.contains('`'));
        is_fence.then(|| (Self { mark, length, indent: line.len() - body.len() }, filter_language(info)))
    }

    pub(super) fn is_closed_by(self, line: &str) -> bool {
        let body = line.trim();
        let rest = body.trim_start_matches(self.mark);
        rest.is_empty() && body.len() >= self.length && !body.is_empty()
    }

    /// Writes a line of the block, without the indentation of the fence.
    pub(super) fn push_line(self, line: &str, out: &mut String) {
        let indent = line.bytes().take(self.indent).take_while(|b| matches!(b, b' ' | b'\t')).count();
        push_code_line(line.get(indent..).unwrap_or(line), out);
    }
}

/// Writes a line of a fenced block. Fences always have three backticks, because the command parser of one forge knows
/// no others. So an inner fence is written with `'`.
pub(super) fn push_code_line(line: &str, out: &mut String) {
    let body = line.trim_start();
    out.push_str(line.get(..line.len() - body.len()).unwrap_or_default());
    let start = out.len();
    push_defanged(body, out);
    let body = out.get(start..).unwrap_or_default();
    let backticks = body.len() - body.trim_start_matches('`').len();
    if backticks >= 3 {
        out.replace_range(start..start + backticks, &"'".repeat(backticks));
    } else if body.strip_prefix('/').is_some_and(is_slash_command) {
        out.insert(start + 1, ' ');
    }
}

/// Returns whether the text after a slash makes it a command: a word followed by a space. `/usr/bin` is a path.
fn is_slash_command(word: &str) -> bool {
    let letters = word.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count();
    let is_complete = word.as_bytes().get(letters).is_none_or(u8::is_ascii_whitespace);
    is_complete && letters > 0
}

/// Returns whether a code block would show exactly this text. A suggestion that people apply with a click must not
/// differ from the proposal.
pub fn is_verbatim(code: &str) -> bool {
    super::chars::normalise_chars(code) == code
        && code.lines().all(|line| {
            let mut shown = String::with_capacity(line.len());
            push_code_line(line, &mut shown);
            shown == line
        })
}
