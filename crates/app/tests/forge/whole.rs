//! The whole loop: review, edit, push, review again, resolve, approve, ready. After each state one more run sends no
//! write request.

use referee_testkit::server::ServerBuild;
use serde_json::json;

use crate::on_each_server;
use crate::test_pull::{TestPull, actions, critical, finding, pair, position, role_verdicts, state};

on_each_server! {
    a_review_is_edited_in_place_and_only_new_findings_open_threads
    fixed_findings_are_resolved_and_the_loop_ends_ready
    every_verdict_change_posts_edits_or_supersedes_as_specified
}

// spec: PUB-1, PUB-2, PUB-3, PUB-4, PUB-9, PUB-10, PUB-11, PUB-18, PUB-22 @gitea @forgejo
fn a_review_is_edited_in_place_and_only_new_findings_open_threads(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.as_("ruth").comment("somebody was here first");
    test_pull.as_("ruth").open_thread("a.txt", 2, "and opened a thread");
    let people = test_pull.talk();
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!(role_verdicts(&turn, "alpha"), pair("request_changes", "request_changes"), "{turn:#}");
    let posted = test_pull.talk();
    posted.assert_keeps(&people);
    let [review] = posted.reviews()[..] else { panic!("{posted:#?}") };
    assert_eq!((&review["state"], &review["official"]), (&json!("REQUEST_CHANGES"), &json!(true)));
    assert_eq!(review["commit_id"], test_pull.as_("alice").head().as_str());
    let text = posted.review_text(review);
    assert!(text.contains(&format!("Evaluated against {}", &test_pull.as_("alice").head().as_str()[..7])), "{text}");
    let table: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert!(table.len() == 3 && table[2].contains("F1") && table[2].contains("Token is logged"), "{text}");
    let [note] = posted.notes("referee")[..] else { panic!("{posted:#?}") };
    assert_eq!((&note["path"], &note["position"]), (&json!("a.txt"), &json!(3)));
    assert_eq!(note["pull_request_review_id"], review["id"], "it came with the review");
    test_pull.assert_quiet();

    let more =
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 10)] });
    let turn = test_pull.report("alpha", more);
    assert_eq!(actions(&turn), ["open_threads", "ensure_comment", "edit_review", "set_status"], "{turn:#}");
    let edited = test_pull.talk();
    edited.assert_keeps(&posted);
    let [now] = edited.reviews()[..] else { panic!("{edited:#?}") };
    assert_eq!((&now["id"], &now["body"]), (&review["id"], &review["body"]), "the list has the first text for ever");
    assert!(
        edited.review_text(now).contains("Loop never ends") && now["body"] != edited.review_text(now),
        "{}",
        edited.review_text(now)
    );
    let places: Vec<_> = edited.notes("referee").iter().map(|note| note["position"].clone()).collect();
    assert_eq!(places, [3, 10]);
    let [notice] = &edited.comments("referee")[..] else { panic!("{edited:#?}") };
    assert!(notice.contains("Blocking findings changed") && notice.contains("2 blocking"), "{notice}");
    test_pull.assert_quiet();
}

// spec: INC-2, INC-3, INC-11, LOOP-7, LOOP-10, FIX-12, PUB-6, PUB-17, PUB-19, PUB-21 @gitea @forgejo
fn fixed_findings_are_resolved_and_the_loop_ends_ready(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", critical(3));
    let first = test_pull.talk();
    test_pull.push(&[30]);
    let turn = test_pull.report("alpha", position("F1", "still_there", "a.txt:3 logs it"));
    assert_eq!(state(&turn, "F1"), ("open".to_owned(), true));
    let kept = test_pull.talk();
    kept.assert_keeps(&first);
    assert_eq!(kept.notes("referee"), first.notes("referee"), "nothing is written in its thread");
    assert_eq!(kept.reviews().len(), 1, "edited at the new head");
    test_pull.assert_quiet();

    let head = test_pull.push(&[3, 30]);
    let turn = test_pull.report("alpha", position("F1", "fixed", "a.txt:3 is mended"));
    assert_eq!(
        (state(&turn, "F1"), role_verdicts(&turn, "alpha")),
        (("fixed".to_owned(), false), pair("approve", "approve"))
    );
    let ended = test_pull.talk();
    ended.assert_keeps(&kept);
    assert_eq!(ended.verdicts(), ["REQUEST_CHANGES", "APPROVED"]);
    assert_eq!(ended.newest_verdict(), Some(("APPROVED".to_owned(), true)), "the block is lifted");
    let notes = ended.notes("referee");
    assert!(notes.len() == 2 && notes[1]["body"].to_string().contains(&head[..7]), "{notes:#?}");
    if build == ServerBuild::Forgejo10 {
        assert!(notes[0]["resolver"].is_null() && notes[0]["body"].to_string().contains("**Settled**"), "{notes:#?}");
    } else {
        assert_eq!(notes[0]["resolver"]["login"], "referee");
    }
    assert_eq!(turn["next"]["kind"], "ready", "{turn:#}");
    let explanation = test_pull.site.on("explain", test_pull.pull, &[]);
    assert_eq!(explanation.code, 0, "{}", explanation.err);
    assert!(explanation.out.to_lowercase().contains("ready"), "{}", explanation.out);
    let statuses = test_pull.as_("ruth").send("GET", &format!("/commits/{head}/statuses?page=1&limit=50"), None);
    let newest = &statuses.json::<serde_json::Value>().expect("statuses")[0];
    assert_eq!((&newest["context"], &newest["status"]), (&json!("referee/alpha"), &json!("success")));
    test_pull.assert_quiet();
    assert_eq!(test_pull.explain()["next"]["kind"], "ready");
}

