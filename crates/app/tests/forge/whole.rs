//! The whole loop: review, edit, push, review again, resolve, approve, ready. After each state one more run writes
//! nothing, as the wire tells.

use referee_testkit::server::ServerBuild;
use serde_json::json;

use crate::on_each_server;
use crate::play::{Play, actions, critical, finding, pair, position, role, state};

on_each_server! {
    a_review_is_edited_in_place_and_only_new_findings_open_threads
    what_is_fixed_is_resolved_and_the_loop_ends_in_ready
    every_change_of_a_verdict_leaves_the_rows_that_it_should
}

// spec: PUB-1, PUB-2, PUB-3, PUB-4, PUB-9, PUB-10, PUB-11, PUB-18, PUB-22 @gitea @forgejo
fn a_review_is_edited_in_place_and_only_new_findings_open_threads(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.as_("ruth").comment("somebody was here first");
    play.as_("ruth").open_thread("a.txt", 2, "and opened a thread");
    let people = play.talk();
    let turn = play.report("alpha", critical(3));
    assert_eq!(role(&turn, "alpha"), pair("request_changes", "request_changes"), "{turn:#}");
    let posted = play.talk();
    posted.keeps(&people);
    let [review] = posted.reviews()[..] else { panic!("{posted:#?}") };
    assert_eq!((&review["state"], &review["official"]), (&json!("REQUEST_CHANGES"), &json!(true)));
    assert_eq!(review["commit_id"], play.as_("alice").head().as_str());
    let text = posted.says(review);
    assert!(text.contains(&format!("Evaluated against {}", &play.as_("alice").head().as_str()[..7])), "{text}");
    let table: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert!(table.len() == 3 && table[2].contains("F1") && table[2].contains("Token is logged"), "{text}");
    let [note] = posted.notes("referee")[..] else { panic!("{posted:#?}") };
    assert_eq!((&note["path"], &note["position"]), (&json!("a.txt"), &json!(3)));
    assert_eq!(note["pull_request_review_id"], review["id"], "it came with the review");
    play.quiet();

    let more =
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 10)] });
    let turn = play.report("alpha", more);
    assert_eq!(actions(&turn), ["open_threads", "ensure_comment", "edit_review", "set_status"], "{turn:#}");
    let edited = play.talk();
    edited.keeps(&posted);
    let [now] = edited.reviews()[..] else { panic!("{edited:#?}") };
    assert_eq!((&now["id"], &now["body"]), (&review["id"], &review["body"]), "the list has the first text for ever");
    assert!(edited.says(now).contains("Loop never ends") && now["body"] != edited.says(now), "{}", edited.says(now));
    let places: Vec<_> = edited.notes("referee").iter().map(|note| note["position"].clone()).collect();
    assert_eq!(places, [3, 10]);
    let [notice] = &edited.comments("referee")[..] else { panic!("{edited:#?}") };
    assert!(notice.contains("Blocking findings changed") && notice.contains("2 blocking"), "{notice}");
    play.quiet();
}

// spec: INC-2, INC-3, INC-11, LOOP-7, LOOP-10, FIX-12, PUB-6, PUB-17, PUB-19, PUB-21 @gitea @forgejo
fn what_is_fixed_is_resolved_and_the_loop_ends_in_ready(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.report("alpha", critical(3));
    let first = play.talk();
    play.push(&[30]);
    let turn = play.report("alpha", position("F1", "still_there", "a.txt:3 logs it"));
    assert_eq!(state(&turn, "F1"), ("open".to_owned(), true));
    let kept = play.talk();
    kept.keeps(&first);
    assert_eq!(kept.notes("referee"), first.notes("referee"), "nothing is written in its thread");
    assert_eq!(kept.reviews().len(), 1, "edited at the new head");
    play.quiet();

    let head = play.push(&[3, 30]);
    let turn = play.report("alpha", position("F1", "fixed", "a.txt:3 is mended"));
    assert_eq!((state(&turn, "F1"), role(&turn, "alpha")), (("fixed".to_owned(), false), pair("approve", "approve")));
    let ended = play.talk();
    ended.keeps(&kept);
    assert_eq!(ended.forms(), ["REQUEST_CHANGES", "APPROVED"]);
    assert_eq!(ended.newest(), Some(("APPROVED".to_owned(), true)), "the block is lifted");
    let notes = ended.notes("referee");
    assert!(notes.len() == 2 && notes[1]["body"].to_string().contains(&head[..7]), "{notes:#?}");
    if build == ServerBuild::Forgejo10 {
        assert!(notes[0]["resolver"].is_null() && notes[0]["body"].to_string().contains("**Settled**"), "{notes:#?}");
    } else {
        assert_eq!(notes[0]["resolver"]["login"], "referee");
    }
    assert_eq!(turn["next"]["kind"], "ready", "{turn:#}");
    let told = play.site.on("explain", play.pull, &[]);
    assert_eq!(told.code, 0, "{}", told.err);
    assert!(told.out.to_lowercase().contains("ready"), "{}", told.out);
    let statuses = play.as_("ruth").send("GET", &format!("/commits/{head}/statuses?page=1&limit=50"), None);
    let newest = &statuses.json::<serde_json::Value>().expect("statuses")[0];
    assert_eq!((&newest["context"], &newest["status"]), (&json!("referee/alpha"), &json!("success")));
    play.quiet();
    assert_eq!(play.explain()["next"]["kind"], "ready");
}

