//! Failing workers: the failure is recorded, nothing is pushed, the claim is released, and a person is asked.

use std::process::Stdio;

use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use super::{WorkerProject, until};
use crate::on_each_server;
use crate::site::RunOutput;

on_each_server! {
    a_worker_that_fails_is_recorded_and_a_person_is_asked
    work_for_a_head_that_moved_is_not_delivered
    a_failed_impl_is_retried_once_and_then_skipped
}

// spec: DSP-14, DSP-16 @gitea @forgejo
fn a_worker_that_fails_is_recorded_and_a_person_is_asked(build: ServerBuild) {
    let project = WorkerProject::new(build, "good.sh");
    for (branch, script, timeout, why) in [
        ("exits", "wrong.sh exits", "5m", "it left no result"),
        ("silent", "nothing.sh", "5m", "it left no result"),
        ("hangs", "wrong.sh hangs", "2s", "it was ended after"),
    ] {
        let pull = project.red(branch);
        let before = project.site.at("alice", pull).head();
        project.set_worker(script, timeout);
        let worker = project.worker(1);
        assert_eq!(worker["outcome"], "failed", "{branch}: {worker:#}");
        assert!(worker["summary"].as_str().is_some_and(|it| it.starts_with(why)), "{branch}: {worker:#}");
        assert_eq!(project.site.at("alice", pull).head(), before, "{branch}");
        assert!(project.comments(pull.0).contains("Worker failed"), "{branch}");
        project.assert_person_asked(pull);
        project.assert_harmless();
        project.site.at("alice", pull).close();
    }
}

// spec: DSP-14, DSP-15 @gitea @forgejo
fn work_for_a_head_that_moved_is_not_delivered(build: ServerBuild) {
    let project = WorkerProject::new(build, "good.sh");
    let pull = project.red("red");
    let flag = project.site.path("flag");
    project.set_worker(&format!("wrong.sh waits {}", flag.display()), "5m");
    let mut command = project.command(&["--run", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    until(|| flag.exists().then_some(()));
    let moved = project.site.at("alice", pull).push("src/red.rs", |_| "fn mine() {}\n".to_owned());
    std::fs::remove_file(&flag).expect("the flag");
    let ran = RunOutput::from_output(child.wait_with_output().expect("it ends"));
    let document: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
    let worker = &document["worker"];
    assert!(worker["refused"].to_string().contains("the head moved from"), "{document:#}");
    assert_eq!((&worker["pushed"], project.site.at("alice", pull).head()), (&json!(null), moved));
    project.assert_unclaimed(pull.0);
    project.assert_harmless();
}

// spec: DSP-14, DSP-18 @gitea @forgejo
fn a_failed_impl_is_retried_once_and_then_skipped(build: ServerBuild) {
    let project = WorkerProject::new(build, "wrong.sh exits");
    let number = project.issue("Begin");
    let alice = project.site.repo.as_("alice");
    for _ in 0..2 {
        let worker = project.worker(1);
        assert_eq!((&worker["type"], &worker["outcome"]), (&json!("impl"), &json!("failed")), "{worker:#}");
        let issue: Value = alice.send("GET", &format!("/issues/{number}"), None).json().expect("the issue");
        assert!(issue["assignee"].is_null(), "{issue:#}");
        project.assert_unclaimed(number);
    }
    project.assert_quiet();
    alice.send("POST", &format!("/issues/{number}/comments"), Some(&json!({"body": "try it like this"})));
    project.set_worker("good.sh", "5m");
    let worker = project.assert_done("impl");
    assert_eq!(worker["opened"], format!("referee/issue-{number}"), "{worker}");
    project.assert_harmless();
}
