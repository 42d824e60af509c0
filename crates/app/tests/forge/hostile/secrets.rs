//! A worker that looks for tokens.

use std::fs;

use referee_testkit::server::ServerBuild;

use super::{HostileProject, MODEL_KEY, TIER_1, TIER_2, share};
use crate::on_each_server;

on_each_server! {
    tier_2_hides_the_machines_files
    tier_1_leaves_no_token_readable
    a_workers_secrets_are_neither_posted_nor_logged
    no_new_commit_contains_what_the_worker_was_given
}

// spec: DSP-15, SAF-4 @gitea
// spec: DSP-15, SAF-4 @forgejo
fn tier_2_hides_the_machines_files(build: ServerBuild) {
    let project = HostileProject::new(build);
    let folder = project.site.path(".config/referee");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("seen"), "the operator's own file").expect("a file");
    let path = |name: &str| project.site.path(name).display().to_string();
    let attempt = project.run_worker(
        TIER_2,
        &[
            "search-all",
            project.site.proxy.url(),
            &path("token"),
            &path("operator.toml"),
            &path("api.yaml"),
            &path(".config"),
            &path(".cache"),
            "/proc/1/root/etc/shadow",
        ],
    );
    attempt.assert_refused("needs_human", "environment: ");
    for part in ["REFEREE_JOB=", "environments: ", "credentials: ", "api.yaml: "] {
        assert!(attempt.log.contains(part), "it looked: {part}: {attempt:?}");
    }
    for part in ["REFEREE_TOKEN", "the operator's own file", "token_path", "[agents.hostile]", "root:"] {
        assert!(!attempt.log.contains(part), "{part}: {attempt:?}");
    }
    fs::remove_dir_all(folder).expect("it goes");
}

// spec: DSP-15, SAF-4 @gitea
// spec: DSP-15, SAF-4 @forgejo
fn tier_1_leaves_no_token_readable(build: ServerBuild) {
    let project = HostileProject::new(build);
    let attempt = project.run_worker(TIER_1, &["search", project.site.proxy.url()]);
    attempt.assert_refused("needs_human", "environment: ");
    assert!(attempt.log.contains("REFEREE_JOB=") && !attempt.log.contains("REFEREE_TOKEN"), "{attempt:?}");
    assert!(attempt.folder.join("job/found.txt").is_file());
    assert!(!attempt.folder.join("home").exists(), "what it kept at home is gone");
}

// spec: SAF-4 @gitea
// spec: SAF-4 @forgejo
fn a_workers_secrets_are_neither_posted_nor_logged(build: ServerBuild) {
    let project = HostileProject::new(build);
    let entry = format!("{TIER_1}env = [\"MODEL_KEY\"]\n");
    let said = project.run_worker(&entry, &["tell"]);
    said.assert_refused("needs_human", "the key is ***");
    said.assert_hides(MODEL_KEY);
    let escaped = project.run_worker(&entry, &["leak-escaped"]);
    escaped.assert_refused("needs_human", "the key is ***");
    escaped.assert_hides(MODEL_KEY);
    let named = project.run_worker(&entry, &["leak-file-name"]);
    named.assert_refused("failed", "`***` is neither a file nor a directory");
    named.assert_hides(MODEL_KEY);
    let printed = project.run_worker(&entry, &["leak-print"]);
    printed.assert_pushed();
    printed.assert_hides(MODEL_KEY);
    assert!(printed.log.contains("the key is ***, in hex ***\n"), "{printed:?}");
}

// spec: DSP-15, SAF-4 @gitea
// spec: DSP-15, SAF-4 @forgejo
fn no_new_commit_contains_what_the_worker_was_given(build: ServerBuild) {
    let project = HostileProject::new(build);
    let entry = format!("{TIER_1}env = [\"MODEL_KEY\"]\n");
    let modes = ["write", "leak-message", "leak-binary", "leak-removed", "leak-name", "leak-folder", "leak-author"];
    for mode in share(build, modes) {
        let attempt = project.run_worker(&entry, &[mode]);
        attempt.assert_refused("failed", "contains the value of `MODEL_KEY`, which it was given");
        attempt.assert_hides(MODEL_KEY);
    }
}
