//! Rust text into tokens: enough to tell code from comments and strings, and to find the other end of a bracket.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Identifier or keyword.
    Word,
    /// String of any form; `text` is what stands between the quotes.
    Text,
    /// Punctuation; the pairs of `PAIRS` are one token.
    Sign,
    /// Number, character or lifetime: no check looks at these.
    Other,
}

#[derive(Debug, Clone)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

/// A line or block comment with its slashes.
#[derive(Debug, Clone)]
pub(crate) struct Remark<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

const PAIRS: [&str; 9] = ["::", "=>", "->", "==", "!=", "<=", ">=", "&&", "||"];

pub(crate) fn lex(source: &str) -> (Vec<Token<'_>>, Vec<Remark<'_>>) {
    let mut lexer = Lexer { source, at: 0, line: 1, tokens: Vec::new(), remarks: Vec::new() };
    while lexer.step() {}
    (lexer.tokens, lexer.remarks)
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    line: usize,
    tokens: Vec<Token<'a>>,
    remarks: Vec<Remark<'a>>,
}

impl<'a> Lexer<'a> {
    fn step(&mut self) -> bool {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return false;
        };
        if first.is_whitespace() {
            self.advance(first.len_utf8());
        } else if rest.starts_with("//") {
            let length = rest.find('\n').unwrap_or(rest.len());
            self.remark(length);
        } else if rest.starts_with("/*") {
            self.remark(block_length(rest));
        } else if let Some((open, hashes)) = raw_prefix(rest) {
            let close = format!("\"{}", "#".repeat(hashes));
            let inner = rest.get(open..).unwrap_or_default();
            let length = inner.find(&close).unwrap_or(inner.len());
            self.string(open, length, close.len());
        } else if let Some(open) = string_prefix(rest) {
            let length = quoted_length(rest.get(open..).unwrap_or_default(), '"');
            self.string(open, length, 1);
        } else if first == '\'' {
            self.quote();
        } else if first.is_alphanumeric() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            self.token(if first.is_ascii_digit() { Kind::Other } else { Kind::Word }, length);
        } else {
            let pair = PAIRS.iter().find(|pair| rest.starts_with(**pair));
            self.token(Kind::Sign, pair.map_or(first.len_utf8(), |pair| pair.len()));
        }
        true
    }

    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn advance(&mut self, length: usize) -> &'a str {
        let end = (self.at + length).min(self.source.len());
        let text = self.source.get(self.at..end).unwrap_or_default();
        self.line += text.matches('\n').count();
        self.at = end;
        text
    }

    fn token(&mut self, kind: Kind, length: usize) {
        let line = self.line;
        let text = self.advance(length);
        self.tokens.push(Token { kind, text, line });
    }

    fn remark(&mut self, length: usize) {
        let line = self.line;
        let text = self.advance(length);
        self.remarks.push(Remark { text, line });
    }

    fn string(&mut self, open: usize, length: usize, close: usize) {
        self.advance(open);
        self.token(Kind::Text, length);
        self.advance(close);
    }

    /// `'a'`, `'\n'` or the lifetime `'a`.
    fn quote(&mut self) {
        let rest = self.rest();
        let mut chars = rest.chars().skip(1);
        let (second, third) = (chars.next(), chars.next());
        if second == Some('\\') || third == Some('\'') {
            let inner = rest.get(1..).unwrap_or_default();
            self.token(Kind::Other, 2 + quoted_length(inner, '\''));
        } else {
            let name = rest.get(1..).unwrap_or_default();
            let length = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
            self.token(Kind::Other, 1 + length);
        }
    }
}

/// Length of a block comment; Rust's nest.
fn block_length(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(here) = rest.get(at..).filter(|here| !here.is_empty()) {
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth = depth.saturating_sub(1);
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// For `r"`, `br#"` and their like: the length up to the first inner character, and the number of hashes.
fn raw_prefix(rest: &str) -> Option<(usize, usize)> {
    let letters = ["br", "cr", "r"].into_iter().find(|letters| rest.starts_with(letters))?;
    let after = rest.get(letters.len()..)?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after.get(hashes..)?.starts_with('"').then_some((letters.len() + hashes + 1, hashes))
}

fn string_prefix(rest: &str) -> Option<usize> {
    ["\"", "b\"", "c\""].into_iter().find(|open| rest.starts_with(open)).map(str::len)
}

/// Length up to the closing quote, escapes skipped.
fn quoted_length(inner: &str, close: char) -> usize {
    let mut escaped = false;
    for (index, c) in inner.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == close {
            return index;
        }
    }
    inner.len()
}

#[cfg(test)]
fn texts(source: &str) -> Vec<&str> {
    lex(source).0.iter().map(|token| token.text).collect()
}

#[test]
fn strings_and_comments_are_not_code() {
    assert_eq!(texts("a /* b /* c */ d */ e // f\n g"), ["a", "e", "g"]);
    assert_eq!(texts(r####"x("a \" b", r#"c " d"#, br"e")"####), ["x", "(", "a \\\" b", ",", "c \" d", ",", "e", ")"]);
}

#[test]
fn lifetimes_are_not_characters() {
    assert_eq!(texts(r"&'a str, 'b', '\'', 'é'"), ["&", "'a", "str", ",", "'b'", ",", r"'\''", ",", "'é'"]);
}

#[test]
fn signs_pair_and_lines_count() {
    assert_eq!(texts("A::B => c == d"), ["A", "::", "B", "=>", "c", "==", "d"]);
    let (tokens, remarks) = lex("a\n\"x\ny\"\n// note\nb");
    assert_eq!(tokens.iter().map(|it| it.line).collect::<Vec<_>>(), [1, 2, 5]);
    assert_eq!((remarks[0].line, remarks[0].text), (4, "// note"));
}
