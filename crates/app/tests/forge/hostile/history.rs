//! A worker that rewrites history.

use referee_testkit::server::ServerBuild;
use serde_json::Value;

use super::network::Listener;
use super::{HostileProject, TIER_1, TIER_2, share};
use crate::on_each_server;

on_each_server! {
    only_the_branch_of_the_pull_is_pushed
    a_worker_cannot_rewrite_the_pulls_history
    a_worker_commits_in_no_other_name
    a_rebase_keeps_every_change_and_its_author
    after_a_push_by_the_author_the_workers_commit_is_not_pushed
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn only_the_branch_of_the_pull_is_pushed(build: ServerBuild) {
    let project = HostileProject::new(build);
    let attempt = project.run_worker(TIER_2, &["own-branches"]);
    attempt.assert_pushed();
    let alice = project.site.repo.as_("alice");
    let tags: Value = alice.send("GET", "/tags", None).json().expect("tags");
    assert_eq!(tags.as_array().map_or(0, Vec::len), 0, "{tags}");
    let attempt = project.run_worker(TIER_1, &["replaced"]);
    attempt.assert_pushed();
    let commit: Value =
        alice.send("GET", &format!("/git/commits/{}", attempt.heads[1]), None).json().expect("the commit");
    assert_eq!(commit["parents"][0]["sha"], attempt.heads[0].as_str(), "{commit}");
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn a_worker_cannot_rewrite_the_pulls_history(build: ServerBuild) {
    let project = HostileProject::new(build);
    project.run_worker(TIER_2, &["new-root"]).assert_refused("failed", "shares no history");
    project.run_worker(TIER_1, &["shallow"]).assert_refused("failed", "`.git/shallow`");
    for mode in share(build, ["reset", "amended", "rebase"]) {
        let pull = project.open();
        let alice = project.site.at("alice", pull);
        alice.push_base("base.txt", |text| format!("{text}more\n"));
        alice.report_check("ci", "failure");
        project.run_worker_on(pull, TIER_1, &[mode]).assert_refused("needs_human", "its commits do not continue from ");
        alice.close();
    }
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn a_worker_commits_in_no_other_name(build: ServerBuild) {
    let project = HostileProject::new(build);
    for mode in share(build, ["another-person", "committed-by-another", "forged-then-own"]) {
        project.run_worker(TIER_1, &[mode]).assert_refused("needs_human", "is in another person's name");
    }
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn a_rebase_keeps_every_change_and_its_author(build: ServerBuild) {
    let project = HostileProject::new(build);
    let rebased = project.run_rebase(&["rebase"]);
    rebased.assert_pushed();
    assert!(rebased.comments.contains("solved conflicts in `README.md`"), "{rebased:?}");
    let alice = project.site.repo.as_("alice");
    let path = format!("/git/commits/{}", rebased.heads[1]);
    let commit: Value = alice.send("GET", &path, None).json().expect("the commit");
    let name = |who: &str| commit["commit"][who]["name"].as_str().unwrap_or_default().to_owned();
    assert_eq!((name("author").as_str(), name("committer").as_str()), ("alice", "referee"), "{commit}");
    project.run_rebase(&["rebase-merge"]).assert_pushed();

    let file = |ahead: u32| format!("src/topic_{}.rs", project.pulls.get() + ahead);
    let lost = |path: &str| format!("the change of `{path}` is lost");
    for mode in share(build, ["reset", "rebase-lose", "rebase-ours", "rebase-squash", "rebase-take", "amended"]) {
        let path = file(1);
        let attempt = project.run_rebase(&[mode, &path]);
        match mode {
            "reset" | "rebase-lose" | "rebase-ours" => attempt.assert_refused("needs_human", &lost(&path)),
            "rebase-squash" => attempt.assert_refused("needs_human", " is dropped"),
            "rebase-take" => attempt.assert_refused("needs_human", "is in another person's name"),
            _ => attempt.assert_refused("needs_human", "it is not based on the tip of the target branch"),
        }
    }
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn after_a_push_by_the_author_the_workers_commit_is_not_pushed(build: ServerBuild) {
    let project = HostileProject::new(build);
    let pull = project.open();
    let alice = project.site.at("alice", pull);
    alice.report_check("ci", "failure");
    let listener = {
        let alice = project.site.at("alice", pull);
        Listener::new("go on", move || drop(alice.push("src/topic_1.rs", |_| "fn alices() {}\n".to_owned())))
    };
    let attempt = project.run_worker_on(pull, TIER_1, &["late", &listener.url()]);
    assert_eq!(attempt.worker["pushed"], Value::Null, "{attempt:?}");
    assert!(attempt.worker["refused"].to_string().contains("the head moved from"), "{attempt:?}");
    assert_eq!(listener.heard(), 1);
    let path = format!("/contents/src/topic_1.rs?ref={}", attempt.heads[1]);
    let file: Value = alice.send("GET", &path, None).json().expect("the file");
    assert_ne!(file["sha"], Value::Null, "what alice pushed is there: {file}");
    let path = format!("/contents/src/mended.rs?ref={}", attempt.heads[1]);
    assert_eq!(alice.send("GET", &path, None).status, 404, "{attempt:?}");
}
