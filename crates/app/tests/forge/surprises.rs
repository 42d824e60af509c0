//! What real servers do and no document says, each on the servers that do it.

use referee_testkit::server::{RealServer, ServerBuild};
use serde_json::{Value, json};

use crate::on_each_server;
use crate::play::{Play, actions, config, critical, finding, lines, pair, position, role};
use crate::site::Site;

on_each_server! {
    a_draft_left_behind_comes_out_once
    no_line_that_is_not_there_is_ever_sent
    a_comment_is_there_once_whatever_the_answer_was
    rows_beyond_the_first_page_are_read
    a_failure_on_the_second_page_of_statuses_counts
    a_push_is_reviewed_at_once
    a_block_that_was_asked_away_is_put_back_once
    three_blocking_roles_of_one_user_are_quiet
    an_approval_of_a_head_that_moved_meanwhile_is_taken_back
    another_hand_in_an_own_text_is_answered_once
}

// spec: PUB-11, PUB-3 @gitea
#[test]
fn the_number_in_a_reviews_link_is_not_what_is_edited() {
    // Numbers of reviews and comments are counted apart, so a new server has both small enough to meet.
    let server = RealServer::start(ServerBuild::Gitea127);
    let site = Site::on_server(&server, &[("README.md", "# shop\n"), ("referee.toml", &config(&["alpha"], ""))]);
    let pull = site.open("topic", &[("a.txt", &lines(40, &[]))]);
    let play = Play::on(site, pull);
    let theirs: Vec<String> = (0..6).map(|n| play.as_("ruth").comment(&format!("remark {n}")).to_string()).collect();
    play.as_("ruth").review_without_verdict("one");
    while !theirs.contains(
        &(play.as_("ruth").review_without_verdict("more").as_str().parse::<u64>().expect("a number") + 1).to_string(),
    ) {}
    play.report("alpha", critical(3));
    let posted = play.talk();
    let number = posted.reviews()[0]["id"].to_string();
    assert!(theirs.contains(&number), "{number} is no comment of ruth's: {theirs:?}");
    let link = posted.reviews()[0]["html_url"].to_string();
    assert!(link.contains(&format!("#pullrequestreview-{number}")), "{link}");
    let turn = play.report(
        "alpha",
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 9)] }),
    );
    assert!(actions(&turn).contains(&"edit_review".to_owned()), "{turn:#}");
    let edited = play.talk();
    edited.keeps(&posted);
    assert_eq!(edited.comments("ruth"), posted.comments("ruth"));
    assert!(edited.last().contains("Loop never ends"));
    play.quiet();
}

// spec: PUB-14 @gitea @forgejo
fn a_draft_left_behind_comes_out_once(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.as_("referee").leave_draft("a.txt", 9, "what a run that died left behind");
    play.as_("ruth").leave_draft("a.txt", 9, "what ruth did not send yet");
    play.report("alpha", critical(3));
    let talk = play.talk();
    let notes: Vec<_> = talk.notes("referee").iter().map(|note| note["position"].clone()).collect();
    assert_eq!(notes.len(), 2, "{talk:#?}");
    assert!(notes.contains(&json!(9)) && notes.contains(&json!(3)));
    assert_eq!(talk.forms(), ["REQUEST_CHANGES"]);
    let drafts = |who: &str| play.as_(who).list_reviews().iter().filter(|row| row["state"] == "PENDING").count();
    assert_eq!((drafts("referee"), drafts("ruth")), (0, 1), "another's draft is nobody's business");
    play.quiet();
}

// spec: PUB-13 @gitea @forgejo
fn no_line_that_is_not_there_is_ever_sent(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
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
    play.report("alpha", json!({ "findings": found }));
    let failed: Vec<_> = { play.site.proxy.log() }.into_iter().filter(|seen| seen.status >= Some(400)).collect();
    // Forgejo answers a comment with a 500.
    assert!(
        failed.iter().all(|seen| seen.path.ends_with("/comments") && build == ServerBuild::Forgejo10),
        "{failed:#?}"
    );
    let talk = play.talk();
    for title in ["Token is logged", "Past the end", "In a file that is not there", "In a file that did not change"] {
        assert!(talk.last().contains(title), "{title} is lost: {}", talk.last());
    }
    let sent: Vec<_> =
        talk.notes("referee").iter().map(|note| (note["path"].clone(), note["position"].clone())).collect();
    assert!(sent.iter().all(|(path, line)| path != "../../etc/passwd" && line != 999_999), "{sent:?}");
    play.quiet();
}

// spec: LOOP-12 @gitea @forgejo
fn a_comment_is_there_once_whatever_the_answer_was(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.report("alpha", json!({}));
    play.as_("ruth").comment("@referee explain");
    play.report("alpha", json!({}));
    let posted: Vec<_> = { play.site.proxy.log() }
        .into_iter()
        .filter(|seen| seen.method == "POST" && seen.path.ends_with("/comments"))
        .collect();
    let status = if build == ServerBuild::Forgejo10 { 500 } else { 201 };
    assert_eq!(posted.iter().map(|seen| seen.status).collect::<Vec<_>>(), [Some(status)]);
    assert_eq!(play.talk().comments("referee").len(), 1);
    play.quiet();
}

