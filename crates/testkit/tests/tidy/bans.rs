//! Packages that may not enter the lock file, where packages come from, and how many there may be.
//!
//! Read from `Cargo.lock`, so that packages of other platforms are seen as well.

use toml::{Table, Value};

use crate::house::{File, House};
use crate::{Complaint, hold, places};

/// Raised by hand: whoever adds a tree of packages sees how large it is.
const CEILING: usize = 400;

const BANNED: [(&str, &str); 4] = [
    ("aws-lc-sys", "compiles C for a minute: one TLS provider, ring"),
    ("openssl-sys", "needs the system's OpenSSL: one TLS provider, ring"),
    ("serde_yaml", "is no longer maintained"),
    ("sqlx", "cannot share a lock file with rusqlite"),
];

const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn check(house: &House) -> Vec<Complaint> {
    house.file("Cargo.lock").into_iter().flat_map(check_lock).collect()
}

fn check_lock(file: &File) -> Vec<Complaint> {
    let Ok(lock) = file.text.parse::<Table>() else {
        return vec![Complaint::new(&file.path, 1, "this is no TOML", "mend it")];
    };
    let mut complaints = Vec::new();
    let packages: Vec<&Value> = lock.get("package").and_then(Value::as_array).into_iter().flatten().collect();
    for package in &packages {
        let name = package.get("name").and_then(Value::as_str).unwrap_or_default();
        let line = line_of(file, name);
        if let Some((_, why)) = BANNED.iter().find(|(banned, _)| *banned == name) {
            let remedy = format!("find who brings it (`cargo tree -i {name}`): it {why}");
            complaints.push(Complaint::new(&file.path, line, format!("`{name}` is banned"), remedy));
        }
        if package.get("source").and_then(Value::as_str).is_some_and(|source| source != SOURCE) {
            let what = format!("`{name}` does not come from the public registry");
            complaints.push(Complaint::new(&file.path, line, what, "depend on a published version"));
        }
    }
    if packages.len() > CEILING {
        let what = format!("{} packages, the ceiling is {CEILING}", packages.len());
        let remedy = "drop some, or raise the ceiling in `crates/testkit/tests/tidy/bans.rs` and say why";
        complaints.push(Complaint::new(&file.path, 1, what, remedy));
    }
    complaints
}

fn line_of(file: &File, name: &str) -> usize {
    let needle = format!("name = \"{name}\"");
    file.lines().find(|(_, text)| *text == needle).map_or(1, |(line, _)| line)
}

#[test]
fn no_banned_package_is_locked() {
    let house = House::load();
    assert!(house.file("Cargo.lock").is_some());
    hold(check(&house));
}

#[test]
fn a_banned_package_is_caught() {
    let lock = "[[package]]\nname = \"sqlx\"\n[[package]]\nname = \"ok\"\nsource = \"git+https://example.org/ok\"\n";
    assert_eq!(places(check(&House::of(&[("Cargo.lock", lock)]))), ["Cargo.lock:2", "Cargo.lock:4"]);
    let many = "[[package]]\nname = \"x\"\n".repeat(CEILING + 1);
    assert_eq!(places(check(&House::of(&[("Cargo.lock", &many)]))), ["Cargo.lock:1"]);
}
