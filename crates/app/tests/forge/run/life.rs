//! The whole life of a change: an issue, its pull, its reviews, its workers, and a person who may take it.

use referee_core::model::PullNumber;
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use super::Shop;
use crate::on_each_server;
use crate::play::{pair, role, state};

on_each_server! { an_issue_becomes_a_pull_that_a_person_may_take }

const ROLES: &str =
    "version = 1\n[[role]]\nname = \"alpha\"\nbuiltin = true\n[[role]]\nname = \"beta\"\nbuiltin = true\n";

// spec: DSP-10, DSP-14, DSP-15, DSP-18, SAF-1 @gitea @forgejo
fn an_issue_becomes_a_pull_that_a_person_may_take(build: ServerBuild) {
    let shop = Shop::with(build, &[("README.md", "# shop\n"), ("referee.toml", ROLES)], "good.sh");
    shop.project("review_bots: [alpha, beta]\nreview_users: [referee]\n");
    let issue = shop.issue("Begin");
    let worker = shop.does("impl");
    assert_eq!(worker["opened"], format!("referee/issue-{issue}"), "{worker}");
    let pull = opened(&shop, issue);
    let here = shop.site.at("alice", pull);
    let begun = here.head();
    assert_eq!(here.fetch_pull()["base"]["ref"], "main");

    // Nobody has read it: reviews are waited for, by whatever starts them.
    shop.rests();
    here.report_check("ci", "success");
    let turn = shop.site.report(pull, "alpha", json!({ "findings": [finding("critical", "src/begun.rs")] }));
    assert_eq!(role(&turn, "alpha"), pair("request_changes", "request_changes"), "{turn:#}");
    shop.site.report(pull, "beta", json!({}));
    let worker = shop.does("findings");
    let mended = here.head();
    assert_eq!(worker["pushed"], mended.as_str(), "{worker}");
    assert_ne!(mended, begun);

    // One of them is content now, the other has something small to say.
    shop.rests();
    here.report_check("ci", "success");
    shop.site.report(pull, "alpha", json!({ "positions": [position("F1", "fixed")] }));
    let turn = shop.site.report(pull, "beta", json!({ "findings": [finding("warning", "src/mended.rs")] }));
    assert_eq!(role(&turn, "beta"), pair("approve", "approve"), "{turn:#}");
    assert!(state(&turn, "F2").1, "{turn:#}");
    shop.does("self-review");
    assert_eq!(here.head(), mended, "a self-review leaves the head alone");
    shop.does("address-feedback");
    let polished = here.head();
    assert_ne!(polished, mended);

    here.report_check("ci", "success");
    shop.site.report(pull, "alpha", json!({}));
    shop.site.report(pull, "beta", json!({ "positions": [position("F2", "fixed")] }));
    shop.does("self-review");
    let ran = shop.pass(&["--run"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, &*format!("HANDOFF:{}\n", pull.0)), "{}", ran.err);
    let ended = here.fetch_pull();
    assert_eq!((&ended["assignee"]["login"], &ended["state"]), (&json!("ruth"), &json!("open")), "{ended:#}");
    assert_eq!((shop.labels(pull), &ended["labels"][0]["name"]), (1, &json!("ready")));
    assert_eq!(ended["merged"], false);
    shop.unclaimed(pull.0);
    shop.harmless();

    shop.site.proxy.forget();
    shop.site.forget();
    shop.rests();
    assert_eq!(shop.site.proxy.write_count(), 0, "{:#?}", shop.site.proxy.log());
}

/// The one open pull, linked to its issue.
fn opened(shop: &Shop, issue: u64) -> PullNumber {
    let alice = shop.site.repo.as_("alice");
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
