//! Undocumented behaviour of real servers, each tested on the servers that show it.

use referee_testkit::server::{RealServer, ServerBuild};
use serde_json::{Value, json};

use crate::on_each_server;
use crate::site::TestSite;
use crate::test_pull::{TestPull, actions, config, critical, finding, lines, pair, position, role_verdicts};

on_each_server! {
    a_pending_review_left_behind_is_posted_once
    no_thread_is_opened_on_a_line_that_does_not_exist
    a_comment_is_posted_once_whatever_the_server_answered
    rows_beyond_the_first_page_are_read
    a_failure_on_the_second_page_of_statuses_counts
    a_push_is_reviewed_at_once
    a_block_removed_by_a_review_request_is_restored_once
    three_blocking_roles_of_one_user_settle
    an_approval_of_a_head_that_moved_is_withdrawn
    another_persons_edit_of_referees_text_is_answered_once
}

// spec: PUB-11, PUB-3 @gitea
#[test]
fn the_id_in_a_reviews_link_differs_from_the_id_that_is_edited() {
    // Numbers of reviews and comments are counted apart, so a new server has both small enough to meet.
    let server = RealServer::start(ServerBuild::Gitea127);
    let site = TestSite::on_server(&server, &[("README.md", "# shop\n"), ("referee.toml", &config(&["alpha"], ""))]);
    let pull = site.open("topic", &[("a.txt", &lines(40, &[]))]);
    let test_pull = TestPull::on(site, pull);
    let theirs: Vec<String> =
        (0..6).map(|n| test_pull.as_("ruth").comment(&format!("remark {n}")).to_string()).collect();
    test_pull.as_("ruth").review_without_verdict("one");
    while !theirs.contains(
        &(test_pull.as_("ruth").review_without_verdict("more").as_str().parse::<u64>().expect("a number") + 1)
            .to_string(),
    ) {}
    test_pull.report("alpha", critical(3));
    let posted = test_pull.talk();
    let number = posted.reviews()[0]["id"].to_string();
    assert!(theirs.contains(&number), "{number} is no comment of ruth's: {theirs:?}");
    let link = posted.reviews()[0]["html_url"].to_string();
    assert!(link.contains(&format!("#pullrequestreview-{number}")), "{link}");
    let turn = test_pull.report(
        "alpha",
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 9)] }),
    );
    assert!(actions(&turn).contains(&"edit_review".to_owned()), "{turn:#}");
    let edited = test_pull.talk();
    edited.assert_keeps(&posted);
    assert_eq!(edited.comments("ruth"), posted.comments("ruth"));
    assert!(edited.last_review_text().contains("Loop never ends"));
    test_pull.assert_quiet();
}

// spec: PUB-14 @gitea @forgejo
fn a_pending_review_left_behind_is_posted_once(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.as_("referee").leave_draft("a.txt", 9, "what a run that died left behind");
    test_pull.as_("ruth").leave_draft("a.txt", 9, "what ruth did not send yet");
    test_pull.report("alpha", critical(3));
    let talk = test_pull.talk();
    let notes: Vec<_> = talk.notes("referee").iter().map(|note| note["position"].clone()).collect();
    assert_eq!(notes.len(), 2, "{talk:#?}");
    assert!(notes.contains(&json!(9)) && notes.contains(&json!(3)));
    assert_eq!(talk.verdicts(), ["REQUEST_CHANGES"]);
    let drafts = |who: &str| test_pull.as_(who).list_reviews().iter().filter(|row| row["state"] == "PENDING").count();
    assert_eq!((drafts("referee"), drafts("ruth")), (0, 1), "another's draft is nobody's business");
    test_pull.assert_quiet();
}

