//! A worker that does not exit, and one that exhausts resources.

use std::fs;
use std::path::Path;
use std::process::Command;

use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{HostileProject, TIER_2, share};
use crate::on_each_server;

on_each_server! {
    a_worker_that_does_not_exit_is_killed
    output_is_logged_up_to_a_limit
}

// spec: DSP-14, DSP-15 @gitea
// spec: DSP-14, DSP-15 @forgejo
fn a_worker_that_does_not_exit_is_killed(build: ServerBuild) {
    let project = HostileProject::new(build);
    let name = project.site.path("child").display().to_string();
    for (tier, mode) in share(build, [(2, "stay"), (1, "leave"), (1, "stay"), (2, "leave")]) {
        let time = if mode == "stay" { "5s" } else { "5m" };
        let attempt = project.run_worker(&format!("sandbox = {tier}\ntimeout = \"{time}\"\n"), &[mode, &name]);
        match mode {
            "stay" => attempt.assert_refused("failed", "it was ended after 5 s"),
            _ => attempt.assert_pushed(),
        }
        assert_eq!(attempt.log.matches("child ").count(), 3, "they were there: {attempt:?}");
        assert_eq!(alive(&name), [] as [String; 0]);
    }
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn output_is_logged_up_to_a_limit(build: ServerBuild) {
    let project = HostileProject::new(build);
    let attempt = project.run_worker(TIER_2, &["print"]);
    attempt.assert_pushed();
    assert!(attempt.log.len() < (10 << 20) + 1000, "{}", attempt.log.len());
    assert!(attempt.log.ends_with("bytes is dropped\n"), "{:?}", attempt.log.get(attempt.log.len() - 200..));
}

/// Small limits that do not harm the machine. The real limits are larger and enforced in the same way.
#[test]
fn a_worker_that_exhausts_resources_hits_its_limits() {
    for tier in [1, 2] {
        let outcome = run_in_sandbox(tier, 40, "fork", 3000);
        assert_eq!(outcome.0["ended"], "timed out", "{outcome:?}");
        assert!(outcome.1.to_lowercase().contains("fork"), "tier {tier}: nothing was refused: {outcome:?}");
        let outcome = run_in_sandbox(tier, 64, "fill", 60_000);
        assert!(!outcome.1.contains("1073741824"), "{outcome:?}");
        assert!(outcome.1.contains("memory: ") && outcome.1.contains("file: "), "{outcome:?}");
    }
}

fn run_in_sandbox(tier: u8, processes: u64, mode: &str, timeout_ms: u64) -> (Value, String) {
    let folder = TempDir::new().expect("a folder");
    fs::create_dir(folder.path().join("job")).expect("a folder");
    fs::write(folder.path().join("job/job.json"), "{}").expect("a file");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/worker/hostile.sh").canonicalize();
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    let limits = json!({
        "processes": processes, "memory_bytes": 128 << 20, "file_bytes": 1 << 20, "open_files": 64, "log_bytes": 65536,
    });
    let run = json!({ "tier": tier, "folder": folder.path(), "timeout_ms": timeout_ms, "limits": limits });
    command.arg("sandbox").arg(json!({ "run": run }).to_string());
    let ran = command.arg(script.expect("the script")).arg(mode).output();
    let ran = ran.expect("referee runs");
    let outcome = serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let log = fs::read(folder.path().join("log")).expect("a log");
    let left = files_larger_than(1 << 20, folder.path());
    assert_eq!(left, 0, "no file is larger than it may be");
    (outcome, String::from_utf8_lossy(&log).into_owned())
}

fn files_larger_than(bytes: u64, folder: &Path) -> usize {
    super::files(folder).iter().filter(|path| fs::metadata(path).is_ok_and(|it| it.len() > bytes)).count()
}

/// The command lines of processes that name something.
fn alive(name: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).into_owned()).filter(|line| line.contains(name)).collect()
}
