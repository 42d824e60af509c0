//! `referee doctor --sandbox` on a machine with secrets to find.

use std::fs;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// Files in the home that a probe would find if the sandbox leaked.
const BAITS: &[&str] = &[
    ".ssh/id_ed25519",
    ".netrc",
    ".config/referee/operator.toml",
    ".cargo/credentials.toml",
    ".aws/credentials",
    ".docker/config.json",
];

fn run_doctor(tier: &str) -> (Option<i32>, Value) {
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
    let stderr = String::from_utf8_lossy(&output.stderr);
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    (output.status.code(), report)
}

fn expect_all_held(tier: &str, min_held: usize) {
    let (code, report) = run_doctor(tier);
    let probes = report["probes"].as_array().expect("probes");
    let in_state = |state: &str| probes.iter().filter(|probe| probe["state"] == state).collect::<Vec<_>>();
    assert!(in_state("open").is_empty(), "{:#?}", in_state("open"));
    assert!(in_state("held").len() >= min_held, "{report:#}");
    assert_eq!(
        (code, report["tier"].to_string().as_str(), &report["schema"]),
        (Some(0), tier, &"referee/sandbox-1".into())
    );
}

#[test]
fn tier_2_stops_every_probe() {
    expect_all_held("2", 60);
}

#[test]
fn tier_1_stops_what_it_promises() {
    expect_all_held("1", 18);
}

#[test]
fn tier_0_stops_what_it_promises() {
    expect_all_held("0", 17);
}