// spec: PUB-13 @gitea @forgejo
fn no_thread_is_opened_on_a_line_that_does_not_exist(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    let mut elsewhere = finding("warning", "In a file that is not there", 2);
    elsewhere["path"] = json!("no/such/file.txt");
    let mut outside = finding("warning", "In a file that did not change", 1);
    outside["path"] = json!("README.md");
    let mut climbs = finding("warning", "Outside of everything", 1);
    climbs["path"] = json!("../../etc/passwd");
    let found = [
        finding("critical", "Token is logged", 3),
        finding("warning", "Past the end", 999_999),
        elsewhere,
        outside,
        climbs,
    ];
    test_pull.report("alpha", json!({ "findings": found }));
    let failed: Vec<_> = { test_pull.site.proxy.log() }.into_iter().filter(|seen| seen.status >= Some(400)).collect();
    // Forgejo answers a comment with a 500.
    assert!(
        failed.iter().all(|seen| seen.path.ends_with("/comments") && build == ServerBuild::Forgejo10),
        "{failed:#?}"
    );
    let talk = test_pull.talk();
    for title in ["Token is logged", "Past the end", "In a file that is not there", "In a file that did not change"] {
        assert!(talk.last_review_text().contains(title), "{title} is lost: {}", talk.last_review_text());
    }
    let sent: Vec<_> =
        talk.notes("referee").iter().map(|note| (note["path"].clone(), note["position"].clone())).collect();
    assert!(sent.iter().all(|(path, line)| path != "../../etc/passwd" && line != 999_999), "{sent:?}");
    test_pull.assert_quiet();
}

// spec: LOOP-12 @gitea @forgejo
fn a_comment_is_posted_once_whatever_the_server_answered(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", json!({}));
    test_pull.as_("ruth").comment("@referee explain");
    test_pull.report("alpha", json!({}));
    let posted: Vec<_> = { test_pull.site.proxy.log() }
        .into_iter()
        .filter(|seen| seen.method == "POST" && seen.path.ends_with("/comments"))
        .collect();
    let status = if build == ServerBuild::Forgejo10 { 500 } else { 201 };
    assert_eq!(posted.iter().map(|seen| seen.status).collect::<Vec<_>>(), [Some(status)]);
    assert_eq!(test_pull.talk().comments("referee").len(), 1);
    test_pull.assert_quiet();
}

// spec: PUB-10, TRI-3 @gitea @forgejo
fn rows_beyond_the_first_page_are_read(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    let (ruth, head) = (test_pull.as_("ruth"), test_pull.as_("ruth").head());
    // A draft counts as a row and is not shown; inline comments fill a page of the timeline, which then is `null`.
    ruth.leave_draft("a.txt", 2, "not sent yet");
    let note = |n: u32| json!({ "path": "a.txt", "new_position": n % 40 + 1, "body": format!("note {n}") });
    let path = format!("/pulls/{}/reviews", test_pull.pull.0);
    let post = |body: &str, notes: Vec<Value>| {
        let review = json!({ "event": "COMMENT", "commit_id": head, "body": body, "comments": notes });
        let login = if notes.len() > 1 { "alice" } else { "sec" };
        assert!(test_pull.as_(login).send("POST", &path, Some(&review)).is_success());
    };
    post("many", (0..110).map(note).collect());
    for n in 0..52 {
        post(&format!("remark {n}"), Vec::new());
    }
    if build == ServerBuild::Forgejo10 {
        let all: Vec<Value> = ruth.send("GET", &format!("{path}?limit=1"), None).json().expect("rows");
        assert!(all.len() > 1, "`limit` counts only beside `page`");
    }
    let pages = (1..=4).map(|page| {
        let path = format!("/issues/{}/timeline?page={page}&limit=50", test_pull.pull.0);
        ruth.send("GET", &path, None).json::<Value>().expect("a page").is_null()
    });
    assert!(pages.collect::<Vec<_>>().contains(&true), "a page of hidden rows alone is `null`");
    test_pull.report("alpha", critical(3));
    let asked = test_pull.site.proxy.log();
    let lists = ["/reviews?", "/timeline?", "/statuses?", "/status?"];
    let wrong: Vec<_> = asked
        .iter()
        .filter(|seen| lists.iter().any(|list| seen.path.contains(list)) && !seen.path.contains("page="))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Its own review is on the second page, its text behind the `null` one: it is found again, and edited.
    test_pull.site.forget();
    let more =
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 9)] });
    let turn = test_pull.report("alpha", more.clone());
    assert!(
        actions(&turn).contains(&"edit_review".to_owned()) && !actions(&turn).contains(&"post_review".to_owned()),
        "{turn:#}"
    );
    test_pull.site.forget();
    test_pull.report("alpha", more);
    assert_eq!(test_pull.site.proxy.write_count(), 0, "{:#?}", test_pull.site.proxy.log());
    let scan = test_pull.site.json("comments", test_pull.pull, &["--max-threads", "500"]);
    let threads = scan["threads"].as_array().map(Vec::len);
    assert_eq!((&scan["complete"], threads), (&json!(true), Some(40 + 2)), "one conversation a line, and two own");
}

