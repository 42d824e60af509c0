//! A worker that looks for a token.

use std::fs;

use referee_testkit::server::ServerBuild;

use super::{APART, Den, MODEL_KEY, SEALED};
use crate::on_each_server;

on_each_server! {
    nothing_of_the_machine_is_found_in_tier_2
    nothing_is_lying_around_in_tier_1
    what_it_was_given_does_not_come_out_of_it
}

// spec: DSP-15, SAF-4 @gitea
// spec: DSP-15, SAF-4 @forgejo
fn nothing_of_the_machine_is_found_in_tier_2(build: ServerBuild) {
    let den = Den::new(build);
    let folder = den.site.path(".config/referee");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("seen"), "the operator's own file").expect("a file");
    let path = |name: &str| den.site.path(name).display().to_string();
    let fate = den.send(
        SEALED,
        &[
            "search-all",
            den.site.proxy.url(),
            &path("token"),
            &path("operator.toml"),
            &path("api.yaml"),
            &path(".config"),
            &path(".cache"),
            "/proc/1/root/etc/shadow",
        ],
    );
    fate.refused("needs_human", "environment: ");
    for part in ["REFEREE_JOB=", "environments: ", "credentials: ", "api.yaml: "] {
        assert!(fate.log.contains(part), "it looked: {part}: {fate:?}");
    }
    for part in ["REFEREE_TOKEN", "the operator's own file", "token_path", "[agents.hostile]", "root:"] {
        assert!(!fate.log.contains(part), "{part}: {fate:?}");
    }
    fs::remove_dir_all(folder).expect("it goes");
}

// spec: DSP-15, SAF-4 @gitea
// spec: DSP-15, SAF-4 @forgejo
fn nothing_is_lying_around_in_tier_1(build: ServerBuild) {
    let den = Den::new(build);
    let fate = den.send(APART, &["search", den.site.proxy.url()]);
    fate.refused("needs_human", "environment: ");
    assert!(fate.log.contains("REFEREE_JOB=") && !fate.log.contains("REFEREE_TOKEN"), "{fate:?}");
    assert!(fate.folder.join("job/found.txt").is_file());
    assert!(!fate.folder.join("home").exists(), "what it kept at home is gone");
}

// spec: SAF-4 @gitea
// spec: SAF-4 @forgejo
fn what_it_was_given_does_not_come_out_of_it(build: ServerBuild) {
    let den = Den::new(build);
    let entry = format!("{APART}env = [\"MODEL_KEY\"]\n");
    let written = den.send(&entry, &["write"]);
    written.refused("failed", "its change contains the value of `MODEL_KEY`, which it was given");
    let said = den.send(&entry, &["tell"]);
    said.refused("needs_human", "the key is ***");
    for fate in [written, said] {
        let told = format!("{}{}{}", fate.worker, fate.said, fate.ran.err);
        assert!(!told.contains(MODEL_KEY), "{fate:?}");
    }
}
