//! Rules of this repository that the compiler and clippy cannot check, read from the files of the checkout.
//!
//! One file per rule. Each has a `check` over the whole source tree, a test that this tree passes it, and a test that a
//! bad sample fails it. A violation reads `path:line: what is wrong; how to fix it`.

mod absolute_paths;
mod actions;
mod decisions;
mod dependencies;
mod docs;
mod file_size;
mod forbidden_paths;
mod function_size;
mod lexer;
mod licences;
mod lockfile;
mod names;
mod purity;
mod routes;
mod rust_source;
mod source_tree;
mod spec;
mod threats;
mod unique_types;
mod workarounds;
mod write_calls;

use std::fmt;

/// One broken rule at one line of one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Violation {
    path: String,
    line: usize,
    what: String,
    fix: String,
}

impl Violation {
    pub(crate) fn new(path: &str, line: usize, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { path: path.into(), line, what: what.into(), fix: fix.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, what, fix } = self;
        write!(f, "{path}:{line}: {what}; {fix}")
    }
}

/// Panics with all violations at once, so that one run lists everything to fix.
#[track_caller]
pub(crate) fn assert_none(mut violations: Vec<Violation>) {
    violations.sort();
    let list: Vec<String> = violations.iter().map(Violation::to_string).collect();
    assert!(violations.is_empty(), "{} violations\n{}", list.len(), list.join("\n"));
}

/// Returns `path:line` of each violation, sorted, for the tests of the checks.
pub(crate) fn locations(mut violations: Vec<Violation>) -> Vec<String> {
    violations.sort();
    violations.iter().map(|it| format!("{}:{}", it.path, it.line)).collect()
}

#[test]
fn a_violation_says_where_what_and_how_to_fix_it() {
    let violation = Violation::new("a/b.rs", 7, "it is wrong", "correct it");
    assert_eq!(violation.to_string(), "a/b.rs:7: it is wrong; correct it");
}
