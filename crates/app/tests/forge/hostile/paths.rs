//! A worker that changes what no worker may change.

use referee_testkit::server::ServerBuild;

use super::{APART, Den, SEALED, share};
use crate::on_each_server;

on_each_server! {
    what_is_protected_waits_for_a_person
    nothing_leads_out_of_the_tree
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn what_is_protected_waits_for_a_person(build: ServerBuild) {
    let den = Den::new(build);
    let paths = [
        (SEALED, ".gitea/workflows/ci.yml"),
        (APART, ".github/workflows/ci.yml"),
        (APART, ".forgejo/workflows/ci.yml"),
        (APART, "CODEOWNERS"),
        (SEALED, "docs/codeowners"),
        (APART, "referee.toml"),
        (APART, "deep/Cargo.lock"),
        (APART, ".githooks/pre-push"),
        (SEALED, ".gitmodules"),
    ];
    for (entry, path) in share(build, paths) {
        den.send(entry, &["touch", path]).refused("needs_human", &format!("`{path}` is protected"));
    }
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn nothing_leads_out_of_the_tree(build: ServerBuild) {
    let den = Den::new(build);
    let links = [
        ("passwd", &["link", "/etc/passwd", "passwd"][..]),
        ("src/up", &["link", "../../job/job.json", "src/up"]),
        ("hooks", &["link", ".git/hooks", "hooks"]),
        ("k", &["chain"]),
        ("vendor", &["submodule"]),
    ];
    for (path, words) in share(build, links) {
        den.send(APART, words).refused("needs_human", &format!("`{path}` leaves the tree"));
    }
}
