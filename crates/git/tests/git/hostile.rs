//! Repositories whose config, hooks and attributes try to start programs or to hide changes.

use referee_core::model::Sha;
use referee_git::{Git, GitError, GitIdentity, MergeOutcome, parse_diff};

use crate::repository::Repository;

/// Sets every config key and hook that can start a program. Each creates a file named after it, which the returned
/// function lists.
fn repository_with_traps() -> (Repository, impl Fn() -> Vec<String>) {
    let repository = Repository::new();
    let traps = repository.path("").join("traps");
    std::fs::create_dir_all(&traps).expect("a directory");
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
        std::fs::create_dir_all(&hooks).expect("a directory");
        std::fs::write(&path, format!("#!/bin/sh\n{}\n", trap(hook))).expect("a file");
        make_program(&path);
    }
    repository.run(&["config", "core.hooksPath", hooks.to_str().expect("text")]);
    let sprung = move || -> Vec<String> {
        let files = std::fs::read_dir(&traps).expect("a directory");
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
fn config_and_hooks_of_a_repository_start_no_program() {
    let (repository, sprung) = repository_with_traps();
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
    assert_eq!(sprung(), [] as [&str; 0], "preparing the repository starts nothing");

    let git = Git::discover(&repository.path("")).expect("a repository");
    git.head().expect("a result");
    git.default_branch().expect("a result");
    git.branches().expect("a result");
    git.author_identity().expect("a result");
    git.diff(&first, &second).expect("a diff");
    git.read_files(&second, &["a.txt"]).expect("a file");
    git.merge_base(&first, &second).expect("a result");
    let merged = git.try_merge(&second, &other).expect("a result");
    assert!(matches!(merged, MergeOutcome::Conflicts { paths, .. } if paths == ["a.txt"]));
    git.log(None, &second, 9).expect("a log");
    git.branch_moved_at("main", &second).expect("a result");
    git.pin_commit(&second).expect("it is kept");
    git.commit_staged().expect("a commit");
    let outside = tempfile::tempdir().expect("a directory");
    let worktree = git.add_worktree(&outside.path().join("files"), &second).expect("a worktree");
    assert_eq!(std::fs::read(worktree.dir().join("a.txt")).expect("a file"), b"two\n");
    worktree.remove().expect("it goes");
    let cache = Git::open_cache(&outside.path().join("cache")).expect("a cache");
    cache.fetch_commits(repository.path("").to_str().expect("text"), &[second], None).expect("it is fetched");
    assert_eq!(sprung(), [] as [&str; 0]);

    plain(&["switch", "--quiet", "--detach", first.as_str()]);
    repository.write("a.txt", "three\n");
    // The user's work tree goes through the user's filters, but here no attribute names one.
    git.is_clean().expect("a result");
    git.commit_work_tree().expect("a commit");
    assert_eq!(sprung(), [] as [&str; 0]);
    repository.run(&["status"]);
    assert!(!sprung().is_empty(), "plain git starts the programs");
}

#[test]
fn attributes_cannot_hide_changes() {
    let repository = Repository::new();
    repository.write("a.rs", "one\n");
    let old = repository.commit();
    repository.write("a.rs", "two\n");
    repository.write(".gitattributes", "*.rs -diff\n* binary\n");
    repository.write("deep/.gitattributes", "* -diff\n");
    repository.write("deep/b.rs", "text\n");
    let new = repository.commit();
    let diff = repository.discovered().diff(&old, &new).expect("a diff");
    let files = parse_diff(&diff).expect("a valid diff");
    assert_eq!(files.iter().filter(|file| !file.hunks().is_empty()).count(), 4);
    assert_eq!(files.len(), 4);
}

/// Ten trees of ten entries each, nine deep: a billion files in ten objects.
fn commit_with_a_billion_files(repository: &Repository, parent: &Sha) -> Sha {
    let mut entry = format!("100644 blob {}", repository.run(&["hash-object", "-w", "a.txt"]).trim());
    for _ in 0..9 {
        let listing: String = (0..10).map(|name| format!("{entry}\t{name}\n")).collect();
        entry = format!("040000 tree {}", repository.make_tree(&listing));
    }
    let tree = entry.rsplit(' ').next().expect("an id").to_owned();
    Sha::from(repository.run(&["commit-tree", "-p", parent.as_str(), "-m", "bomb", &tree]).trim())
}

#[test]
fn a_commit_of_a_billion_files_is_refused_by_every_command_that_would_visit_them() {
    let repository = Repository::new();
    repository.write("a.txt", "a\n");
    let old = repository.commit();
    let bomb = commit_with_a_billion_files(&repository, &old);
    let git = repository.git();
    let user = GitIdentity::default();
    let refused = [
        git.diff(&old, &bomb).map(drop),
        git.diff(&bomb, &old).map(drop),
        git.try_merge(&old, &bomb).map(drop),
        git.add_worktree(&repository.path("tree"), &bomb).map(drop),
        git.create_work_copy(&repository.path("copy"), &bomb, &old, &user).map(drop),
    ];
    for result in refused {
        assert!(matches!(result, Err(GitError::TooLarge(_))), "{result:?}");
    }
    assert!(!repository.path("tree").exists() && !repository.path("copy").exists(), "nothing was written");
    assert_eq!(git.find_oversized(&[(&old, &bomb), (&old, &old), (&bomb, &bomb)]).expect("counts"), [0]);
    // What a commit has in common with another one is not counted.
    let listing = format!(
        "040000 tree {}\tbomb\n100644 blob {}\tb.txt\n",
        repository.run(&["rev-parse", &format!("{}^{{tree}}", bomb.as_str())]).trim(),
        repository.run(&["hash-object", "-w", "a.txt"]).trim()
    );
    let with_file = repository.make_tree(&listing);
    let without = repository.make_tree(listing.lines().next().expect("a line"));
    let [with_file, without] =
        [with_file, without].map(|tree| Sha::from(repository.run(&["commit-tree", "-m", "shared", &tree]).trim()));
    let diff = git.diff(&without, &with_file).expect("a small change");
    assert_eq!(parse_diff(&diff).expect("a diff").len(), 1);
}
