//! Claims that run out: under a referee that was killed, and under a worker that still works.

use std::fs;
use std::process::Stdio;

use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use super::{Shop, until};
use crate::on_each_server;
use crate::site::Ran;

on_each_server! {
    who_kills_referee_kills_its_worker_and_it_is_started_once_more
    what_outlives_its_claim_is_refused
}

// spec: DSP-14, DSP-16 @gitea @forgejo
fn who_kills_referee_kills_its_worker_and_it_is_started_once_more(build: ServerBuild) {
    let shop = Shop::new(build, "good.sh");
    shop.project("wip_max_age: 15s\n");
    let pull = shop.red("red");
    let note = shop.site.path("pid");
    shop.hires(&format!("wrong.sh hangs {}", note.display()), "14s");
    let mut command = shop.command(&["--run"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let worker: u32 = until(|| fs::read_to_string(&note).ok()?.trim().parse().ok());
    assert!(lives(worker));
    child.kill().expect("it runs");
    child.wait().expect("it ended");
    until(|| (!lives(worker)).then_some(()));

    // Its claim runs out; till then nobody is started, and then one, whatever this machine remembers.
    shop.site.forget();
    shop.hires("good.sh", "14s");
    let worker = second(&shop);
    assert_eq!(
        (&worker["type"], &worker["retry"], &worker["outcome"]),
        (&json!("ci-fix"), &json!(true), &json!("done"))
    );
    assert_eq!(worker["pushed"], shop.site.at("alice", pull).head().as_str(), "{worker:#}");
    shop.unclaimed(pull.0);
    shop.rests();
    assert_eq!(shop.comments(pull.0).matches("Worker done").count(), 1);
    shop.harmless();
}

// spec: DSP-14, DSP-15 @gitea @forgejo
fn what_outlives_its_claim_is_refused(build: ServerBuild) {
    let shop = Shop::new(build, "good.sh");
    let pull = shop.red("red");
    let flag = shop.site.path("flag");
    shop.hires(&format!("wrong.sh waits {}", flag.display()), "5m");
    let mut command = shop.command(&["--run", "--json"]);
    let slow = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    until(|| flag.exists().then_some(()));
    // To somebody with less patience it is gone.
    shop.project("wip_max_age: 15s\n");
    shop.hires("good.sh", "14s");
    let worker = second(&shop);
    let head = shop.site.at("alice", pull).head();
    assert_eq!((&worker["retry"], &worker["pushed"]), (&json!(true), &json!(head.as_str())), "{worker:#}");
    fs::remove_file(&flag).expect("the flag");
    let ran = Ran::of(slow.wait_with_output().expect("it ends"));
    assert!(ran.out.contains("its lease was taken over"), "{}\n{}", ran.out, ran.err);
    assert_eq!(shop.site.at("alice", pull).head(), head);
    shop.unclaimed(pull.0);
    shop.harmless();
}

/// What is told of the worker that is started when a claim has run out.
fn second(shop: &Shop) -> Value {
    until(|| {
        let ran = shop.pass(&["--run", "--json"]);
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
