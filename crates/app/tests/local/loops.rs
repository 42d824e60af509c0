//! The guards that end the loop, the round limit, and state that is kept on the pull alone.

use serde_json::json;

use crate::publish::{changed_lines, repo_with_topic};
use crate::pull_view::{PullView, actions, body, finding, role_verdicts};
use crate::reviewer::{Reviewer, refusals};
use crate::test_repo::TestRepo;

/// What a person says on the pull.
pub(crate) fn say(repo: &TestRepo, words: &str) {
    repo.run_expecting(0, &["local", "comment", "L1", words]);
}

// spec: LOOP-1, LOOP-8, LOOP-12 @local
#[test]
fn a_reviewer_runs_once_per_head_unless_somebody_asks() {
    let repo = repo_with_topic(&["alpha"], "");
    let [alpha] = Reviewer::install(&repo, ["alpha"]);
    alpha.set_report(json!({ "findings": [finding("critical", "Token is logged", 3)] }));
    repo.run_expecting(20, &["review"]);
    assert_eq!(alpha.start_count(), 1);
    let posted = PullView::read(&repo);
    for path in [&["review"][..], &["review", "--role", "alpha"], &["explain"], &["review", "--dry-run"]] {
        let turn = repo.json(path);
        let head = repo.head();
        let guard = format!("another review by alpha: same-head: request changes at {}", &head[..7]);
        assert_eq!((alpha.start_count(), refusals(&turn)), (1, vec![guard]), "{path:?}");
        assert_eq!(turn["calls"]["writes"], 0);
    }
    assert_eq!(PullView::read(&repo), posted);
    // A report that is handed in starts no reviewer, and is decided at the same head.
    let turn = repo.report_json(
        "alpha",
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 9)] }),
    );
    assert_eq!((alpha.start_count(), actions(&turn).contains(&"edit_review".to_owned())), (1, true), "{turn:#}");
    // Asked for: by the command line, by a person in both forms; each once.
    repo.run_expecting(20, &["review", "--full"]);
    assert_eq!((alpha.start_count(), &alpha.briefs()[1]["scope"]), (2, &json!("whole")));
    for (asks, starts) in [("/referee review", 3), ("@referee full review, please", 4)] {
        say(&repo, asks);
        repo.run_expecting(20, &["review"]);
        assert_eq!(alpha.start_count(), starts, "{asks}");
        repo.run_expecting(20, &["review"]);
        assert_eq!(alpha.start_count(), starts, "{asks}, only once");
    }
    // Own texts start nothing; an own push is a head like anyone's.
    say(&repo, "/referee explain");
    repo.run_expecting(20, &["review"]);
    assert!(!PullView::read(&repo).comments("referee").is_empty());
    assert_eq!(repo.json(&["review"])["calls"]["writes"], 0);
    assert_eq!(alpha.start_count(), 4);
    repo.write("a.txt", changed_lines(40, &[3]));
    repo.git(&["add", "--all"]);
    repo.git(&["-c", "user.name=referee", "commit", "--quiet", "--message", "Pushed by the bot"]);
    repo.run_expecting(20, &["review"]);
    assert_eq!(alpha.start_count(), 5);
}