// spec: PUB-5, PUB-6, PUB-9, PUB-17, PUB-21, INC-15 @gitea @forgejo
fn every_verdict_change_posts_edits_or_supersedes_as_specified(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "[gates]\napprove = \"on\"");
    test_pull.report("alpha", json!({}));
    let clean = test_pull.talk();
    assert_eq!(clean.verdicts(), ["APPROVED"]);
    let head = test_pull.as_("alice").head();
    assert!(
        clean.last_review_text().starts_with(&format!("**Approved** · `{}`", &head.as_str()[..7])),
        "{}",
        clean.last_review_text()
    );
    test_pull.assert_quiet();

    // Approve → request changes: the block first, then the old approval says what took its place.
    test_pull.push(&[5]);
    let turn = test_pull.report("alpha", critical(5));
    let order: Vec<String> = actions(&turn).into_iter().filter(|action| action != "set_status").collect();
    assert_eq!(order, ["post_review", "supersede"]);
    let blocked = test_pull.talk();
    blocked.assert_keeps(&clean);
    let old = blocked.review_text(blocked.reviews()[0]);
    let path = blocked.last_review_path();
    let says_what = old.starts_with("Superseded by [a newer review](http");
    assert!(says_what && old.contains(&format!("/{path})")) && path.contains('#'), "{path}: {old}");
    assert!(old.contains("<details>") && old.contains("Approved"), "the old words are folded: {old}");
    assert_eq!(blocked.newest_verdict(), Some(("REQUEST_CHANGES".to_owned(), true)));
    test_pull.assert_quiet();

    // Request changes → comment: nothing is posted, the block stays and its text says so.
    test_pull.as_("ruth").comment("/referee dismiss F1 it is a test's token");
    test_pull.push(&[5, 6]);
    let turn = test_pull.report("alpha", json!({ "outcome": "failed", "reason": "out of memory" }));
    assert_eq!(role_verdicts(&turn, "alpha"), pair("comment", "request_changes"), "{turn:#}");
    let stays = test_pull.talk();
    stays.assert_keeps(&blocked);
    assert_eq!(stays.reviews().len(), 2);
    let unread = "**Not reviewed** · nobody has read this head · alpha failed (out of memory)";
    assert!(stays.last_review_text().starts_with(unread), "{}", stays.last_review_text());

    // Request changes → approve: a new approval, the old block is history.
    test_pull.report("alpha", json!({}));
    let approved = test_pull.talk();
    approved.assert_keeps(&stays);
    assert_eq!(approved.verdicts(), ["APPROVED", "REQUEST_CHANGES", "APPROVED"]);
    assert_eq!(approved.newest_verdict(), Some(("APPROVED".to_owned(), true)));
    assert_eq!(approved.review_text(approved.reviews()[1]), stays.last_review_text(), "history is not rewritten");
    test_pull.assert_quiet();

    // Approve → no result at a new head: a comment would not withdraw the approval, so referee blocks; this is not a round.
    test_pull.push(&[5, 6, 7]);
    let turn = test_pull.report("alpha", json!({ "outcome": "failed", "reason": "out of memory" }));
    assert_eq!(role_verdicts(&turn, "alpha"), pair("comment", "request_changes"), "{turn:#}");
    assert_eq!(turn["pull"]["round"], 1, "one change was blocked");
    let unsure = test_pull.talk();
    unsure.assert_keeps(&approved);
    assert_eq!(unsure.newest_verdict(), Some(("REQUEST_CHANGES".to_owned(), true)));
    assert!(unsure.last_review_text().starts_with(unread), "{}", unsure.last_review_text());
    let turn = test_pull.report("alpha", json!({}));
    assert_eq!(role_verdicts(&turn, "alpha"), pair("approve", "approve"));
    let lifted = test_pull.talk();
    lifted.assert_keeps(&unsure);
    assert_eq!(lifted.newest_verdict(), Some(("APPROVED".to_owned(), true)));
    test_pull.assert_quiet();
}
