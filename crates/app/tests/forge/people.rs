//! People on a pull: who may block, who may accept, whose pull it is.

use referee_core::model::ThreadId;
use referee_testkit::server::{OWNER, ServerBuild};
use serde_json::json;

use crate::on_each_server;
use crate::site::TestSite;
use crate::test_pull::{TestPull, config, critical, lines, pair, position, role_verdicts, state};

on_each_server! {
    a_persons_block_is_never_bypassed
    only_an_authorised_person_may_say_wont_fix
    a_resolved_thread_stays_resolved_and_counts_by_who_resolved_it
    drafts_are_skipped_by_dispatch_and_git_decides_what_is_a_conflict
    the_bots_own_pull_gets_its_verdict_as_a_comment
    a_pull_from_a_fork_is_reviewed_like_any_other
}

fn thread(test_pull: &TestPull) -> ThreadId {
    ThreadId(test_pull.talk().notes("referee")[0]["id"].to_string())
}

// spec: LOOP-2, LOOP-12, PUB-6 @gitea @forgejo
fn a_persons_block_is_never_bypassed(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "[gates]\napprove = \"on\"");
    test_pull.as_("ruth").block("not like this");
    let turn = test_pull.report("alpha", json!({}));
    assert_eq!(role_verdicts(&turn, "alpha"), pair("approve", "comment"), "it waits for ruth: {turn:#}");
    assert_ne!(turn["next"]["kind"], "ready");
    let talk = test_pull.talk();
    assert_eq!(talk.newest_verdict(), None, "{talk:#?}");
    assert!(talk.last_review_text().contains("ruth"), "{}", talk.last_review_text());
    test_pull.assert_quiet();
    assert_eq!(test_pull.explain()["pull"]["round"], 0, "a person's block is no round");
    // Neither a push nor another person's approval lifts it.
    test_pull.push(&[3]);
    test_pull.as_(OWNER).approve("fine by me");
    let turn = test_pull.report("alpha", json!({}));
    assert_eq!(
        (role_verdicts(&turn, "alpha").1.as_str(), test_pull.talk().newest_verdict()),
        ("comment", None),
        "{turn:#}"
    );
    test_pull.as_("ruth").approve("now it is");
    let turn = test_pull.report("alpha", json!({}));
    assert_eq!(role_verdicts(&turn, "alpha"), pair("approve", "approve"), "{turn:#}");
    assert_eq!(test_pull.talk().newest_verdict(), Some(("APPROVED".to_owned(), true)));
    test_pull.assert_quiet();
}

// spec: INC-6 @gitea @forgejo
fn only_an_authorised_person_may_say_wont_fix(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", critical(3));
    let root = thread(&test_pull);
    // Somebody from outside, then the author of a critical one.
    for who in ["passer-by", "alice"] {
        test_pull.as_(who).reply(&root, "won't fix");
        let turn = test_pull.report("alpha", critical(3));
        assert!(state(&turn, "F1").1, "{who}: {turn:#}");
        assert_eq!(role_verdicts(&turn, "alpha").0, "request_changes", "{who}");
        assert_eq!(test_pull.talk().newest_verdict(), Some(("REQUEST_CHANGES".to_owned(), true)), "{who}");
        test_pull.assert_quiet();
    }
    assert_eq!(test_pull.explain()["next"]["cause"], "needs_human");
    // Who may write and is not the author.
    test_pull.as_("ruth").reply(&root, "won't fix: the log is private");
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!(state(&turn, "F1"), ("accepted".to_owned(), false), "{turn:#}");
    assert_eq!(role_verdicts(&turn, "alpha"), pair("approve", "approve"));
    let talk = test_pull.talk();
    assert!(talk.last_review_text().contains("accepted by ruth"), "{}", talk.last_review_text());
    let note = talk.notes("referee")[0].clone();
    let resolved = if build == ServerBuild::Forgejo10 {
        note["body"].to_string().contains("**Settled**")
    } else {
        !note["resolver"].is_null()
    };
    assert!(resolved, "an own thread is resolved: {note:#}");
    test_pull.assert_quiet();
}

// spec: INC-5 @gitea @forgejo
fn a_resolved_thread_stays_resolved_and_counts_by_who_resolved_it(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.report("alpha", critical(3));
    let root = thread(&test_pull);
    test_pull.as_("alice").resolve(&root);
    let turn = test_pull.report("alpha", critical(3));
    assert!(state(&turn, "F1").1, "the author of a critical one: {turn:#}");
    assert!(
        test_pull.talk().last_review_text().contains("resolved by alice"),
        "{}",
        test_pull.talk().last_review_text()
    );
    test_pull.assert_quiet();
    if build == ServerBuild::Forgejo10 {
        return;
    }
    test_pull.as_("ruth").unresolve(&root);
    test_pull.as_("ruth").resolve(&root);
    // No server tells that by itself: a machine that read the pull before looks again after a quarter of an hour.
    test_pull.site.forget();
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!(state(&turn, "F1"), ("accepted".to_owned(), false), "{turn:#}");
    test_pull.push(&[30]);
    let turn = test_pull.report("alpha", position("F1", "still_there", "a.txt:3"));
    assert_eq!(state(&turn, "F1"), ("accepted".to_owned(), false), "{turn:#}");
    let talk = test_pull.talk();
    assert_eq!(talk.notes("referee")[0]["resolver"]["login"], "ruth", "never reopened, never resolved anew");
    test_pull.assert_quiet();
}

