//! What keeps the loop from running for ever, and who may command.

use referee_testkit::server::{OWNER, ServerBuild};
use serde_json::json;

use crate::on_each_server;
use crate::play::{Play, critical, finding, pair, role};
use crate::reviewer::Reviewer;

on_each_server! {
    a_reviewer_reads_a_head_once_unless_somebody_asks
    a_force_push_that_keeps_the_patch_asks_nobody
    later_rounds_read_the_delta_and_the_floor_rises
    at_the_cap_the_operator_is_asked_once_and_decides
    a_failing_reviewer_rests_until_somebody_says_retry
    people_command_and_each_word_is_answered_once
}

// spec: LOOP-1, LOOP-8 @gitea @forgejo
fn a_reviewer_reads_a_head_once_unless_somebody_asks(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    let alpha = Reviewer::of(&play, "alpha");
    alpha.says(critical(3));
    play.review();
    assert_eq!(alpha.starts(), 1);
    let posted = play.talk();
    for (verb, args) in
        [("review", &[][..]), ("review", &["--role", "alpha"]), ("explain", &[]), ("review", &["--dry-run"])]
    {
        play.site.proxy.forget();
        let turn = play.site.told(verb, play.pull, args);
        let head = play.as_("alice").head();
        let guard = format!("same-head: request changes at {}", &head.as_str()[..7]);
        assert!(alpha.starts() == 1 && turn["refused"].to_string().contains(&guard), "{verb} {args:?} {turn:#}");
        assert_eq!(play.site.proxy.write_count(), 0, "{:#?}", play.site.proxy.log());
    }
    assert_eq!(play.talk(), posted);
    // The forge's own request for a review is no ask: the verdict is said again, and no reviewer runs.
    play.as_("alice").request_review("referee");
    play.review();
    assert_eq!(alpha.starts(), 1);
    // Asked for by the command line and by a person; each once.
    play.site.told("review", play.pull, &["--full"]);
    assert_eq!((alpha.starts(), &alpha.briefs()[1]["scope"]), (2, &json!("whole")));
    play.as_("ruth").comment("/referee review");
    for _ in 0..2 {
        play.review();
        assert_eq!(alpha.starts(), 3, "only once");
    }
    // Own texts start nothing.
    play.as_("ruth").comment("@referee explain");
    play.review();
    assert!(!play.talk().comments("referee").is_empty());
    play.review();
    assert_eq!((alpha.starts(), play.site.proxy.write_count()), (3, 0));
}

// spec: LOOP-3, INC-16 @gitea @forgejo
fn a_force_push_that_keeps_the_patch_asks_nobody(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    let alpha = Reviewer::of(&play, "alpha");
    alpha.says(critical(3));
    play.review();
    let before = play.talk();
    let head = play.as_("alice").amend();
    let turn = play.review();
    assert_eq!((alpha.starts(), role(&turn, "alpha").0.as_str()), (1, "request_changes"), "{turn:#}");
    assert_eq!(turn["pull"]["round"], 1);
    let after = play.talk();
    after.keeps(&before);
    assert_eq!(after.reviews().len(), 1);
    assert!(after.last().contains(&format!("Evaluated against {}", &head.as_str()[..7])), "{}", after.last());
    play.site.forget();
    play.review();
    assert_eq!((play.site.proxy.write_count(), alpha.starts()), (0, 1), "{:#?}", play.site.proxy.log());
    // Another patch in the place of all commits rewrites the timeline's pushes on Gitea; it is read, once.
    play.as_("alice").force_push("a.txt", |text| text.replace("line 9 of", "line 9  of"));
    let turn = play.review();
    assert_eq!((alpha.starts(), &turn["pull"]["round"]), (2, &json!(2)), "{turn:#}");
    play.talk().keeps(&after);
    assert_eq!(play.talk().reviews().len(), 1);
    play.site.forget();
    play.review();
    assert_eq!((play.site.proxy.write_count(), alpha.starts()), (0, 2), "{:#?}", play.site.proxy.log());
}

