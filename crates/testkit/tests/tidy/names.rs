//! Names that say nothing: catch-all modules and getters with `get_`.

use crate::rust_source::RustSource;
use crate::source_tree::{File, SourceTree};
use crate::{Violation, assert_none, locations};

const CATCH_ALLS: [&str; 6] = ["util", "utils", "helper", "helpers", "misc", "common"];

fn check(tree: &SourceTree) -> Vec<Violation> {
    tree.rust().flat_map(|file| check_module(file).into_iter().chain(check_functions(file))).collect()
}

fn check_module(file: &File) -> Option<Violation> {
    let stem = file.path.trim_end_matches("/mod.rs").trim_end_matches(".rs").rsplit('/').next().unwrap_or_default();
    let fix = "name it after the one thing it holds";
    CATCH_ALLS.contains(&stem).then(|| Violation::new(&file.path, 1, "a catch-all module", fix))
}

fn check_functions(file: &File) -> Vec<Violation> {
    let rust = RustSource::parse(&file.text);
    let names = rust.idents().filter(|(index, _)| rust.text(index.wrapping_sub(1)) == "fn");
    names
        .filter_map(|(index, name)| {
            let fix = format!("call it `{}`", name.strip_prefix("get_")?);
            Some(Violation::new(&file.path, rust.line(index), "a getter begins with `get_`", fix))
        })
        .collect()
}

#[test]
fn names_say_what_a_thing_is_or_does() {
    assert_none(check(&SourceTree::load()));
}

#[test]
fn a_name_that_says_nothing_is_caught() {
    let tree = SourceTree::from_files(&[
        ("crates/a/src/utils.rs", ""),
        ("crates/a/src/common/mod.rs", ""),
        ("crates/a/src/a.rs", "fn get_head() { map.get_mut(1) }"),
    ]);
    assert_eq!(
        locations(check(&tree)),
        ["crates/a/src/a.rs:1", "crates/a/src/common/mod.rs:1", "crates/a/src/utils.rs:1"]
    );
}
