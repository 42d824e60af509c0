//! A source file has at most 400 lines: a longer one holds two concepts. Test files may be longer.

use crate::source_tree::SourceTree;
use crate::{Violation, assert_none, locations};

const MAX_LINES: usize = 400;

fn check(tree: &SourceTree) -> Vec<Violation> {
    let sources = tree.rust().filter(|it| !it.is_test());
    sources
        .filter_map(|it| {
            let lines = it.text.lines().count();
            let what = format!("{lines} lines, {MAX_LINES} is the limit");
            (lines > MAX_LINES).then(|| Violation::new(&it.path, MAX_LINES + 1, what, "split it by concept"))
        })
        .collect()
}

#[test]
fn no_file_is_too_long() {
    assert_none(check(&SourceTree::load()));
}

#[test]
fn a_long_file_is_caught() {
    let (long, full) = ("\n".repeat(401), "\n".repeat(400));
    let tree = SourceTree::from_files(&[
        ("crates/a/src/long.rs", &long),
        ("crates/a/src/full.rs", &full),
        ("crates/a/src/long/tests.rs", &long),
        ("crates/a/tests/long.rs", &long),
        ("crates/a/benches/long.rs", &long),
    ]);
    assert_eq!(locations(check(&tree)), ["crates/a/src/long.rs:401"]);
}