// spec: LOOP-5 @gitea @forgejo
fn later_rounds_read_the_delta_and_the_floor_rises(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], "");
    let alpha = Reviewer::of(&play, "alpha");
    alpha.says(critical(3));
    play.review();
    let first = play.as_("alice").head();
    assert_eq!((&alpha.briefs()[0]["scope"], &alpha.briefs()[0]["floor"]), (&json!("whole"), &json!("suggestion")));
    play.push(&[20]);
    let found = [
        finding("critical", "Token is logged", 3),
        finding("suggestion", "Nit in the delta", 20),
        finding("warning", "Nit in old code", 30),
        finding("warning", "Warning in the delta", 20),
    ];
    alpha.says(json!({ "findings": found }));
    let turn = play.review();
    let brief = &alpha.briefs()[1];
    assert_eq!((&brief["scope"], &brief["round"]), (&json!({ "since": first.as_str() }), &json!(2)), "{brief:#}");
    assert_eq!((&brief["floor"], &brief["priors"]), (&json!("warning"), &json!(["F1"])));
    let titles: Vec<_> = turn["findings"].as_array().into_iter().flatten().map(|it| it["title"].clone()).collect();
    assert_eq!(titles, ["Token is logged", "Warning in the delta"], "{turn:#}");
    assert_eq!(play.talk().notes("referee").len(), 2);
}

// spec: LOOP-2, LOOP-4, LOOP-6, LOOP-12 @gitea @forgejo
fn at_the_cap_the_operator_is_asked_once_and_decides(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], &format!("[loop]\nrounds = 2\noperator = \"{OWNER}\""));
    let turn = play.report("alpha", critical(3));
    assert_eq!((&turn["pull"]["round"], &turn["next"]["on"]), (&json!(1), &json!("author")), "{turn:#}");
    play.push(&[21]);
    let turn = play.report("alpha", critical(3));
    assert_eq!((&turn["next"]["kind"], &turn["next"]["cause"]), (&json!("blocked"), &json!("round_cap")), "{turn:#}");
    let asked = play.talk().comments("referee");
    let [note] = &asked[..] else { panic!("{asked:#?}") };
    let words = note.split("\n\n<!--").next().unwrap_or_default();
    assert!(
        words.starts_with(&format!("@{OWNER}, this pull needs your decision: round 2 of 2 is used up.")),
        "{words}"
    );
    for option in ["dismiss F1", "rounds +1", "Close and reopen", "Push the last fix", "break-glass"] {
        assert!(words.contains(option), "{words}");
    }
    play.quiet();
    // Only the operator gives rounds.
    play.as_("ruth").comment("/referee rounds +1");
    let turn = play.report("alpha", critical(3));
    assert_eq!(turn["next"]["cause"], "round_cap");
    play.as_(OWNER).comment("/referee rounds +1");
    let turn = play.report("alpha", critical(3));
    assert_eq!(turn["next"]["on"], "author", "{turn:#}");
    play.quiet();
    play.push(&[22]);
    let turn = play.report("alpha", critical(3));
    assert_eq!((&turn["next"]["cause"], &turn["pull"]["round"]), (&json!("round_cap"), &json!(3)), "{turn:#}");
    play.quiet();
    // Closed, nothing is done; reopened, it counts from the beginning.
    play.as_("alice").close();
    let turn = play.report("alpha", critical(3));
    assert_eq!((&turn["next"]["kind"], play.site.proxy.write_count()), (&json!("idle"), 0), "{turn:#}");
    play.as_("alice").reopen();
    play.push(&[23]);
    let turn = play.report("alpha", critical(3));
    assert_eq!((&turn["pull"]["round"], &turn["next"]["on"]), (&json!(1), &json!("author")), "{turn:#}");
    play.quiet();
}

