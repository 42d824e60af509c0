//! People on the pull: who may block, who may accept, whose pull it is.

use referee_core::model::ThreadId;
use referee_testkit::server::{OWNER, ServerBuild};
use serde_json::json;

use crate::on_each_server;
use crate::play::{Play, config, critical, lines, pair, position, role, state};
use crate::site::Site;

on_each_server! {
    a_persons_block_is_never_bypassed
    who_will_not_fix_must_be_allowed_to_say_so
    a_resolved_thread_stays_so_and_counts_by_who_resolved_it
    a_draft_is_left_alone_by_the_rules_and_a_conflict_is_one_when_git_says_so
    an_own_pull_gets_its_verdict_as_a_comment
    a_forks_pull_is_reviewed_like_any_other
}

fn thread(play: &Play) -> ThreadId {
    ThreadId(play.talk().notes("referee")[0]["id"].to_string())
}

// spec: LOOP-2, LOOP-12, PUB-6 @gitea @forgejo
fn a_persons_block_is_never_bypassed(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "[gates]\napprove = \"on\"");
    play.as_("ruth").block("not like this");
    let turn = play.report("alpha", json!({}));
    assert_eq!(role(&turn, "alpha"), pair("approve", "comment"), "it waits for ruth: {turn:#}");
    assert_ne!(turn["next"]["kind"], "ready");
    let talk = play.talk();
    assert_eq!(talk.newest(), None, "{talk:#?}");
    assert!(talk.last().contains("ruth"), "{}", talk.last());
    play.quiet();
    assert_eq!(play.explain()["pull"]["round"], 0, "a person's block is no round");
    // Neither a push nor an approval of somebody else lifts it.
    play.push(&[3]);
    play.as_(OWNER).approve("fine by me");
    let turn = play.report("alpha", json!({}));
    assert_eq!((role(&turn, "alpha").1.as_str(), play.talk().newest()), ("comment", None), "{turn:#}");
    play.as_("ruth").approve("now it is");
    let turn = play.report("alpha", json!({}));
    assert_eq!(role(&turn, "alpha"), pair("approve", "approve"), "{turn:#}");
    assert_eq!(play.talk().newest(), Some(("APPROVED".to_owned(), true)));
    play.quiet();
}

// spec: INC-6 @gitea @forgejo
fn who_will_not_fix_must_be_allowed_to_say_so(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.report("alpha", critical(3));
    let root = thread(&play);
    // Somebody from outside, then the author of a critical one.
    for who in ["passer-by", "alice"] {
        play.as_(who).reply(&root, "won't fix");
        let turn = play.report("alpha", critical(3));
        assert!(state(&turn, "F1").1, "{who}: {turn:#}");
        assert_eq!(role(&turn, "alpha").0, "request_changes", "{who}");
        assert_eq!(play.talk().newest(), Some(("REQUEST_CHANGES".to_owned(), true)), "{who}");
        play.quiet();
    }
    assert_eq!(play.explain()["next"]["cause"], "needs_human");
    // Who may write and is not the author.
    play.as_("ruth").reply(&root, "won't fix: the log is private");
    let turn = play.report("alpha", critical(3));
    assert_eq!(state(&turn, "F1"), ("accepted".to_owned(), false), "{turn:#}");
    assert_eq!(role(&turn, "alpha"), pair("approve", "approve"));
    let talk = play.talk();
    assert!(talk.last().contains("accepted by ruth"), "{}", talk.last());
    let note = talk.notes("referee")[0].clone();
    let resolved = if build == ServerBuild::Forgejo10 {
        note["body"].to_string().contains("**Settled**")
    } else {
        !note["resolver"].is_null()
    };
    assert!(resolved, "an own thread is resolved: {note:#}");
    play.quiet();
}

// spec: INC-5 @gitea @forgejo
fn a_resolved_thread_stays_so_and_counts_by_who_resolved_it(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.report("alpha", critical(3));
    let root = thread(&play);
    play.as_("alice").resolve(&root);
    let turn = play.report("alpha", critical(3));
    assert!(state(&turn, "F1").1, "the author of a critical one: {turn:#}");
    assert!(play.talk().last().contains("resolved by alice"), "{}", play.talk().last());
    play.quiet();
    if build == ServerBuild::Forgejo10 {
        return;
    }
    play.as_("ruth").unresolve(&root);
    play.as_("ruth").resolve(&root);
    // No server tells that by itself: a machine that read the pull before looks again after a quarter of an hour.
    play.site.forget();
    let turn = play.report("alpha", critical(3));
    assert_eq!(state(&turn, "F1"), ("accepted".to_owned(), false), "{turn:#}");
    play.push(&[30]);
    let turn = play.report("alpha", position("F1", "still_there", "a.txt:3"));
    assert_eq!(state(&turn, "F1"), ("accepted".to_owned(), false), "{turn:#}");
    let talk = play.talk();
    assert_eq!(talk.notes("referee")[0]["resolver"]["login"], "ruth", "never reopened, never resolved anew");
    play.quiet();
}

