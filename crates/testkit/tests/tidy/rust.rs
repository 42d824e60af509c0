//! One Rust source with its brackets matched and its test code marked.

use crate::lexer::{Kind, Remark, Token, lex};

pub(crate) struct Rust<'a> {
    pub(crate) tokens: Vec<Token<'a>>,
    pub(crate) remarks: Vec<Remark<'a>>,
    /// For a bracket the index of its other end.
    mates: Vec<Option<usize>>,
    /// The opening bracket around a token.
    parents: Vec<Option<usize>>,
    tests: Vec<bool>,
}

impl<'a> Rust<'a> {
    pub(crate) fn read(source: &'a str) -> Self {
        let (tokens, remarks) = lex(source);
        let (mates, parents) = brackets(&tokens);
        let mut rust = Self { tests: vec![false; tokens.len()], tokens, remarks, mates, parents };
        rust.mark_tests();
        rust
    }

    pub(crate) fn text(&self, index: usize) -> &'a str {
        self.tokens.get(index).map_or("", |token| if token.kind == Kind::Text { "" } else { token.text })
    }

    pub(crate) fn line(&self, index: usize) -> usize {
        self.tokens.get(index).map_or(0, |token| token.line)
    }

    /// Whether the tokens from `index` on read like `pattern`.
    pub(crate) fn reads(&self, index: usize, pattern: &[&str]) -> bool {
        pattern.iter().enumerate().all(|(offset, want)| self.text(index + offset) == *want)
    }

    pub(crate) fn mate(&self, index: usize) -> Option<usize> {
        self.mates.get(index).copied().flatten()
    }

    pub(crate) fn parent(&self, index: usize) -> Option<usize> {
        self.parents.get(index).copied().flatten()
    }

    pub(crate) fn in_test(&self, index: usize) -> bool {
        self.tests.get(index).copied().unwrap_or(false)
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = (usize, &'a str)> {
        self.of_kind(Kind::Word)
    }

    pub(crate) fn strings(&self) -> impl Iterator<Item = (usize, &'a str)> {
        self.of_kind(Kind::Text)
    }

    /// Every path that starts at `index`, with `{…}` spread out: `std::{fs, env::var}` gives two.
    pub(crate) fn paths_from(&self, index: usize) -> Vec<Vec<&'a str>> {
        let head = self.text(index);
        if self.text(index + 1) != "::" {
            return vec![vec![head]];
        }
        let next = index + 2;
        let tails = if self.text(next) == "{" {
            let end = self.mate(next).unwrap_or(next);
            (next + 1..end)
                .filter(|inner| self.parent(*inner) == Some(next) && matches!(self.text(inner - 1), "{" | ","))
                .flat_map(|inner| self.paths_from(inner))
                .collect()
        } else {
            self.paths_from(next)
        };
        tails.into_iter().map(|tail| [vec![head], tail].concat()).collect()
    }

    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (usize, &'a str)> {
        let tokens = self.tokens.iter().enumerate();
        tokens.filter(move |(_, token)| token.kind == kind).map(|(index, token)| (index, token.text))
    }

    /// An item under `#[cfg(test)]` or `#[test]`, to its closing brace or semicolon.
    fn mark_tests(&mut self) {
        for index in 0..self.tokens.len() {
            let attribute = self.reads(index, &["#", "[", "cfg", "(", "test", ")", "]"])
                || self.reads(index, &["#", "[", "test", "]"]);
            if attribute {
                let end = self.item_end(index);
                self.tests[index..=end].fill(true);
            }
        }
    }

    fn item_end(&self, attribute: usize) -> usize {
        let level = self.parent(attribute);
        let last = self.tokens.len() - 1;
        let mut at = attribute;
        while at < last {
            if self.text(at) == "#" && self.text(at + 1) == "[" {
                at = self.mate(at + 1).map_or(last, |end| end + 1);
            } else if self.parent(at) == level && self.text(at) == "{" {
                return self.mate(at).unwrap_or(last);
            } else if self.parent(at) == level && self.text(at) == ";" {
                return at;
            } else {
                at += 1;
            }
        }
        last
    }
}

fn brackets(tokens: &[Token<'_>]) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
    let mut mates = vec![None; tokens.len()];
    let mut parents = vec![None; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let sign = if token.kind == Kind::Sign { token.text } else { "" };
        if matches!(sign, ")" | "]" | "}")
            && let Some(start) = open.pop()
        {
            mates[start] = Some(index);
            mates[index] = Some(start);
        }
        parents[index] = open.last().copied();
        if matches!(sign, "(" | "[" | "{") {
            open.push(index);
        }
    }
    (mates, parents)
}

#[test]
fn test_modules_are_test_code() {
    let rust =
        Rust::read("fn a() {}\n#[cfg(test)]\n#[expect(x)]\nmod tests { fn b() {} }\nfn c() {}\n#[test]\nfn d() {}");
    let marked: Vec<&str> = rust.words().filter(|(i, _)| rust.in_test(*i)).map(|(_, word)| word).collect();
    assert!(["b", "d"].iter().all(|name| marked.contains(name)));
    assert!(!["a", "c"].iter().any(|name| marked.contains(name)));
}

#[test]
fn grouped_imports_spread_out() {
    let rust = Rust::read("use std::{fs, collections::{BTreeMap, btree_map::Entry}, time::Duration};");
    let paths: Vec<String> = rust.paths_from(1).iter().map(|path| path.join("::")).collect();
    let want = ["std::fs", "std::collections::BTreeMap", "std::collections::btree_map::Entry", "std::time::Duration"];
    assert_eq!(paths, want);
}
