//! A function has at most 60 lines, from its signature to its closing brace. Test code may be longer.

use crate::rust_source::RustSource;
use crate::source_tree::{File, SourceTree};
use crate::{Violation, assert_none, locations};

const MAX_LINES: usize = 60;

fn check(tree: &SourceTree) -> Vec<Violation> {
    let sources = tree.rust().filter(|it| it.path.contains("/src/") && !it.is_test());
    sources.flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Violation> {
    let rust = RustSource::parse(&file.text);
    let functions = rust.idents().filter(|(index, word)| *word == "fn" && !rust.in_test(*index));
    functions
        .filter_map(|(index, _)| {
            let lines = rust.line(rust.body_end(index)?) - rust.line(index) + 1;
            let what = format!("`{}` has {lines} lines, {MAX_LINES} is the limit", rust.text(index + 1));
            (lines > MAX_LINES).then(|| Violation::new(&file.path, rust.line(index), what, "split it"))
        })
        .collect()
}

#[test]
fn no_function_is_too_long() {
    assert_none(check(&SourceTree::load()));
}

#[test]
fn a_long_function_is_caught() {
    let function = |name: &str, lines: usize| format!("fn {name}(\n) {{{}}}\n", "\n".repeat(lines - 2));
    let full = function("full", 60);
    let source = format!(
        "{full}{}trait A {{ fn declared(&self); }}\n{}\n#[test]\n{}",
        function("long", 61),
        function("other", 59),
        function("tested", 99)
    );
    let tree = SourceTree::from_files(&[("crates/a/src/a.rs", &source), ("crates/a/tests/a.rs", &source)]);
    assert_eq!(locations(check(&tree)), ["crates/a/src/a.rs:61"]);
}
