//! The file in the git folder: made late, whole or not there, shared, never overwritten.

use std::fs;
use std::path::Path;
use std::thread;

use referee_core::model::{Login, PullNumber};
use referee_forge::local::{LocalError, LocalForge};
use referee_forge::{ForgeError, Reader};
use referee_git::Git;
use referee_testkit::block_on;

use crate::repo::{FILE, Repo, alice, forge_in, now, ruth};

// spec: SAF-5 @local
#[test]
fn who_only_reads_makes_no_file() {
    let repo = Repo::new();
    let head = repo.branch("feature");
    let forge = repo.forge();
    assert_eq!(forge.list_pulls().expect("a list"), []);
    assert_eq!(forge.find_open_pull("feature", "main").expect("an answer"), None);
    assert_eq!(forge.last_used("feature").expect("an answer"), None);
    assert!(matches!(block_on(forge.fetch(PullNumber(1))), Err(ForgeError::NotFound(_))));
    let (preview, pull) = forge.preview_range("feature", "main", &alice(), None).expect("a preview");
    let fetched = block_on(preview.fetch(pull)).expect("a pull");
    assert_eq!((fetched.pull.head, fetched.pull.number), (head, PullNumber(1)));
    assert!(ruth(&preview).comment(pull, "what has no row cannot be written to").is_err());
    assert!(forge.as_user(&alice()).close(PullNumber(1)).is_err());
    assert!(!repo.top.join(".git/referee").exists(), "something was written");
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let repo = Repo::new();
    repo.pull("feature");
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&repo.top.join(".git/referee")), 0o700);
    assert_eq!(mode(&repo.database()), 0o600);
}

#[test]
fn worktrees_share_it() {
    let repo = Repo::new();
    let (forge, pull, head) = repo.pull("feature");
    let other = repo.beside("other");
    repo.git(&["worktree", "add", "--quiet", "--detach", &other.to_string_lossy()]);
    let there = forge_in(&other);
    assert_eq!(there.find_open_pull("feature", "main").expect("an answer"), Some(pull));
    ruth(&there).comment(pull, "from the other worktree").expect("a comment");
    let fetched = block_on(forge.fetch(pull)).expect("a pull");
    assert_eq!((fetched.comments.len(), fetched.pull.head), (1, head));
    assert_eq!(fetched.pull.repo_name, "api");
    assert_eq!(there.path(), forge.path());
}

#[test]
fn writers_at_once_lose_nothing() {
    const WRITERS: usize = 6;
    const WORDS: usize = 15;
    let repo = Repo::new();
    repo.branch("feature");
    // Nobody made the file yet: making it is part of the race.
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let repo = &repo;
            scope.spawn(move || {
                let forge = repo.forge();
                let pull = forge.open_range("feature", "main", &alice()).expect("one pull for all");
                for n in 0..WORDS {
                    ruth(&forge).comment(pull, &format!("{writer} says {n}")).expect("a comment");
                }
            });
        }
    });
    let forge = repo.forge();
    assert_eq!(forge.list_pulls().expect("a list").len(), 1);
    let comments = block_on(forge.fetch(PullNumber(1))).expect("a pull").comments;
    let mut words: Vec<&str> = comments.iter().map(|comment| comment.text.body_or_empty()).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), WRITERS * WORDS);
}

// spec: SAF-6 @local
#[test]
fn what_cannot_be_read_is_told_and_left_alone() {
    let repo = Repo::new();
    let (forge, pull, _) = repo.pull("feature");
    ruth(&forge).comment(pull, "kept").expect("a comment");
    let whole = fs::read(repo.database()).expect("a file");

    let mut newer = whole.clone();
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    let mut torn = whole.clone();
    torn[100..2000].fill(0xff);
    let cases = [
        ("newer", newer, "has schema 99, and this referee knows 1"),
        ("garbage", b"not a database, but a letter to my aunt".repeat(40), "is no database"),
        ("torn", torn, "is damaged"),
    ];
    for (name, bytes, said) in cases {
        fs::write(repo.database(), &bytes).expect("a file");
        let git = Git::discover(&repo.top).expect("a repository");
        let opened = LocalForge::open(git, now).expect_err(name);
        assert!(opened.to_string().contains(said), "{name}: {opened}");
        assert!(opened.to_string().contains("referee.db") && opened.hint().is_some(), "{name}: {opened}");
        let wrote = ruth(&forge).comment(pull, "lost?").expect_err(name);
        assert!(
            matches!(wrote, LocalError::NewerSchema { .. } | LocalError::InvalidDatabase { .. }),
            "{name}: {wrote}"
        );
        assert!(matches!(block_on(forge.fetch(pull)), Err(ForgeError::Unreadable(_))), "{name}");
        assert!(fs::read(repo.database()).expect("a file") == bytes, "{name}: it was overwritten");
    }

    fs::write(repo.database(), whole).expect("a file");
    assert_eq!(block_on(forge.fetch(pull)).expect("a pull").comments.len(), 1);
}

/// A folder in which nothing can be made, by a folder that stands where the file for sharing would be: whoever runs the
/// tests may be above all permissions.
#[test]
fn a_folder_that_cannot_be_written_is_still_read() {
    let repo = Repo::new();
    let (forge, pull, _) = repo.pull("feature");
    ruth(&forge).open_thread(pull, FILE, 2, "why?").expect("a thread");
    fs::create_dir(repo.top.join(".git/referee/referee.db-shm")).expect("a folder");
    let fetched = block_on(repo.forge().fetch(pull)).expect("a pull");
    assert_eq!(fetched.threads.len(), 1);
    let wrote = ruth(&forge).comment(pull, "lost?").expect_err("nothing can be written");
    assert!(matches!(wrote, LocalError::ReadOnly { .. }) && wrote.hint().is_some(), "{wrote:?}");
    assert!(wrote.to_string().starts_with("nothing was written: "), "{wrote}");
}

#[test]
fn a_file_in_the_way_is_told() {
    let repo = Repo::new();
    repo.branch("feature");
    fs::write(repo.top.join(".git/referee"), "in the way").expect("a file");
    let opened = repo.forge().open_range("feature", "main", &Login::from("alice")).expect_err("no room");
    assert!(matches!(opened, LocalError::ReadOnly { .. }), "{opened:?}");
    fs::remove_file(repo.top.join(".git/referee")).expect("out of the way");
    fs::create_dir_all(repo.database()).expect("a folder");
    let git = Git::discover(&repo.top).expect("a repository");
    let opened = LocalForge::open(git, now).expect_err("a folder is no database");
    assert!(opened.to_string().contains("not readable"), "{opened}");
}
