//! The whole life of a change: an issue, its pull, its reviews, its workers, and the handoff to a person.

use referee_core::model::PullNumber;
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use super::WorkerProject;
use crate::on_each_server;
use crate::test_pull::{pair, role_verdicts, state};

on_each_server! { an_issue_becomes_a_pull_that_a_person_may_take }

const ROLES: &str =
    "version = 1\n[[role]]\nname = \"alpha\"\nbuiltin = true\n[[role]]\nname = \"beta\"\nbuiltin = true\n";

// spec: DSP-10, DSP-14, DSP-15, DSP-18, SAF-1 @gitea @forgejo
fn an_issue_becomes_a_pull_that_a_person_may_take(build: ServerBuild) {
    let project = WorkerProject::with(build, &[("README.md", "# shop\n"), ("referee.toml", ROLES)], "good.sh");
    project.project("review_bots: [alpha, beta]\nreview_users: [referee]\n");
    let issue = project.issue("Begin");
    let worker = project.assert_done("impl");
    assert_eq!(worker["opened"], format!("referee/issue-{issue}"), "{worker}");
    let pull = opened(&project, issue);
    let here = project.site.at("alice", pull);
    let begun = here.head();
    assert_eq!(here.fetch_pull()["base"]["ref"], "main");

    // Nobody has read it: reviews are waited for, by whatever starts them.
    project.assert_starts_nothing();
    here.report_check("ci", "success");
    let turn = project.site.report(pull, "alpha", json!({ "findings": [finding("critical", "src/begun.rs")] }));
    assert_eq!(role_verdicts(&turn, "alpha"), pair("request_changes", "request_changes"), "{turn:#}");
    project.site.report(pull, "beta", json!({}));
    let worker = project.assert_done("findings");
    let mended = here.head();
    assert_eq!(worker["pushed"], mended.as_str(), "{worker}");
    assert_ne!(mended, begun);

    // One of them is content now, the other has something small to say.
    project.assert_starts_nothing();
    here.report_check("ci", "success");
    project.site.report(pull, "alpha", json!({ "positions": [position("F1", "fixed")] }));
    let turn = project.site.report(pull, "beta", json!({ "findings": [finding("warning", "src/mended.rs")] }));
    assert_eq!(role_verdicts(&turn, "beta"), pair("approve", "approve"), "{turn:#}");
    assert!(state(&turn, "F2").1, "{turn:#}");
    project.assert_done("self-review");
    assert_eq!(here.head(), mended, "a self-review leaves the head alone");
    project.assert_done("address-feedback");
    let polished = here.head();
    assert_ne!(polished, mended);

    here.report_check("ci", "success");
    project.site.report(pull, "alpha", json!({}));
    project.site.report(pull, "beta", json!({ "positions": [position("F2", "fixed")] }));
    project.assert_done("self-review");
    let ran = project.pass(&["--run"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, &*format!("HANDOFF:{}\n", pull.0)), "{}", ran.err);
    let ended = here.fetch_pull();
    assert_eq!((&ended["assignee"]["login"], &ended["state"]), (&json!("ruth"), &json!("open")), "{ended:#}");
    assert_eq!((project.labels(pull), &ended["labels"][0]["name"]), (1, &json!("ready")));
    assert_eq!(ended["merged"], false);
    project.assert_unclaimed(pull.0);
    project.assert_harmless();

    project.site.proxy.forget();
    project.site.forget();
    project.assert_starts_nothing();
    assert_eq!(project.site.proxy.write_count(), 0, "{:#?}", project.site.proxy.log());
}

/// The one open pull, linked to its issue.
fn opened(project: &WorkerProject, issue: u64) -> PullNumber {
    let alice = project.site.repo.as_("alice");
    let pulls: Vec<Value> = alice.send("GET", "/pulls?state=open&page=1&limit=50", None).json().expect("pulls");
    let [pull] = pulls.as_slice() else { panic!("one pull: {pulls:?}") };
    assert_eq!(
        (&pull["head"]["ref"], &pull["user"]["login"]),
        (&json!(format!("referee/issue-{issue}")), &json!("referee"))
    );
    assert!(pull["body"].as_str().unwrap_or_default().contains(&format!("#{issue}")), "{pull}");
    PullNumber(pull["number"].as_u64().expect("a number"))
}

fn finding(severity: &str, path: &str) -> Value {
    json!({ "title": format!("{path} is wrong"), "body": "It is.", "severity": severity, "path": path, "line": 1 })
}

fn position(id: &str, position: &str) -> Value {
    json!({ "finding": id, "position": position, "evidence": "src/mended.rs:1", "reply": "seen" })
}