// spec: PUB-19 @gitea @forgejo
fn a_failure_on_the_second_page_of_statuses_counts(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "[review]\nci = \"required\"");
    let ruth = test_pull.as_("ruth");
    let path = format!("/statuses/{}", ruth.head());
    // Pages have the newest first.
    for n in 0..62 {
        let state = if n == 0 { "failure" } else { "success" };
        let status = json!({ "context": format!("build {n}"), "state": state });
        assert!(ruth.send("POST", &path, Some(&status)).is_success());
    }
    let watched = test_pull.site.json("watch", test_pull.pull, &["--once"]);
    assert_eq!(watched["state"], "fail", "{watched:#}");
    let turn = test_pull.report("alpha", json!({}));
    assert_ne!(turn["next"]["kind"], "ready", "{turn:#}");
    test_pull.assert_quiet();
    assert!(ruth.send("POST", &path, Some(&json!({ "context": "build 0", "state": "success" }))).is_success());
    assert_eq!(test_pull.report("alpha", json!({}))["next"]["kind"], "ready");
}

// spec: PUB-15 @gitea @forgejo
fn a_push_is_reviewed_at_once(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", critical(3));
    // Forgejo tells the new head at once, and its own ref for pulls a second later.
    let head = test_pull
        .as_("alice")
        .commit_without_waiting(|folder| std::fs::write(folder.join("a.txt"), lines(40, &[3])).expect("a file"));
    while test_pull.as_("alice").head() != head {}
    let turn = test_pull.report("alpha", position("F1", "fixed", "a.txt:3 is mended"));
    assert_eq!(role_verdicts(&turn, "alpha"), pair("approve", "approve"), "{turn:#}");
    let talk = test_pull.talk();
    assert_eq!(talk.reviews().last().expect("a review")["commit_id"], head.as_str());
    assert_eq!(talk.newest_verdict(), Some(("APPROVED".to_owned(), true)));
    test_pull.assert_quiet();
}

// spec: PUB-20 @gitea @forgejo
fn a_block_removed_by_a_review_request_is_restored_once(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", critical(3));
    test_pull.as_("alice").request_review("referee");
    assert_eq!(
        test_pull.talk().newest_verdict(),
        Some(("REQUEST_CHANGES".to_owned(), false)),
        "the server counts it no longer"
    );
    let explanation = test_pull.site.on("explain", test_pull.pull, &[]);
    assert!(explanation.out.contains("block_on_official_review_requests"), "{}", explanation.out);
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!(actions(&turn)[0], "post_review", "{turn:#}");
    let talk = test_pull.talk();
    assert_eq!((talk.verdicts().len(), talk.newest_verdict()), (2, Some(("REQUEST_CHANGES".to_owned(), true))));
    assert_eq!(talk.notes("referee").len(), 1, "no thread is opened twice");
    test_pull.assert_quiet();
    // Dismissed by the owner, who may: that is respected at this change.
    let standing = talk.reviews().last().expect("a review")["id"].to_string();
    test_pull.as_(referee_testkit::server::OWNER).dismiss(&referee_core::model::ReviewId(standing));
    test_pull.report("alpha", critical(3));
    assert_eq!(test_pull.talk().verdicts().len(), 2, "{:#?}", test_pull.talk());
    test_pull.assert_quiet();
}

