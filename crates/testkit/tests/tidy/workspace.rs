//! Who depends on what. A dependency outside a room's list is a wall taken down: extend the list in the same commit and
//! say why there.

use toml::{Table, Value};

use crate::house::{File, House};
use crate::{Complaint, hold, places};

/// What each room may use in production, as ARCHITECTURE.md draws it.
const ROOMS: &[(&str, &[&str])] = &[
    (
        "app",
        &[
            "annotate-snippets",
            "anstream",
            "anstyle",
            "async-trait",
            "clap",
            "clap_complete",
            "clap_mangen",
            // What whoever started referee left open is not for workers; without `unsafe` (decision 0033).
            "close_fds",
            "indicatif",
            "jsonschema",
            "referee-core",
            "referee-forge",
            "referee-git",
            "referee-http",
            "referee-review",
            "referee-turn",
            "rusqlite",
            "rusqlite_migration",
            // Limits, sessions and signals without `unsafe` (decision 0033); a worker's result is a plain file or none.
            "rustix",
            "schemars",
            "serde",
            // Project files are YAML where they come from.
            "serde-saphyr",
            "serde_json",
            "tempfile",
            "thiserror",
            "tokio",
            "toml",
            "url",
        ],
    ),
    ("core", &["fast-glob", "hmac", "imara-diff", "minijinja", "schemars", "serde", "serde_json", "sha2"]),
    (
        "forge",
        &[
            "async-trait",
            "hmac",
            "jiff",
            "referee-core",
            "referee-git",
            "referee-http",
            "rusqlite",
            "rusqlite_migration",
            "serde",
            "serde_json",
            "sha2",
            "thiserror",
            "tokio",
        ],
    ),
    ("git", &["diffy", "referee-core", "thiserror"]),
    (
        "http",
        &[
            "backon",
            "governor",
            "httpdate",
            "recloser",
            "reqwest",
            "rustls",
            "serde",
            "serde_json",
            "thiserror",
            "tokio",
            "url",
        ],
    ),
    (
        "review",
        &[
            "ast-grep-config",
            "ast-grep-core",
            "ast-grep-language",
            "fast-glob",
            "quick-xml",
            "referee-core",
            "referee-git",
            "referee-http",
            "regex",
            "serde",
            "serde_json",
            "thiserror",
            "toml",
        ],
    ),
    (
        "testkit",
        &[
            "async-trait",
            "axum",
            "referee-core",
            "referee-forge",
            "referee-git",
            "referee-http",
            "referee-turn",
            "reqwest",
            "serde",
            "serde_json",
            "tokio",
        ],
    ),
    ("turn", &["async-trait", "referee-core", "referee-forge", "referee-git", "serde", "serde_json", "thiserror"]),
];

/// What any room may use in its tests and benches.
const TESTS: &[&str] = &[
    "axum",
    "insta",
    "proptest",
    "referee-testkit",
    "serde_json",
    "stateright",
    "tempfile",
    "tokio",
    "toml",
    "trycmd",
];

/// The only room with a program.
const PROGRAM: &str = "app";

fn check(house: &House) -> Vec<Complaint> {
    let manifests = house.files.iter().filter(|it| it.path.starts_with("crates/") && it.path.ends_with("/Cargo.toml"));
    let root = house.file("Cargo.toml").into_iter().flat_map(check_root);
    let programs = house
        .rust()
        .filter(|it| it.room() != PROGRAM && (it.path.ends_with("/src/main.rs") || it.path.contains("/src/bin/")));
    let programs = programs.map(|it| second_program(&it.path, 1));
    manifests.flat_map(check_manifest).chain(root).chain(programs).collect()
}

fn check_root(file: &File) -> Vec<Complaint> {
    let Ok(table) = file.text.parse::<Table>() else {
        return vec![unreadable(file)];
    };
    let workspace = table.get("workspace").and_then(Value::as_table);
    let narrowed = workspace.is_some_and(|it| it.contains_key("default-members"));
    let remedy = "remove it: plain `cargo test` must cover everything";
    let line = line_of(file, "default-members");
    narrowed.then(|| Complaint::new(&file.path, line, "there are `default-members`", remedy)).into_iter().collect()
}

