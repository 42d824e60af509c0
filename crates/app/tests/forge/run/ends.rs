//! Loops that must end: a reviewer that never approves, and a person who has not looked again.

use referee_testkit::server::{OWNER, ServerBuild};
use serde_json::{Value, json};

use super::WorkerProject;
use crate::on_each_server;
use crate::test_pull::{pair, role_verdicts};

on_each_server! { a_reviewer_that_never_approves_ends_at_the_round_limit a_persons_block_is_answered_once_whatever_is_pushed }

// spec: LOOP-2, LOOP-4, DSP-15 @gitea @forgejo
fn a_reviewer_that_never_approves_ends_at_the_round_limit(build: ServerBuild) {
    let config = format!(
        "version = 1\n[loop]\nrounds = 3\noperator = \"{OWNER}\"\n[[role]]\nname = \"alpha\"\nbuiltin = true\n"
    );
    let project = WorkerProject::with(build, &[("README.md", "# shop\n"), ("referee.toml", &config)], "good.sh");
    project.project("review_bots: [alpha]\nreview_users: [referee]\n");
    let pull = project.site.open("topic", &[("src/mended.rs", "fn a() {}\n")]);
    let here = project.site.at("alice", pull);
    here.report_check("ci", "success");
    let mut heads = vec![here.head()];
    for round in 1..=3 {
        let title = format!("Trouble of kind {round}");
        let finding = json!({ "title": title, "body": format!("{title}."), "severity": "critical",
                              "path": "src/mended.rs", "line": 1, "rule": format!("trouble-{round}") });
        // What it said before is mended, and there is always more.
        let fixed = |id| json!({ "finding": format!("F{id}"), "position": "fixed", "evidence": "src/mended.rs:1" });
        let positions: Vec<Value> = (1..round).map(fixed).collect();
        let turn = project.site.report(pull, "alpha", json!({ "findings": [finding], "positions": positions }));
        assert_eq!(role_verdicts(&turn, "alpha"), pair("request_changes", "request_changes"), "{turn:#}");
        assert_eq!(turn["pull"]["round"], round, "{turn:#}");
        if round < 3 {
            project.assert_done("findings");
            heads.push(here.head());
            here.report_check("ci", "success");
        }
    }
    heads.dedup();
    assert_eq!(heads.len(), 3, "each round was answered");
    project.assert_starts_nothing();
    let asks = || project.comments(pull.0).matches("this pull needs your decision").count();
    assert_eq!(asks(), 1, "{}", project.comments(pull.0));
    project.assert_quiet();
    assert_eq!((asks(), here.head()), (1, heads[2].clone()));
    project.assert_unclaimed(pull.0);
    project.assert_harmless();
}

// spec: DSP-5, DSP-15 @gitea @forgejo
fn a_persons_block_is_answered_once_whatever_is_pushed(build: ServerBuild) {
    let project = WorkerProject::new(build, "good.sh");
    let pull = project.site.open("asked", &[("src/asked.rs", "fn a() {}\n")]);
    let (alice, ruth) = (project.site.at("alice", pull), project.site.at("ruth", pull));
    alice.report_check("ci", "success");
    ruth.open_thread("src/asked.rs", 1, "is it bound?");
    ruth.block("not like this");
    let worker = project.assert_done("findings");
    assert_eq!(worker["pushed"], alice.head().as_str());
    for text in ["fn b() {}\n", "fn c() {}\n"] {
        project.assert_quiet();
        alice.push("src/asked.rs", |_| text.to_owned());
        alice.report_check("ci", "success");
    }
    project.assert_quiet();
    // A new comment of hers is a new cause; no worker starts at a head that she approved.
    ruth.block("still not like this");
    project.assert_done("findings");
    project.assert_quiet();
    alice.report_check("ci", "success");
    ruth.approve("now it is");
    project.assert_quiet();
    project.assert_harmless();
}
