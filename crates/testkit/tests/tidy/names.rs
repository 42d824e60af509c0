//! Names that say nothing: catch-all modules, getters with `get_`, and functions without a verb.

use crate::rust_source::RustSource;
use crate::source_tree::{File, SourceTree};
use crate::{Violation, assert_none, locations};

const CATCH_ALL_NAMES: [&str; 6] = ["util", "utils", "helper", "helpers", "misc", "common"];
const WITHOUT_VERB: [&str; 3] = ["of", "words", "told"];

fn check(tree: &SourceTree) -> Vec<Violation> {
    tree.rust().flat_map(|file| check_module(file).into_iter().chain(check_functions(file))).collect()
}

fn check_module(file: &File) -> Option<Violation> {
    let stem = file.path.trim_end_matches("/mod.rs").trim_end_matches(".rs").rsplit('/').next().unwrap_or_default();
    let fix = "name it after the one thing it holds";
    CATCH_ALL_NAMES.contains(&stem).then(|| Violation::new(&file.path, 1, "a catch-all module", fix))
}

fn check_functions(file: &File) -> Vec<Violation> {
    let rust = RustSource::parse(&file.text);
    let production = file.path.contains("/src/") && !file.is_test();
    let names = rust.idents().filter(|(index, _)| rust.text(index.wrapping_sub(1)) == "fn");
    names
        .filter_map(|(index, name)| {
            let (what, fix) = if let Some(rest) = name.strip_prefix("get_") {
                ("a getter begins with `get_`".to_owned(), format!("call it `{rest}`"))
            } else if production && WITHOUT_VERB.contains(&name) && !rust.in_test(index) && !rust.in_trait_impl(index) {
                let fix = "name it verb + object (`render_receipt`), or `new`, `from_…`, `parse`, `load`";
                (format!("the function name `{name}` has no verb"), fix.to_owned())
            } else {
                return None;
            };
            Some(Violation::new(&file.path, rust.line(index), what, fix))
        })
        .collect()
}

#[test]
fn names_say_what_a_thing_is_or_does() {
    assert_none(check(&SourceTree::load()));
}

#[test]
fn a_name_that_says_nothing_is_caught() {
    let functions = "impl Receipt {\n    fn of() {}\n}\nimpl Speak for Receipt {\n    fn words() {}\n}\nfn told() {}";
    let tree = SourceTree::from_files(&[
        ("crates/a/src/utils.rs", ""),
        ("crates/a/src/common/mod.rs", ""),
        ("crates/a/src/a.rs", "fn get_head() { map.get_mut(1) }"),
        ("crates/a/src/b.rs", functions),
        ("crates/a/tests/b.rs", functions),
    ]);
    let want = [
        "crates/a/src/a.rs:1",
        "crates/a/src/b.rs:2",
        "crates/a/src/b.rs:7",
        "crates/a/src/common/mod.rs:1",
        "crates/a/src/utils.rs:1",
    ];
    assert_eq!(locations(check(&tree)), want);
}
