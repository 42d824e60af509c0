use referee_core::model::Sha;
use referee_git::{GitError, parse_diff};

use crate::repository::Repository;

#[test]
fn many_files_are_read_in_one_process() {
    let repository = Repository::new();
    let large: String = (0..40_000).map(|line| format!("line {line}\n")).collect();
    repository.write("a b.txt", "one\n");
    repository.write("dir/large", &large);
    repository.write("empty", "");
    repository.write("bytes", b"\0\xff\n");
    let head = repository.commit();
    let git = repository.git();
    let paths = ["dir/large", "a b.txt", "no such file", "empty", "dir", "bytes", "a missing"];
    let texts = git.read_files(&head, &paths).expect("contents");
    let expected: [Option<&[u8]>; 7] =
        [Some(large.as_bytes()), Some(b"one\n"), None, Some(b""), None, Some(b"\0\xff\n"), None];
    assert!(texts.iter().map(Option::as_deref).eq(expected));
    // More than `LS_TREE_THRESHOLD` paths take another code path.
    let many = git.read_files(&head, &paths.repeat(4)).expect("contents");
    assert!(many.iter().map(Option::as_deref).eq(expected.repeat(4)));
    assert_eq!(git.read_files(&head, &[]).expect("nothing is asked"), [] as [Option<Vec<u8>>; 0]);
    assert!(matches!(git.read_files(&head, &["a\0b"]), Err(GitError::InvalidPath(_))));
}

#[test]
fn reading_many_files_does_not_deadlock() {
    let repository = Repository::new();
    repository.write("a", "x".repeat(100_000));
    let head = repository.commit();
    let paths = vec!["a"; 300];
    let texts = repository.git().read_files(&head, &paths).expect("contents");
    assert!(texts.iter().all(|text| text.as_ref().is_some_and(|text| text.len() == 100_000)));
}

#[test]
fn only_full_commit_ids_are_passed_to_git() {
    let repository = Repository::new();
    let head = repository.commit();
    let git = repository.git();
    for name in ["--output=stolen", "HEAD", "main", "", "-p", "0123", &"g".repeat(40)] {
        let sha = Sha::from(name);
        assert!(matches!(git.diff(&sha, &head), Err(GitError::NotASha(_))), "{name}");
        assert!(matches!(git.read_files(&sha, &["a"]), Err(GitError::NotASha(_))), "{name}");
        assert!(matches!(git.read_blobs(&[name]), Err(GitError::NotASha(_))), "{name}");
    }
    let missing = Sha::from("0123456789012345678901234567890123456789");
    assert!(matches!(git.diff(&missing, &head), Err(GitError::CommitNotFound(sha)) if sha == missing));
    assert_eq!(git.read_blobs(&[missing.as_str()]).expect("it is missing"), [None]);
}

#[test]
fn repository_config_neither_starts_programs_nor_changes_a_diff() {
    let repository = Repository::new();
    let text: String = (0..30).map(|line| format!("line {line}\n")).collect();
    repository.write("a.txt", &text);
    repository.write(".gitattributes", "*.txt diff=evil\n");
    let old = repository.commit();
    repository.run(&["mv", "a.txt", "b.txt"]);
    repository.write("b.txt", text.replace("line 9\n", "line nine\n\n"));
    let new = repository.commit();
    let before = repository.git().diff(&old, &new).expect("a diff");
    for (key, value) in [
        ("diff.external", "touch started"),
        ("diff.evil.command", "touch started"),
        ("diff.evil.textconv", "touch started; cat"),
        ("core.pager", "touch started"),
        ("core.fsmonitor", "touch started"),
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.renames", "false"),
        ("diff.context", "0"),
        ("diff.interHunkContext", "50"),
        ("diff.suppressBlankEmpty", "true"),
        ("diff.algorithm", "minimal"),
        ("color.diff", "always"),
        ("color.ui", "always"),
        ("core.quotePath", "false"),
        ("core.abbrev", "4"),
    ] {
        repository.run(&["config", key, value]);
    }
    assert_eq!(repository.git().diff(&old, &new).expect("a diff"), before);
    assert!(!repository.path("started").exists(), "a program of the repository was started");
    let files = parse_diff(&before).expect("a valid diff");
    assert_eq!((files.len(), files[0].old_path.as_deref()), (1, Some("a.txt")));
}

/// The caller's `GIT_*` variables are meant for the caller's repository.
#[test]
fn git_variables_of_the_environment_are_ignored() {
    const INSIDE: &str = "REFEREE_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        return;
    }
    let me = std::env::current_exe().expect("the path of this program");
    let output = std::process::Command::new(me)
        .args([
            "--exact",
            "commands::repository_config_neither_starts_programs_nor_changes_a_diff",
            "commands::many_files_are_read_in_one_process",
        ])
        .env(INSIDE, "1")
        .env("GIT_DIR", "/nowhere")
        .env("GIT_OBJECT_DIRECTORY", "/nowhere")
        .env("GIT_EXTERNAL_DIFF", "/nowhere")
        .output()
        .expect("the tests run");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("2 passed"), "{stdout}");
}
