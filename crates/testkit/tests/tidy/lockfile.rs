//! Banned packages, the registry that packages come from, and the maximum number of packages.
//!
//! Reads `Cargo.lock`, which lists the packages of all platforms.

use toml::{Table, Value};

use crate::source_tree::{File, SourceTree};
use crate::{Violation, assert_none, locations};

/// Raised by hand, so that the size of a new dependency is noticed.
const MAX_PACKAGES: usize = 400;

const BANNED: [(&str, &str); 4] = [
    ("aws-lc-sys", "compiles C for a minute: one TLS provider, ring"),
    ("openssl-sys", "needs the system's OpenSSL: one TLS provider, ring"),
    ("serde_yaml", "is no longer maintained"),
    ("sqlx", "cannot share a lock file with rusqlite"),
];

const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn check(tree: &SourceTree) -> Vec<Violation> {
    tree.file("Cargo.lock").into_iter().flat_map(check_lock).collect()
}

fn check_lock(file: &File) -> Vec<Violation> {
    let Ok(lock) = file.text.parse::<Table>() else {
        return vec![Violation::new(&file.path, 1, "this is not TOML", "correct it")];
    };
    let mut violations = Vec::new();
    let packages: Vec<&Value> = lock.get("package").and_then(Value::as_array).into_iter().flatten().collect();
    for package in &packages {
        let name = package.get("name").and_then(Value::as_str).unwrap_or_default();
        let line = line_of(file, name);
        if let Some((_, why)) = BANNED.iter().find(|(banned, _)| *banned == name) {
            let fix = format!("find what depends on it (`cargo tree -i {name}`): it {why}");
            violations.push(Violation::new(&file.path, line, format!("`{name}` is banned"), fix));
        }
        if package.get("source").and_then(Value::as_str).is_some_and(|source| source != SOURCE) {
            let what = format!("`{name}` does not come from the public registry");
            violations.push(Violation::new(&file.path, line, what, "depend on a published version"));
        }
    }
    if packages.len() > MAX_PACKAGES {
        let what = format!("{} packages, the limit is {MAX_PACKAGES}", packages.len());
        let fix = "remove some, or raise the limit in `crates/testkit/tests/tidy/lockfile.rs` with the reason";
        violations.push(Violation::new(&file.path, 1, what, fix));
    }
    violations
}

fn line_of(file: &File, name: &str) -> usize {
    let needle = format!("name = \"{name}\"");
    file.lines().find(|(_, text)| *text == needle).map_or(1, |(line, _)| line)
}

#[test]
fn the_lock_file_has_no_banned_package() {
    let tree = SourceTree::load();
    assert!(tree.file("Cargo.lock").is_some());
    assert_none(check(&tree));
}

#[test]
fn a_banned_package_is_caught() {
    let lock = "[[package]]\nname = \"sqlx\"\n[[package]]\nname = \"ok\"\nsource = \"git+https://example.org/ok\"\n";
    assert_eq!(locations(check(&SourceTree::from_files(&[("Cargo.lock", lock)]))), ["Cargo.lock:2", "Cargo.lock:4"]);
    let many = "[[package]]\nname = \"x\"\n".repeat(MAX_PACKAGES + 1);
    assert_eq!(locations(check(&SourceTree::from_files(&[("Cargo.lock", &many)]))), ["Cargo.lock:1"]);
}
