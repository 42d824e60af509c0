//! One Rust source file as tokens, with matched brackets and marked test code.

use crate::lexer::{Comment, Kind, Token, lex};

pub(crate) struct RustSource<'a> {
    pub(crate) tokens: Vec<Token<'a>>,
    pub(crate) comments: Vec<Comment<'a>>,
    /// For a bracket, the index of its counterpart.
    matching: Vec<Option<usize>>,
    /// The opening bracket that encloses a token.
    parents: Vec<Option<usize>>,
    tests: Vec<bool>,
}

impl<'a> RustSource<'a> {
    pub(crate) fn parse(source: &'a str) -> Self {
        let (tokens, comments) = lex(source);
        let (matching, parents) = match_brackets(&tokens);
        let mut rust = Self { tests: vec![false; tokens.len()], tokens, comments, matching, parents };
        rust.mark_tests();
        rust
    }

    /// Returns the text of a token; empty for a string literal and past the end.
    pub(crate) fn text(&self, index: usize) -> &'a str {
        self.tokens.get(index).map_or("", |token| if token.kind == Kind::Str { "" } else { token.text })
    }

    pub(crate) fn line(&self, index: usize) -> usize {
        self.tokens.get(index).map_or(0, |token| token.line)
    }

    /// Whether the tokens from `index` on equal `pattern`.
    pub(crate) fn matches_at(&self, index: usize, pattern: &[&str]) -> bool {
        pattern.iter().enumerate().all(|(offset, want)| self.text(index + offset) == *want)
    }

    /// Returns the counterpart of a bracket.
    pub(crate) fn matching(&self, index: usize) -> Option<usize> {
        self.matching.get(index).copied().flatten()
    }

    /// Returns the opening bracket that encloses a token; `None` at the root of the file.
    pub(crate) fn parent(&self, index: usize) -> Option<usize> {
        self.parents.get(index).copied().flatten()
    }

    /// Whether a token belongs to an item under `#[cfg(test)]` or `#[test]`.
    pub(crate) fn in_test(&self, index: usize) -> bool {
        self.tests.get(index).copied().unwrap_or(false)
    }

    pub(crate) fn idents(&self) -> impl Iterator<Item = (usize, &'a str)> {
        self.tokens_of_kind(Kind::Ident)
    }

    pub(crate) fn strings(&self) -> impl Iterator<Item = (usize, &'a str)> {
        self.tokens_of_kind(Kind::Str)
    }

    /// Returns every path that starts at `index`, one for each name in `{…}`: `std::{fs, env::var}` gives two.
    pub(crate) fn paths_from(&self, index: usize) -> Vec<Vec<&'a str>> {
        let head = self.text(index);
        if self.text(index + 1) != "::" {
            return vec![vec![head]];
        }
        let next = index + 2;
        let tails = if self.text(next) == "{" {
            let end = self.matching(next).unwrap_or(next);
            (next + 1..end)
                .filter(|inner| self.parent(*inner) == Some(next) && matches!(self.text(inner - 1), "{" | ","))
                .flat_map(|inner| self.paths_from(inner))
                .collect()
        } else {
            self.paths_from(next)
        };
        tails.into_iter().map(|tail| [vec![head], tail].concat()).collect()
    }

    /// Whether the token is the name in a declaration of a type or trait.
    pub(crate) fn declares_type(&self, index: usize) -> bool {
        matches!(self.text(index.wrapping_sub(1)), "struct" | "enum" | "trait" | "type" | "union")
    }

    /// Whether a brace opens the body of an inline module.
    pub(crate) fn opens_module(&self, open: usize) -> bool {
        self.text(open) == "{" && self.text(open.wrapping_sub(2)) == "mod"
    }

    /// Returns the closing brace of the function whose `fn` is at `index`; `None` for a declaration or a pointer type.
    pub(crate) fn body_end(&self, index: usize) -> Option<usize> {
        let level = self.parent(index);
        let ends = |it: &usize| self.parent(*it) == level && matches!(self.text(*it), "{" | ";" | "}" | "," | "=");
        let end = (index + 1..self.tokens.len()).find(ends).filter(|_| self.text(index + 1) != "(")?;
        if self.text(end) == "{" { self.matching(end) } else { None }
    }

    /// Whether a token stands inside `impl Trait for Type { … }`.
    pub(crate) fn in_trait_impl(&self, index: usize) -> bool {
        let mut at = index;
        while let Some(open) = self.parent(at) {
            let level = self.parent(open);
            let header = (0..open)
                .rev()
                .take_while(|it| self.parent(*it) != level || !matches!(self.text(*it), ";" | "}" | "{"));
            let header: Vec<usize> = header.filter(|it| self.parent(*it) == level).collect();
            let has = |word: &str| header.iter().any(|it| self.text(*it) == word && self.text(it + 1) != "<");
            let is_impl = header.iter().any(|it| self.text(*it) == "impl");
            if self.text(open) == "{" && is_impl && !has("fn") && has("for") {
                return true;
            }
            at = open;
        }
        false
    }

    fn tokens_of_kind(&self, kind: Kind) -> impl Iterator<Item = (usize, &'a str)> {
        let tokens = self.tokens.iter().enumerate();
        tokens.filter(move |(_, token)| token.kind == kind).map(|(index, token)| (index, token.text))
    }

    /// Marks each item under `#[cfg(test)]` or `#[test]`, to its closing brace or semicolon.
    fn mark_tests(&mut self) {
        for index in 0..self.tokens.len() {
            let attribute = self.matches_at(index, &["#", "[", "cfg", "(", "test", ")", "]"])
                || self.matches_at(index, &["#", "[", "test", "]"]);
            if attribute {
                let end = self.item_end(index);
                self.tests[index..=end].fill(true);
            }
        }
    }

    /// Returns the last token of the item that follows an attribute.
    fn item_end(&self, attribute: usize) -> usize {
        let level = self.parent(attribute);
        let last = self.tokens.len() - 1;
        let mut at = attribute;
        while at < last {
            if self.text(at) == "#" && self.text(at + 1) == "[" {
                at = self.matching(at + 1).map_or(last, |end| end + 1);
            } else if self.parent(at) == level && self.text(at) == "{" {
                return self.matching(at).unwrap_or(last);
            } else if self.parent(at) == level && self.text(at) == ";" {
                return at;
            } else {
                at += 1;
            }
        }
        last
    }
}

