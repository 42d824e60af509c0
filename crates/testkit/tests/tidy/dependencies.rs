//! Dependencies per crate. A crate uses only the dependencies of its list here; a new one is added to the list in the
//! same commit, with the reason.

use toml::{Table, Value};

use crate::source_tree::{File, SourceTree};
use crate::{Violation, assert_none, locations};

/// Normal dependencies of each crate. ARCHITECTURE.md draws those between our own crates.
const ALLOWED: &[(&str, &[&str])] = &[
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
            "indicatif",
            "jsonschema",
            "referee-clock",
            "referee-core",
            "referee-forge",
            "referee-git",
            "referee-http",
            "referee-review",
            "referee-sandbox",
            "referee-turn",
            "rusqlite",
            "rusqlite_migration",
            // Opens a worker's result without following links (decision 0033).
            "rustix",
            "schemars",
            "serde",
            // Project files of other dispatchers are YAML.
            "serde-saphyr",
            "serde_json",
            "tempfile",
            "thiserror",
            "tokio",
            "toml",
            "tracing",
            "tracing-subscriber",
            "url",
        ],
    ),
    ("clock", &[]),
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
            "tracing",
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
            // Runs reviewers under its supervisor.
            "referee-sandbox",
            "regex",
            "serde",
            "serde_json",
            "thiserror",
            "toml",
        ],
    ),
    (
        "sandbox",
        &[
            // Closes inherited file descriptors before an untrusted program starts (decision 0033).
            "close_fds",
            // Limits, sessions and signals without `unsafe` (decision 0033).
            "rustix",
            "serde",
            "serde_json",
            "tempfile",
            "thiserror",
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
    (
        "turn",
        &["async-trait", "referee-core", "referee-forge", "referee-git", "serde", "serde_json", "thiserror", "tracing"],
    ),
];

/// Additional dependencies of any crate's tests and benches.
const ALLOWED_IN_TESTS: &[&str] = &[
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

/// The only crate with a program.
const PROGRAM_CRATE: &str = "app";

fn check(tree: &SourceTree) -> Vec<Violation> {
    let manifests = tree.files.iter().filter(|it| it.path.starts_with("crates/") && it.path.ends_with("/Cargo.toml"));
    let root = tree.file("Cargo.toml").into_iter().flat_map(check_root);
    let programs = tree.rust().filter(|it| {
        it.crate_name() != PROGRAM_CRATE && (it.path.ends_with("/src/main.rs") || it.path.contains("/src/bin/"))
    });
    let programs = programs.map(|it| second_program(&it.path, 1));
    manifests.flat_map(check_manifest).chain(root).chain(programs).collect()
}

fn check_root(file: &File) -> Vec<Violation> {
    let Ok(table) = file.text.parse::<Table>() else {
        return vec![unreadable(file)];
    };
    let workspace = table.get("workspace").and_then(Value::as_table);
    let narrowed = workspace.is_some_and(|it| it.contains_key("default-members"));
    let fix = "remove it: plain `cargo test` must cover everything";
    let line = line_of(file, "default-members");
    narrowed.then(|| Violation::new(&file.path, line, "there are `default-members`", fix)).into_iter().collect()
}

fn check_manifest(file: &File) -> Vec<Violation> {
    let name = file.crate_name();
    let Ok(table) = file.text.parse::<Table>() else {
        return vec![unreadable(file)];
    };
    let Some((_, allowed)) = ALLOWED.iter().find(|(listed, _)| *listed == name) else {
        let fix = "add it to `ALLOWED` in `crates/testkit/tests/tidy/dependencies.rs`";
        return vec![Violation::new(&file.path, 1, format!("the crate `{name}` has no list of dependencies"), fix)];
    };
    let mut violations = Vec::new();
    let platforms = table.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let sections = platforms.filter_map(Value::as_table).chain([&table]);
    for section in sections {
        let test_list = [*allowed, ALLOWED_IN_TESTS].concat();
        let lists =
            [("dependencies", *allowed), ("dev-dependencies", test_list.as_slice()), ("build-dependencies", &[])];
        for (key, list) in lists {
            for dependency in dependencies(section, key).into_iter().filter(|it| !list.contains(&it.as_str())) {
                let fix =
                    "do without, or extend the list in `crates/testkit/tests/tidy/dependencies.rs` with the reason";
                let what = format!("`{name}` may not have `{dependency}` in its {key}");
                violations.push(Violation::new(&file.path, line_of(file, &dependency), what, fix));
            }
        }
    }
    let linted = table.get("lints").and_then(|it| it.get("workspace")).and_then(Value::as_bool);
    if linted != Some(true) {
        let fix = "add `[lints]` with `workspace = true`";
        violations.push(Violation::new(&file.path, 1, "the workspace's lints are off here", fix));
    }
    if table.contains_key("bin") && name != PROGRAM_CRATE {
        violations.push(second_program(&file.path, line_of(file, "[[bin]]")));
    }
    violations
}

/// Returns the published names, also of renamed dependencies.
fn dependencies(section: &Table, key: &str) -> Vec<String> {
    let entries = section.get(key).and_then(Value::as_table).into_iter().flatten();
    entries.map(|(name, value)| value.get("package").and_then(Value::as_str).unwrap_or(name).to_owned()).collect()
}

fn second_program(path: &str, line: usize) -> Violation {
    Violation::new(path, line, "a second program", "make it an example, or a command of `referee`")
}

fn unreadable(file: &File) -> Violation {
    Violation::new(&file.path, 1, "this is not TOML", "correct it")
}

/// Returns the line that begins with the name, or that has it in quotes (a renamed dependency).
fn line_of(file: &File, name: &str) -> usize {
    let quoted = format!("\"{name}\"");
    let names = |text: &str| text.starts_with(name) || text.contains(&quoted);
    file.lines().find(|(_, text)| names(text)).map_or(1, |(line, _)| line)
}

#[test]
fn crates_have_only_allowed_dependencies() {
    assert_none(check(&SourceTree::load()));
}

#[test]
fn a_dependency_outside_the_list_is_caught() {
    let lints = "[lints]\nworkspace = true\n";
    let core = format!(
        "{lints}[dependencies]\nserde = \"1\"\ntokio = \"1\"\nx = {{ package = \"rand\", version = \"1\" }}\n[dev-dependencies]\ninsta = \"1\"\n"
    );
    let turn = format!(
        "{lints}[dependencies]\nreferee-testkit.workspace = true\n[target.'cfg(unix)'.dependencies]\nnix = \"1\"\n[[bin]]\nname = \"x\""
    );
    let tree = SourceTree::from_files(&[
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
    let mut found = locations(check(&tree));
    found.sort();
    assert_eq!(found, want);
}