// spec: LOOP-11 @gitea @forgejo
fn a_failing_reviewer_rests_until_somebody_says_retry(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], &format!("[loop]\noperator = \"{OWNER}\""));
    let alpha = Reviewer::of(&play, "alpha");
    alpha.says(json!({}));
    alpha.does("echo 'no more memory' >&2; exit 3");
    play.review();
    assert_eq!(alpha.starts(), 1);
    let text = play.talk().last();
    assert!(text.starts_with("**Not reviewed** · alpha failed") && text.contains("no more memory"), "{text}");
    // It rests: the next run starts nobody and writes nothing, also where nothing is remembered but on the pull.
    play.site.forget();
    let turn = play.review();
    assert_eq!((alpha.starts(), play.site.proxy.write_count()), (1, 0), "{turn:#}");
    assert_eq!((&turn["next"]["kind"], &turn["next"]["on"]), (&json!("wait"), &json!("alpha")), "{turn:#}");
    // Failed for good: the third attempt at this head, handed in by whoever ran it.
    for reason in ["no more memory", "no more patience"] {
        play.report("alpha", json!({ "outcome": "failed", "reason": reason }));
    }
    let turn = play.explain();
    assert_eq!(
        (&turn["next"]["kind"], &turn["next"]["cause"]),
        (&json!("blocked"), &json!("reviewer_failed")),
        "{turn:#}"
    );
    let asked = play.talk().comments("referee");
    assert!(asked.len() == 1 && asked[0].contains("retry"), "{asked:#?}");
    play.site.forget();
    play.review();
    assert_eq!((alpha.starts(), play.site.proxy.write_count()), (1, 0), "{:#?}", play.site.proxy.log());
    // Mended, and asked to try again.
    alpha.does(":");
    play.as_(OWNER).comment("/referee retry");
    let turn = play.review();
    assert_eq!((alpha.starts(), role(&turn, "alpha").0.as_str()), (2, "approve"), "{turn:#}");
    assert_eq!(turn["next"]["kind"], "ready", "{turn:#}");
}

// spec: LOOP-12, INC-13, LOOP-8 @gitea @forgejo
fn people_command_and_each_word_is_answered_once(build: ServerBuild) {
    let play = Play::new(build, &["alpha"], &format!("[loop]\noperator = \"{OWNER}\""));
    let alpha = Reviewer::of(&play, "alpha");
    alpha.says(critical(3));
    play.as_("ruth").comment("/referee pause");
    play.review();
    let answers = || play.talk().comments("referee").len();
    assert_eq!((alpha.starts(), answers()), (0, 1), "nothing starts");
    play.as_("ruth").comment("/referee resume");
    play.review();
    assert_eq!((alpha.starts(), answers()), (1, 2));
    // Somebody from outside commands nothing, and gets no answer.
    play.as_("passer-by").comment("/referee dismiss F1 it is fine");
    let turn = play.review();
    assert_eq!((role(&turn, "alpha").0.as_str(), answers()), ("request_changes", 2), "{turn:#}");
    play.as_("ruth").comment("/referee dismis F1 it is fine");
    play.review();
    assert_eq!(answers(), 3, "a hint");
    play.as_("ruth").comment("/referee dismiss F1 it is a test's token");
    let turn = play.review();
    assert_eq!((role(&turn, "alpha"), alpha.starts()), (pair("approve", "approve"), 1), "{turn:#}");
    assert!(play.talk().last().contains("accepted by ruth"));
    play.as_("ruth").comment("/referee reopen F1");
    let turn = play.review();
    assert_eq!((role(&turn, "alpha").0.as_str(), alpha.starts()), ("request_changes", 1), "{turn:#}");
    assert_eq!(play.talk().newest(), Some(("REQUEST_CHANGES".to_owned(), true)));
    // Only the operator breaks the glass.
    play.as_("ruth").comment("/referee break-glass I am in a hurry");
    play.review();
    assert_eq!(play.talk().newest(), Some(("REQUEST_CHANGES".to_owned(), true)));
    play.as_(OWNER).comment("/referee break-glass the site is down");
    play.review();
    let talk = play.talk();
    assert!(talk.last().starts_with(&format!("**Glass broken** · by {OWNER}")), "{}", talk.last());
    assert_eq!((talk.newest(), alpha.starts()), (Some(("APPROVED".to_owned(), true)), 1));
    play.site.forget();
    play.review();
    assert_eq!((play.site.proxy.write_count(), alpha.starts()), (0, 1), "{:#?}", play.site.proxy.log());
    // It ends with the next change.
    play.push(&[30]);
    play.review();
    assert_eq!((play.talk().newest(), alpha.starts()), (Some(("REQUEST_CHANGES".to_owned(), true)), 2));
}