// spec: PUB-7, PUB-21 @gitea @forgejo
fn three_blocking_roles_of_one_user_settle(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha", "beta", "gamma"], "");
    for (name, line) in [("alpha", 3), ("beta", 9), ("gamma", 15)] {
        let found = finding("critical", &format!("Wrong for {name}"), line);
        test_pull.report(name, json!({ "findings": [found] }));
    }
    let talk = test_pull.talk();
    assert_eq!(talk.verdicts(), ["REQUEST_CHANGES"; 3]);
    let counted = talk.rows().iter().filter(|row| row["official"] == true && row["dismissed"] == false).count();
    assert_eq!(counted, 1, "the server counts one row of a user");
    assert_eq!(talk.newest_verdict(), Some(("REQUEST_CHANGES".to_owned(), true)));
    for name in ["alpha", "beta", "gamma"] {
        assert!(talk.role_review_text(name).starts_with("**Changes requested**"));
    }
    test_pull.assert_quiet();
    // Two are mended, and held by the third.
    test_pull.push(&[3, 9]);
    for (name, id) in [("alpha", "F1"), ("beta", "F2")] {
        let turn = test_pull.report(name, position(id, "fixed", "a.txt:3, a.txt:9"));
        assert_eq!(role_verdicts(&turn, name), pair("approve", "request_changes"), "{turn:#}");
    }
    test_pull.report("gamma", position("F3", "still_there", "a.txt:15"));
    assert_eq!(test_pull.talk().newest_verdict(), Some(("REQUEST_CHANGES".to_owned(), true)));
    assert!(
        test_pull.talk().role_review_text("alpha").starts_with("**Changes requested** · held by gamma"),
        "{}",
        test_pull.talk().role_review_text("alpha")
    );
    test_pull.assert_quiet();
    test_pull.push(&[3, 9, 15]);
    for name in ["gamma", "alpha", "beta"] {
        test_pull.report(name, if name == "gamma" { position("F3", "fixed", "a.txt:15") } else { json!({}) });
    }
    assert_eq!(test_pull.talk().newest_verdict(), Some(("APPROVED".to_owned(), true)), "{:#?}", test_pull.talk());
    test_pull.assert_quiet();
}

// spec: PUB-15 @gitea @forgejo
fn an_approval_of_a_head_that_moved_is_withdrawn(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "[gates]\napprove = \"on\"");
    let file = test_pull.site.full_report(test_pull.pull, "alpha", json!({}));
    let alice = test_pull.as_("alice");
    // Pushed between the approval, the first write after the claim, and its answer.
    test_pull.site.proxy.after_write(2, move || {
        alice.push("a.txt", |_| lines(40, &[7]));
    });
    let turn = test_pull.site.json("review", test_pull.pull, &["--role", "alpha", "--report", &file]);
    let talk = test_pull.talk();
    assert_eq!(talk.newest_verdict(), Some(("REQUEST_CHANGES".to_owned(), true)), "{turn:#}\n{talk:#?}");
    assert!(talk.last_review_text().starts_with("**Not reviewed**"), "{}", talk.last_review_text());
    assert_eq!(talk.reviews().last().expect("a review")["commit_id"], test_pull.as_("alice").head().as_str());
    let turn = test_pull.report("alpha", json!({}));
    assert_eq!(
        (role_verdicts(&turn, "alpha"), test_pull.talk().newest_verdict()),
        (pair("approve", "approve"), Some(("APPROVED".to_owned(), true)))
    );
    test_pull.assert_quiet();
}

// spec: PUB-9, PUB-12, LOOP-2 @gitea @forgejo
fn another_persons_edit_of_referees_text_is_answered_once(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", critical(3));
    let first = test_pull.talk();
    // Somebody says referee's words, Mark and all: it is theirs, and counts for nothing.
    let forged = first.last_review_text().replace("alpha;rr1", "alpha;aa1").replace("Changes requested", "Approved");
    test_pull.as_("ruth").review_without_verdict(&forged);
    test_pull.as_("ruth").open_thread(
        "a.txt",
        8,
        &first.notes("referee")[0]["body"].as_str().unwrap_or_default().replace("critical", "warning"),
    );
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!(role_verdicts(&turn, "alpha"), pair("request_changes", "request_changes"), "{turn:#}");
    let talk = test_pull.talk();
    talk.assert_keeps(&first);
    assert_eq!((talk.verdicts().len(), talk.notes("referee").len()), (1, 1));
    test_pull.assert_quiet();
    // Somebody with write access edits what referee wrote: it is written again, once.
    let row = talk.timeline_id(talk.reviews()[0]);
    test_pull.as_("ruth").edit_text(&row, "**Approved**, says ruth");
    let turn = test_pull.report("alpha", critical(3));
    let now = test_pull.talk();
    assert_eq!(now.reviews().len(), 1, "found again by its thread, without a second review beside it: {turn:#}");
    assert!(now.last_review_text().contains("Token is logged"), "{turn:#}\n{now:#?}");
    assert!(now.last_review_text().contains("round 1 of 3"), "{now:#?}");
    assert_eq!(now.newest_verdict(), Some(("REQUEST_CHANGES".to_owned(), true)));
    test_pull.assert_quiet();
}
