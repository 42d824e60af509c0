//! `referee doctor --sandbox` on a machine with something to find.

use std::fs;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// A home with every kind of secret in it.
const BAITS: &[&str] = &[
    ".ssh/id_ed25519",
    ".netrc",
    ".config/referee/operator.toml",
    ".cargo/credentials.toml",
    ".aws/credentials",
    ".docker/config.json",
];

fn doctor(tier: &str) -> (Option<i32>, Value) {
    let home = TempDir::new().expect("a folder");
    for bait in BAITS {
        let path = home.path().join(bait);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, "secret").expect("a file");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(["doctor", "--sandbox", "--json", "--tier", tier]).env("HOME", home.path());
    command.env("REFEREE_TOKEN", "secret").env("SSH_AUTH_SOCK", "/secret").env("HTTPS_PROXY", "http://127.0.0.1:9");
    let output = command.output().expect("referee runs");
    let words = String::from_utf8_lossy(&output.stderr);
    let told = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {words}"));
    (output.status.code(), told)
}

fn holds(tier: &str, least: usize) {
    let (code, told) = doctor(tier);
    let probes = told["probes"].as_array().expect("probes");
    let of = |state: &str| probes.iter().filter(|probe| probe["state"] == state).collect::<Vec<_>>();
    assert!(of("open").is_empty(), "{:#?}", of("open"));
    assert!(of("held").len() >= least, "{told:#}");
    assert_eq!(
        (code, told["tier"].to_string().as_str(), &told["schema"]),
        (Some(0), tier, &"referee/sandbox-1".into())
    );
}

#[test]
fn tier_2_holds_all_that_is_tried() {
    holds("2", 60);
}

#[test]
fn tier_1_holds_what_it_promises() {
    holds("1", 18);
}

#[test]
fn tier_0_holds_what_it_promises() {
    holds("0", 17);
}
