//! The database in the git folder: created on the first write, atomically, shared, never overwritten.

use std::fs;
use std::path::Path;
use std::thread;

use referee_core::model::{Login, PullNumber};
use referee_forge::local::{LocalError, LocalForge};
use referee_forge::{ForgeError, Reader};
use referee_git::Git;
use referee_testkit::block_on;

use crate::repo::{FILE, TestRepo, alice, forge_in, now, ruth};

// spec: SAF-5 @local
#[test]
fn reading_creates_no_file() {
    let repo = TestRepo::new();
    let head = repo.branch("feature");
    let forge = repo.forge();
    assert_eq!(forge.list_pulls().expect("a list"), []);
    assert_eq!(forge.find_open_pull("feature", "main").expect("a lookup"), None);
    assert_eq!(forge.last_used("feature").expect("a lookup"), None);
    assert!(matches!(block_on(forge.fetch(PullNumber(1))), Err(ForgeError::NotFound(_))));
    let (preview, pull) = forge.preview_range("feature", "main", &alice(), None).expect("a preview");
    let fetched = block_on(preview.fetch(pull)).expect("a pull");
    assert_eq!((fetched.pull.head, fetched.pull.number), (head, PullNumber(1)));
    assert!(ruth(&preview).comment(pull, "what has no row cannot be written to").is_err());
    assert!(forge.as_user(&alice()).close(PullNumber(1)).is_err());
    assert!(!repo.top.join(".git/referee").exists(), "reading wrote a file");
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let repo = TestRepo::new();
    repo.pull("feature");
    let mode = |path: &Path| fs::metadata(path).expect("the file exists").permissions().mode() & 0o777;
    assert_eq!(mode(&repo.top.join(".git/referee")), 0o700);
    assert_eq!(mode(&repo.database()), 0o600);
}

#[test]
fn worktrees_share_the_file() {
    let repo = TestRepo::new();
    let (forge, pull, head) = repo.pull("feature");
    let other = repo.beside("other");
    repo.git(&["worktree", "add", "--quiet", "--detach", &other.to_string_lossy()]);
    let other_forge = forge_in(&other);
    assert_eq!(other_forge.find_open_pull("feature", "main").expect("a lookup"), Some(pull));
    ruth(&other_forge).comment(pull, "from the other worktree").expect("a comment");
    let fetched = block_on(forge.fetch(pull)).expect("a pull");
    assert_eq!((fetched.comments.len(), fetched.pull.head), (1, head));
    assert_eq!(fetched.pull.repo_name, "api");
    assert_eq!(other_forge.path(), forge.path());
}

#[test]
fn concurrent_writers_lose_nothing() {
    const WRITERS: usize = 6;
    const COMMENTS: usize = 15;
    let repo = TestRepo::new();
    repo.branch("feature");
    // The file does not exist yet: creating it is part of the race.
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let repo = &repo;
            scope.spawn(move || {
                let forge = repo.forge();
                let pull = forge.open_range("feature", "main", &alice()).expect("one pull for all");
                for n in 0..COMMENTS {
                    ruth(&forge).comment(pull, &format!("{writer} says {n}")).expect("a comment");
                }
            });
        }
    });
    let forge = repo.forge();
    assert_eq!(forge.list_pulls().expect("a list").len(), 1);
    let comments = block_on(forge.fetch(PullNumber(1))).expect("a pull").comments;
    let mut texts: Vec<&str> = comments.iter().map(|comment| comment.text.body_or_empty()).collect();
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), WRITERS * COMMENTS);
}

// spec: SAF-6 @local
#[test]
fn an_unreadable_file_is_reported_and_not_overwritten() {
    let repo = TestRepo::new();
    let (forge, pull, _) = repo.pull("feature");
    ruth(&forge).comment(pull, "kept").expect("a comment");
    let intact = fs::read(repo.database()).expect("a file");

    let mut newer = intact.clone();
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    let mut damaged = intact.clone();
    damaged[100..2000].fill(0xff);
    let cases = [
        ("newer", newer, "has schema 99, and this referee knows 1"),
        ("garbage", b"this text is not an SQLite database....".repeat(40), "is no database"),
        ("damaged", damaged, "is damaged"),
    ];
    for (name, bytes, message) in cases {
        fs::write(repo.database(), &bytes).expect("a file");
        let git = Git::discover(&repo.top).expect("a repository");
        let opened = LocalForge::open(git, now).expect_err(name);
        assert!(opened.to_string().contains(message), "{name}: {opened}");
        assert!(opened.to_string().contains("referee.db") && opened.hint().is_some(), "{name}: {opened}");
        let error = ruth(&forge).comment(pull, "lost?").expect_err(name);
        assert!(
            matches!(error, LocalError::NewerSchema { .. } | LocalError::InvalidDatabase { .. }),
            "{name}: {error}"
        );
        assert!(matches!(block_on(forge.fetch(pull)), Err(ForgeError::Unreadable(_))), "{name}");
        assert!(fs::read(repo.database()).expect("a file") == bytes, "{name}: the file was overwritten");
    }

    fs::write(repo.database(), intact).expect("a file");
    assert_eq!(block_on(forge.fetch(pull)).expect("a pull").comments.len(), 1);
}

/// Makes the database read-only with a folder in place of SQLite's shared-memory file, because permissions do not bind
/// tests that run as root.
#[test]
fn a_read_only_folder_can_still_be_read() {
    let repo = TestRepo::new();
    let (forge, pull, _) = repo.pull("feature");
    ruth(&forge).open_thread(pull, FILE, 2, "why?").expect("a thread");
    fs::create_dir(repo.top.join(".git/referee/referee.db-shm")).expect("a folder");
    let fetched = block_on(repo.forge().fetch(pull)).expect("a pull");
    assert_eq!(fetched.threads.len(), 1);
    let error = ruth(&forge).comment(pull, "lost?").expect_err("nothing can be written");
    assert!(matches!(error, LocalError::ReadOnly { .. }) && error.hint().is_some(), "{error:?}");
    assert!(error.to_string().starts_with("nothing was written: "), "{error}");
}

#[test]
fn an_obstructed_path_is_reported() {
    let repo = TestRepo::new();
    repo.branch("feature");
    fs::write(repo.top.join(".git/referee"), "in the way").expect("a file");
    let opened = repo.forge().open_range("feature", "main", &Login::from("alice")).expect_err("a file is in the way");
    assert!(matches!(opened, LocalError::ReadOnly { .. }), "{opened:?}");
    fs::remove_file(repo.top.join(".git/referee")).expect("remove the file");
    fs::create_dir_all(repo.database()).expect("a folder");
    let git = Git::discover(&repo.top).expect("a repository");
    let opened = LocalForge::open(git, now).expect_err("a folder is not a database");
    assert!(opened.to_string().contains("not readable"), "{opened}");
}
