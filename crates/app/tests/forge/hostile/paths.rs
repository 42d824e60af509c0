//! A worker that changes protected files.

use referee_testkit::server::ServerBuild;

use super::{HostileProject, TIER_1, TIER_2, share};
use crate::on_each_server;

on_each_server! {
    a_change_to_protected_files_needs_a_person
    links_out_of_the_tree_are_refused
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn a_change_to_protected_files_needs_a_person(build: ServerBuild) {
    let project = HostileProject::new(build);
    let paths = [
        (TIER_2, ".gitea/workflows/ci.yml"),
        (TIER_1, ".github/workflows/ci.yml"),
        (TIER_1, ".forgejo/workflows/ci.yml"),
        (TIER_1, "CODEOWNERS"),
        (TIER_2, "docs/codeowners"),
        (TIER_1, "referee.toml"),
        (TIER_1, "deep/Cargo.lock"),
        (TIER_1, ".githooks/pre-push"),
        (TIER_2, ".gitmodules"),
    ];
    for (entry, path) in share(build, paths) {
        project.run_worker(entry, &["touch", path]).assert_refused("needs_human", &format!("`{path}` is protected"));
    }
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn links_out_of_the_tree_are_refused(build: ServerBuild) {
    let project = HostileProject::new(build);
    let links = [
        ("passwd", &["link", "/etc/passwd", "passwd"][..]),
        ("src/up", &["link", "../../job/job.json", "src/up"]),
        ("hooks", &["link", ".git/hooks", "hooks"]),
        ("k", &["chain"]),
        ("vendor", &["submodule"]),
    ];
    for (path, words) in share(build, links) {
        project.run_worker(TIER_1, words).assert_refused("needs_human", &format!("`{path}` leaves the tree"));
    }
}
