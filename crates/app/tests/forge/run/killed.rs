//! referee that is killed while its worker runs.

use std::fs;
use std::process::Stdio;

use referee_testkit::server::Build;
use serde_json::json;

use super::{Shop, until};
use crate::on_each_server;

on_each_server! { who_kills_referee_kills_its_worker_and_it_is_started_once_more }

// spec: DSP-14, DSP-16 @gitea @forgejo
fn who_kills_referee_kills_its_worker_and_it_is_started_once_more(build: Build) {
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
    let worker = until(|| {
        let ran = shop.pass(&["--run", "--json"]);
        assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
        let document: serde_json::Value = serde_json::from_str(&ran.out).expect("a document");
        Some(document["worker"].clone()).filter(serde_json::Value::is_object)
    });
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

/// Whether a process is there, and not merely unburied.
fn lives(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}
