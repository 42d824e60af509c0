//! A worker that rewrites history.

use referee_testkit::server::ServerBuild;
use serde_json::Value;

use super::network::Listener;
use super::{APART, Den, SEALED};
use crate::on_each_server;

on_each_server! {
    only_the_pulls_own_branch_moves
    history_is_the_pulls_own
    who_was_overtaken_pushes_nothing
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn only_the_pulls_own_branch_moves(build: ServerBuild) {
    let den = Den::new(build);
    let fate = den.send(SEALED, &["another-person"]);
    fate.pushed();
    let alice = den.site.repo.as_("alice");
    let tags: Value = alice.send("GET", "/tags", None).json().expect("tags");
    assert_eq!(tags.as_array().map_or(0, Vec::len), 0, "{tags}");
    let fate = den.send(APART, &["replaced"]);
    fate.pushed();
    let commit: Value = alice.send("GET", &format!("/git/commits/{}", fate.heads[1]), None).json().expect("the commit");
    assert_eq!(commit["parents"][0]["sha"], fate.heads[0].as_str(), "{commit}");
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn history_is_the_pulls_own(build: ServerBuild) {
    let den = Den::new(build);
    den.send(SEALED, &["new-root"]).refused("failed", "shares no history");
    den.send(APART, &["shallow"]).refused("failed", "`.git/shallow`");
}

// spec: DSP-15 @gitea
// spec: DSP-15 @forgejo
fn who_was_overtaken_pushes_nothing(build: ServerBuild) {
    let den = Den::new(build);
    let pull = den.open();
    let alice = den.site.at("alice", pull);
    alice.report_check("ci", "failure");
    let listener = {
        let alice = den.site.at("alice", pull);
        Listener::new("go on", move || drop(alice.push("src/topic_1.rs", |_| "fn alices() {}\n".to_owned())))
    };
    let fate = den.send_to(pull, APART, &["late", &listener.url()]);
    assert_eq!(fate.worker["pushed"], Value::Null, "{fate:?}");
    assert!(fate.worker["refused"].to_string().contains("the head moved from"), "{fate:?}");
    assert_eq!(listener.heard(), 1);
    let path = format!("/contents/src/topic_1.rs?ref={}", fate.heads[1]);
    let file: Value = alice.send("GET", &path, None).json().expect("the file");
    assert_ne!(file["sha"], Value::Null, "what alice pushed is there: {file}");
    let path = format!("/contents/src/mended.rs?ref={}", fate.heads[1]);
    assert_eq!(alice.send("GET", &path, None).status, 404, "{fate:?}");
}
