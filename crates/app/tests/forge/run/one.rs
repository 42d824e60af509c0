//! One worker: its result is delivered and recorded, and its claim is released.

use std::fs;

use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use super::WorkerProject;
use crate::on_each_server;

on_each_server! {
    a_workers_commit_is_pushed_and_recorded
    a_persons_block_is_answered_in_its_threads
    a_worker_without_a_result_has_failed
    an_issue_becomes_a_pull
    an_existing_branch_stays_and_the_pull_uses_another_name
    a_worker_that_cannot_run_is_reported_before_anything_is_written
}

// spec: DSP-13, DSP-14, DSP-15 @gitea
// spec: DSP-13, DSP-14, DSP-15 @forgejo
fn a_workers_commit_is_pushed_and_recorded(build: ServerBuild) {
    let project = WorkerProject::new(build, "good.sh");
    let pull = project.red("red");
    let before = project.site.at("alice", pull).head();
    let dry = project.pass(&["--run", "--dry-run"]);
    assert_eq!(dry.code, 0, "{}", dry.err);
    assert!(dry.err.contains("would start `hand` for ci-fix"), "{}", dry.err);
    assert_eq!(project.site.at("alice", pull).head(), before);

    let ran = project.pass(&["--run"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, &*format!("SPAWN:ci-fix:{}:{before}\n", pull.0)), "{}", ran.err);
    assert!(ran.err.contains("is done") && ran.err.contains("was pushed"), "{}", ran.err);
    let after = project.site.at("alice", pull).head();
    assert_ne!(after, before);
    assert_eq!(project.labels(pull), 0, "the label is off");
    let said = project.comments(pull.0);
    assert!(said.contains("Worker done"), "{said}");
    assert!(!said.contains("is what I print"), "{said}");

    // The claim is gone: the next cause is taken up at once.
    project.site.at("alice", pull).report_check("ci", "failure");
    let worker = project.worker(0);
    assert_eq!((&worker["type"], &worker["outcome"]), (&json!("ci-fix"), &json!("done")), "{worker}");
    let log = fs::read_to_string(worker["log"].as_str().expect("a log")).expect("a log");
    assert!(log.contains("is what I print"), "{log}");
}

// spec: DSP-2, DSP-15 @gitea
// spec: DSP-2, DSP-15 @forgejo
fn a_persons_block_is_answered_in_its_threads(build: ServerBuild) {
    let project = WorkerProject::new(build, "good.sh");
    let pull = project.site.open("asked", &[("src/asked.rs", "fn a() {}\n")]);
    let ruth = project.site.at("ruth", pull);
    ruth.open_thread("src/asked.rs", 1, "is it bound?");
    ruth.block("not like this");
    let worker = project.worker(0);
    assert_eq!((&worker["type"], &worker["outcome"]), (&json!("findings"), &json!("done")), "{worker}");
    let threads = project.site.json("comments", pull, &["--all", "--include-outdated"])["threads"].to_string();
    assert!(threads.contains("mended"), "{worker}\n{threads}");
    let waits = project.pass(&["--run"]);
    assert_eq!((waits.code, waits.out.as_str()), (0, ""), "answered once, then ruth is waited for: {}", waits.err);
}

// spec: DSP-14, DSP-15 @gitea
// spec: DSP-14, DSP-15 @forgejo
fn a_worker_without_a_result_has_failed(build: ServerBuild) {
    let project = WorkerProject::new(build, "nothing.sh");
    let pull = project.red("red");
    let before = project.site.at("alice", pull).head();
    let worker = project.worker(1);
    assert_eq!((&worker["outcome"], &worker["summary"]), (&json!("failed"), &json!("it left no result")), "{worker}");
    assert_eq!(project.site.at("alice", pull).head(), before, "a commit without a result goes nowhere");
    assert!(project.comments(pull.0).contains("Worker failed"));
    assert_eq!(project.labels(pull), 0);
    let again = project.pass(&["--run"]);
    assert_eq!(again.out, "", "a person is asked: {}", again.err);
}

// spec: DSP-18 @gitea @forgejo
fn an_issue_becomes_a_pull(build: ServerBuild) {
    let project = WorkerProject::new(build, "good.sh");
    let alice = project.site.repo.as_("alice");
    let number = project.issue("Begin");
    let worker = project.worker(0);
    assert_eq!(worker["opened"], format!("referee/issue-{number}"), "{worker}");
    let pulls: Vec<Value> = alice.send("GET", "/pulls?state=open&page=1&limit=50", None).json().expect("pulls");
    let [pull] = pulls.as_slice() else { panic!("one pull: {pulls:?}") };
    assert_eq!((&pull["title"], &pull["user"]["login"]), (&json!("Begin it"), &json!("referee")), "{pull}");
    assert!(pull["body"].as_str().unwrap_or_default().contains(&format!("#{number}")), "{pull}");
}

// spec: DSP-18, SAF-1 @gitea
// spec: DSP-18, SAF-1 @forgejo
fn an_existing_branch_stays_and_the_pull_uses_another_name(build: ServerBuild) {
    let project = WorkerProject::new(build, "good.sh");
    let alice = project.site.repo.as_("alice");
    let number = project.issue("Begin");
    let taken = format!("referee/issue-{number}");
    let body = json!({"new_branch_name": taken, "old_branch_name": "main"});
    assert!(alice.send("POST", "/branches", Some(&body)).is_success());
    let tip = || -> Value { alice.send("GET", &format!("/branches/{taken}"), None).json().expect("the branch") };
    let before = tip()["commit"]["id"].clone();
    let worker = project.worker(0);
    let opened = worker["opened"].as_str().unwrap_or_default();
    assert!(opened.starts_with(&format!("{taken}-")), "with the lease's epoch behind it: {worker}");
    assert_eq!(tip()["commit"]["id"], before);
}

// spec: DSP-14 @gitea @forgejo
fn a_worker_that_cannot_run_is_reported_before_anything_is_written(build: ServerBuild) {
    let project = WorkerProject::new(build, "good.sh");
    project.red("red");
    project.site.proxy.forget();
    let whole = fs::read_to_string(project.site.path("operator.toml")).expect("a file");
    for (what, instead, part) in [
        ("[workers.hand]", "[workers.hnad]", "did you mean `hnad`?"),
        ("\"5m\"", "\"60m\"", "can be taken over after 60 min"),
        ("\"sh\"", "\"no-such-agent\"", "`no-such-agent` is not on the PATH"),
        ("sandbox = 1", "sandbox = 3", "2 is the highest"),
        ("sandbox = 1", "sandbox = 1\nenv = [\"NO_KEY\"]", "`NO_KEY`, which is not set"),
    ] {
        fs::write(project.site.path("operator.toml"), whole.replace(what, instead)).expect("a file");
        let ran = project.pass(&["--run"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{part}: {}", ran.err);
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert_eq!(project.site.proxy.write_count(), 0, "{:?}", project.site.proxy.log());
}
