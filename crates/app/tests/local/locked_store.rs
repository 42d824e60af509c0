//! A store that another process holds.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use rusqlite::Connection;

use crate::test_repo::TestRepo;

/// Reads the run's stderr until it says that it waits, then calls `release` and returns the exit code with all of stderr.
fn run_until_released(repo: &TestRepo, release: impl FnOnce()) -> (Option<i32>, String) {
    let mut run =
        repo.referee(&["review"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("referee starts");
    let mut lines = BufReader::new(run.stderr.take().expect("stderr")).lines().map_while(Result::ok);
    let mut err: Vec<String> = Vec::new();
    for line in lines.by_ref() {
        let waits = line.contains("waiting: another process holds");
        err.push(line);
        if waits {
            break;
        }
    }
    release();
    err.extend(lines);
    (run.wait().expect("referee ends").code(), err.join("\n"))
}

#[test]
fn a_locked_store_is_waited_for() {
    let repo = TestRepo::new();
    repo.branch("topic", &[("a.py", "def f(x):\n    return x\n")]);
    repo.run_expecting(0, &["review"]);
    let store = repo.dir().join(".git/referee/state.db");
    let writer = Connection::open(&store).expect("the store");
    writer.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    let (code, err) = run_until_released(&repo, || writer.execute_batch("ROLLBACK").expect("released"));
    assert!(code == Some(0) && err.contains("waiting: another process holds"), "{code:?} {err}");
    // Another process opens the store.
    let opener = File::options().write(true).open(store.with_extension("db.lock")).expect("the lock file");
    opener.lock().expect("a lock");
    let (code, err) = run_until_released(&repo, || drop(opener));
    assert!(code == Some(0) && err.contains("waiting: another process holds"), "{code:?} {err}");
}
