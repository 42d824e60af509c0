//! Workers that fail: it is recorded, nothing is pushed, the claim is given back, and a person is asked.

use std::process::Stdio;

use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use super::{Shop, until};
use crate::on_each_server;
use crate::site::Ran;

on_each_server! {
    a_worker_that_fails_is_recorded_and_a_person_is_asked
    what_was_done_for_a_head_that_moved_is_not_delivered
    a_failed_impl_is_started_once_more_and_then_passed_over
}

// spec: DSP-14, DSP-16 @gitea @forgejo
fn a_worker_that_fails_is_recorded_and_a_person_is_asked(build: ServerBuild) {
    let shop = Shop::new(build, "good.sh");
    for (branch, script, timeout, why) in [
        ("exits", "wrong.sh exits", "5m", "it left no result"),
        ("silent", "nothing.sh", "5m", "it left no result"),
        ("hangs", "wrong.sh hangs", "2s", "it was ended after"),
    ] {
        let pull = shop.red(branch);
        let before = shop.site.at("alice", pull).head();
        shop.hires(script, timeout);
        let worker = shop.worker(1);
        assert_eq!(worker["outcome"], "failed", "{branch}: {worker:#}");
        assert!(worker["summary"].as_str().is_some_and(|it| it.starts_with(why)), "{branch}: {worker:#}");
        assert_eq!(shop.site.at("alice", pull).head(), before, "{branch}");
        assert!(shop.comments(pull.0).contains("Worker failed"), "{branch}");
        shop.asked(pull);
        shop.harmless();
        shop.site.at("alice", pull).close();
    }
}

// spec: DSP-14, DSP-15 @gitea @forgejo
fn what_was_done_for_a_head_that_moved_is_not_delivered(build: ServerBuild) {
    let shop = Shop::new(build, "good.sh");
    let pull = shop.red("red");
    let flag = shop.site.path("flag");
    shop.hires(&format!("wrong.sh waits {}", flag.display()), "5m");
    let mut command = shop.command(&["--run", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    until(|| flag.exists().then_some(()));
    let moved = shop.site.at("alice", pull).push("src/red.rs", |_| "fn mine() {}\n".to_owned());
    std::fs::remove_file(&flag).expect("the flag");
    let ran = Ran::of(child.wait_with_output().expect("it ends"));
    let document: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
    let worker = &document["worker"];
    assert!(worker["refused"].to_string().contains("the head moved from"), "{document:#}");
    assert_eq!((&worker["pushed"], shop.site.at("alice", pull).head()), (&json!(null), moved));
    shop.unclaimed(pull.0);
    shop.harmless();
}

// spec: DSP-14, DSP-18 @gitea @forgejo
fn a_failed_impl_is_started_once_more_and_then_passed_over(build: ServerBuild) {
    let shop = Shop::new(build, "wrong.sh exits");
    let number = shop.issue("Begin");
    let alice = shop.site.repo.as_("alice");
    for _ in 0..2 {
        let worker = shop.worker(1);
        assert_eq!((&worker["type"], &worker["outcome"]), (&json!("impl"), &json!("failed")), "{worker:#}");
        let issue: Value = alice.send("GET", &format!("/issues/{number}"), None).json().expect("the issue");
        assert!(issue["assignee"].is_null(), "{issue:#}");
        shop.unclaimed(number);
    }
    shop.quiet();
    alice.send("POST", &format!("/issues/{number}/comments"), Some(&json!({"body": "try it like this"})));
    shop.hires("good.sh", "5m");
    let worker = shop.does("impl");
    assert_eq!(worker["opened"], format!("referee/issue-{number}"), "{worker}");
    shop.harmless();
}
