//! Builds Markdown in `render`: literals of referee are written as they are, everything else is sanitised.

use std::fmt::Write as _;

use super::SafeText;
use super::chars::normalise_chars;
use super::code::{SpanContext, push_code_line, push_code_span, push_defanged};
use super::lexicon::{is_bare_command, is_reserved_namespace, starts_with_bot_name};
use crate::model::{FindingId, Login, RoleName, Sha, Time};

/// Longer URLs are not linked.
const MAX_URL_BYTES: usize = 2_000;

/// Enough for most texts.
const INITIAL_CAPACITY: usize = 256;

/// A builder of Markdown text. Only it can create a `SafeText` with HTML, links or a mention.
#[derive(Clone, Debug, Default)]
pub struct MarkdownBuilder {
    out: String,
    /// Inside an HTML block, backticks have no effect and a name in them would be a mention. A blank line ends the
    /// block.
    in_html_block: bool,
}

impl MarkdownBuilder {
    pub fn new() -> Self {
        Self { out: String::with_capacity(INITIAL_CAPACITY), in_html_block: false }
    }

    /// Writes trusted text: lines, tables, `<details>`.
    pub fn literal(&mut self, text: &'static str) -> &mut Self {
        let is_line_start = self.out.as_bytes().last().is_none_or(|b| *b == b'\n');
        // Text within a line neither starts nor ends an HTML block. `bytes().any` is fastest for short literals.
        if is_line_start || text.bytes().any(|b| b == b'\n') {
            for line in text.split_inclusive('\n').skip(usize::from(!is_line_start)) {
                self.in_html_block = !line.trim().is_empty() && (self.in_html_block || starts_html_block(line));
            }
        }
        self.out.push_str(text);
        self
    }

    /// Writes sanitised text. Puts blank lines around text of several lines.
    pub fn safe_text(&mut self, text: &SafeText) -> &mut Self {
        // A single line may start with three backticks too: a code span around two.
        let is_block = text.as_str().contains('\n');
        if is_block && !self.out.is_empty() {
            self.blank_line();
        }
        self.end_html_block();
        // The backticks of two pieces would join, and `http` followed by `://` would become a URL.
        let joins_backticks = text.as_str().starts_with('`') && self.out.ends_with(['`', '\\']);
        let joins_scheme = text.as_str().starts_with(':') && self.out.ends_with(|c: char| c.is_ascii_alphanumeric());
        if joins_backticks || joins_scheme {
            self.out.push(' ');
        }
        self.out.push_str(text.as_str());
        if is_block {
            self.out.push_str("\n\n");
        }
        self
    }

    /// Writes a number. Writes nothing if it is negative or too large.
    pub fn number(&mut self, number: impl TryInto<u64>) -> &mut Self {
        if let Ok(number) = number.try_into() {
            self.push_digits(number);
        }
        self
    }

    pub fn finding(&mut self, id: FindingId) -> &mut Self {
        self.out.push('F');
        self.push_digits(id.0);
        self
    }

    /// Faster than `write!`, which took more than half the time of rendering a status.
    fn push_digits(&mut self, number: u64) {
        if 10 <= number {
            self.push_digits(number / 10);
        }
        self.out.push(char::from(b'0' + (number % 10) as u8));
    }

    pub fn time(&mut self, time: Time) -> &mut Self {
        let _ = write!(self.out, "{time}");
        self
    }

    /// Writes a full commit id, as programs expect it. Anything else is written as code.
    pub fn sha(&mut self, sha: &Sha) -> &mut Self {
        self.push_hex(sha.as_str())
    }

    /// Writes an abbreviated commit id.
    pub fn short_sha(&mut self, sha: &Sha) -> &mut Self {
        self.push_hex(sha.short())
    }

