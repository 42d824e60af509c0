//! The head moves during a run: no approval may apply to a change that was not reviewed.

use std::process::Command;

use serde_json::json;

use crate::publish::{numbered_lines, roles_config};
use crate::pull_view::PullView;
use crate::test_repo::TestRepo;

/// How many calls of git a run makes after its report was saved, at most.
const CALLS: usize = 16;

// spec: PUB-15, PUB-21 @local
#[test]
fn a_head_that_moves_under_an_approval_is_not_approved() {
    let repo = TestRepo::with_config(&roles_config(&["alpha"], ""));
    let path = moving_git(&repo);
    let (mut lifted, mut over) = (0, false);
    for call in 1..=CALLS {
        let (topic, next) = (format!("topic-{call}"), format!("next-{call}"));
        repo.git(&["switch", "--quiet", "main"]);
        repo.branch(&topic, &[("a.txt", &numbered_lines(20))]);
        repo.run_expecting(0, &["local", "open"]);
        let read = repo.head();
        let unread = repo.branch(&next, &[("b.txt", "nobody read this\n")]);
        repo.git(&["switch", "--quiet", &topic]);
        let report = repo.full_report("alpha", json!({ "summary": format!("saved-{call}-saved") }));
        let report = repo.write_outside("report.json", report.to_string());
        repo.write_outside("move", format!("{call} saved-{call}-saved {topic} {unread}"));
        // Of a run that made fewer calls.
        let _ = std::fs::remove_file(repo.path_outside("calls"));
        let mut review = repo.referee(&["review", "--role", "alpha", "--report", &report]);
        let ran = review.env("PATH", &path).output().expect("referee runs");
        let moved = !repo.path_outside("move").exists();
        let pull = format!("L{call}");
        let head = repo.git(&["rev-parse", &topic]);
        assert_eq!(head == unread, moved);
        let talk = PullView::read_pull(&repo, &pull);
        let newest = talk.newest_verdict();
        let words = String::from_utf8_lossy(&ran.stderr);
        if moved {
            // After its last look a run is over: what is pushed then is for the next one. Never before.
            let approved = newest.as_deref() == Some("approve");
            assert!(approved || !over, "call {call} {:?}\n{words}", talk.verdicts());
            over |= approved;
            lifted += usize::from(newest.as_deref() == Some("request_changes"));
            repo.git(&["reset", "--quiet", "--hard"]);
            repo.report_json("alpha", json!({}));
        }
        let talk = PullView::read_pull(&repo, &pull);
        assert_eq!(
            talk.newest_verdict().as_deref(),
            Some("approve"),
            "the next verdict lifts it: {:?}\n{words}",
            talk.verdicts()
        );
        let evaluated = format!("Evaluated against {}", &(if moved { unread } else { read })[..7]);
        assert!(talk.review_text("alpha").contains(&evaluated), "{}", talk.review_text("alpha"));
    }
    assert!(lifted > 0, "in one run at least the head moved right after the approval, and that was answered");
    assert!(over, "in the last run it moved too late to be seen");
}

/// A `git` that moves a branch at its n-th call after the report was saved, once; the search path that finds it.
fn moving_git(repo: &TestRepo) -> String {
    let found = Command::new("sh").args(["-c", "command -v git"]).output().expect("a shell");
    let real = String::from_utf8(found.stdout).expect("a path").trim().to_owned();
    let bin = repo.path_outside("bin");
    std::fs::create_dir(&bin).expect("a folder");
    let (order, calls, work_tree) = (repo.path_outside("move"), repo.path_outside("calls"), repo.dir());
    let script = format!(
        r#"#!/bin/sh
if [ -e '{order}' ]; then
  read -r at words branch commit <'{order}'
  if cat '{work_tree}'/.git/referee/state.db* | grep -aq "$words"; then
    echo call >>'{calls}'
    if [ "$(wc -l <'{calls}')" -ge "$at" ]; then
      rm '{order}' '{calls}'
      '{real}' -C '{work_tree}' update-ref "refs/heads/$branch" "$commit"
    fi
  fi
fi
exec '{real}' "$@"
"#,
        order = order.display(),
        calls = calls.display(),
        work_tree = work_tree.display(),
    );
    let file = bin.join("git");
    std::fs::write(&file, script).expect("a script");
    let status = Command::new("chmod").arg("+x").arg(&file).status().expect("chmod runs");
    assert!(status.success());
    format!("{}:{}", bin.display(), std::env::var("PATH").expect("a PATH"))
}
