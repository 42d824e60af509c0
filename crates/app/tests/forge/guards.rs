//! The guards that end the loop, and the commands of people.

use referee_testkit::server::{OWNER, ServerBuild};
use serde_json::json;

use crate::on_each_server;
use crate::reviewer::Reviewer;
use crate::test_pull::{TestPull, critical, finding, pair, role_verdicts};

on_each_server! {
    a_reviewer_runs_once_per_head_unless_somebody_asks
    a_force_push_with_the_same_patch_runs_no_reviewer
    later_rounds_review_the_delta_with_a_rising_severity_floor
    at_the_round_limit_the_operator_is_asked_once_and_decides
    a_failing_reviewer_pauses_until_somebody_commands_retry
    each_command_of_a_person_is_answered_once
}

// spec: LOOP-1, LOOP-8 @gitea @forgejo
fn a_reviewer_runs_once_per_head_unless_somebody_asks(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    let alpha = Reviewer::install(&test_pull, "alpha");
    alpha.set_report(critical(3));
    test_pull.review();
    assert_eq!(alpha.start_count(), 1);
    let posted = test_pull.talk();
    for (verb, args) in
        [("review", &[][..]), ("review", &["--role", "alpha"]), ("explain", &[]), ("review", &["--dry-run"])]
    {
        test_pull.site.proxy.forget();
        let turn = test_pull.site.json(verb, test_pull.pull, args);
        let head = test_pull.as_("alice").head();
        let guard = format!("same-head: request changes at {}", &head.as_str()[..7]);
        assert!(alpha.start_count() == 1 && turn["refused"].to_string().contains(&guard), "{verb} {args:?} {turn:#}");
        assert_eq!(test_pull.site.proxy.write_count(), 0, "{:#?}", test_pull.site.proxy.log());
    }
    assert_eq!(test_pull.talk(), posted);
    // A review request on the forge does not ask for a new review: the verdict is restored, and no reviewer runs.
    test_pull.as_("alice").request_review("referee");
    test_pull.review();
    assert_eq!(alpha.start_count(), 1);
    // Asked for by the command line and by a person; each once.
    test_pull.site.json("review", test_pull.pull, &["--full"]);
    assert_eq!((alpha.start_count(), &alpha.briefs()[1]["scope"]), (2, &json!("whole")));
    test_pull.as_("ruth").comment("/referee review");
    for _ in 0..2 {
        test_pull.review();
        assert_eq!(alpha.start_count(), 3, "only once");
    }
    // Own texts start nothing.
    test_pull.as_("ruth").comment("@referee explain");
    test_pull.review();
    assert!(!test_pull.talk().comments("referee").is_empty());
    test_pull.review();
    assert_eq!((alpha.start_count(), test_pull.site.proxy.write_count()), (3, 0));
}

// spec: LOOP-3, INC-16 @gitea @forgejo
fn a_force_push_with_the_same_patch_runs_no_reviewer(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    let alpha = Reviewer::install(&test_pull, "alpha");
    alpha.set_report(critical(3));
    test_pull.review();
    let before = test_pull.talk();
    let head = test_pull.as_("alice").amend();
    let turn = test_pull.review();
    assert_eq!((alpha.start_count(), role_verdicts(&turn, "alpha").0.as_str()), (1, "request_changes"), "{turn:#}");
    assert_eq!(turn["pull"]["round"], 1);
    let after = test_pull.talk();
    after.assert_keeps(&before);
    assert_eq!(after.reviews().len(), 1);
    assert!(
        after.last_review_text().contains(&format!("Evaluated against {}", &head.as_str()[..7])),
        "{}",
        after.last_review_text()
    );
    test_pull.site.forget();
    test_pull.review();
    assert_eq!((test_pull.site.proxy.write_count(), alpha.start_count()), (0, 1), "{:#?}", test_pull.site.proxy.log());
    // Another patch in the place of all commits rewrites the timeline's pushes on Gitea; it is read, once.
    test_pull.as_("alice").force_push("a.txt", |text| text.replace("line 9 of", "line 9  of"));
    let turn = test_pull.review();
    assert_eq!((alpha.start_count(), &turn["pull"]["round"]), (2, &json!(2)), "{turn:#}");
    test_pull.talk().assert_keeps(&after);
    assert_eq!(test_pull.talk().reviews().len(), 1);
    test_pull.site.forget();
    test_pull.review();
    assert_eq!((test_pull.site.proxy.write_count(), alpha.start_count()), (0, 2), "{:#?}", test_pull.site.proxy.log());
}

