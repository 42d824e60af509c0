//! Unusual paths, file types and object formats.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use referee_core::model::Sha;
use referee_core::track::{ChangeKind, FileDiff};
use referee_git::parse_diff;

use crate::repository::Repository;

/// Returns status, path and old path of each changed file from `git diff --name-status -z`.
fn name_status(repository: &Repository, old: &Sha, new: &Sha) -> Vec<(u8, Vec<u8>, Option<Vec<u8>>)> {
    let output = Command::new("git")
        .args(["diff", "--name-status", "-z", "--find-renames", old.as_str(), new.as_str()])
        .current_dir(repository.path(""))
        .output()
        .expect("git runs");
    let mut fields = output.stdout.split(|byte| *byte == 0).map(<[u8]>::to_vec);
    let mut files = Vec::new();
    while let Some(status) = fields.next().filter(|status| !status.is_empty()) {
        let first = fields.next().expect("a path");
        let file = match status[0] {
            b'R' => (b'R', fields.next().expect("a path"), Some(first)),
            status => (status, first, None),
        };
        files.push(file);
    }
    files.sort();
    files
}

fn parsed_status(files: &[FileDiff<'_>]) -> Vec<(u8, Vec<u8>, Option<Vec<u8>>)> {
    let status = |kind| match kind {
        ChangeKind::Added => b'A',
        ChangeKind::Deleted => b'D',
        ChangeKind::Modified => b'M',
        ChangeKind::Renamed => b'R',
    };
    let bytes = |path: &str| path.as_bytes().to_vec();
    let mut files: Vec<_> =
        files.iter().map(|file| (status(file.kind), bytes(&file.path), file.old_path.as_deref().map(bytes))).collect();
    files.sort();
    files
}

const UNUSUAL_PATHS: &[&str] = &[
    "plain",
    "two words",
    " leading",
    "trailing ",
    "tab\tin it",
    "line\nbreak",
    "\n",
    "carriage\rreturn",
    "quote\"in it",
    "\"quoted\"",
    "it's",
    "back\\slash",
    "\\n",
    "größe",
    "gro\u{308}ße",
    "日本語/ファイル",
    "🦀",
    "-option",
    "--",
    ":(top)magic",
    ":colon",
    "a/b/c",
    "b/b b/b",
    " b/x",
    "a => b",
    "{a => b}",
    "dev/null",
    "*?[x]",
    "$(touch x)",
    "`touch y`",
    "\u{7f}\u{1}",
    "\u{202e}txt.exe",
    "~",
    "%s%n",
    "@{upstream}",
    "HEAD",
];

#[test]
fn parsed_paths_match_those_of_git_name_status() {
    let repository = Repository::new();
    let text = |name: &str, edit: &str| (0..20).map(|line| format!("{name} {line}{edit}\n")).collect::<String>();
    for name in UNUSUAL_PATHS {
        repository.write(&format!("edited/{name}"), text(name, ""));
        repository.write(&format!("gone/{name}"), text(name, " gone"));
        repository.write(&format!("from/{name}"), text(name, " moved"));
    }
    let old = repository.commit();
    std::fs::remove_dir_all(repository.path("gone")).expect("a directory");
    std::fs::remove_dir_all(repository.path("from")).expect("a directory");
    for name in UNUSUAL_PATHS {
        repository.write(&format!("edited/{name}"), text(name, "").replace(" 7\n", " seven\n"));
        repository.write(&format!("to/{name}!"), text(name, " moved").replace(" 9 ", " nine "));
        repository.write(&format!("{name}/new"), text(name, " new"));
    }
    let new = repository.commit();
    let git = repository.discovered();
    let diff = git.diff(&old, &new).expect("a diff");
    let files = parse_diff(&diff).expect("a valid diff");
    assert_eq!(parsed_status(&files), name_status(&repository, &old, &new));
    assert_eq!(files.len(), 4 * UNUSUAL_PATHS.len());

    let paths: Vec<&str> = files.iter().filter(|it| it.new_blob.is_some()).map(|it| it.path.as_str()).collect();
    let blobs: Vec<&str> = files.iter().filter_map(|it| it.new_blob).collect();
    let contents = git.read_files(&new, &paths).expect("contents");
    assert!(contents.iter().all(Option::is_some));
    assert_eq!(contents, git.read_blobs(&blobs).expect("contents"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_whose_path_is_not_utf8_is_read_by_its_blob_id() {
    use std::os::unix::ffi::OsStrExt;

    let repository = Repository::new();
    let old = repository.commit();
    let name = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
    std::fs::write(repository.path("").join(name(b"sign\xe9\n")), "one\n").expect("a file");
    let new = repository.commit();
    let git = repository.discovered();
    let diff = git.diff(&old, &new).expect("a diff");
    let files = parse_diff(&diff).expect("a valid diff");
    assert_eq!(files[0].path, "\"sign\\351\\n\"");
    assert_eq!(git.read_files(&new, &[&files[0].path]).expect("a result"), [None], "the quoted path is not its name");
    let blob = files[0].new_blob.expect("a blob");
    assert_eq!(git.read_blobs(&[blob]).expect("a blob"), [Some(b"one\n".to_vec())]);
}

#[cfg(unix)]
#[test]
fn symlinks_and_submodules_are_not_followed() {
    let repository = Repository::new();
    let old = repository.commit();
    std::os::unix::fs::symlink("/etc/hostname", repository.path("link")).expect("a link");
    repository.run(&["add", "--all"]);
    repository.run(&["update-index", "--add", "--cacheinfo", &format!("160000,{},module", old.as_str())]);
    repository.run(&["update-index", "--add", "--cacheinfo", &format!("160000,{},elsewhere", "1".repeat(40))]);
    repository.run(&["commit", "--quiet", "--message=odd"]);
    let new = repository.head();
    let git = repository.discovered();
    let contents = git.read_files(&new, &["link", "module", "elsewhere"]).expect("a result");
    assert_eq!(contents, [Some(b"/etc/hostname".to_vec()), None, None]);
    let diff = git.diff(&old, &new).expect("a diff");
    let modes: Vec<_> = parse_diff(&diff).expect("a valid diff").iter().map(|it| it.new_mode).collect();
    assert_eq!(modes, [Some(0o160_000), Some(0o120_000), Some(0o160_000)]);
}

#[test]
fn a_sha256_repository_is_supported() {
    let repository = Repository::init(&["--object-format=sha256"]);
    repository.write("file", "one\n");
    repository.write("empty", "");
    let old = repository.commit();
    repository.write("file", "two\n");
    repository.write("new empty", "");
    let new = repository.commit();
    assert_eq!(new.as_str().len(), 64);
    let git = repository.discovered();
    assert_eq!(git.resolve("HEAD~1").expect("a result"), Some(old.clone()));
    assert_eq!(git.merge_base(&old, &new).expect("a result"), Some(old.clone()));
    let diff = git.diff(&old, &new).expect("a diff");
    assert_eq!(parsed_status(&parse_diff(&diff).expect("a valid diff")), name_status(&repository, &old, &new));
    let nothing = repository.empty_tree();
    let full = git.diff(&nothing, &new).expect("a diff");
    assert_eq!(parse_diff(&full).expect("a valid diff").len(), 3);
    assert_eq!(git.commit_work_tree().expect("a commit").as_str().len(), 64);
}