// spec: PUB-10, TRI-3 @gitea @forgejo
fn rows_beyond_the_first_page_are_read(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    let (ruth, head) = (play.as_("ruth"), play.as_("ruth").head());
    // A draft counts as a row and is not shown; inline comments fill a page of the timeline, which then is `null`.
    ruth.leave_draft("a.txt", 2, "not sent yet");
    let note = |n: u32| json!({ "path": "a.txt", "new_position": n % 40 + 1, "body": format!("note {n}") });
    let path = format!("/pulls/{}/reviews", play.pull.0);
    let post = |body: &str, notes: Vec<Value>| {
        let review = json!({ "event": "COMMENT", "commit_id": head, "body": body, "comments": notes });
        let login = if notes.len() > 1 { "alice" } else { "sec" };
        assert!(play.as_(login).send("POST", &path, Some(&review)).is_success());
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
        let path = format!("/issues/{}/timeline?page={page}&limit=50", play.pull.0);
        ruth.send("GET", &path, None).json::<Value>().expect("a page").is_null()
    });
    assert!(pages.collect::<Vec<_>>().contains(&true), "a page of hidden rows alone is `null`");
    play.report("alpha", critical(3));
    let asked = play.site.proxy.log();
    let lists = ["/reviews?", "/timeline?", "/statuses?", "/status?"];
    let wrong: Vec<_> = asked
        .iter()
        .filter(|seen| lists.iter().any(|list| seen.path.contains(list)) && !seen.path.contains("page="))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Its own review is on the second page, its text behind the `null` one: it is found again, and edited.
    play.site.forget();
    let more =
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 9)] });
    let turn = play.report("alpha", more.clone());
    assert!(
        actions(&turn).contains(&"edit_review".to_owned()) && !actions(&turn).contains(&"post_review".to_owned()),
        "{turn:#}"
    );
    play.site.forget();
    play.report("alpha", more);
    assert_eq!(play.site.proxy.write_count(), 0, "{:#?}", play.site.proxy.log());
    let scan = play.site.told("comments", play.pull, &["--max-threads", "500"]);
    let threads = scan["threads"].as_array().map(Vec::len);
    assert_eq!((&scan["complete"], threads), (&json!(true), Some(40 + 2)), "one conversation a line, and two own");
}

// spec: PUB-19 @gitea @forgejo
fn a_failure_on_the_second_page_of_statuses_counts(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "[review]\nci = \"required\"");
    let ruth = play.as_("ruth");
    let path = format!("/statuses/{}", ruth.head());
    // Pages have the newest first.
    for n in 0..62 {
        let state = if n == 0 { "failure" } else { "success" };
        let status = json!({ "context": format!("build {n}"), "state": state });
        assert!(ruth.send("POST", &path, Some(&status)).is_success());
    }
    let watched = play.site.told("watch", play.pull, &["--once"]);
    assert_eq!(watched["state"], "fail", "{watched:#}");
    let turn = play.report("alpha", json!({}));
    assert_ne!(turn["next"]["kind"], "ready", "{turn:#}");
    play.quiet();
    assert!(ruth.send("POST", &path, Some(&json!({ "context": "build 0", "state": "success" }))).is_success());
    assert_eq!(play.report("alpha", json!({}))["next"]["kind"], "ready");
}

// spec: PUB-15 @gitea @forgejo
fn a_push_is_reviewed_at_once(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.report("alpha", critical(3));
    // Forgejo tells the new head at once, and its own ref for pulls a second later.
    let head = play
        .as_("alice")
        .commit_without_waiting(|folder| std::fs::write(folder.join("a.txt"), lines(40, &[3])).expect("a file"));
    while play.as_("alice").head() != head {}
    let turn = play.report("alpha", position("F1", "fixed", "a.txt:3 is mended"));
    assert_eq!(role(&turn, "alpha"), pair("approve", "approve"), "{turn:#}");
    let talk = play.talk();
    assert_eq!(talk.reviews().last().expect("a review")["commit_id"], head.as_str());
    assert_eq!(talk.newest(), Some(("APPROVED".to_owned(), true)));
    play.quiet();
}

// spec: PUB-20 @gitea @forgejo
fn a_block_that_was_asked_away_is_put_back_once(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.report("alpha", critical(3));
    play.as_("alice").request_review("referee");
    assert_eq!(play.talk().newest(), Some(("REQUEST_CHANGES".to_owned(), false)), "the server counts it no longer");
    let told = play.site.on("explain", play.pull, &[]);
    assert!(told.out.contains("block_on_official_review_requests"), "{}", told.out);
    let turn = play.report("alpha", critical(3));
    assert_eq!(actions(&turn)[0], "post_review", "{turn:#}");
    let talk = play.talk();
    assert_eq!((talk.forms().len(), talk.newest()), (2, Some(("REQUEST_CHANGES".to_owned(), true))));
    assert_eq!(talk.notes("referee").len(), 1, "no thread is opened twice");
    play.quiet();
    // Dismissed by the owner, who may: that is respected at this change.
    let standing = talk.reviews().last().expect("a review")["id"].to_string();
    play.as_(referee_testkit::server::OWNER).dismiss(&referee_core::model::ReviewId(standing));
    play.report("alpha", critical(3));
    assert_eq!(play.talk().forms().len(), 2, "{:#?}", play.talk());
    play.quiet();
}

