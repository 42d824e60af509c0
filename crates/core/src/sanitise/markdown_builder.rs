//! How `render` writes: referee's own words as literals, everything else through a method that makes it safe.

use std::fmt::Write as _;

use super::SafeText;
use super::chars::normalise_chars;
use super::code::{SpanContext, push_code_line, push_code_span, push_defanged};
use super::lexicon::{is_bare_command, is_reserved_namespace, starts_with_bot_name};
use crate::model::{FindingId, Login, RoleName, Sha, Time};

/// The longest address that is linked to.
const MAX_URL_BYTES: usize = 2_000;

/// What most pages take, in bytes.
const INITIAL_CAPACITY: usize = 256;

/// A text in the making. The only way to a `SafeText` with HTML, links or a mention in it.
#[derive(Clone, Debug, Default)]
pub struct MarkdownBuilder {
    out: String,
    /// In a block of HTML backticks mean nothing, and a name in them would be called; a blank line ends it.
    in_html_block: bool,
}

impl MarkdownBuilder {
    /// An empty page.
    pub fn new() -> Self {
        Self { out: String::with_capacity(INITIAL_CAPACITY), in_html_block: false }
    }

    /// Own words, trusted as they are: lines, tables, `<details>`.
    pub fn literal(&mut self, words: &'static str) -> &mut Self {
        let begins = self.out.as_bytes().last().is_none_or(|b| *b == b'\n');
        // What goes on in a line opens and ends no HTML. Most words are a few bytes: no search is worth its start.
        if begins || words.bytes().any(|b| b == b'\n') {
            for line in words.split_inclusive('\n').skip(usize::from(!begins)) {
                self.in_html_block = !line.trim().is_empty() && (self.in_html_block || starts_html_block(line));
            }
        }
        self.out.push_str(words);
        self
    }

    /// Words that were made safe; several lines get blank lines around them.
    pub fn safe_text(&mut self, text: &SafeText) -> &mut Self {
        // A line may begin with three backticks and more: a span around two of them.
        let block = text.as_str().contains('\n');
        if block && !self.out.is_empty() {
            self.blank_line();
        }
        self.end_html_block();
        if text.as_str().starts_with('`') && self.out.ends_with(['`', '\\']) {
            self.out.push(' ');
        }
        self.out.push_str(text.as_str());
        if block {
            self.out.push_str("\n\n");
        }
        self
    }

    /// A number; one that is negative or too large is none.
    pub fn number(&mut self, number: impl TryInto<u64>) -> &mut Self {
        if let Ok(number) = number.try_into() {
            self.push_digits(number);
        }
        self
    }

    /// A finding's id.
    pub fn finding(&mut self, id: FindingId) -> &mut Self {
        self.out.push('F');
        self.push_digits(id.0);
        self
    }

    /// Numbers are many and short here: with `write!` they were more than half of what a status costs.
    fn push_digits(&mut self, number: u64) {
        if 10 <= number {
            self.push_digits(number / 10);
        }
        self.out.push(char::from(b'0' + (number % 10) as u8));
    }

    /// A moment.
    pub fn time(&mut self, time: Time) -> &mut Self {
        let _ = write!(self.out, "{time}");
        self
    }

    /// A commit in full, as programs look for it; as code if it is none.
    pub fn sha(&mut self, sha: &Sha) -> &mut Self {
        self.push_hex(sha.as_str())
    }

    /// The first seven characters of a commit.
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

    /// Somebody's name, without calling them.
    pub fn login(&mut self, login: &Login) -> &mut Self {
        self.code_span(login.as_str())
    }

    /// A role's name.
    pub fn role(&mut self, role: &RoleName) -> &mut Self {
        let name = role.as_str();
        let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        let reads_as_commit = name.len() >= 7 && name.bytes().all(|b| b.is_ascii_hexdigit());
        if plain && !reads_as_commit && !is_bare_command(name, name) && (1..=40).contains(&name.len()) {
            self.out.push_str(name);
            return self;
        }
        self.code_span(name)
    }

    /// Calls somebody: the one mention that is allowed (LOOP-4). A name that could be anything else is not called.
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

    /// Tainted words as code in the line: a path, a name, a command.
    pub fn code_span(&mut self, tainted: &str) -> &mut Self {
        self.end_html_block();
        let line = normalise_chars(tainted);
        if line.contains(['\n', '\t']) {
            push_code_span(&line.replace(['\n', '\t'], " "), SpanContext::TableCell, &mut self.out);
        } else {
            push_code_span(&line, SpanContext::TableCell, &mut self.out);
        }
        self
    }

    /// Tainted words as a code block, at most `max_lines` of them.
    pub fn code_block(&mut self, language: &'static str, tainted: &str, max_lines: usize) -> &mut Self {
        if !self.out.is_empty() {
            self.blank_line();
        }
        self.end_html_block();
        self.out.push_str("```");
        self.out.push_str(language);
        self.out.push('\n');
        let code = normalise_chars(tainted);
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

    /// Tainted words as code that lead to a page of the own forge; without a link if the address is not one.
    pub fn link(&mut self, tainted: &str, url: &str) -> &mut Self {
        let Some(address) = escape_url(url).filter(|_| !tainted.trim().is_empty()) else {
            return self.code_span(tainted);
        };
        self.open_link();
        self.code_span(tainted);
        self.close_link(&address)
    }

    /// Own words that lead to a page of the own forge; without a link if the address is not one.
    pub fn link_literal(&mut self, words: &'static str, url: &str) -> &mut Self {
        let Some(address) = escape_url(url) else { return self.literal(words) };
        self.open_link();
        self.out.push_str(words);
        self.close_link(&address)
    }

    fn open_link(&mut self) {
        self.end_html_block();
        // `!` before a link makes an image, a backslash makes none of it.
        if self.out.ends_with(['!', '\\', ']']) {
            self.out.push(' ');
        }
        self.out.push('[');
    }

    fn close_link(&mut self, address: &str) -> &mut Self {
        let _ = write!(self.out, "]({address})");
        self
    }

    /// Begins a new paragraph.
    pub fn blank_line(&mut self) -> &mut Self {
        self.out.truncate(self.out.trim_end().len());
        if !self.out.is_empty() {
            self.out.push_str("\n\n");
        }
        self.in_html_block = false;
        self
    }

    /// How many bytes it takes so far.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// The text.
    pub fn finish(self) -> SafeText {
        // Pieces that are harmless each may name a bot or a memory together.
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

/// The address of a page, written so that it can end neither link nor cell; `None` if it is not one.
fn escape_url(url: &str) -> Option<String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let host = rest.split(['/', '?', '#']).next()?;
    let names_host = !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:_".contains(&b));
    if url.len() > MAX_URL_BYTES || !names_host {
        return None;
    }
    let mut out = String::with_capacity(url.len());
    for (at, byte) in url.bytes().enumerate() {
        let names = byte == b':' && is_reserved_namespace(&out, url.get(at + 1..).unwrap_or_default());
        if !names && (byte.is_ascii_alphanumeric() || b":/?#!$&'*+,;=-._~%".contains(&byte)) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    Some(out)
}