// spec: LOOP-2, LOOP-4, LOOP-6, LOOP-12 @local
#[test]
fn at_the_round_limit_the_operator_is_asked_once_and_decides() {
    let repo = repo_with_topic(&["alpha"], "[loop]\noperator = \"carol\"");
    let never = |n: u32| json!({ "findings": [finding("critical", "Token is logged", 3)], "summary": format!("{n}") });
    let push = |n: u32| {
        repo.write("b.txt", format!("attempt {n}\n"));
        repo.commit("Try again")
    };
    let turn = repo.report_json("alpha", never(1));
    assert_eq!((&turn["pull"]["round"], &turn["next"]["on"]), (&json!(1), &json!("author")), "{turn:#}");
    // A person's block is no round; nor is the same change under another name.
    repo.run_expecting(0, &["local", "block", "L1", "not like this", "--as", "bob"]);
    repo.git(&["commit", "--quiet", "--amend", "--message", "The same in other words"]);
    assert_eq!(repo.report_json("alpha", never(1))["pull"]["round"], 1);
    repo.run_expecting(0, &["local", "approve", "L1", "now it is", "--as", "bob"]);
    push(2);
    let turn = repo.report_json("alpha", never(2));
    assert_eq!((&turn["pull"]["round"], &turn["next"]["kind"]), (&json!(2), &json!("wait")), "one below the cap");
    assert_eq!(PullView::read(&repo).comments("referee"), [""; 0]);

    let head = push(3);
    let ran = repo.report("alpha", never(3));
    assert_eq!(ran.code, 20, "{}", ran.err);
    repo.run_expecting(0, &["review", "--role", "alpha", "--fail-on", "never"]);
    let turn = repo.json(&["explain"]);
    assert_eq!((&turn["next"]["kind"], &turn["next"]["cause"]), (&json!("blocked"), &json!("round_cap")), "{turn:#}");
    let asked = PullView::read(&repo).comments("referee");
    let [note] = asked.as_slice() else { panic!("{asked:?}") };
    let words = note.split("\n\n<!--").next().expect("words").replace(&head[..7], "SHA");
    assert_eq!(
        words,
        "@carol, this pull needs your decision: round 3 of 3 is used up.\n\n\
         Head `SHA` · round 3 of 3 · reviewed by alpha · 0.00 of 2.00 USD, 0 s\n\n\
         | Open | Rounds | Where |\n|---|---|---|\n\
         | **critical** F1 Token is logged · alpha | 1, 2, 3 | `a.txt:3` |\n\n\
         To decide:\n\n- F1 came back round after round: must it be fixed, or is it accepted?\n\n\
         What works from here:\n\n\
         - Merge it as it is: `@referee dismiss F1 <reason>` takes the block away, then merge; they stay listed as accepted.\n\
         - `@referee rounds +1`: one round more, for a fix that is nearly there.\n\
         - Close and reopen it: rounds and workers count from there, for a change that was reworked.\n\
         - Push the last fix by hand: only what you change is reviewed.\n\
         - `@referee break-glass <reason>`: own blocks are lifted at this head, on the record, for what cannot wait.\n\
         - `@referee pause`: nothing is started here until `@referee resume`.\n\n\
         Until then nothing is started at this head."
    );

    // Only the operator may add rounds; anybody else gets a reply that names the operator.
    repo.run_expecting(0, &["local", "comment", "L1", "/referee rounds +1", "--as", "bob"]);
    repo.report_json("alpha", never(3));
    let comments = PullView::read(&repo).comments("referee");
    assert!(comments.len() == 2 && comments[1].contains("carol"), "{comments:?}");
    repo.run_expecting(0, &["local", "comment", "L1", "/referee rounds +1", "--as", "carol"]);
    let turn = repo.report_json("alpha", never(3));
    assert_eq!((&turn["next"]["on"], &turn["pull"]["round"]), (&json!("author"), &json!(3)), "{turn:#}");
    push(4);
    let turn = repo.report_json("alpha", never(4));
    assert_eq!((&turn["next"]["cause"], &turn["pull"]["round"]), (&json!("round_cap"), &json!(4)));
    let comments = PullView::read(&repo).comments("referee");
    assert!(
        comments.len() == 3 && comments[2].starts_with("@carol, ") && comments[2].contains("4 of 4"),
        "{comments:?}"
    );
    push(5);
    let turn = repo.report_json("alpha", never(5));
    assert_eq!(turn["pull"]["round"], 5, "beyond the cap it still counts");
    assert_eq!(PullView::read(&repo).comments("referee").len(), 3, "the same question is edited, not asked again");

    // Close and reopen: from the beginning.
    repo.run_expecting(0, &["local", "close", "L1"]);
    let closed = repo.json(&["review", "L1"]);
    assert_eq!((&closed["next"]["kind"], &closed["calls"]["writes"]), (&json!("idle"), &json!(0)));
    repo.run_expecting(0, &["local", "reopen", "L1"]);
    push(6);
    let turn = repo.report_json("alpha", never(6));
    assert_eq!((&turn["pull"]["round"], &turn["next"]["on"]), (&json!(1), &json!("author")), "{turn:#}");
    assert_eq!(repo.report_json("alpha", never(6))["calls"]["writes"], 0);
}

