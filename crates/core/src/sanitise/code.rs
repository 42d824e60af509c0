//! Code: a span in a line, or a fenced block. Forges look for no mention and no number there, so it is where tainted
//! names are put; some bots and all readers of hidden comments look there all the same.

use super::lexicon::{filter_language, is_reserved_namespace, starts_with_bot_name};

/// Where a span stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanContext {
    /// In prose.
    Prose,
    /// In a table's cell, perhaps: a pipe would end it.
    TableCell,
}

/// Writes tainted words as a span of code.
pub(super) fn push_code_span(content: &str, place: SpanContext, out: &mut String) {
    let content = content.trim();
    if content.is_empty() {
        return;
    }
    // Two runs of backticks in a row would be one, and a backslash would take the first of them.
    if out.ends_with(['`', '\\']) {
        out.push(' ');
    }
    let run = longest_backtick_run(content) + 1;
    let pad = if content.starts_with('`') || content.ends_with('`') { " " } else { "" };
    out.extend(std::iter::repeat_n('`', run));
    out.push_str(pad);
    if place == SpanContext::TableCell && content.contains('|') {
        let mut disarmed = String::with_capacity(content.len() + 4);
        push_defanged(content, &mut disarmed);
        push_escaping_pipes(&disarmed, out);
    } else {
        push_defanged(content, out);
    }
    out.push_str(pad);
    out.extend(std::iter::repeat_n('`', run));
}

/// A pipe ends a cell even in code, unless an odd number of backslashes stands before it.
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

/// Takes from words what others would act on: names of bots, namespaces of hidden comments.
pub(super) fn push_defanged(words: &str, out: &mut String) {
    let start = out.len();
    let mut rest = words;
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

/// A fenced block that is being read.
#[derive(Clone, Copy)]
pub(super) struct CodeFence {
    mark: char,
    length: usize,
    indent: usize,
}

impl CodeFence {
    /// Whether a line opens a block, and the language it names.
    pub(super) fn parse_opening(line: &str) -> Option<(Self, &str)> {
        let body = line.trim_start_matches([' ', '\t']);
        let mark = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = body.trim_start_matches(mark);
        let length = body.len() - info.len();
        let fits = length >= 3 && (mark == '~' || !info.contains('`'));
        fits.then(|| (Self { mark, length, indent: line.len() - body.len() }, filter_language(info)))
    }

    /// Whether a line closes this block.
    pub(super) fn is_closed_by(self, line: &str) -> bool {
        let body = line.trim();
        let rest = body.trim_start_matches(self.mark);
        rest.is_empty() && body.len() >= self.length && !body.is_empty()
    }

    /// Writes a line of this block.
    pub(super) fn push_line(self, line: &str, out: &mut String) {
        let blanks = line.bytes().take(self.indent).take_while(|b| matches!(b, b' ' | b'\t')).count();
        push_code_line(line.get(blanks..).unwrap_or(line), out);
    }
}

/// Writes a line of a fenced block. The fence always has three backticks, since one forge's reader of commands knows no
/// other; so a fence inside is written with `'`.
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

/// Whether a slash before this would be a command: a word and then a blank. `/usr/bin` is a path.
fn is_slash_command(word: &str) -> bool {
    let letters = word.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count();
    let ends = word.as_bytes().get(letters).is_none_or(u8::is_ascii_whitespace);
    ends && word.as_bytes().first().is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
}

/// Whether a code block would show exactly these words: a suggestion that people apply with a click must not differ
/// from what was proposed.
pub fn is_verbatim(code: &str) -> bool {
    super::chars::normalise_chars(code) == code
        && code.lines().all(|line| {
            let mut shown = String::with_capacity(line.len());
            push_code_line(line, &mut shown);
            shown == line
        })
}
