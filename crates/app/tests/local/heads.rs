//! The head moves whenever it likes; no approval stands at a change that nobody read.

use std::process::Command;

use serde_json::json;

use crate::publish::{lines, roles};
use crate::shop::Shop;
use crate::talk::Talk;

/// How many calls of git a run makes after its report was saved, at most.
const CALLS: usize = 16;

// spec: PUB-15, PUB-21 @local
#[test]
fn a_head_that_moves_under_an_approval_is_not_approved() {
    let shop = Shop::with_config(&roles(&["alpha"], ""));
    let path = moving_git(&shop);
    let (mut lifted, mut over) = (0, false);
    for call in 1..=CALLS {
        let (topic, next) = (format!("topic-{call}"), format!("next-{call}"));
        shop.git(&["switch", "--quiet", "main"]);
        shop.branch(&topic, &[("a.txt", &lines(20))]);
        shop.ends(0, &["local", "open"]);
        let read = shop.head();
        let unread = shop.branch(&next, &[("b.txt", "nobody read this\n")]);
        shop.git(&["switch", "--quiet", &topic]);
        let report = shop.full_report("alpha", json!({ "summary": format!("saved-{call}-saved") }));
        let report = shop.file("report.json", report.to_string());
        shop.file("move", format!("{call} saved-{call}-saved {topic} {unread}"));
        // Of a run that made fewer calls.
        let _ = std::fs::remove_file(shop.outside("calls"));
        let mut review = shop.referee(&["review", "--role", "alpha", "--report", &report]);
        let ran = review.env("PATH", &path).output().expect("referee runs");
        let moved = !shop.outside("move").exists();
        let pull = format!("L{call}");
        let head = shop.git(&["rev-parse", &topic]);
        assert_eq!(head == unread, moved);
        let talk = Talk::on(&shop, &pull);
        let newest = talk.newest();
        let words = String::from_utf8_lossy(&ran.stderr);
        if moved {
            // After its last look a run is over: what is pushed then is for the next one. Never before.
            let approved = newest.as_deref() == Some("approve");
            assert!(approved || !over, "call {call} {:?}\n{words}", talk.forms());
            over |= approved;
            lifted += usize::from(newest.as_deref() == Some("request_changes"));
            shop.git(&["reset", "--quiet", "--hard"]);
            shop.played("alpha", json!({}));
        }
        let talk = Talk::on(&shop, &pull);
        assert_eq!(talk.newest().as_deref(), Some("approve"), "the next verdict lifts it: {:?}\n{words}", talk.forms());
        let evaluated = format!("Evaluated against {}", &(if moved { unread } else { read })[..7]);
        assert!(talk.says("alpha").contains(&evaluated), "{}", talk.says("alpha"));
    }
    assert!(lifted > 0, "in one run at least the head moved right after the approval, and that was answered");
    assert!(over, "in the last run it moved too late to be seen");
}

/// A `git` that moves a branch at its n-th call after the report was saved, once; the search path that finds it.
fn moving_git(shop: &Shop) -> String {
    let found = Command::new("sh").args(["-c", "command -v git"]).output().expect("a shell");
    let real = String::from_utf8(found.stdout).expect("a path").trim().to_owned();
    let bin = shop.outside("bin");
    std::fs::create_dir(&bin).expect("a folder");
    let (order, calls, repo) = (shop.outside("move"), shop.outside("calls"), shop.dir());
    let script = format!(
        r#"#!/bin/sh
if [ -e '{order}' ]; then
  read -r at words branch commit <'{order}'
  if cat '{repo}'/.git/referee/state.db* | grep -aq "$words"; then
    echo call >>'{calls}'
    if [ "$(wc -l <'{calls}')" -ge "$at" ]; then
      rm '{order}' '{calls}'
      '{real}' -C '{repo}' update-ref "refs/heads/$branch" "$commit"
    fi
  fi
fi
exec '{real}' "$@"
"#,
        order = order.display(),
        calls = calls.display(),
        repo = repo.display(),
    );
    let file = bin.join("git");
    std::fs::write(&file, script).expect("a script");
    let status = Command::new("chmod").arg("+x").arg(&file).status().expect("chmod runs");
    assert!(status.success());
    format!("{}:{}", bin.display(), std::env::var("PATH").expect("a PATH"))
}