// spec: LOOP-3, INC-16 @local
#[test]
fn a_force_push_that_keeps_the_patch_keeps_the_verdict() {
    let repo = repo_with_topic(&["alpha"], "");
    let [alpha] = Reviewer::install(&repo, ["alpha"]);
    alpha.set_report(json!({ "findings": [finding("critical", "Token is logged", 3)] }));
    repo.run_expecting(20, &["review"]);
    let before = PullView::read(&repo);
    repo.git(&["switch", "--quiet", "main"]);
    repo.write("other.txt", "meanwhile\n");
    repo.commit("Meanwhile");
    repo.git(&["switch", "--quiet", "topic"]);
    repo.git(&["rebase", "--quiet", "main"]);
    let head = repo.head();
    let turn = repo.json(&["review"]);
    assert_eq!((alpha.start_count(), role_verdicts(&turn, "alpha").0), (1, json!("request_changes")), "{turn:#}");
    assert_eq!(turn["pull"]["round"], 1);
    let after = PullView::read(&repo);
    after.assert_keeps(&before);
    assert_eq!(after.reviews().len(), 1);
    assert!(
        after.review_text("alpha").contains(&format!("Evaluated against {}", &head[..7])),
        "{}",
        after.review_text("alpha")
    );
    assert_eq!(repo.json(&["review"])["calls"]["writes"], 0);
    // Spaces count: another change of the same words is read again.
    repo.write("a.txt", changed_lines(40, &[]).replace("line 9 of", "line 9  of"));
    repo.commit("Shift a word");
    repo.run_expecting(20, &["review"]);
    assert_eq!(alpha.start_count(), 2);
}

// spec: LOOP-5 @local
#[test]
fn later_rounds_review_the_delta_with_a_rising_severity_floor() {
    let repo = repo_with_topic(&["alpha"], "");
    let [alpha] = Reviewer::install(&repo, ["alpha"]);
    let open = |rest: Vec<serde_json::Value>| {
        let mut findings = vec![finding("critical", "Token is logged", 3), finding("suggestion", "Name is short", 4)];
        findings.extend(rest);
        json!({ "findings": findings })
    };
    alpha.set_report(open(vec![]));
    repo.run_expecting(20, &["review"]);
    let first = repo.head();
    let brief = &alpha.briefs()[0];
    assert_eq!((&brief["scope"], &brief["round"], &brief["floor"]), (&json!("whole"), &json!(1), &json!("suggestion")));
    repo.write("a.txt", changed_lines(40, &[20]));
    repo.commit("Second");
    alpha.set_report(open(vec![
        finding("suggestion", "Nit in the delta", 20),
        finding("warning", "Nit in old code", 30),
        finding("warning", "Warning in the delta", 20),
        finding("critical", "Grave in old code", 33),
    ]));
    let turn = repo.json(&["review"]);
    let brief = &alpha.briefs()[1];
    assert_eq!((&brief["scope"], &brief["round"]), (&json!({ "since": first }), &json!(2)), "{brief:#}");
    assert_eq!((&brief["floor"], &brief["priors"]), (&json!("warning"), &json!(["F1", "F2"])));
    let titles = |turn: &serde_json::Value| -> Vec<String> {
        let all = turn["findings"].as_array().expect("findings").iter();
        all.map(|it| it["title"].as_str().expect("a title").to_owned()).collect()
    };
    let known = ["Token is logged", "Name is short", "Grave in old code", "Warning in the delta"];
    assert_eq!(titles(&turn), known, "{turn:#}");
    repo.write("a.txt", changed_lines(40, &[20, 25]));
    repo.commit("Third");
    alpha.set_report(open(vec![
        finding("critical", "Grave in old code", 33),
        finding("warning", "Warning in the delta", 20),
        finding("warning", "Late warning", 25),
    ]));
    let turn = repo.json(&["review"]);
    assert_eq!((titles(&turn), &alpha.briefs()[2]["floor"]), (known.map(str::to_owned).to_vec(), &json!("critical")));
}

