//! A worker that changes protected files.

use referee_testkit::server::ServerBuild;

use super::{HostileProject, TIER_1, TIER_2, share};
use crate::on_each_server;

on_each_server! {
    a_change_to_protected_files_needs_a_person
    links_out_of_the_tree_are_refused
    a_link_does_not_hide_a_protected_file
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn a_change_to_protected_files_needs_a_person(build: ServerBuild) {
    let project = HostileProject::new(build);
    let config = "version = 1\n[[role]]\nname = \"static\"\nbuiltin = true\nrules = [\"docs/how to review [a].md\"]\n";
    project.site.repo.as_("alice").push_base("referee.toml", |_| config.to_owned());
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
        (TIER_1, ".woodpecker.yml"),
        (TIER_1, ".gitleaks.toml"),
        (TIER_1, "AGENTS.md"),
        (TIER_1, "docs/how to review [a].md"),
        (TIER_1, "docs/how to review [a].md."),
        (TIER_1, ".Circleci/config.yml"),
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

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn a_link_does_not_hide_a_protected_file(build: ServerBuild) {
    let project = HostileProject::new(build);
    let alice = project.site.repo.as_("alice");
    alice.push_base(".gitea/workflows/ci.yml", |_| "on: push\n".to_owned());
    alice.commit_to_base(|folder| {
        std::fs::create_dir(folder.join("docs")).expect("a folder");
        std::fs::write(folder.join("docs/guide.md"), "# guide\n").expect("a file");
        std::os::unix::fs::symlink("docs/guide.md", folder.join("CLAUDE.md")).expect("a link");
    });
    let attempts = [
        (&["links", "../.gitea/workflows", "src/jobs"][..], "connects `src/jobs` with `.gitea/workflows`"),
        (&["links", "..", "src/root"], "connects `src/root` with `.gitea/workflows/ci.yml`"),
        (&["links", "docs", ".github"], "`.github` is protected"),
        (&["links", ".gitea", "a", "a/workflows", "b"], "connects `a` with `.gitea`"),
        (&["touch", "docs/guide.md"], "connects `docs/guide.md` with `claude.md`"),
    ];
    for (words, why) in share(build, attempts) {
        project.run_worker(TIER_1, words).assert_refused("needs_human", why);
    }
}