// spec: PUB-5, PUB-6, PUB-9, PUB-17, PUB-21, INC-15 @gitea @forgejo
fn every_change_of_a_verdict_leaves_the_rows_that_it_should(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "[gates]\napprove = \"on\"");
    play.report("alpha", json!({}));
    let clean = play.talk();
    assert_eq!(clean.forms(), ["APPROVED"]);
    let head = play.as_("alice").head();
    assert!(clean.last().starts_with(&format!("**Approved** · `{}`", &head.as_str()[..7])), "{}", clean.last());
    play.quiet();

    // Approve → request changes: the block first, then the old approval says what took its place.
    play.push(&[5]);
    let turn = play.report("alpha", critical(5));
    let order: Vec<String> = actions(&turn).into_iter().filter(|action| action != "set_status").collect();
    assert_eq!(order, ["post_review", "supersede"]);
    let blocked = play.talk();
    blocked.keeps(&clean);
    let old = blocked.says(blocked.reviews()[0]);
    assert!(old.starts_with("Superseded by ") && old.contains("/pulls/"), "{old}");
    assert!(old.contains("<details>") && old.contains("Approved"), "the old words are folded: {old}");
    assert_eq!(blocked.newest(), Some(("REQUEST_CHANGES".to_owned(), true)));
    play.quiet();

    // Request changes → comment: nothing is posted, the block stays and its text says so.
    play.as_("ruth").comment("/referee dismiss F1 it is a test's token");
    play.push(&[5, 6]);
    let turn = play.report("alpha", json!({ "outcome": "failed", "reason": "out of memory" }));
    assert_eq!(role(&turn, "alpha"), pair("comment", "request_changes"), "{turn:#}");
    let stays = play.talk();
    stays.keeps(&blocked);
    assert_eq!(stays.reviews().len(), 2);
    let unread = "**Not reviewed** · nobody has read this head · alpha failed (out of memory)";
    assert!(stays.last().starts_with(unread), "{}", stays.last());

    // Request changes → approve: a new approval, the old block is history.
    play.report("alpha", json!({}));
    let approved = play.talk();
    approved.keeps(&stays);
    assert_eq!(approved.forms(), ["APPROVED", "REQUEST_CHANGES", "APPROVED"]);
    assert_eq!(approved.newest(), Some(("APPROVED".to_owned(), true)));
    assert_eq!(approved.says(approved.reviews()[1]), stays.last(), "history is not rewritten");
    play.quiet();

    // Approve → nothing known at a new change: a comment would withdraw no approval, so a block does; it is no round.
    play.push(&[5, 6, 7]);
    let turn = play.report("alpha", json!({ "outcome": "failed", "reason": "out of memory" }));
    assert_eq!(role(&turn, "alpha"), pair("comment", "request_changes"), "{turn:#}");
    assert_eq!(turn["pull"]["round"], 1, "one change was blocked");
    let unsure = play.talk();
    unsure.keeps(&approved);
    assert_eq!(unsure.newest(), Some(("REQUEST_CHANGES".to_owned(), true)));
    assert!(unsure.last().starts_with(unread), "{}", unsure.last());
    let turn = play.report("alpha", json!({}));
    assert_eq!(role(&turn, "alpha"), pair("approve", "approve"));
    let lifted = play.talk();
    lifted.keeps(&unsure);
    assert_eq!(lifted.newest(), Some(("APPROVED".to_owned(), true)));
    play.quiet();
}