    fn push_hex(&mut self, text: &str) -> &mut Self {
        if !text.is_empty() && text.len() <= 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
            self.out.push_str(text);
            return self;
        }
        self.code_span(text)
    }

    /// Writes a login without mentioning it.
    pub fn login(&mut self, login: &Login) -> &mut Self {
        self.code_span(login.as_str())
    }

    pub fn role(&mut self, role: &RoleName) -> &mut Self {
        let name = role.as_str();
        let is_plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        let may_be_commit = name.len() >= 7 && name.bytes().all(|b| b.is_ascii_hexdigit());
        if is_plain && !may_be_commit && !is_bare_command(name, name) && (1..=40).contains(&name.len()) {
            self.out.push_str(name);
            return self;
        }
        self.code_span(name)
    }

    /// Mentions a person: the only mention that is allowed (LOOP-4). A login that is not a plain name is written as
    /// code.
    pub fn mention(&mut self, login: &Login) -> &mut Self {
        let name = login.as_str();
        let is_name = (1..=64).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'));
        if !is_name || starts_with_bot_name(name) {
            return self.login(login);
        }
        self.end_html_block();
        self.out.push('@');
        self.out.push_str(name);
        self
    }

    /// Writes untrusted text as a code span: a path, a name, a command.
    pub fn code_span(&mut self, untrusted: &str) -> &mut Self {
        self.end_html_block();
        let line = normalise_chars(untrusted);
        if line.contains(['\n', '\t']) {
            push_code_span(&line.replace(['\n', '\t'], " "), SpanContext::TableCell, &mut self.out);
        } else {
            push_code_span(&line, SpanContext::TableCell, &mut self.out);
        }
        self
    }

    /// Writes untrusted text as a code block of at most `max_lines` lines.
    pub fn code_block(&mut self, language: &'static str, untrusted: &str, max_lines: usize) -> &mut Self {
        if !self.out.is_empty() {
            self.blank_line();
        }
        self.end_html_block();
        self.out.push_str("```");
        self.out.push_str(language);
        self.out.push('\n');
        let code = normalise_chars(untrusted);
        for line in code.lines().take(max_lines) {
            push_code_line(line, &mut self.out);
            self.out.push('\n');
        }
        let more = code.lines().count().saturating_sub(max_lines);
        if more > 0 {
            let _ = writeln!(self.out, "… {more} more lines");
        }
        self.out.push_str("```\n\n");
        self
    }

    /// Writes untrusted text as code that links to a page of the forge. Writes no link if the URL is not valid.
    pub fn link(&mut self, untrusted: &str, url: &str) -> &mut Self {
        let Some(escaped_url) = escape_url(url).filter(|_| !untrusted.trim().is_empty()) else {
            return self.code_span(untrusted);
        };
        self.open_link();
        self.code_span(untrusted);
        self.close_link(&escaped_url)
    }

    /// Writes trusted text that links to a page of the forge. Writes no link if the URL is not valid.
    pub fn link_literal(&mut self, text: &'static str, url: &str) -> &mut Self {
        let Some(escaped_url) = escape_url(url) else { return self.literal(text) };
        self.open_link();
        self.out.push_str(text);
        self.close_link(&escaped_url)
    }

    fn open_link(&mut self) {
        self.end_html_block();
        // A preceding `!` would make an image, and a backslash would escape the bracket.
        if self.out.ends_with(['!', '\\', ']']) {
            self.out.push(' ');
        }
        self.out.push('[');
    }

    fn close_link(&mut self, escaped_url: &str) -> &mut Self {
        let _ = write!(self.out, "]({escaped_url})");
        self
    }

    /// Starts a new paragraph.
    pub fn blank_line(&mut self) -> &mut Self {
        self.out.truncate(self.out.trim_end().len());
        if !self.out.is_empty() {
            self.out.push_str("\n\n");
        }
        self.in_html_block = false;
        self
    }

    /// Returns the length so far, in bytes.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    pub fn finish(self) -> SafeText {
        // Harmless pieces may together form a mention of a bot or the name of a hidden comment.
        let mut text = String::with_capacity(self.out.len());
        push_defanged(self.out.trim_end(), &mut text);
        SafeText(text)
    }

    fn end_html_block(&mut self) {
        if self.in_html_block {
            self.blank_line();
        }
    }
}

fn starts_html_block(line: &str) -> bool {
    let tag = line.trim_start().strip_prefix('<').map(|tag| tag.strip_prefix('/').unwrap_or(tag));
    tag.is_some_and(|tag| ["details", "summary", "div", "table", "p>", "!--"].iter().any(|it| tag.starts_with(it)))
}

/// Escapes a URL so that it can end neither a link nor a table cell. Returns `None` if it is not a web page.
fn escape_url(url: &str) -> Option<String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let host = rest.split(['/', '?', '#']).next()?;
    let is_valid_host = !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:_".contains(&b));
    if url.len() > MAX_URL_BYTES || !is_valid_host {
        return None;
    }
    let mut out = String::with_capacity(url.len());
    for (index, byte) in url.bytes().enumerate() {
        let is_reserved = byte == b':' && is_reserved_namespace(&out, url.get(index + 1..).unwrap_or_default());
        if !is_reserved && (byte.is_ascii_alphanumeric() || b":/?#!$&'*+,;=-._~%".contains(&byte)) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    Some(out)
}
