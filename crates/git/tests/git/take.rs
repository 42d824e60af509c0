use std::fs;
use std::path::Path;

use referee_core::model::Sha;
use referee_git::{Git, GitError, WorkCopy};

use crate::work_copy::{Parted, work};

const ROOM: u64 = 1 << 20;

fn commit(copy: &WorkCopy, path: &str, text: &str) -> Sha {
    fs::write(copy.dir().join(path), text).expect("a file");
    work(copy.dir(), &["add", "--all"]);
    work(copy.dir(), &["commit", "--quiet", "--message=step"]);
    Sha::from(work(copy.dir(), &["rev-parse", "HEAD"]).as_str())
}

fn tampered(error: &GitError, with: &str) -> bool {
    matches!(error, GitError::WorkCopyTampered { why } if why.contains(with))
}

#[test]
fn what_was_committed_comes_back_and_nothing_else() {
    let parted = Parted::new();
    let git = parted.repository.git();
    let copy = parted.copy();
    assert_eq!(git.fetch_from_work_copy(&copy, ROOM).expect("an answer"), parted.head, "nothing was done");
    let made = commit(&copy, "b", "mended\n");
    fs::write(copy.dir().join("b"), "not committed\n").expect("a file");
    assert_eq!(git.fetch_from_work_copy(&copy, ROOM).expect("it comes back"), made);
    assert_eq!(git.read_files(&made, &["b"]).expect("a file"), [Some(b"mended\n".to_vec())]);

    work(copy.dir(), &["switch", "--quiet", "--create", "mine"]);
    let made = commit(&copy, "b", "on a branch\n");
    assert_eq!(git.fetch_from_work_copy(&copy, ROOM).expect("it comes back"), made);
    work(copy.dir(), &["switch", "--quiet", "--orphan", "nothing"]);
    let error = git.fetch_from_work_copy(&copy, ROOM).expect_err("nothing is checked out");
    assert!(tampered(&error, "nothing is checked out"), "{error:?}");
}

#[cfg(unix)]
#[test]
fn a_copy_that_leads_elsewhere_is_refused() {
    type Deed = fn(&Path, &Path);
    let cases: [(&str, Deed, &str); 9] = [
        (
            "a link for the git folder",
            |dir, away| {
                fs::rename(dir.join(".git"), away.join("git")).expect("it moves");
                std::os::unix::fs::symlink(away.join("git"), dir.join(".git")).expect("a link");
            },
            "no folder",
        ),
        (
            "a file for the git folder",
            |dir, away| {
                fs::rename(dir.join(".git"), away.join("git")).expect("it moves");
                fs::write(dir.join(".git"), format!("gitdir: {}\n", away.join("git").display())).expect("a file");
            },
            "no folder",
        ),
        (
            "objects of somebody else",
            |dir, away| {
                fs::create_dir_all(dir.join(".git/objects/info")).expect("a folder");
                fs::write(dir.join(".git/objects/info/alternates"), format!("{}\n", away.display())).expect("a file");
            },
            "alternates",
        ),
        (
            "a common folder",
            |dir, away| {
                fs::write(dir.join(".git/commondir"), away.display().to_string()).expect("a file");
            },
            "commondir",
        ),
        (
            "a history that is cut off",
            |dir, _| {
                fs::copy(dir.join(".git/HEAD"), dir.join(".git/shallow")).expect("a file");
            },
            "shallow",
        ),
        (
            "a history that is bent",
            |dir, _| {
                fs::create_dir_all(dir.join(".git/info")).expect("a folder");
                fs::copy(dir.join(".git/HEAD"), dir.join(".git/info/grafts")).expect("a file");
            },
            "grafts",
        ),
        (
            "a link among its refs",
            |dir, away| {
                fs::write(away.join("secret"), "0123\n").expect("a file");
                std::os::unix::fs::symlink(away.join("secret"), dir.join(".git/refs/heads/x")).expect("a link");
            },
            "neither a file nor a folder",
        ),
        (
            "a pipe that nobody writes to",
            |dir, _| {
                let made = std::process::Command::new("mkfifo").arg(dir.join(".git/packed-refs")).status();
                assert!(made.expect("it runs").success());
            },
            "neither a file nor a folder",
        ),
        (
            "more than there is room for",
            |dir, _| {
                fs::write(dir.join(".git/objects/large"), vec![0; 2 << 20]).expect("a file");
            },
            "grew",
        ),
    ];
    for (case, deed, with) in cases {
        let parted = Parted::new();
        let copy = parted.copy();
        let made = commit(&copy, "b", "mended\n");
        let away = tempfile::tempdir().expect("a folder");
        deed(copy.dir(), away.path());
        let git = parted.repository.git();
        let error = git.fetch_from_work_copy(&copy, ROOM).expect_err(case);
        assert!(tampered(&error, with), "{case}: {error:?}");
        assert!(!git.has_commit(&made).expect("an answer"), "{case}");
    }
}

#[cfg(unix)]
#[test]
fn settings_and_hooks_of_a_copy_start_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let parted = Parted::new();
    let copy = parted.copy();
    let made = commit(&copy, "b", "mended\n");
    let trace = parted.outside.path().join("trace");
    let script = parted.outside.path().join("script");
    fs::write(&script, format!("#!/bin/sh\ntouch {}\nexec \"$@\"\n", trace.display())).expect("a file");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it may run");
    fs::create_dir(copy.dir().join(".git/hooks")).expect("a folder");
    for hook in ["pre-receive", "post-checkout", "reference-transaction", "post-index-change"] {
        fs::copy(&script, copy.dir().join(".git/hooks").join(hook)).expect("a hook");
    }
    let run = script.display();
    let config = format!(
        "[core]\n fsmonitor = {run}\n sshCommand = {run}\n alternateRefsCommand = {run}\n pager = {run}\n\
         [uploadpack]\n packObjectsHook = {run}\n[include]\n path = /dev/zero\n[uploadpack]\n hideRefs = HEAD\n"
    );
    fs::write(copy.dir().join(".git/config"), config).expect("a file");
    assert_eq!(parted.repository.git().fetch_from_work_copy(&copy, ROOM).expect("it comes back"), made);
    assert!(!trace.exists());
}

#[test]
fn a_damaged_object_does_not_come_back() {
    let parted = Parted::new();
    let copy = parted.copy();
    // A tree that would write into a git folder.
    let blob = work(copy.dir(), &["hash-object", "-w", "a"]);
    let bytes: Vec<u8> =
        (0..20).map(|at| u8::from_str_radix(&blob[2 * at..2 * at + 2], 16).expect("a digit")).collect();
    let raw = copy.dir().join("raw");
    fs::write(&raw, [b"100644 .git\0".as_slice(), &bytes].concat()).expect("a file");
    let tree = work(copy.dir(), &["hash-object", "-w", "--literally", "-t", "tree", "raw"]);
    let made = work(copy.dir(), &["commit-tree", "-m", "evil", "-p", "HEAD", &tree]);
    work(copy.dir(), &["update-ref", "HEAD", &made]);
    let git: Git = parted.repository.git();
    let error = git.fetch_from_work_copy(&copy, ROOM).expect_err("it is damaged");
    assert!(matches!(&error, GitError::CommandFailed { command: "fetch", .. }), "{error:?}");
    assert!(!git.has_commit(&Sha::from(made.as_str())).expect("an answer"));
}