/// Returns, for each token, the counterpart of a bracket and the enclosing bracket.
fn match_brackets(tokens: &[Token<'_>]) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
    let mut matching = vec![None; tokens.len()];
    let mut parents = vec![None; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let punct = if token.kind == Kind::Punct { token.text } else { "" };
        if matches!(punct, ")" | "]" | "}")
            && let Some(start) = open.pop()
        {
            matching[start] = Some(index);
            matching[index] = Some(start);
        }
        parents[index] = open.last().copied();
        if matches!(punct, "(" | "[" | "{") {
            open.push(index);
        }
    }
    (matching, parents)
}

#[test]
fn test_modules_are_marked_as_test_code() {
    let rust = RustSource::parse(
        "fn a() {}\n#[cfg(test)]\n#[expect(x)]\nmod tests { fn b() {} }\nfn c() {}\n#[test]\nfn d() {}",
    );
    let marked: Vec<&str> = rust.idents().filter(|(i, _)| rust.in_test(*i)).map(|(_, word)| word).collect();
    assert!(["b", "d"].iter().all(|name| marked.contains(name)));
    assert!(!["a", "c"].iter().any(|name| marked.contains(name)));
}

#[test]
fn a_grouped_import_gives_one_path_per_name() {
    let rust = RustSource::parse("use std::{fs, collections::{BTreeMap, btree_map::Entry}, time::Duration};");
    let paths: Vec<String> = rust.paths_from(1).iter().map(|path| path.join("::")).collect();
    let want = ["std::fs", "std::collections::BTreeMap", "std::collections::btree_map::Entry", "std::time::Duration"];
    assert_eq!(paths, want);
}

#[test]
fn a_trait_impl_differs_from_an_inherent_impl() {
    let rust = RustSource::parse(
        "#[x]\nimpl<T> A<T> { fn a() { for b in c {} } }\nimpl<T> B for A<T> { fn d() -> impl E { f } }",
    );
    let inside: Vec<&str> = rust.idents().filter(|(i, _)| rust.in_trait_impl(*i)).map(|(_, word)| word).collect();
    assert_eq!(inside, ["fn", "d", "impl", "E", "f"]);
}

#[test]
fn a_function_ends_at_its_closing_brace() {
    let rust = RustSource::parse("trait A { fn a(&self) -> [u8; 2]; }\nfn b<T>(c: fn(u8)) -> T where T: D {\n{}\n}\nx");
    let ends: Vec<Option<usize>> = rust
        .idents()
        .filter(|(_, word)| *word == "fn")
        .map(|(i, _)| rust.body_end(i).map(|end| rust.line(end)))
        .collect();
    assert_eq!(ends, [None, Some(4), None]);
}
