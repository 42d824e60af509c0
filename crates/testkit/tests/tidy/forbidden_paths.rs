//! Modules of the standard library and of core that a crate may not use, beside its list of dependencies.
//!
//! Test code is excepted: a test may read a fixture.

use crate::rust_source::RustSource;
use crate::source_tree::SourceTree;
use crate::{Violation, assert_none, locations};

/// Crate, path that it may not use, and what to do instead.
const FORBIDDEN: &[(&str, &str, &str)] = &[
    ("core", "std::fs", "take the text as an argument"),
    ("core", "std::env", "put it into the policy"),
    ("core", "std::net", "core does no network I/O"),
    ("core", "std::process", "core starts no process"),
    ("core", "std::thread", "core is single-threaded"),
    ("core", "std::time::Instant", "use the snapshot's `taken_at`"),
    ("core", "std::time::SystemTime", "use the snapshot's `taken_at`"),
    ("forge", "std::env", "take it as an argument"),
    ("forge", "referee_core::policy", "an adapter decides nothing: use model, plan, mark, sanitise"),
    ("forge", "referee_core::facts", "an adapter decides nothing: use model, plan, mark, sanitise"),
    ("forge", "referee_core::decide", "an adapter decides nothing: use model, plan, mark, sanitise"),
    ("forge", "referee_core::render", "an adapter renders no text: use model, plan, mark, sanitise"),
    ("turn", "std::env", "take it as an argument"),
    ("turn", "std::time::Instant", "the forge's time comes with the facts"),
    ("turn", "std::time::SystemTime", "the forge's time comes with the facts"),
    ("review", "referee_core::decide", "a reviewer reports; what is posted is decided in a turn"),
    ("git", "referee_core::decide", "the git crate only reads and runs git"),
    ("http", "std::env", "take it as an argument"),
];

/// `Gates` are built from the policy's settings; nothing else in that crate reads a policy.
const EXCEPTION: (&str, &str) = ("crates/forge/src/gate.rs", "referee_core::policy");

fn check(tree: &SourceTree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in tree.rust().filter(|it| !it.is_test()) {
        let forbidden: Vec<_> = FORBIDDEN.iter().filter(|(name, _, _)| *name == file.crate_name()).collect();
        let rust = RustSource::parse(&file.text);
        let heads = rust.idents().filter(|(index, word)| {
            matches!(*word, "std" | "referee_core") && !rust.in_test(*index) && rust.text(index.wrapping_sub(1)) != "::"
        });
        for (index, _) in heads {
            let paths: Vec<String> = rust.paths_from(index).iter().map(|path| path.join("::")).collect();
            for (name, path, fix) in &forbidden {
                let inside = format!("{path}::");
                let excepted = EXCEPTION == (file.path.as_str(), *path);
                if !excepted && paths.iter().any(|it| it == path || it.starts_with(&inside)) {
                    let what = format!("{name} uses `{path}`");
                    violations.push(Violation::new(&file.path, rust.line(index), what, *fix));
                }
            }
        }
    }
    violations
}

#[test]
fn crates_use_no_forbidden_paths() {
    assert_none(check(&SourceTree::load()));
}

#[test]
fn a_forbidden_path_is_caught() {
    let tree = SourceTree::from_files(&[
        (
            "crates/core/src/a.rs",
            "use std::{collections::BTreeMap, env};\nfn a() { std::time::SystemTime::now(); }\nuse std::time::Duration;",
        ),
        ("crates/core/tests/a.rs", "use std::fs;"),
        (
            "crates/forge/src/lib.rs",
            "use referee_core::{model::Pull, decide::decide};\nuse referee_core::model::Thread;",
        ),
        ("crates/forge/src/gate.rs", "use referee_core::policy::Setting;"),
        ("crates/app/src/main.rs", "use std::env;"),
    ]);
    let want = ["crates/core/src/a.rs:1", "crates/core/src/a.rs:2", "crates/forge/src/lib.rs:1"];
    assert_eq!(locations(check(&tree)), want);
}