// spec: LOOP-10 @gitea @forgejo
fn drafts_are_skipped_by_dispatch_and_git_decides_what_is_a_conflict(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    test_pull.as_("alice").mark_draft();
    let turn = test_pull.report("alpha", json!({}));
    assert_ne!(turn["next"]["kind"], "ready", "{turn:#}");
    assert!(!turn.to_string().contains("rebase"), "a draft is never rebased: {turn:#}");
    test_pull.assert_quiet();
    test_pull.as_("alice").mark_ready();
    // Any push to the base makes the server say that it does not merge, for a while or for ever.
    test_pull.as_("ruth").push_base("other.txt", |_| "meanwhile\n".to_owned());
    let turn = test_pull.report("alpha", json!({}));
    assert_eq!(turn["next"]["kind"], "ready", "that is no conflict: {turn:#}");
    test_pull.assert_quiet();
    assert_eq!(test_pull.explain()["next"]["kind"], "ready");
    test_pull.as_("ruth").push_base("a.txt", |_| "another file of that name\n".to_owned());
    let turn = test_pull.report("alpha", json!({}));
    assert_ne!(turn["next"]["kind"], "ready", "{turn:#}");
    let explanation = test_pull.site.on("explain", test_pull.pull, &[]);
    assert!(explanation.out.contains("conflict"), "{}", explanation.out);
    test_pull.assert_quiet();
}

// spec: PUB-21 @gitea @forgejo
fn the_bots_own_pull_gets_its_verdict_as_a_comment(build: ServerBuild) {
    let site = TestSite::new(build, &[("README.md", "# shop\n"), ("referee.toml", &config(&["alpha"], ""))]);
    let pull = site.repo.as_("referee").open_pull("topic", &[("a.txt", &lines(40, &[]))]);
    let test_pull = TestPull::on(site, pull);
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!(role_verdicts(&turn, "alpha").0, "request_changes", "{turn:#}");
    let talk = test_pull.talk();
    assert_eq!((talk.verdicts(), talk.notes("referee").len()), (vec!["COMMENT".to_owned()], 1));
    assert!(talk.last_review_text().contains("Posted as a comment"), "{}", talk.last_review_text());
    let status = || {
        let path = format!("/commits/{}/statuses?page=1&limit=50", test_pull.as_("ruth").head());
        test_pull.as_("ruth").send("GET", &path, None).json::<serde_json::Value>().expect("statuses")[0]["status"]
            .clone()
    };
    assert_eq!(status(), "failure");
    test_pull.assert_quiet();
    test_pull.as_("referee").push("a.txt", |_| lines(40, &[3]));
    let turn = test_pull.report("alpha", position("F1", "fixed", "a.txt:3"));
    assert_eq!((role_verdicts(&turn, "alpha").0.as_str(), status()), ("approve", json!("success")), "{turn:#}");
    assert_eq!(test_pull.talk().newest_verdict(), None);
    test_pull.assert_quiet();
}

// spec: PUB-1, INC-16 @gitea @forgejo
fn a_pull_from_a_fork_is_reviewed_like_any_other(build: ServerBuild) {
    let site = TestSite::new(build, &[("README.md", "# shop\n"), ("referee.toml", &config(&["alpha"], ""))]);
    let pull = site.repo.as_("passer-by").open_from_fork("topic", &[("a.txt", &lines(40, &[]))]);
    let test_pull = TestPull::on(site, pull);
    test_pull.report("alpha", critical(3));
    assert_eq!(test_pull.talk().newest_verdict(), Some(("REQUEST_CHANGES".to_owned(), true)));
    let root = thread(&test_pull);
    // Gitea lets the author of a fork's pull resolve the bot's threads; that clears nothing (D12).
    if build != ServerBuild::Forgejo10 {
        test_pull.as_("passer-by").resolve(&root);
        let turn = test_pull.report("alpha", critical(3));
        assert!(state(&turn, "F1").1, "{turn:#}");
        test_pull.assert_quiet();
    }
    // The same patch as another commit, then a fix.
    test_pull.as_("passer-by").amend();
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!((&turn["pull"]["round"], test_pull.talk().reviews().len()), (&json!(1), 1), "{turn:#}");
    test_pull.assert_quiet();
    test_pull.as_("passer-by").push("a.txt", |_| lines(40, &[3]));
    let turn = test_pull.report("alpha", position("F1", "fixed", "a.txt:3"));
    assert_eq!(role_verdicts(&turn, "alpha"), pair("approve", "approve"), "{turn:#}");
    test_pull.assert_quiet();
}
