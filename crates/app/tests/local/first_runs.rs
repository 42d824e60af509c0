//! Several first runs at the same moment in a repository that has no state yet.

use std::process::Stdio;

use crate::test_repo::TestRepo;

#[test]
fn first_runs_at_once_all_work_and_open_one_pull() {
    for _ in 0..3 {
        let repo = TestRepo::new();
        repo.branch("topic", &[("a.py", "def f(x=[]):\n    return x\n")]);
        let start = || {
            let mut run = repo.referee(&["review"]);
            run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("referee starts")
        };
        let runs: Vec<_> = (0..6).map(|_| start()).collect();
        for run in runs {
            let output = run.wait_with_output().expect("referee ends");
            let err = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{err}");
            assert!(!err.contains("error:") && !err.contains("warning:"), "{err}");
        }
        let pulls = repo.json(&["local", "list"]);
        assert_eq!(pulls["pulls"].as_array().map(Vec::len), Some(1), "{pulls:#}");
    }
}
