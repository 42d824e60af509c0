use std::path::Path;
use std::process::Command;

use referee_git::{Git, GitError};

use crate::repository::Repository;

#[test]
fn a_repository_is_found_from_every_kind_of_directory() {
    let repository = Repository::new();
    repository.write("deep/er/file", "one\n");
    repository.commit();
    let root = repository.path("").canonicalize().expect("a directory");
    let common = root.join(".git");
    for dir in [repository.path(""), repository.path("deep/er")] {
        let git = Git::discover(&dir).expect("a repository");
        assert_eq!((git.work_tree_root(), git.common_dir()), (Some(root.as_path()), common.as_path()));
    }
    repository.run(&["worktree", "add", "--quiet", "linked"]);
    let linked = Git::discover(&repository.path("linked")).expect("a repository");
    assert_eq!((linked.work_tree_root(), linked.common_dir()), (Some(root.join("linked").as_path()), common.as_path()));

    repository.run(&["clone", "--quiet", "--bare", ".", "bare.git"]);
    let bare = Git::discover(&repository.path("bare.git/objects")).expect("a repository");
    assert_eq!((bare.work_tree_root(), bare.common_dir()), (None, root.join("bare.git").as_path()));
    assert_eq!(bare.resolve("main").expect("a result"), Some(repository.head()));
}

#[test]
fn a_directory_with_an_unusual_name_is_found() {
    let repository = Repository::new();
    let odd = repository.path("a \"b\"\n'c'");
    repository.run(&["init", "--quiet", odd.to_str().expect("text")]);
    let git = Git::discover(&odd).expect("a repository");
    assert_eq!(git.work_tree_root(), Some(odd.canonicalize().expect("a directory").as_path()));
    assert!(git.common_dir().ends_with(".git"));
}

#[test]
fn a_missing_repository_is_reported_with_a_hint() {
    let dir = tempfile::tempdir().expect("a directory");
    for dir in [dir.path(), &dir.path().join("not there"), Path::new("/dev/null")] {
        let error = Git::discover(dir).expect_err("no repository");
        assert!(matches!(&error, GitError::NotARepository { dir: named } if named == dir), "{error:?}");
        assert!(error.hint().is_some_and(|hint| hint.contains("git init")));
    }
}

/// Runs itself in another process, because git is found through `PATH`.
#[cfg(unix)]
#[test]
fn a_missing_or_unusable_git_is_reported() {
    use std::os::unix::fs::PermissionsExt;

    const EXPECTED: &str = "REFEREE_TEST_EXPECTED";
    if let Ok(expected) = std::env::var(EXPECTED) {
        let error = Git::discover(&std::env::temp_dir()).expect_err("an unusable git");
        assert_eq!(error.to_string(), expected);
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let check = |path: &Path, expected: &str| {
        let output = Command::new(std::env::current_exe().expect("the path of this program"))
            .args(["--exact", "discover::a_missing_or_unusable_git_is_reported"])
            .env("PATH", path)
            .env(EXPECTED, expected)
            .output()
            .expect("the test runs");
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
    };
    check(dir.path(), "`git` is not installed");
    let program = dir.path().join("git");
    let fake_git = |script: &str| {
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a file");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a program");
    };
    for version in ["git version 2.38.9 (Vendor Git-1)", "git version 1.99", "something else"] {
        fake_git(&format!("echo \"{version}\""));
        check(dir.path(), &format!("`git` is too old: {version}"));
    }
    let not_ours = "echo \"fatal: detected dubious ownership in repository at 'x'\" >&2; exit 128";
    fake_git(&format!("case \"$*\" in *version) echo git version 2.39.0;; *) {not_ours};; esac"));
    let temporary = std::env::temp_dir();
    check(dir.path(), &format!("the repository at `{}` belongs to another user", temporary.display()));
}
