#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use referee_core::model::RebaseAudit;
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
        self.collect_as(JobKind::Rebase, &WorkerSecrets::default())
    }

    fn collect_as(&self, kind: JobKind, secrets: &WorkerSecrets<'_>) -> Result<CollectedWork, String> {
        let policy = Policy::default();
        let start = WorkStart { kind, commit: &self.head, base: &self.base, policy: &policy };
        collect_work(&self.texts, &self.copy, &start, secrets)
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
    assert_eq!(fixture.collect(), Ok(CollectedWork::default()));
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

/// Two commits of the author, one of which conflicts with the base in one of two edits.
struct RebaseFixture {
    texts: GitSource,
    base: Sha,
    head: Sha,
    copy: WorkCopy,
    _folder: TempDir,
}

const LINES: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

fn lines(changes: &[(usize, &str)]) -> String {
    let mut lines = LINES.map(str::to_owned);
    changes.iter().for_each(|(at, text)| lines[at - 1] = (*text).to_owned());
    lines.join("\n") + "\n"
}

impl RebaseFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        fs::create_dir(&home).expect("a folder");
        git(&home, &["init", "--quiet", "--initial-branch=main"]);
        fs::write(home.join("a.txt"), lines(&[])).expect("a file");
        commit(&home);
        git(&home, &["switch", "--quiet", "--create", "feature"]);
        fs::write(home.join("a.txt"), lines(&[(2, "two"), (9, "nine")])).expect("a file");
        commit(&home);
        fs::write(home.join("b.txt"), "the author's\n").expect("a file");
        let head = commit(&home);
        git(&home, &["switch", "--quiet", "main"]);
        fs::write(home.join("a.txt"), lines(&[(2, "zwei")])).expect("a file");
        let base = commit(&home);
        let texts = GitSource::from_checkout(Git::from_dir(&home));
        let user = GitIdentity { name: Some("bot".to_owned()), email: Some("bot@localhost".to_owned()) };
        let copy = texts.git().create_work_copy(&folder.path().join("copy"), &head, &base, &user).expect("a copy");
        Self { texts, base, head, copy, _folder: folder }
    }

    /// Rebases as the worker does, then changes the files and amends the last commit.
    fn rebase(&self, change: impl FnOnce(&Path)) -> RebaseAudit {
        let dir = self.copy.dir();
        let bot = ["-c", "user.name=bot", "-c", "user.email=bot@localhost"];
        git(dir, &[&bot[..], &["rebase", "--quiet", "--strategy-option=theirs", "base"]].concat());
        change(dir);
        git(dir, &["add", "--all"]);
        git(dir, &[&bot[..], &["commit", "--quiet", "--amend", "--no-edit", "--allow-empty"]].concat());
        let policy = Policy::default();
        let start = WorkStart { kind: JobKind::Rebase, commit: &self.head, base: &self.base, policy: &policy };
        let collected = collect_work(&self.texts, &self.copy, &start, &WorkerSecrets::default());
        let audit = collected.expect("the work is collected").audit.expect("an audit");
        assert_eq!(audit.foreign, [] as [Sha; 0], "{audit:?}");
        audit.rebase.expect("a rebase")
    }
}

#[test]
fn only_the_conflict_of_a_rebase_may_be_solved_freely() {
    let intact =
        RebaseAudit { contains_base: true, dropped: Vec::new(), lost: Vec::new(), conflicts: vec!["a.txt".to_owned()] };
    let lost = |path: &str| RebaseAudit { lost: vec![path.to_owned()], ..intact.clone() };
    let write = |name: &'static str, text: String| move |dir: &Path| fs::write(dir.join(name), text).expect("a file");
    assert_eq!(RebaseFixture::new().rebase(|_| ()), intact);
    let solutions = [lines(&[(2, "both"), (9, "nine")]), lines(&[(2, "zwei"), (9, "nine")])];
    for text in solutions {
        assert_eq!(RebaseFixture::new().rebase(write("a.txt", text)), intact);
    }
    let without_the_other_edit = lines(&[(2, "two")]);
    assert_eq!(RebaseFixture::new().rebase(write("a.txt", without_the_other_edit)), lost("a.txt"));
    assert_eq!(RebaseFixture::new().rebase(write("b.txt", "the worker's\n".to_owned())), lost("b.txt"));
    assert_eq!(RebaseFixture::new().rebase(write("c.txt", "more\n".to_owned())), intact, "an addition");
}
