//! A type name is defined once in the workspace, so that one search finds the definition.
//!
//! Not counted: test code, the `wire` modules of adapters, whose names are those of the forge, and a second definition in
//! the same file, which is the variant for another platform.

use std::collections::BTreeMap;

use crate::rust_source::RustSource;
use crate::source_tree::SourceTree;
use crate::{Violation, assert_none, locations};

fn check(tree: &SourceTree) -> Vec<Violation> {
    let mut definitions: BTreeMap<String, Vec<(&str, usize)>> = BTreeMap::new();
    let sources = tree.rust().filter(|it| it.path.contains("/src/") && !it.is_test() && !is_wire(&it.path));
    for file in sources {
        let rust = RustSource::parse(&file.text);
        let types = rust.idents().filter(|(index, _)| rust.declares_type(*index) && !rust.in_test(*index));
        for (index, name) in types.filter(|(index, _)| !is_associated(&rust, *index)) {
            let places = definitions.entry(name.to_owned()).or_default();
            if places.last().is_none_or(|(path, _)| *path != file.path) {
                places.push((&file.path, rust.line(index)));
            }
        }
    }
    let repeated = definitions.iter().filter(|(_, places)| places.len() > 1);
    repeated
        .flat_map(|(name, places)| {
            places.iter().map(move |(path, line)| {
                let others: Vec<&str> = places.iter().map(|(other, _)| *other).filter(|other| other != path).collect();
                let what = format!("the type name `{name}` is also defined in {}", others.join(", "));
                Violation::new(path, *line, what, "rename one of them after what it holds")
            })
        })
        .collect()
}

fn is_wire(path: &str) -> bool {
    path.ends_with("/wire.rs") || path.contains("/wire/")
}

/// Whether a `type` stands inside a trait, an impl or a function.
fn is_associated(rust: &RustSource<'_>, index: usize) -> bool {
    let mut at = index;
    while let Some(open) = rust.parent(at) {
        if !rust.opens_module(open) {
            return true;
        }
        at = open;
    }
    false
}

#[test]
fn a_type_name_is_defined_once() {
    assert_none(check(&SourceTree::load()));
}

#[test]
fn a_name_that_is_defined_twice_is_caught() {
    let first = "pub struct Line;\nenum Only {}\nimpl Iterator for Only { type Item = u8; }\ntype Item = u8;";
    let second = "mod inner {\n    pub(crate) trait Line {}\n}\n#[cfg(test)]\nmod tests { struct Only; }";
    let tree = SourceTree::from_files(&[
        ("crates/a/src/a.rs", first),
        ("crates/b/src/b.rs", second),
        ("crates/b/src/platform.rs", "#[cfg(unix)]\nstruct Group;\n#[cfg(not(unix))]\nstruct Group;"),
        ("crates/b/src/wire.rs", "struct Line;"),
        ("crates/b/src/wire/pull.rs", "struct Line;"),
        ("crates/b/src/tests.rs", "struct Line;"),
        ("crates/b/tests/b.rs", "struct Line;"),
    ]);
    assert_eq!(locations(check(&tree)), ["crates/a/src/a.rs:1", "crates/b/src/b.rs:2"]);
}
