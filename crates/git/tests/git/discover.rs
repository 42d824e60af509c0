use std::path::Path;
use std::process::Command;

use referee_git::{Git, GitError};

use crate::repository::Repository;

#[test]
fn a_repository_is_found_from_every_kind_of_folder() {
    let repository = Repository::new();
    repository.write("deep/er/file", "one\n");
    repository.commit();
    let top = repository.path("").canonicalize().expect("a folder");
    let common = top.join(".git");
    for dir in [repository.path(""), repository.path("deep/er")] {
        let git = Git::discover(&dir).expect("a repository");
        assert_eq!((git.work_tree_root(), git.common_dir()), (Some(top.as_path()), common.as_path()));
    }
    repository.run(&["worktree", "add", "--quiet", "linked"]);
    let linked = Git::discover(&repository.path("linked")).expect("a repository");
    assert_eq!((linked.work_tree_root(), linked.common_dir()), (Some(top.join("linked").as_path()), common.as_path()));

    repository.run(&["clone", "--quiet", "--bare", ".", "bare.git"]);
    let bare = Git::discover(&repository.path("bare.git/objects")).expect("a repository");
    assert_eq!((bare.work_tree_root(), bare.common_dir()), (None, top.join("bare.git").as_path()));
    assert_eq!(bare.resolve("main").expect("an answer"), Some(repository.head()));
}

#[test]
fn a_folder_whose_name_holds_anything_is_found() {
    let repository = Repository::new();
    let odd = repository.path("a \"b\"\n'c'");
    repository.run(&["init", "--quiet", odd.to_str().expect("text")]);
    let git = Git::discover(&odd).expect("a repository");
    assert_eq!(git.work_tree_root(), Some(odd.canonicalize().expect("a folder").as_path()));
    assert!(git.common_dir().ends_with(".git"));
}

#[test]
fn where_no_repository_is_that_is_said() {
    let dir = tempfile::tempdir().expect("a folder");
    for dir in [dir.path(), &dir.path().join("not there"), Path::new("/dev/null")] {
        let error = Git::discover(dir).expect_err("no repository");
        assert!(matches!(&error, GitError::NotARepository { dir: named } if named == dir), "{error:?}");
        assert!(error.hint().is_some_and(|hint| hint.contains("git init")));
    }
}

/// The program is found by `PATH`, which only another process can have differently.
#[cfg(unix)]
#[test]
fn a_program_that_cannot_be_worked_with_is_named() {
    use std::os::unix::fs::PermissionsExt;

    const EXPECTED: &str = "REFEREE_TEST_EXPECTED";
    if let Ok(expected) = std::env::var(EXPECTED) {
        let error = Git::discover(&std::env::temp_dir()).expect_err("it cannot be worked with");
        assert_eq!(error.to_string(), expected);
        return;
    }
    let dir = tempfile::tempdir().expect("a folder");
    let check = |path: &Path, expected: &str| {
        let output = Command::new(std::env::current_exe().expect("the path of this program"))
            .args(["--exact", "discover::a_program_that_cannot_be_worked_with_is_named"])
            .env("PATH", path)
            .env(EXPECTED, expected)
            .output()
            .expect("the test runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    };
    check(dir.path(), "`git` is not installed");
    let program = dir.path().join("git");
    let pretend = |script: &str| {
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a file");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a program");
    };
    for said in ["git version 2.38.9 (somebody's)", "git version 1.99", "something else"] {
        pretend(&format!("echo \"{said}\""));
        check(dir.path(), &format!("`git` is too old: {said}"));
    }
    let not_ours = "echo \"fatal: detected dubious ownership in repository at 'x'\" >&2; exit 128";
    pretend(&format!("case \"$*\" in *version) echo git version 2.39.0;; *) {not_ours};; esac"));
    let temporary = std::env::temp_dir();
    check(dir.path(), &format!("the repository at `{}` belongs to somebody else", temporary.display()));
}
