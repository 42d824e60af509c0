//! A minimal Rust lexer: it tells code from comments and strings, and finds brackets.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Identifier or keyword.
    Ident,
    /// String literal of any form; `text` is the part between the quotes.
    Str,
    /// Punctuation; the pairs of `PAIRS` are one token.
    Punct,
    /// Number, character or lifetime; no check reads these.
    Other,
}

#[derive(Debug, Clone)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

/// A line or block comment, slashes included.
#[derive(Debug, Clone)]
pub(crate) struct Comment<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

const PAIRS: [&str; 9] = ["::", "=>", "->", "==", "!=", "<=", ">=", "&&", "||"];

pub(crate) fn lex(source: &str) -> (Vec<Token<'_>>, Vec<Comment<'_>>) {
    let mut lexer = Lexer { source, at: 0, line: 1, tokens: Vec::new(), comments: Vec::new() };
    while lexer.step() {}
    (lexer.tokens, lexer.comments)
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    line: usize,
    tokens: Vec<Token<'a>>,
    comments: Vec<Comment<'a>>,
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
            self.comment(length);
        } else if rest.starts_with("/*") {
            self.comment(block_length(rest));
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
            self.token(if first.is_ascii_digit() { Kind::Other } else { Kind::Ident }, length);
        } else {
            let pair = PAIRS.iter().find(|pair| rest.starts_with(**pair));
            self.token(Kind::Punct, pair.map_or(first.len_utf8(), |pair| pair.len()));
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

    fn comment(&mut self, length: usize) {
        let line = self.line;
        let text = self.advance(length);
        self.comments.push(Comment { text, line });
    }

    fn string(&mut self, open: usize, length: usize, close: usize) {
        self.advance(open);
        self.token(Kind::Str, length);
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

/// Returns the length of a block comment; block comments nest.
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

/// For a raw string (`r"`, `br#"`), returns the length of its opening and the number of hashes.
fn raw_prefix(rest: &str) -> Option<(usize, usize)> {
    let letters = ["br", "cr", "r"].into_iter().find(|letters| rest.starts_with(letters))?;
    let after = rest.get(letters.len()..)?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after.get(hashes..)?.starts_with('"').then_some((letters.len() + hashes + 1, hashes))
}

fn string_prefix(rest: &str) -> Option<usize> {
    ["\"", "b\"", "c\""].into_iter().find(|open| rest.starts_with(open)).map(str::len)
}

/// Returns the length up to the closing quote; an escaped quote does not close.
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
fn operators_of_two_characters_are_one_token_and_lines_are_counted() {
    assert_eq!(texts("A::B => c == d"), ["A", "::", "B", "=>", "c", "==", "d"]);
    let (tokens, comments) = lex("a\n\"x\ny\"\n// note\nb");
    assert_eq!(tokens.iter().map(|it| it.line).collect::<Vec<_>>(), [1, 2, 5]);
    assert_eq!((comments[0].line, comments[0].text), (4, "// note"));
}
