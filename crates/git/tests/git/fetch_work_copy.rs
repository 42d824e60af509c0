use std::fs;
use std::path::Path;

use referee_core::model::Sha;
use referee_git::{Git, GitError, WorkCopy};

use crate::work_copy::{DivergedBranches, run_git};

const MAX_GROWTH: u64 = 1 << 20;

fn commit(copy: &WorkCopy, path: &str, text: &str) -> Sha {
    fs::write(copy.dir().join(path), text).expect("a file");
    run_git(copy.dir(), &["add", "--all"]);
    run_git(copy.dir(), &["commit", "--quiet", "--message=step"]);
    Sha::from(run_git(copy.dir(), &["rev-parse", "HEAD"]).as_str())
}

fn is_tampered(error: &GitError, want: &str) -> bool {
    matches!(error, GitError::WorkCopyTampered { reason } if reason.contains(want))
}

#[test]
fn only_committed_changes_are_fetched() {
    let fixture = DivergedBranches::new();
    let git = fixture.repository.git();
    let copy = fixture.copy();
    assert_eq!(git.fetch_from_work_copy(&copy, MAX_GROWTH).expect("a result"), fixture.head, "no new commit");
    let made = commit(&copy, "b", "fixed\n");
    fs::write(copy.dir().join("b"), "not committed\n").expect("a file");
    assert_eq!(git.fetch_from_work_copy(&copy, MAX_GROWTH).expect("the commit"), made);
    assert_eq!(git.read_files(&made, &["b"]).expect("a file"), [Some(b"fixed\n".to_vec())]);

    run_git(copy.dir(), &["switch", "--quiet", "--create", "mine"]);
    let made = commit(&copy, "b", "on a branch\n");
    assert_eq!(git.fetch_from_work_copy(&copy, MAX_GROWTH).expect("the commit"), made);
    run_git(copy.dir(), &["switch", "--quiet", "--orphan", "nothing"]);
    let error = git.fetch_from_work_copy(&copy, MAX_GROWTH).expect_err("no commit is checked out");
    assert!(is_tampered(&error, "no commit is checked out"), "{error:?}");
}

#[cfg(unix)]
#[test]
fn a_work_copy_that_refers_to_other_directories_is_refused() {
    type Tamper = fn(&Path, &Path);
    let cases: [(&str, Tamper, &str); 9] = [
        (
            "`.git` is a symlink",
            |dir, outside| {
                fs::rename(dir.join(".git"), outside.join("git")).expect("it moves");
                std::os::unix::fs::symlink(outside.join("git"), dir.join(".git")).expect("a link");
            },
            "not a directory",
        ),
        (
            "`.git` is a file",
            |dir, outside| {
                fs::rename(dir.join(".git"), outside.join("git")).expect("it moves");
                fs::write(dir.join(".git"), format!("gitdir: {}\n", outside.join("git").display())).expect("a file");
            },
            "not a directory",
        ),
        (
            "alternate objects",
            |dir, outside| {
                fs::create_dir_all(dir.join(".git/objects/info")).expect("a directory");
                fs::write(dir.join(".git/objects/info/alternates"), format!("{}\n", outside.display()))
                    .expect("a file");
            },
            "alternates",
        ),
        (
            "a common directory",
            |dir, outside| {
                fs::write(dir.join(".git/commondir"), outside.display().to_string()).expect("a file");
            },
            "commondir",
        ),
        (
            "a shallow history",
            |dir, _| {
                fs::copy(dir.join(".git/HEAD"), dir.join(".git/shallow")).expect("a file");
            },
            "shallow",
        ),
        (
            "grafts",
            |dir, _| {
                fs::create_dir_all(dir.join(".git/info")).expect("a directory");
                fs::copy(dir.join(".git/HEAD"), dir.join(".git/info/grafts")).expect("a file");
            },
            "grafts",
        ),
        (
            "a symlink among the refs",
            |dir, outside| {
                fs::write(outside.join("secret"), "0123\n").expect("a file");
                std::os::unix::fs::symlink(outside.join("secret"), dir.join(".git/refs/heads/x")).expect("a link");
            },
            "neither a file nor a directory",
        ),
        (
            "a named pipe",
            |dir, _| {
                let made = std::process::Command::new("mkfifo").arg(dir.join(".git/packed-refs")).status();
                assert!(made.expect("it runs").success());
            },
            "neither a file nor a directory",
        ),
        (
            "too much data",
            |dir, _| {
                fs::write(dir.join(".git/objects/large"), vec![0; 2 << 20]).expect("a file");
            },
            "grew",
        ),
    ];
    for (case, tamper, want) in cases {
        let fixture = DivergedBranches::new();
        let copy = fixture.copy();
        let made = commit(&copy, "b", "fixed\n");
        let outside = tempfile::tempdir().expect("a directory");
        tamper(copy.dir(), outside.path());
        let git = fixture.repository.git();
        let error = git.fetch_from_work_copy(&copy, MAX_GROWTH).expect_err(case);
        assert!(is_tampered(&error, want), "{case}: {error:?}");
        assert!(!git.has_commit(&made).expect("a result"), "{case}");
    }
}

