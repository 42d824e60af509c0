//! Repositories that would have programs started.

use referee_git::{Git, MergeOutcome, parse_diff};

use crate::repository::Repository;

/// Everything that a clone's settings and hooks could start, each leaving a file named after it.
fn trapped() -> (Repository, impl Fn() -> Vec<String>) {
    let repository = Repository::new();
    let traps = repository.path("").join("traps");
    std::fs::create_dir_all(&traps).expect("a folder");
    let trap = |name: &str| format!("touch '{}'; cat", traps.join(name).display());
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.askPass",
        "pager.log",
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "filter.evil.smudge",
        "filter.evil.process",
        "filter.a=b.smudge",
        "merge.evil.driver",
        "gpg.program",
        "alias.rev-parse",
        "alias.diff-tree",
        "interactive.diffFilter",
    ] {
        let value = if key.starts_with("alias") { format!("!{}", trap(key)) } else { trap(key) };
        repository.run(&["config", key, &value]);
    }
    for (key, value) in [("filter.evil.required", "true"), ("log.showSignature", "true"), ("commit.gpgSign", "true")] {
        repository.run(&["config", key, value]);
    }
    let hooks = repository.path(".git/hooks");
    for hook in ["post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc", "fsmonitor-watchman"] {
        let path = hooks.join(hook);
        std::fs::create_dir_all(&hooks).expect("a folder");
        std::fs::write(&path, format!("#!/bin/sh\n{}\n", trap(hook))).expect("a file");
        make_program(&path);
    }
    repository.run(&["config", "core.hooksPath", hooks.to_str().expect("text")]);
    let sprung = move || -> Vec<String> {
        let files = std::fs::read_dir(&traps).expect("a folder");
        files.filter_map(|file| file.ok()?.file_name().into_string().ok()).collect()
    };
    (repository, sprung)
}

#[cfg(unix)]
fn make_program(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a program");
}

#[cfg(not(unix))]
fn make_program(_: &std::path::Path) {}

#[test]
fn no_program_of_a_repository_is_started() {
    let (repository, sprung) = trapped();
    let plain = |arguments: &[&str]| {
        let off = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "filter.evil.process=cat"];
        let required = ["-c", "filter.evil.required=false", "-c", "filter.evil.process="];
        repository.run(&[&off[..], &required, arguments].concat())
    };
    repository.write(".git/info/exclude", "traps\n");
    repository.write("a.txt", "one\n");
    repository.write("b.z", "one\n");
    plain(&["add", "--all"]);
    plain(&["commit", "--quiet", "--message=one"]);
    let first = repository.head();
    repository.write("a.txt", "other\n");
    plain(&["commit", "--quiet", "--all", "--message=other"]);
    let other = repository.head();
    plain(&["reset", "--quiet", "--hard", first.as_str()]);
    repository.write(".gitattributes", "*.txt diff=evil filter=evil merge=evil\n*.z filter=a=b\n");
    repository.write("a.txt", "two\n");
    plain(&["add", "--all"]);
    plain(&["commit", "--quiet", "--message=two"]);
    let second = repository.head();
    assert_eq!(sprung(), [] as [&str; 0], "setting the traps springs none");

    let git = Git::discover(&repository.path("")).expect("a repository");
    git.head().expect("an answer");
    git.default_branch().expect("an answer");
    git.branches().expect("an answer");
    git.author_identity().expect("an answer");
    git.diff(&first, &second).expect("a diff");
    git.read_files(&second, &["a.txt"]).expect("a file");
    git.merge_base(&first, &second).expect("an answer");
    assert_eq!(git.try_merge(&second, &other).expect("an answer"), MergeOutcome::Conflicts(vec!["a.txt".to_owned()]));
    git.log(None, &second, 9).expect("a log");
    git.branch_moved_at("main", &second).expect("an answer");
    git.blame(&second, "a.txt", 1..=1).expect("it is known");
    git.pin_commit(&second).expect("it is kept");
    git.commit_staged().expect("a commit");
    let outside = tempfile::tempdir().expect("a folder");
    let worktree = git.add_worktree(&outside.path().join("files"), &second).expect("a worktree");
    assert_eq!(std::fs::read(worktree.dir().join("a.txt")).expect("a file"), b"two\n");
    worktree.remove().expect("it goes");
    let cache = Git::open_cache(&outside.path().join("cache")).expect("a cache");
    cache.fetch_commits(repository.path("").to_str().expect("text"), &[second], None).expect("it is fetched");
    assert_eq!(sprung(), [] as [&str; 0]);

    plain(&["switch", "--quiet", "--detach", first.as_str()]);
    repository.write("a.txt", "three\n");
    // The user's own work tree goes through the user's own filters; here no attribute names one.
    git.is_clean().expect("an answer");
    git.commit_work_tree().expect("a commit");
    assert_eq!(sprung(), [] as [&str; 0]);
    repository.run(&["status"]);
    assert!(!sprung().is_empty(), "the traps are set");
}

/// A line in `.gitattributes` must not hide what a change does.
#[test]
fn attributes_hide_nothing() {
    let repository = Repository::new();
    repository.write("a.rs", "one\n");
    let old = repository.commit();
    repository.write("a.rs", "two\n");
    repository.write(".gitattributes", "*.rs -diff\n* binary\n");
    repository.write("deep/.gitattributes", "* -diff\n");
    repository.write("deep/b.rs", "text\n");
    let new = repository.commit();
    let diff = repository.discovered().diff(&old, &new).expect("a diff");
    let files = parse_diff(&diff).expect("it is read");
    assert_eq!(files.iter().filter(|file| !file.hunks().is_empty()).count(), 4);
    assert_eq!(files.len(), 4);
}
