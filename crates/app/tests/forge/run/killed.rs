//! Expired leases: of a killed referee, and of a worker that is still running.

use std::fs;
use std::process::Stdio;

use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use super::{WorkerProject, until};
use crate::on_each_server;
use crate::site::RunOutput;

on_each_server! {
    killing_referee_ends_its_worker_and_the_next_pass_restarts_it
    work_finished_after_its_lease_expired_is_refused
}

// spec: DSP-14, DSP-16 @gitea @forgejo
fn killing_referee_ends_its_worker_and_the_next_pass_restarts_it(build: ServerBuild) {
    let project = WorkerProject::new(build, "good.sh");
    project.project("wip_max_age: 15s\n");
    let pull = project.red("red");
    let note = project.site.path("pid");
    project.set_worker(&format!("wrong.sh hangs {}", note.display()), "14s");
    let mut command = project.command(&["--run"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let worker: u32 = until(|| fs::read_to_string(&note).ok()?.trim().parse().ok());
    assert!(lives(worker));
    child.kill().expect("it runs");
    child.wait().expect("it ended");
    until(|| (!lives(worker)).then_some(()));

    // Until its lease expires no worker starts; then one does, with or without local state.
    project.site.forget();
    project.set_worker("good.sh", "14s");
    let worker = second(&project);
    assert_eq!(
        (&worker["type"], &worker["retry"], &worker["outcome"]),
        (&json!("ci-fix"), &json!(true), &json!("done"))
    );
    assert_eq!(worker["pushed"], project.site.at("alice", pull).head().as_str(), "{worker:#}");
    project.assert_unclaimed(pull.0);
    project.assert_starts_nothing();
    assert_eq!(project.comments(pull.0).matches("Worker done").count(), 1);
    project.assert_harmless();
}

// spec: DSP-14, DSP-15 @gitea @forgejo
fn work_finished_after_its_lease_expired_is_refused(build: ServerBuild) {
    let project = WorkerProject::new(build, "good.sh");
    let pull = project.red("red");
    let flag = project.site.path("flag");
    project.set_worker(&format!("wrong.sh waits {}", flag.display()), "5m");
    let mut command = project.command(&["--run", "--json"]);
    let slow = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    until(|| flag.exists().then_some(()));
    // For a project with a shorter lease it has expired.
    project.project("wip_max_age: 15s\n");
    project.set_worker("good.sh", "14s");
    let worker = second(&project);
    let head = project.site.at("alice", pull).head();
    assert_eq!((&worker["retry"], &worker["pushed"]), (&json!(true), &json!(head.as_str())), "{worker:#}");
    fs::remove_file(&flag).expect("the flag");
    let ran = RunOutput::from_output(slow.wait_with_output().expect("it ends"));
    assert!(ran.out.contains("its lease was taken over"), "{}\n{}", ran.out, ran.err);
    assert_eq!(project.site.at("alice", pull).head(), head);
    project.assert_unclaimed(pull.0);
    project.assert_harmless();
}

/// Returns the worker that starts after a lease expired.
fn second(project: &WorkerProject) -> Value {
    until(|| {
        let ran = project.pass(&["--run", "--json"]);
        assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
        let document: Value = serde_json::from_str(&ran.out).expect("a document");
        Some(document["worker"].clone()).filter(Value::is_object)
    })
}

/// Whether a process is there, and not merely unburied.
fn lives(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}