#[cfg(unix)]
#[test]
fn config_and_hooks_of_a_work_copy_start_no_program() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = DivergedBranches::new();
    let copy = fixture.copy();
    let made = commit(&copy, "b", "fixed\n");
    let trace = fixture.outside.path().join("trace");
    let script = fixture.outside.path().join("script");
    fs::write(&script, format!("#!/bin/sh\ntouch {}\nexec \"$@\"\n", trace.display())).expect("a file");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it may run");
    fs::create_dir(copy.dir().join(".git/hooks")).expect("a directory");
    for hook in ["pre-receive", "post-checkout", "reference-transaction", "post-index-change"] {
        fs::copy(&script, copy.dir().join(".git/hooks").join(hook)).expect("a hook");
    }
    let run = script.display();
    let config = format!(
        "[core]\n fsmonitor = {run}\n sshCommand = {run}\n alternateRefsCommand = {run}\n pager = {run}\n\
         [uploadpack]\n packObjectsHook = {run}\n[include]\n path = /dev/zero\n[uploadpack]\n hideRefs = HEAD\n"
    );
    fs::write(copy.dir().join(".git/config"), config).expect("a file");
    assert_eq!(fixture.repository.git().fetch_from_work_copy(&copy, MAX_GROWTH).expect("the commit"), made);
    assert!(!trace.exists());
}

#[test]
fn a_malformed_object_is_not_fetched() {
    let fixture = DivergedBranches::new();
    let copy = fixture.copy();
    // A tree with an entry `.git`: a checkout would write into the git directory.
    let blob = run_git(copy.dir(), &["hash-object", "-w", "a"]);
    let bytes: Vec<u8> = (0..20).map(|i| u8::from_str_radix(&blob[2 * i..2 * i + 2], 16).expect("a digit")).collect();
    let raw = copy.dir().join("raw");
    fs::write(&raw, [b"100644 .git\0".as_slice(), &bytes].concat()).expect("a file");
    let tree = run_git(copy.dir(), &["hash-object", "-w", "--literally", "-t", "tree", "raw"]);
    let made = run_git(copy.dir(), &["commit-tree", "-m", "evil", "-p", "HEAD", &tree]);
    run_git(copy.dir(), &["update-ref", "HEAD", &made]);
    let git: Git = fixture.repository.git();
    let error = git.fetch_from_work_copy(&copy, MAX_GROWTH).expect_err("the tree is malformed");
    assert!(matches!(&error, GitError::CommandFailed { command: "fetch", .. }), "{error:?}");
    assert!(!git.has_commit(&Sha::from(made.as_str())).expect("a result"));
}
