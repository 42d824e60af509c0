//! Loops that must end: a reviewer who never has enough, and a person who has not looked again.

use referee_testkit::server::{OWNER, ServerBuild};
use serde_json::{Value, json};

use super::Shop;
use crate::on_each_server;
use crate::play::{pair, role};

on_each_server! { an_endless_reviewer_ends_at_the_cap a_persons_block_is_answered_once_whatever_is_pushed }

// spec: LOOP-2, LOOP-4, DSP-15 @gitea @forgejo
fn an_endless_reviewer_ends_at_the_cap(build: ServerBuild) {
    let config = format!(
        "version = 1\n[loop]\nrounds = 3\noperator = \"{OWNER}\"\n[[role]]\nname = \"alpha\"\nbuiltin = true\n"
    );
    let shop = Shop::with(build, &[("README.md", "# shop\n"), ("referee.toml", &config)], "good.sh");
    shop.project("review_bots: [alpha]\nreview_users: [referee]\n");
    let pull = shop.site.open("topic", &[("src/mended.rs", "fn a() {}\n")]);
    let here = shop.site.at("alice", pull);
    here.report_check("ci", "success");
    let mut heads = vec![here.head()];
    for round in 1..=3 {
        let title = format!("Trouble of kind {round}");
        let finding = json!({ "title": title, "body": format!("{title}."), "severity": "critical",
                              "path": "src/mended.rs", "line": 1, "rule": format!("trouble-{round}") });
        // What it said before is mended, and there is always more.
        let fixed = |id| json!({ "finding": format!("F{id}"), "position": "fixed", "evidence": "src/mended.rs:1" });
        let positions: Vec<Value> = (1..round).map(fixed).collect();
        let turn = shop.site.report(pull, "alpha", json!({ "findings": [finding], "positions": positions }));
        assert_eq!(role(&turn, "alpha"), pair("request_changes", "request_changes"), "{turn:#}");
        assert_eq!(turn["pull"]["round"], round, "{turn:#}");
        if round < 3 {
            shop.does("findings");
            heads.push(here.head());
            here.report_check("ci", "success");
        }
    }
    heads.dedup();
    assert_eq!(heads.len(), 3, "each round was answered");
    shop.rests();
    let asks = || shop.comments(pull.0).matches("this pull needs your decision").count();
    assert_eq!(asks(), 1, "{}", shop.comments(pull.0));
    shop.quiet();
    assert_eq!((asks(), here.head()), (1, heads[2].clone()));
    shop.unclaimed(pull.0);
    shop.harmless();
}

// spec: DSP-5, DSP-15 @gitea @forgejo
fn a_persons_block_is_answered_once_whatever_is_pushed(build: ServerBuild) {
    let shop = Shop::new(build, "good.sh");
    let pull = shop.site.open("asked", &[("src/asked.rs", "fn a() {}\n")]);
    let (alice, ruth) = (shop.site.at("alice", pull), shop.site.at("ruth", pull));
    alice.report_check("ci", "success");
    ruth.open_thread("src/asked.rs", 1, "is it bound?");
    ruth.block("not like this");
    let worker = shop.does("findings");
    assert_eq!(worker["pushed"], alice.head().as_str());
    for text in ["fn b() {}\n", "fn c() {}\n"] {
        shop.quiet();
        alice.push("src/asked.rs", |_| text.to_owned());
        alice.report_check("ci", "success");
    }
    shop.quiet();
    // A new word of hers is a new cause; at a head that she approved nobody works.
    ruth.block("still not like this");
    shop.does("findings");
    shop.quiet();
    alice.report_check("ci", "success");
    ruth.approve("now it is");
    shop.quiet();
    shop.harmless();
}
