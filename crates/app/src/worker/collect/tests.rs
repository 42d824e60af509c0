#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use referee_git::{Git, GitIdentity};
use tempfile::TempDir;

use super::*;

/// A branch that links within the tree, a base that went on and added a submodule, and a copy for a worker.
struct WorkFixture {
    texts: GitSource,
    base: Sha,
    head: Sha,
    copy: WorkCopy,
    _folder: TempDir,
}

impl WorkFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        fs::create_dir(&home).expect("a folder");
        git(&home, &["init", "--quiet", "--initial-branch=main"]);
        fs::create_dir(home.join("src")).expect("a folder");
        fs::write(home.join("src/a.rs"), "fn a() {}\n").expect("a file");
        commit(&home);
        git(&home, &["switch", "--quiet", "--create", "feature"]);
        symlink("/etc/passwd", home.join("by-its-author")).expect("a link");
        let head = commit(&home);
        git(&home, &["switch", "--quiet", "main"]);
        git(&home, &["update-index", "--add", "--cacheinfo", &format!("160000,{head},vendor")]);
        let base = commit(&home);
        let texts = GitSource::from_checkout(Git::from_dir(&home));
        let user = GitIdentity { name: Some("bot".to_owned()), email: Some("bot@localhost".to_owned()) };
        let copy = texts.git().create_work_copy(&folder.path().join("copy"), &head, &base, &user).expect("a copy");
        Self { texts, base, head, copy, _folder: folder }
    }

    fn collect(&self) -> Result<CollectedWork, String> {
        collect_work(&self.texts, &self.copy, &self.head, &self.base, &WorkerSecrets::default())
    }
}

fn git(dir: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgSign=false"])
        .args(arguments)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn commit(dir: &Path) -> Sha {
    git(dir, &["add", "--all", "--", ":!vendor"]);
    git(dir, &["commit", "--quiet", "--message=step"]);
    Sha::from(git(dir, &["rev-parse", "HEAD"]).as_str())
}

#[test]
fn a_worker_without_a_commit_leaves_nothing() {
    let fixture = WorkFixture::new();
    fs::write(fixture.copy.dir().join("src/a.rs"), "not committed\n").expect("a file");
    assert_eq!(fixture.collect(), Ok(CollectedWork { head: None, escapes: Vec::new() }));
}

#[test]
fn added_links_out_of_the_tree_and_submodules_are_reported() {
    let fixture = WorkFixture::new();
    let dir = fixture.copy.dir();
    git(dir, &["rebase", "--quiet", "base"]);
    let rebased = fixture.collect().expect("the work is collected");
    assert_eq!(rebased.escapes, [] as [&str; 0], "neither the author's link nor the base's submodule is the worker's");
    for (target, path) in [
        ("../src/a.rs", "src/within"),
        ("/etc", "absolute"),
        ("../../x", "src/above"),
        ("../.git/config", "src/settings"),
    ] {
        symlink(target, dir.join(path)).expect("a link");
    }
    git(dir, &["update-index", "--add", "--cacheinfo", &format!("160000,{},module", fixture.head)]);
    git(dir, &["add", "--all", "--", ":!module", ":!vendor"]);
    git(dir, &["commit", "--quiet", "--message=step"]);
    let collected = fixture.collect().expect("the work is collected");
    assert_eq!(collected.escapes, ["absolute", "module", "src/above", "src/settings"]);
    assert_ne!(collected.head, rebased.head);
}

#[test]
fn an_unrelated_history_is_refused() {
    let fixture = WorkFixture::new();
    git(fixture.copy.dir(), &["checkout", "--quiet", "--orphan", "other"]);
    commit(fixture.copy.dir());
    assert!(fixture.collect().expect_err("it is another history").contains("shares no history"));
}

#[test]
fn a_change_that_is_too_large_is_refused() {
    let fixture = WorkFixture::new();
    fs::write(fixture.copy.dir().join("large"), "0123456789abcdef\n".repeat(600_000)).expect("a file");
    commit(fixture.copy.dir());
    assert!(fixture.collect().expect_err("it is too large").contains("8 MiB"));
}

#[test]
fn parent_components_are_allowed_only_at_the_start_of_a_link_target() {
    for (path, target, want) in [
        ("k", "src", false),
        ("k", "./src//a.rs", false),
        ("src/k", "..", false),
        ("src/k", "../src/b", false),
        ("src/deep/k", "../../a", false),
        ("k", "..", true),
        ("k", "", true),
        ("k", "/", true),
        ("src/k", "../..", true),
        ("src/k", "../.Git/hooks", true),
        // With `d/l` at `..`, the next two are the folder around the tree.
        ("k", "d/l/..", true),
        ("src/k", "../d/l/../x", true),
    ] {
        assert_eq!(leaves_tree(path, target.as_bytes()), want, "{path} at {target}");
    }
    assert!(leaves_tree("k", b"\xff"), "no name at all");
}
