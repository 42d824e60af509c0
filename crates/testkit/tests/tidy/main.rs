//! House rules that no compiler knows, read from the files themselves.
//!
//! One file per rule. Each has a `check` over the whole house, a test that the house passes it, and a test that a bad
//! sample does not: a rule that cannot fail is no rule. A complaint reads `path:line: what is wrong; what to do`.

mod actions;
mod bans;
mod calls;
mod decisions;
mod docs;
mod escapes;
mod house;
mod lexer;
mod licences;
mod machine;
mod names;
mod purity;
mod rooms;
mod routes;
mod rust;
mod size;
mod spec;
mod words;
mod workspace;

use std::fmt;

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Complaint {
    path: String,
    line: usize,
    what: String,
    remedy: String,
}

impl Complaint {
    pub(crate) fn new(path: &str, line: usize, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { path: path.into(), line, what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, what, remedy } = self;
        write!(f, "{path}:{line}: {what}; {remedy}")
    }
}

/// Fails with every complaint at once, so that one run shows the whole repair.
#[track_caller]
pub(crate) fn hold(mut complaints: Vec<Complaint>) {
    complaints.sort();
    let list: Vec<String> = complaints.iter().map(Complaint::to_string).collect();
    assert!(complaints.is_empty(), "{} broken house rules\n{}", list.len(), list.join("\n"));
}

/// `path:line` of each complaint: what the tests of the checks compare.
pub(crate) fn places(mut complaints: Vec<Complaint>) -> Vec<String> {
    complaints.sort();
    complaints.iter().map(|it| format!("{}:{}", it.path, it.line)).collect()
}

#[test]
fn a_complaint_says_where_what_and_what_to_do() {
    let complaint = Complaint::new("a/b.rs", 7, "it is wrong", "mend it");
    assert_eq!(complaint.to_string(), "a/b.rs:7: it is wrong; mend it");
}