// spec: LOOP-7 @local
#[test]
fn a_lost_store_changes_nothing_on_the_pull() {
    let kept = repo_with_topic(&["alpha", "beta"], "");
    let lost = repo_with_topic(&["alpha", "beta"], "");
    let forget = |repo: &TestRepo| {
        for file in ["state.db", "state.db-wal", "state.db-shm"] {
            let _ = std::fs::remove_file(repo.dir().join(".git/referee").join(file));
        }
    };
    let play = |repo: &TestRepo, forgetful: bool| {
        let mut ran = Vec::new();
        let mut step = |name: &str, report: serde_json::Value| {
            if forgetful {
                forget(repo);
            }
            let turn = repo.report_json(name, report);
            ran.push((actions(&turn), turn["pull"]["round"].clone(), turn["next"]["kind"].clone()));
        };
        step("alpha", json!({ "findings": [finding("critical", "Token is logged", 3)] }));
        step("beta", json!({}));
        repo.run_expecting(0, &["local", "reply", "L1", "F1", "I disagree: it is a test's token"]);
        step("alpha", json!({ "positions": [{ "finding": "F1", "position": "stands", "reply": "a.txt:3 logs it" }] }));
        repo.write("a.txt", changed_lines(40, &[3]));
        repo.commit("Mend it");
        step("alpha", json!({ "positions": [{ "finding": "F1", "position": "fixed", "evidence": "a.txt:3" }] }));
        step("beta", json!({}));
        step("beta", json!({}));
        ran
    };
    let ran = play(&kept, false);
    assert_eq!(ran, play(&lost, true));
    assert_eq!(ran.last().expect("runs").0, [""; 0]);
    let words = |repo: &TestRepo| -> Vec<String> {
        let visible = |text: &str| text.split("\n\n<!--").next().unwrap_or_default().to_owned();
        let head = &repo.head()[..7];
        let talk = PullView::read(repo);
        talk.texts().iter().map(|(_, _, text)| visible(text).replace(head, "SHA")).collect()
    };
    // Two shops have other commits: what was said at the first head is compared by its length.
    let shapes = |repo: &TestRepo| words(repo).iter().map(String::len).collect::<Vec<_>>();
    assert_eq!(shapes(&kept), shapes(&lost));
}

// spec: LOOP-11 @local
#[test]
fn a_failing_reviewer_is_retried_twice_with_pauses_then_a_person_is_asked() {
    let repo = repo_with_topic(&["alpha"], "");
    let [alpha] = Reviewer::install(&repo, ["alpha"]);
    alpha.set_report(json!({}));
    alpha.set_failing();
    let run = |starts: usize, code: i32| {
        let ran = repo.run_expecting(code, &["review"]);
        assert_eq!(alpha.start_count(), starts, "{}", ran.err);
        repo.json(&["explain"])
    };
    let turn = run(1, 14);
    assert_eq!((&turn["next"]["kind"], &turn["next"]["on"]), (&json!("wait"), &json!("alpha")), "{turn:#}");
    let says = PullView::read(&repo).review_text("alpha");
    assert!(says.starts_with("**Not reviewed** · alpha failed") && says.contains("no more memory"), "{says}");
    run(1, 14);
    repo.advance_clock(300);
    run(2, 14);
    repo.advance_clock(300);
    run(2, 14);
    repo.advance_clock(300);
    let turn = run(3, 14);
    assert_eq!((&turn["next"]["kind"], &turn["next"]["cause"]), (&json!("blocked"), &json!("reviewer_failed")));
    let asked = PullView::read(&repo).comments("referee");
    assert!(asked.len() == 1 && asked[0].starts_with("@ada, ") && asked[0].contains("retry"), "{asked:?}");
    for _ in 0..3 {
        repo.advance_clock(3600);
        run(3, 14);
    }
    assert_eq!(repo.json(&["review"])["calls"]["writes"], 0);
    assert_eq!(PullView::read(&repo).comments("referee"), asked);
    // Mended, and asked to try again.
    alpha.set_script(":");
    say(&repo, "/referee retry");
    let turn = run(4, 0);
    assert_eq!(
        (role_verdicts(&turn, "alpha").0, &turn["next"]["kind"]),
        (json!("approve"), &json!("ready")),
        "{turn:#}"
    );
    run(4, 0);
}