// spec: LOOP-5 @gitea @forgejo
fn later_rounds_review_the_delta_with_a_rising_severity_floor(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    let alpha = Reviewer::install(&test_pull, "alpha");
    alpha.set_report(critical(3));
    test_pull.review();
    let first = test_pull.as_("alice").head();
    assert_eq!((&alpha.briefs()[0]["scope"], &alpha.briefs()[0]["floor"]), (&json!("whole"), &json!("suggestion")));
    test_pull.push(&[20]);
    let found = [
        finding("critical", "Token is logged", 3),
        finding("suggestion", "Nit in the delta", 20),
        finding("warning", "Nit in old code", 30),
        finding("warning", "Warning in the delta", 20),
    ];
    alpha.set_report(json!({ "findings": found }));
    let turn = test_pull.review();
    let brief = &alpha.briefs()[1];
    assert_eq!((&brief["scope"], &brief["round"]), (&json!({ "since": first.as_str() }), &json!(2)), "{brief:#}");
    assert_eq!((&brief["floor"], &brief["priors"]), (&json!("warning"), &json!(["F1"])));
    let titles: Vec<_> = turn["findings"].as_array().into_iter().flatten().map(|it| it["title"].clone()).collect();
    assert_eq!(titles, ["Token is logged", "Warning in the delta"], "{turn:#}");
    assert_eq!(test_pull.talk().notes("referee").len(), 2);
}

// spec: LOOP-2, LOOP-4, LOOP-6, LOOP-12 @gitea @forgejo
fn at_the_round_limit_the_operator_is_asked_once_and_decides(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], &format!("[loop]\nrounds = 2\noperator = \"{OWNER}\""));
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!((&turn["pull"]["round"], &turn["next"]["on"]), (&json!(1), &json!("author")), "{turn:#}");
    test_pull.push(&[21]);
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!((&turn["next"]["kind"], &turn["next"]["cause"]), (&json!("blocked"), &json!("round_cap")), "{turn:#}");
    let asked = test_pull.talk().comments("referee");
    let [note] = &asked[..] else { panic!("{asked:#?}") };
    let words = note.split("\n\n<!--").next().unwrap_or_default();
    assert!(
        words.starts_with(&format!("@{OWNER}, this pull needs your decision: round 2 of 2 is used up.")),
        "{words}"
    );
    for option in ["dismiss F1", "rounds +1", "Close and reopen", "Push the last fix", "break-glass"] {
        assert!(words.contains(option), "{words}");
    }
    test_pull.assert_quiet();
    // Only the operator gives rounds.
    test_pull.as_("ruth").comment("/referee rounds +1");
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!(turn["next"]["cause"], "round_cap");
    test_pull.as_(OWNER).comment("/referee rounds +1");
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!(turn["next"]["on"], "author", "{turn:#}");
    test_pull.assert_quiet();
    test_pull.push(&[22]);
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!((&turn["next"]["cause"], &turn["pull"]["round"]), (&json!("round_cap"), &json!(3)), "{turn:#}");
    test_pull.assert_quiet();
    // Closed, nothing is done; reopened, it counts from the beginning.
    test_pull.as_("alice").close();
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!((&turn["next"]["kind"], test_pull.site.proxy.write_count()), (&json!("idle"), 0), "{turn:#}");
    test_pull.as_("alice").reopen();
    test_pull.push(&[23]);
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!((&turn["pull"]["round"], &turn["next"]["on"]), (&json!(1), &json!("author")), "{turn:#}");
    test_pull.assert_quiet();
}