// spec: PUB-7, PUB-21 @gitea @forgejo
fn three_blocking_roles_of_one_user_are_quiet(build: ServerBuild) {
    let play = Play::new(build, &["alpha", "beta", "gamma"], "");
    for (name, line) in [("alpha", 3), ("beta", 9), ("gamma", 15)] {
        let found = finding("critical", &format!("Wrong for {name}"), line);
        play.report(name, json!({ "findings": [found] }));
    }
    let talk = play.talk();
    assert_eq!(talk.forms(), ["REQUEST_CHANGES"; 3]);
    let counted = talk.rows().iter().filter(|row| row["official"] == true && row["dismissed"] == false).count();
    assert_eq!(counted, 1, "the server counts one row of a user");
    assert_eq!(talk.newest(), Some(("REQUEST_CHANGES".to_owned(), true)));
    for name in ["alpha", "beta", "gamma"] {
        assert!(talk.of_role(name).starts_with("**Changes requested**"));
    }
    play.quiet();
    // Two are mended, and held by the third.
    play.push(&[3, 9]);
    for (name, id) in [("alpha", "F1"), ("beta", "F2")] {
        let turn = play.report(name, position(id, "fixed", "a.txt:3, a.txt:9"));
        assert_eq!(role(&turn, name), pair("approve", "request_changes"), "{turn:#}");
    }
    play.report("gamma", position("F3", "still_there", "a.txt:15"));
    assert_eq!(play.talk().newest(), Some(("REQUEST_CHANGES".to_owned(), true)));
    assert!(
        play.talk().of_role("alpha").starts_with("**Changes requested** · held by gamma"),
        "{}",
        play.talk().of_role("alpha")
    );
    play.quiet();
    play.push(&[3, 9, 15]);
    for name in ["gamma", "alpha", "beta"] {
        play.report(name, if name == "gamma" { position("F3", "fixed", "a.txt:15") } else { json!({}) });
    }
    assert_eq!(play.talk().newest(), Some(("APPROVED".to_owned(), true)), "{:#?}", play.talk());
    play.quiet();
}

// spec: PUB-15 @gitea @forgejo
fn an_approval_of_a_head_that_moved_meanwhile_is_taken_back(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "[gates]\napprove = \"on\"");
    let file = play.site.full_report(play.pull, "alpha", json!({}));
    let alice = play.as_("alice");
    // Pushed between the approval and its answer.
    play.site.proxy.after_write(1, move || {
        alice.push("a.txt", |_| lines(40, &[7]));
    });
    let turn = play.site.told("review", play.pull, &["--role", "alpha", "--report", &file]);
    let talk = play.talk();
    assert_eq!(talk.newest(), Some(("REQUEST_CHANGES".to_owned(), true)), "{turn:#}\n{talk:#?}");
    assert!(talk.last().starts_with("**Not reviewed**"), "{}", talk.last());
    assert_eq!(talk.reviews().last().expect("a review")["commit_id"], play.as_("alice").head().as_str());
    let turn = play.report("alpha", json!({}));
    assert_eq!(
        (role(&turn, "alpha"), play.talk().newest()),
        (pair("approve", "approve"), Some(("APPROVED".to_owned(), true)))
    );
    play.quiet();
}

// spec: PUB-9, PUB-12 @gitea @forgejo
fn another_hand_in_an_own_text_is_answered_once(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.report("alpha", critical(3));
    let first = play.talk();
    // Somebody says referee's words, Mark and all: it is theirs, and counts for nothing.
    let forged = first.last().replace("alpha;rr1", "alpha;aa1").replace("Changes requested", "Approved");
    play.as_("ruth").review_without_verdict(&forged);
    play.as_("ruth").open_thread(
        "a.txt",
        8,
        &first.notes("referee")[0]["body"].as_str().unwrap_or_default().replace("critical", "warning"),
    );
    let turn = play.report("alpha", critical(3));
    assert_eq!(role(&turn, "alpha"), pair("request_changes", "request_changes"), "{turn:#}");
    let talk = play.talk();
    talk.keeps(&first);
    assert_eq!((talk.forms().len(), talk.notes("referee").len()), (1, 1));
    play.quiet();
    // Somebody with write access edits what referee wrote: it is written again, once.
    let row = talk.event_of(talk.reviews()[0]);
    play.as_("ruth").edit_text(&row, "**Approved**, says ruth");
    let turn = play.report("alpha", critical(3));
    let now = play.talk();
    assert!(now.reviews().len() <= 2 && now.last().contains("Token is logged"), "{turn:#}\n{now:#?}");
    assert_eq!(now.newest(), Some(("REQUEST_CHANGES".to_owned(), true)));
    play.quiet();
}
