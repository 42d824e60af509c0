//! Functions that write to a forge or a remote have one caller each.
//!
//! | function | only caller |
//! |---|---|
//! | `perform` | `crates/turn`, which checks gates and preconditions and keeps receipts |
//! | `open_pull` | `crates/app/src/worker`: a delivery is not an action of the loop |
//! | `push_commit` | `crates/app/src/worker`: the only place that pushes (SAF-1) |
//!
//! The testkit is excepted. A forge that wraps another forge may forward a call: `perform` inside `fn perform` carries
//! the caller's permit and is not a second caller.

use crate::rust_source::RustSource;
use crate::source_tree::SourceTree;
use crate::{Violation, assert_none, locations};

const CALLERS: [(&str, &str); 3] =
    [("perform", "crates/turn/"), ("open_pull", "crates/app/src/worker"), ("push_commit", "crates/app/src/worker")];

fn check(tree: &SourceTree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.rust().filter(|it| !it.is_test() && it.crate_name() != "testkit") {
        let rust = RustSource::parse(&file.text);
        let mut within = String::new();
        for (index, word) in rust.idents().filter(|(index, _)| !rust.in_test(*index)) {
            if word == "fn" {
                within = rust.text(index + 1).to_owned();
            }
            let called = rust.text(index + 1) == "(" && matches!(rust.text(index.wrapping_sub(1)), "." | "::");
            let function =
                CALLERS.iter().find(|(function, caller)| *function == word && !file.path.starts_with(caller));
            if let Some((function, caller)) = function
                && called
                && within != *function
            {
                let what = format!("`{function}` is called outside `{caller}`");
                violations.push(Violation::new(
                    &file.path,
                    rust.line(index),
                    what,
                    "return a plan, and let that code write",
                ));
            }
        }
    }
    violations
}

#[test]
fn functions_that_write_have_one_caller() {
    assert_none(check(&SourceTree::load()));
}

#[test]
fn a_second_caller_is_caught() {
    let source =
        "fn a() {\n forge.perform(x);\n Forge::perform(&forge, x);\n forge.open_pull(d);\n}\nfn perform(x: u8) {}";
    let tree = SourceTree::from_files(&[
        ("crates/app/src/cli/review.rs", source),
        ("crates/turn/src/apply.rs", source),
        ("crates/testkit/src/contract.rs", source),
        ("crates/app/src/forge.rs", "fn perform(x: u8) { it.perform(x); }\nfn other() { it.perform(x); }"),
    ]);
    let want = [
        "crates/app/src/cli/review.rs:2",
        "crates/app/src/cli/review.rs:3",
        "crates/app/src/cli/review.rs:4",
        "crates/app/src/forge.rs:2",
        "crates/turn/src/apply.rs:4",
    ];
    assert_eq!(locations(check(&tree)), want);
}