// spec: LOOP-11 @gitea @forgejo
fn a_failing_reviewer_pauses_until_somebody_commands_retry(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], &format!("[loop]\noperator = \"{OWNER}\""));
    let alpha = Reviewer::install(&test_pull, "alpha");
    alpha.set_report(json!({}));
    alpha.set_script("echo 'no more memory' >&2; exit 3");
    test_pull.review();
    assert_eq!(alpha.start_count(), 1);
    let text = test_pull.talk().last_review_text();
    assert!(text.starts_with("**Not reviewed** · alpha failed") && text.contains("no more memory"), "{text}");
    // Backoff: the next run starts no reviewer and writes nothing, also without local state.
    test_pull.site.forget();
    let turn = test_pull.review();
    assert_eq!((alpha.start_count(), test_pull.site.proxy.write_count()), (1, 0), "{turn:#}");
    assert_eq!((&turn["next"]["kind"], &turn["next"]["on"]), (&json!("wait"), &json!("alpha")), "{turn:#}");
    // The third failed attempt at this head, handed in as a report.
    for reason in ["no more memory", "no more patience"] {
        test_pull.report("alpha", json!({ "outcome": "failed", "reason": reason }));
    }
    let turn = test_pull.explain();
    assert_eq!(
        (&turn["next"]["kind"], &turn["next"]["cause"]),
        (&json!("blocked"), &json!("reviewer_failed")),
        "{turn:#}"
    );
    let asked = test_pull.talk().comments("referee");
    assert!(asked.len() == 1 && asked[0].contains("retry"), "{asked:#?}");
    test_pull.site.forget();
    test_pull.review();
    assert_eq!((alpha.start_count(), test_pull.site.proxy.write_count()), (1, 0), "{:#?}", test_pull.site.proxy.log());
    // Mended, and asked to try again.
    alpha.set_script(":");
    test_pull.as_(OWNER).comment("/referee retry");
    let turn = test_pull.review();
    assert_eq!((alpha.start_count(), role_verdicts(&turn, "alpha").0.as_str()), (2, "approve"), "{turn:#}");
    assert_eq!(turn["next"]["kind"], "ready", "{turn:#}");
}

// spec: LOOP-12, INC-13, LOOP-8 @gitea @forgejo
fn each_command_of_a_person_is_answered_once(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], &format!("[loop]\noperator = \"{OWNER}\""));
    let alpha = Reviewer::install(&test_pull, "alpha");
    alpha.set_report(critical(3));
    test_pull.as_("ruth").comment("/referee pause");
    test_pull.review();
    let answers = || test_pull.talk().comments("referee").len();
    assert_eq!((alpha.start_count(), answers()), (0, 1), "nothing starts");
    test_pull.as_("ruth").comment("/referee resume");
    test_pull.review();
    assert_eq!((alpha.start_count(), answers()), (1, 2));
    // Somebody from outside commands nothing, and gets no answer.
    test_pull.as_("passer-by").comment("/referee dismiss F1 it is fine");
    let turn = test_pull.review();
    assert_eq!((role_verdicts(&turn, "alpha").0.as_str(), answers()), ("request_changes", 2), "{turn:#}");
    test_pull.as_("ruth").comment("/referee dismis F1 it is fine");
    test_pull.review();
    assert_eq!(answers(), 3, "a hint");
    test_pull.as_("ruth").comment("/referee dismiss F1 it is a test's token");
    let turn = test_pull.review();
    assert_eq!((role_verdicts(&turn, "alpha"), alpha.start_count()), (pair("approve", "approve"), 1), "{turn:#}");
    assert!(test_pull.talk().last_review_text().contains("accepted by ruth"));
    test_pull.as_("ruth").comment("/referee reopen F1");
    let turn = test_pull.review();
    assert_eq!((role_verdicts(&turn, "alpha").0.as_str(), alpha.start_count()), ("request_changes", 1), "{turn:#}");
    assert_eq!(test_pull.talk().newest_verdict(), Some(("REQUEST_CHANGES".to_owned(), true)));
    // Only the operator breaks the glass.
    test_pull.as_("ruth").comment("/referee break-glass I am in a hurry");
    test_pull.review();
    assert_eq!(test_pull.talk().newest_verdict(), Some(("REQUEST_CHANGES".to_owned(), true)));
    test_pull.as_(OWNER).comment("/referee break-glass the site is down");
    test_pull.review();
    let talk = test_pull.talk();
    assert!(
        talk.last_review_text().starts_with(&format!("**Glass broken** · by {OWNER}")),
        "{}",
        talk.last_review_text()
    );
    assert_eq!((talk.newest_verdict(), alpha.start_count()), (Some(("APPROVED".to_owned(), true)), 1));
    test_pull.site.forget();
    test_pull.review();
    assert_eq!((test_pull.site.proxy.write_count(), alpha.start_count()), (0, 1), "{:#?}", test_pull.site.proxy.log());
    // It ends with the next change.
    test_pull.push(&[30]);
    test_pull.review();
    assert_eq!(
        (test_pull.talk().newest_verdict(), alpha.start_count()),
        (Some(("REQUEST_CHANGES".to_owned(), true)), 2)
    );
}