// spec: LOOP-12, LOOP-8 @local
#[test]
fn each_command_of_a_person_is_answered_once() {
    let repo = repo_with_topic(&["alpha"], "");
    let [alpha] = Reviewer::install(&repo, ["alpha"]);
    alpha.set_report(json!({ "findings": [finding("critical", "Token is logged", 3)] }));
    repo.run_expecting(0, &["local", "open"]);
    let answers = || PullView::read(&repo).comments("referee");
    say(&repo, "/referee pause");
    repo.run(&["review"]);
    assert_eq!((alpha.start_count(), answers().len()), (0, 1), "nothing starts: {:?}", answers());
    say(&repo, "/referee resume");
    repo.run_expecting(20, &["review"]);
    assert_eq!((alpha.start_count(), answers().len()), (1, 2));
    say(&repo, "/referee dismis F1 it is fine");
    say(&repo, "see\n/referee dismiss F1 this is no first line");
    repo.run_expecting(20, &["review"]);
    let hints = answers();
    assert!(hints.len() == 3 && hints[2].contains("dismiss"), "{hints:?}");
    say(&repo, "@referee help");
    repo.run_expecting(20, &["review"]);
    assert!(
        ["rounds +1", "break-glass", "retry", "pause"].iter().all(|verb| answers()[3].contains(verb)),
        "{:?}",
        answers()
    );
    say(&repo, "/referee dismiss F1 it is a test's token");
    let turn = repo.json(&["review"]);
    assert_eq!(
        (role_verdicts(&turn, "alpha"), alpha.start_count()),
        ((json!("approve"), json!("approve")), 1),
        "{turn:#}"
    );
    assert!(PullView::read(&repo).review_text("alpha").contains("accepted by ada"));
    say(&repo, "/referee reopen F1");
    let turn = repo.json(&["review"]);
    assert_eq!((role_verdicts(&turn, "alpha").0, alpha.start_count()), (json!("request_changes"), 1), "{turn:#}");
    assert_eq!(PullView::read(&repo).newest_verdict().as_deref(), Some("request_changes"));
    say(&repo, "/referee break-glass the site is down");
    repo.run(&["review"]);
    let talk = PullView::read(&repo);
    assert!(talk.review_text("alpha").starts_with("**Glass broken** · by ada"), "{}", talk.review_text("alpha"));
    assert_eq!((talk.newest_verdict().as_deref(), alpha.start_count()), (Some("approve"), 1));
    assert_eq!(repo.json(&["review"])["calls"]["writes"], 0);
    // It ends with the next change.
    repo.write("a.txt", changed_lines(40, &[30]));
    repo.commit("After the fire");
    repo.run_expecting(20, &["review"]);
    assert_eq!((PullView::read(&repo).newest_verdict().as_deref(), alpha.start_count()), (Some("request_changes"), 2));
}

// spec: LOOP-8 @local
#[test]
fn an_argument_ends_after_one_rebuttal() {
    let repo = repo_with_topic(&["alpha"], "");
    repo.report_json("alpha", json!({ "findings": [finding("critical", "Token is logged", 3)] }));
    let stands = |n: u32| json!({ "positions": [{ "finding": "F1", "position": "stands", "reply": format!("a.txt:3 logs it, {n}") }] });
    for n in 0..4 {
        repo.run_expecting(0, &["local", "reply", "L1", "F1", &format!("I disagree, {n}"), "--as", "bob"]);
        // A program is never answered (D31), and cannot keep the argument alive.
        repo.run_expecting(0, &["local", "reply", "L1", "F1", "I disagree", "--as", "other-bot"]);
        repo.report_json("alpha", stands(n));
    }
    let talk = PullView::read(&repo);
    let notes = talk.threads()[0]["notes"].as_array().expect("notes");
    let own: Vec<String> = notes.iter().filter(|it| it["author"]["login"] == "referee").map(body).collect();
    assert_eq!(own.len(), 2, "the finding and one rebuttal: {own:?}");
    let turn = repo.json(&["explain"]);
    assert_eq!(turn["next"]["kind"], "blocked", "a person decides: {turn:#}");
}
