//! Every dependency can be distributed under MIT or Apache-2.0: its licence expression is satisfied by the licences of
//! `ALLOWED`.
//!
//! The packages come from `cargo metadata`, offline and for this platform, so they are the ones that were built.

use std::process::Command;

use serde_json::Value;

use crate::source_tree::root;
use crate::{Violation, assert_none, locations};

const ALLOWED: [&str; 15] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

fn check(metadata: &Value) -> Vec<Violation> {
    let used: Vec<&str> = list(metadata, "/resolve/nodes").iter().map(|node| text(node, "id")).collect();
    let packages = list(metadata, "/packages").iter().filter(|package| used.contains(&text(package, "id")));
    packages
        .filter(|package| !is_satisfied(text(package, "license")))
        .map(|package| {
            let what = format!(
                "`{} {}` is licensed `{}`",
                text(package, "name"),
                text(package, "version"),
                text(package, "license")
            );
            Violation::new("Cargo.lock", 1, what, "do without it, or extend `ALLOWED` with the reason")
        })
        .collect()
}

/// Evaluates an SPDX expression: `A OR B`, `A AND B`, `(A OR B) AND C`. The deprecated `A/B` means OR.
fn is_satisfied(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ").replace(" WITH ", "~");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = ExpressionParser { words: &words, at: 0 };
    let satisfied = parser.any();
    satisfied && parser.at == words.len()
}

struct ExpressionParser<'a> {
    words: &'a [&'a str],
    at: usize,
}

impl ExpressionParser<'_> {
    fn any(&mut self) -> bool {
        let mut holds = self.all();
        while self.take("OR") {
            holds |= self.all();
        }
        holds
    }

    fn all(&mut self) -> bool {
        let mut holds = self.one();
        while self.take("AND") {
            holds &= self.one();
        }
        holds
    }

    fn one(&mut self) -> bool {
        if self.take("(") {
            let holds = self.any();
            return self.take(")") && holds;
        }
        let name = self.words.get(self.at).map_or(String::new(), |word| word.replace('~', " WITH "));
        self.at += 1;
        ALLOWED.contains(&name.as_str())
    }

    fn take(&mut self, word: &str) -> bool {
        let there = self.words.get(self.at) == Some(&word);
        self.at += usize::from(there);
        there
    }
}

fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn metadata() -> Value {
    let cargo = env!("CARGO");
    let version = Command::new(cargo).arg("-vV").output().expect("cargo runs");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo names its host");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", host])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "no licence was checked: `cargo metadata` failed; run `cargo fetch` first\n{errors}"
    );
    serde_json::from_slice(&output.stdout).expect("`cargo metadata` prints JSON")
}

#[test]
fn every_licence_is_allowed() {
    let metadata = metadata();
    assert!(list(&metadata, "/packages").len() > 8, "there are more packages than our own crates");
    assert_none(check(&metadata));
}

#[test]
fn expressions_are_evaluated_as_spdx_defines_them() {
    for good in ["MIT", "MIT/GPL-3.0", "GPL-3.0 OR (MIT AND ISC)", "Apache-2.0 WITH LLVM-exception OR GPL-2.0"] {
        assert!(is_satisfied(good), "{good}");
    }
    for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC) AND GPL-3.0", "GPL-2.0 WITH LLVM-exception", "MIT MIT"]
    {
        assert!(!is_satisfied(bad), "{bad}");
    }
}

#[test]
fn a_licence_outside_the_list_is_caught() {
    let metadata = serde_json::json!({
        "packages": [
            { "id": "a", "name": "a", "version": "1.0.0", "license": "GPL-3.0" },
            { "id": "b", "name": "b", "version": "1.0.0", "license": null },
            { "id": "c", "name": "c", "version": "1.0.0", "license": "MIT" },
            { "id": "d", "name": "other platform", "version": "1.0.0", "license": "GPL-3.0" },
        ],
        "resolve": { "nodes": [{ "id": "a" }, { "id": "b" }, { "id": "c" }] },
    });
    assert_eq!(locations(check(&metadata)).len(), 2);
}