// spec: LOOP-10 @gitea @forgejo
fn a_draft_is_left_alone_by_the_rules_and_a_conflict_is_one_when_git_says_so(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    play.as_("alice").mark_draft();
    let turn = play.report("alpha", json!({}));
    assert_ne!(turn["next"]["kind"], "ready", "{turn:#}");
    assert!(!turn.to_string().contains("rebase"), "a draft is never rebased: {turn:#}");
    play.quiet();
    play.as_("alice").mark_ready();
    // Any push to the base makes the server say that it does not merge, for a while or for ever.
    play.as_("ruth").push_base("other.txt", |_| "meanwhile\n".to_owned());
    let turn = play.report("alpha", json!({}));
    assert_eq!(turn["next"]["kind"], "ready", "that is no conflict: {turn:#}");
    play.quiet();
    assert_eq!(play.explain()["next"]["kind"], "ready");
    play.as_("ruth").push_base("a.txt", |_| "another file of that name\n".to_owned());
    let turn = play.report("alpha", json!({}));
    assert_ne!(turn["next"]["kind"], "ready", "{turn:#}");
    let told = play.site.on("explain", play.pull, &[]);
    assert!(told.out.contains("conflict"), "{}", told.out);
    play.quiet();
}

// spec: PUB-21 @gitea @forgejo
fn an_own_pull_gets_its_verdict_as_a_comment(build: ServerBuild) {
    let site = Site::new(build, &[("README.md", "# shop\n"), ("referee.toml", &config(&["alpha"], ""))]);
    let pull = site.repo.as_("referee").open_pull("topic", &[("a.txt", &lines(40, &[]))]);
    let play = Play::on(site, pull);
    let turn = play.report("alpha", critical(3));
    assert_eq!(role(&turn, "alpha").0, "request_changes", "{turn:#}");
    let talk = play.talk();
    assert_eq!((talk.forms(), talk.notes("referee").len()), (vec!["COMMENT".to_owned()], 1));
    assert!(talk.last().contains("Posted as a comment"), "{}", talk.last());
    let status = || {
        let path = format!("/commits/{}/statuses?page=1&limit=50", play.as_("ruth").head());
        play.as_("ruth").send("GET", &path, None).json::<serde_json::Value>().expect("statuses")[0]["status"].clone()
    };
    assert_eq!(status(), "failure");
    play.quiet();
    play.as_("referee").push("a.txt", |_| lines(40, &[3]));
    let turn = play.report("alpha", position("F1", "fixed", "a.txt:3"));
    assert_eq!((role(&turn, "alpha").0.as_str(), status()), ("approve", json!("success")), "{turn:#}");
    assert_eq!(play.talk().newest(), None);
    play.quiet();
}

// spec: PUB-1, INC-16 @gitea @forgejo
fn a_forks_pull_is_reviewed_like_any_other(build: ServerBuild) {
    let site = Site::new(build, &[("README.md", "# shop\n"), ("referee.toml", &config(&["alpha"], ""))]);
    let pull = site.repo.as_("passer-by").open_from_fork("topic", &[("a.txt", &lines(40, &[]))]);
    let play = Play::on(site, pull);
    play.report("alpha", critical(3));
    assert_eq!(play.talk().newest(), Some(("REQUEST_CHANGES".to_owned(), true)));
    let root = thread(&play);
    // Gitea lets the author of a fork's pull resolve the bot's threads; that clears nothing (D12).
    if build != ServerBuild::Forgejo10 {
        play.as_("passer-by").resolve(&root);
        let turn = play.report("alpha", critical(3));
        assert!(state(&turn, "F1").1, "{turn:#}");
        play.quiet();
    }
    // The same patch as another commit, then a fix.
    play.as_("passer-by").amend();
    let turn = play.report("alpha", critical(3));
    assert_eq!((&turn["pull"]["round"], play.talk().reviews().len()), (&json!(1), 1), "{turn:#}");
    play.quiet();
    play.as_("passer-by").push("a.txt", |_| lines(40, &[3]));
    let turn = play.report("alpha", position("F1", "fixed", "a.txt:3"));
    assert_eq!(role(&turn, "alpha"), pair("approve", "approve"), "{turn:#}");
    play.quiet();
}
