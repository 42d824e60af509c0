//! Names and kinds of files that a reviewer may meet.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use referee_core::model::Sha;
use referee_core::track::{ChangeKind, FileDiff};
use referee_git::{is_lfs_pointer, parse_diff};

use crate::repository::Repository;

/// What git itself calls the files of a change, without quotes: status, path, and the path before where it was renamed.
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

fn told(files: &[FileDiff<'_>]) -> Vec<(u8, Vec<u8>, Option<Vec<u8>>)> {
    let status = |kind| match kind {
        ChangeKind::Added => b'A',
        ChangeKind::Deleted => b'D',
        ChangeKind::Modified => b'M',
        ChangeKind::Renamed => b'R',
    };
    let bytes = |path: &str| path.as_bytes().to_vec();
    let mut files: Vec<_> =
        files.iter().map(|it| (status(it.kind), bytes(&it.path), it.old_path.as_deref().map(bytes))).collect();
    files.sort();
    files
}

const NASTY: &[&str] = &[
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
fn the_diff_names_exactly_the_files_that_git_names() {
    let repository = Repository::new();
    let text = |name: &str, edit: &str| (0..20).map(|line| format!("{name} {line}{edit}\n")).collect::<String>();
    for name in NASTY {
        repository.write(&format!("edited/{name}"), text(name, ""));
        repository.write(&format!("gone/{name}"), text(name, " gone"));
        repository.write(&format!("from/{name}"), text(name, " moved"));
    }
    let old = repository.commit();
    std::fs::remove_dir_all(repository.path("gone")).expect("a folder");
    std::fs::remove_dir_all(repository.path("from")).expect("a folder");
    for name in NASTY {
        repository.write(&format!("edited/{name}"), text(name, "").replace(" 7\n", " seven\n"));
        repository.write(&format!("to/{name}!"), text(name, " moved").replace(" 9 ", " nine "));
        repository.write(&format!("{name}/new"), text(name, " new"));
    }
    let new = repository.commit();
    let git = repository.discovered();
    let diff = git.diff(&old, &new).expect("a diff");
    let files = parse_diff(&diff).expect("it is read");
    assert_eq!(told(&files), name_status(&repository, &old, &new));
    assert_eq!(files.len(), 4 * NASTY.len());

    let paths: Vec<&str> = files.iter().filter(|it| it.new_blob.is_some()).map(|it| it.path.as_str()).collect();
    let blobs: Vec<&str> = files.iter().filter_map(|it| it.new_blob).collect();
    let contents = git.read_files(&new, &paths).expect("they are read");
    assert!(contents.iter().all(Option::is_some));
    assert_eq!(contents, git.read_blobs(&blobs).expect("they are read"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_text_is_read_by_its_blob() {
    use std::os::unix::ffi::OsStrExt;

    let repository = Repository::new();
    let old = repository.commit();
    let name = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
    std::fs::write(repository.path("").join(name(b"sign\xe9\n")), "one\n").expect("a file");
    let new = repository.commit();
    let git = repository.discovered();
    let diff = git.diff(&old, &new).expect("a diff");
    let files = parse_diff(&diff).expect("it is read");
    assert_eq!(files[0].path, "\"sign\\351\\n\"");
    assert_eq!(git.read_files(&new, &[&files[0].path]).expect("an answer"), [None], "it is not its name");
    let blob = files[0].new_blob.expect("a blob");
    assert_eq!(git.read_blobs(&[blob]).expect("it is read"), [Some(b"one\n".to_vec())]);
}

#[cfg(unix)]
#[test]
fn links_and_submodules_are_not_followed() {
    let repository = Repository::new();
    let old = repository.commit();
    std::os::unix::fs::symlink("/etc/hostname", repository.path("link")).expect("a link");
    repository.run(&["add", "--all"]);
    repository.run(&["update-index", "--add", "--cacheinfo", &format!("160000,{},module", old.as_str())]);
    repository.run(&["update-index", "--add", "--cacheinfo", &format!("160000,{},elsewhere", "1".repeat(40))]);
    repository.run(&["commit", "--quiet", "--message=odd"]);
    let new = repository.head();
    let git = repository.discovered();
    let contents = git.read_files(&new, &["link", "module", "elsewhere"]).expect("an answer");
    assert_eq!(contents, [Some(b"/etc/hostname".to_vec()), None, None]);
    let diff = git.diff(&old, &new).expect("a diff");
    let modes: Vec<_> = parse_diff(&diff).expect("it is read").iter().map(|it| it.new_mode).collect();
    assert_eq!(modes, [Some(0o160_000), Some(0o120_000), Some(0o160_000)]);
}

#[test]
fn a_repository_of_longer_names_is_read_alike() {
    let repository = Repository::init(&["--object-format=sha256"]);
    repository.write("file", "one\n");
    repository.write("empty", "");
    let old = repository.commit();
    repository.write("file", "two\n");
    repository.write("new empty", "");
    let new = repository.commit();
    assert_eq!(new.as_str().len(), 64);
    let git = repository.discovered();
    assert_eq!(git.resolve("HEAD~1").expect("an answer"), Some(old.clone()));
    assert_eq!(git.merge_base(&old, &new).expect("an answer"), Some(old.clone()));
    let diff = git.diff(&old, &new).expect("a diff");
    assert_eq!(told(&parse_diff(&diff).expect("it is read")), name_status(&repository, &old, &new));
    let nothing = git.empty_tree().expect("a tree");
    let whole = git.diff(&nothing, &new).expect("a diff");
    assert_eq!(parse_diff(&whole).expect("it is read").len(), 3);
    assert_eq!(git.commit_work_tree().expect("a commit").as_str().len(), 64);
    assert_eq!(git.blame(&new, "file", 1..=1).expect("it is known")[0].commit, new);
}

#[test]
fn pointers_of_lfs_are_known() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    assert!(is_lfs_pointer(pointer.as_bytes()));
    let extended = pointer.replace("oid", "ext-0-foo sha256:1\noid");
    assert!(is_lfs_pointer(extended.as_bytes()));
    for other in
        ["", "version 1\n", "oid sha256:4d7a\nsize 1\n", &pointer[..50], &(pointer.to_owned() + &"x".repeat(1024))]
    {
        assert!(!is_lfs_pointer(other.as_bytes()), "{other}");
    }
    assert!(!is_lfs_pointer(&[pointer.as_bytes(), b"\xff"].concat()));
}
