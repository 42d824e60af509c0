//! What a reviewer's program leaves running.
#![cfg(target_os = "linux")]

use std::path::Path;

use crate::test_repo::TestRepo;

/// Waits until the process whose id is in a file is gone. This never returns if nothing ends it.
fn wait_until_gone(pid_file: &Path) {
    let pid = std::fs::read_to_string(pid_file).expect("it was started");
    let stat = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    while stat().is_ok_and(|stat| !stat.contains(") Z ")) {
        std::thread::yield_now();
    }
}

// A linter that starts a server for its next run, and one that hangs until its deadline.
#[test]
fn nothing_that_a_reviewer_started_outlives_it() {
    let repo = TestRepo::with_config("version = 1\n[[role]]\nname = \"lint\"\ncommand = \"reader\"\n");
    repo.branch("topic", &[("a.txt", "one\n")]);
    for (end, code) in [("exit 7", 14), ("sleep 600", 14)] {
        let [group, session] = ["group", "session"].map(|name| repo.path_outside(name));
        let script = format!(
            "sleep 600 >/dev/null 2>&1 </dev/null & echo $! > '{}'\n\
             setsid sh -c 'echo $$ > \"{session}.new\"; mv \"{session}.new\" \"{session}\"; exec sleep 600' \
             >/dev/null 2>&1 </dev/null &\n\
             while ! test -s '{session}'; do :; done\n{end}\n",
            group.display(),
            session = session.display(),
        );
        repo.install_reviewer(&script, "timeout = \"5s\"");
        repo.run_expecting(code, &["review", "--full"]);
        for file in [&group, &session] {
            wait_until_gone(file);
            std::fs::remove_file(file).expect("a file");
        }
    }
}