fn check_manifest(file: &File) -> Vec<Complaint> {
    let room = file.room();
    let Ok(table) = file.text.parse::<Table>() else {
        return vec![unreadable(file)];
    };
    let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
        let remedy = "give it a line in `crates/testkit/tests/tidy/workspace.rs`";
        return vec![Complaint::new(&file.path, 1, format!("the room `{room}` has no list"), remedy)];
    };
    let mut complaints = Vec::new();
    let platforms = table.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let sections = platforms.filter_map(Value::as_table).chain([&table]);
    for section in sections {
        let test_list = [*allowed, TESTS].concat();
        let lists =
            [("dependencies", *allowed), ("dev-dependencies", test_list.as_slice()), ("build-dependencies", &[])];
        for (key, list) in lists {
            for name in dependencies(section, key).into_iter().filter(|name| !list.contains(&name.as_str())) {
                let remedy = "do without, or extend the list in `crates/testkit/tests/tidy/workspace.rs` and say why";
                let what = format!("`{room}` may not have `{name}` in its {key}");
                complaints.push(Complaint::new(&file.path, line_of(file, &name), what, remedy));
            }
        }
    }
    let linted = table.get("lints").and_then(|it| it.get("workspace")).and_then(Value::as_bool);
    if linted != Some(true) {
        let remedy = "add `[lints]` with `workspace = true`";
        complaints.push(Complaint::new(&file.path, 1, "the house's lints are off here", remedy));
    }
    if table.contains_key("bin") && room != PROGRAM {
        complaints.push(second_program(&file.path, line_of(file, "[[bin]]")));
    }
    complaints
}

/// Names as published, whatever they are called here.
fn dependencies(section: &Table, key: &str) -> Vec<String> {
    let entries = section.get(key).and_then(Value::as_table).into_iter().flatten();
    entries.map(|(name, value)| value.get("package").and_then(Value::as_str).unwrap_or(name).to_owned()).collect()
}

fn second_program(path: &str, line: usize) -> Complaint {
    Complaint::new(path, line, "a second program", "make it an example, or a command of `referee`")
}

fn unreadable(file: &File) -> Complaint {
    Complaint::new(&file.path, 1, "this is no TOML", "mend it")
}

/// The line that begins with the name, or has it in quotes where it was renamed.
fn line_of(file: &File, name: &str) -> usize {
    let quoted = format!("\"{name}\"");
    let names = |text: &str| text.starts_with(name) || text.contains(&quoted);
    file.lines().find(|(_, text)| names(text)).map_or(1, |(line, _)| line)
}

#[test]
fn rooms_depend_on_what_they_may() {
    hold(check(&House::load()));
}

#[test]
fn a_foreign_dependency_is_caught() {
    let lints = "[lints]\nworkspace = true\n";
    let core = format!(
        "{lints}[dependencies]\nserde = \"1\"\ntokio = \"1\"\nx = {{ package = \"rand\", version = \"1\" }}\n[dev-dependencies]\ninsta = \"1\"\n"
    );
    let turn = format!(
        "{lints}[dependencies]\nreferee-testkit.workspace = true\n[target.'cfg(unix)'.dependencies]\nnix = \"1\"\n[[bin]]\nname = \"x\""
    );
    let house = House::of(&[
        ("Cargo.toml", "[workspace]\ndefault-members = []"),
        ("crates/core/Cargo.toml", &core),
        ("crates/turn/Cargo.toml", &turn),
        ("crates/git/Cargo.toml", ""),
        ("crates/attic/Cargo.toml", lints),
        ("crates/git/src/bin/tool.rs", ""),
    ]);
    let want = [
        "Cargo.toml:2",
        "crates/attic/Cargo.toml:1",
        "crates/core/Cargo.toml:5",
        "crates/core/Cargo.toml:6",
        "crates/git/Cargo.toml:1",
        "crates/git/src/bin/tool.rs:1",
        "crates/turn/Cargo.toml:4",
        "crates/turn/Cargo.toml:6",
        "crates/turn/Cargo.toml:7",
    ];
    let mut found = places(check(&house));
    found.sort();
    assert_eq!(found, want);
}
