//! What keeps the loop from running for ever: guards, caps, memory on the pull alone.

use serde_json::json;

use crate::publish::{changed, shop};
use crate::reviewer::{Reviewer, refused};
use crate::shop::Shop;
use crate::talk::{Talk, actions, body, finding, role};

/// What a person says on the pull.
pub(crate) fn say(shop: &Shop, words: &str) {
    shop.ends(0, &["local", "comment", "L1", words]);
}

// spec: LOOP-1, LOOP-8, LOOP-12 @local
#[test]
fn a_reviewer_reads_a_head_once_unless_somebody_asks() {
    let shop = shop(&["alpha"], "");
    let [alpha] = Reviewer::of(&shop, ["alpha"]);
    alpha.says(json!({ "findings": [finding("critical", "Token is logged", 3)] }));
    shop.ends(20, &["review"]);
    assert_eq!(alpha.starts(), 1);
    let posted = Talk::of(&shop);
    for path in [&["review"][..], &["review", "--role", "alpha"], &["explain"], &["review", "--dry-run"]] {
        let turn = shop.json(path);
        let head = shop.head();
        let guard = format!("another review by alpha: same-head: request changes at {}", &head[..7]);
        assert_eq!((alpha.starts(), refused(&turn)), (1, vec![guard]), "{path:?}");
        assert_eq!(turn["calls"]["writes"], 0);
    }
    assert_eq!(Talk::of(&shop), posted);
    // A report that is handed in starts nobody, and is decided at the same head.
    let turn = shop.played(
        "alpha",
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 9)] }),
    );
    assert_eq!((alpha.starts(), actions(&turn).contains(&"edit_review".to_owned())), (1, true), "{turn:#}");
    // Asked for: by the command line, by a person in both forms; each once.
    shop.ends(20, &["review", "--full"]);
    assert_eq!((alpha.starts(), &alpha.briefs()[1]["scope"]), (2, &json!("whole")));
    for (asks, starts) in [("/referee review", 3), ("@referee full review, please", 4)] {
        say(&shop, asks);
        shop.ends(20, &["review"]);
        assert_eq!(alpha.starts(), starts, "{asks}");
        shop.ends(20, &["review"]);
        assert_eq!(alpha.starts(), starts, "{asks}, only once");
    }
    // Own texts start nothing; an own push is a head like anyone's.
    say(&shop, "/referee explain");
    shop.ends(20, &["review"]);
    assert!(!Talk::of(&shop).comments("referee").is_empty());
    assert_eq!(shop.json(&["review"])["calls"]["writes"], 0);
    assert_eq!(alpha.starts(), 4);
    shop.write("a.txt", changed(40, &[3]));
    shop.git(&["add", "--all"]);
    shop.git(&["-c", "user.name=referee", "commit", "--quiet", "--message", "Pushed by the bot"]);
    shop.ends(20, &["review"]);
    assert_eq!(alpha.starts(), 5);
}

// spec: LOOP-2, LOOP-4, LOOP-6, LOOP-12 @local
#[test]
fn at_the_cap_the_operator_is_asked_once_and_decides() {
    let shop = shop(&["alpha"], "[loop]\noperator = \"carol\"");
    let never = |n: u32| json!({ "findings": [finding("critical", "Token is logged", 3)], "summary": format!("{n}") });
    let push = |n: u32| {
        shop.write("b.txt", format!("attempt {n}\n"));
        shop.commit("Try again")
    };
    let turn = shop.played("alpha", never(1));
    assert_eq!((&turn["pull"]["round"], &turn["next"]["on"]), (&json!(1), &json!("author")), "{turn:#}");
    // A person's block is no round; nor is the same change under another name.
    shop.ends(0, &["local", "block", "L1", "not like this", "--as", "bob"]);
    shop.git(&["commit", "--quiet", "--amend", "--message", "The same in other words"]);
    assert_eq!(shop.played("alpha", never(1))["pull"]["round"], 1);
    shop.ends(0, &["local", "approve", "L1", "now it is", "--as", "bob"]);
    push(2);
    let turn = shop.played("alpha", never(2));
    assert_eq!((&turn["pull"]["round"], &turn["next"]["kind"]), (&json!(2), &json!("wait")), "one below the cap");
    assert_eq!(Talk::of(&shop).comments("referee"), [""; 0]);

    let head = push(3);
    let ran = shop.report("alpha", never(3));
    assert_eq!(ran.code, 20, "{}", ran.err);
    assert_eq!(shop.ends(12, &["review", "--role", "alpha", "--fail-on", "never"]).code, 12);
    let turn = shop.json(&["explain"]);
    assert_eq!((&turn["next"]["kind"], &turn["next"]["cause"]), (&json!("blocked"), &json!("round_cap")), "{turn:#}");
    let asked = Talk::of(&shop).comments("referee");
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

    // Only the operator gives rounds; anybody else is told who may.
    shop.ends(0, &["local", "comment", "L1", "/referee rounds +1", "--as", "bob"]);
    shop.played("alpha", never(3));
    let comments = Talk::of(&shop).comments("referee");
    assert!(comments.len() == 2 && comments[1].contains("carol"), "{comments:?}");
    shop.ends(0, &["local", "comment", "L1", "/referee rounds +1", "--as", "carol"]);
    let turn = shop.played("alpha", never(3));
    assert_eq!((&turn["next"]["on"], &turn["pull"]["round"]), (&json!("author"), &json!(3)), "{turn:#}");
    push(4);
    let turn = shop.played("alpha", never(4));
    assert_eq!((&turn["next"]["cause"], &turn["pull"]["round"]), (&json!("round_cap"), &json!(4)));
    let comments = Talk::of(&shop).comments("referee");
    assert!(
        comments.len() == 3 && comments[2].starts_with("@carol, ") && comments[2].contains("4 of 4"),
        "{comments:?}"
    );
    push(5);
    let turn = shop.played("alpha", never(5));
    assert_eq!(turn["pull"]["round"], 5, "beyond the cap it still counts");
    assert_eq!(Talk::of(&shop).comments("referee").len(), 3, "the same question is edited, not asked again");

    // Close and reopen: from the beginning.
    shop.ends(0, &["local", "close", "L1"]);
    let closed = shop.json(&["review", "L1"]);
    assert_eq!((&closed["next"]["kind"], &closed["calls"]["writes"]), (&json!("idle"), &json!(0)));
    shop.ends(0, &["local", "reopen", "L1"]);
    push(6);
    let turn = shop.played("alpha", never(6));
    assert_eq!((&turn["pull"]["round"], &turn["next"]["on"]), (&json!(1), &json!("author")), "{turn:#}");
    assert_eq!(shop.played("alpha", never(6))["calls"]["writes"], 0);
}

// spec: LOOP-3, INC-16 @local
#[test]
fn a_force_push_that_keeps_the_patch_keeps_the_verdict() {
    let shop = shop(&["alpha"], "");
    let [alpha] = Reviewer::of(&shop, ["alpha"]);
    alpha.says(json!({ "findings": [finding("critical", "Token is logged", 3)] }));
    shop.ends(20, &["review"]);
    let before = Talk::of(&shop);
    shop.git(&["switch", "--quiet", "main"]);
    shop.write("other.txt", "meanwhile\n");
    shop.commit("Meanwhile");
    shop.git(&["switch", "--quiet", "topic"]);
    shop.git(&["rebase", "--quiet", "main"]);
    let head = shop.head();
    let turn = shop.json(&["review"]);
    assert_eq!((alpha.starts(), role(&turn, "alpha").0), (1, json!("request_changes")), "{turn:#}");
    assert_eq!(turn["pull"]["round"], 1);
    let after = Talk::of(&shop);
    after.keeps(&before);
    assert_eq!(after.reviews().len(), 1);
    assert!(after.says("alpha").contains(&format!("Evaluated against {}", &head[..7])), "{}", after.says("alpha"));
    assert_eq!(shop.json(&["review"])["calls"]["writes"], 0);
    // Spaces count: another change of the same words is read again.
    shop.write("a.txt", changed(40, &[]).replace("line 9 of", "line 9  of"));
    shop.commit("Shift a word");
    shop.ends(20, &["review"]);
    assert_eq!(alpha.starts(), 2);
}

// spec: LOOP-5 @local
#[test]
fn later_rounds_read_the_delta_and_the_floor_rises() {
    let shop = shop(&["alpha"], "");
    let [alpha] = Reviewer::of(&shop, ["alpha"]);
    let open = |rest: Vec<serde_json::Value>| {
        let mut findings = vec![finding("critical", "Token is logged", 3), finding("suggestion", "Name is short", 4)];
        findings.extend(rest);
        json!({ "findings": findings })
    };
    alpha.says(open(vec![]));
    shop.ends(20, &["review"]);
    let first = shop.head();
    let brief = &alpha.briefs()[0];
    assert_eq!((&brief["scope"], &brief["round"], &brief["floor"]), (&json!("whole"), &json!(1), &json!("suggestion")));
    shop.write("a.txt", changed(40, &[20]));
    shop.commit("Second");
    alpha.says(open(vec![
        finding("suggestion", "Nit in the delta", 20),
        finding("warning", "Nit in old code", 30),
        finding("warning", "Warning in the delta", 20),
        finding("critical", "Grave in old code", 33),
    ]));
    let turn = shop.json(&["review"]);
    let brief = &alpha.briefs()[1];
    assert_eq!((&brief["scope"], &brief["round"]), (&json!({ "since": first }), &json!(2)), "{brief:#}");
    assert_eq!((&brief["floor"], &brief["priors"]), (&json!("warning"), &json!(["F1", "F2"])));
    let titles = |turn: &serde_json::Value| -> Vec<String> {
        let all = turn["findings"].as_array().expect("findings").iter();
        all.map(|it| it["title"].as_str().expect("a title").to_owned()).collect()
    };
    let known = ["Token is logged", "Name is short", "Grave in old code", "Warning in the delta"];
    assert_eq!(titles(&turn), known, "{turn:#}");
    shop.write("a.txt", changed(40, &[20, 25]));
    shop.commit("Third");
    alpha.says(open(vec![
        finding("critical", "Grave in old code", 33),
        finding("warning", "Warning in the delta", 20),
        finding("warning", "Late warning", 25),
    ]));
    let turn = shop.json(&["review"]);
    assert_eq!((titles(&turn), &alpha.briefs()[2]["floor"]), (known.map(str::to_owned).to_vec(), &json!("critical")));
}

// spec: LOOP-7 @local
#[test]
fn a_lost_store_costs_nothing_on_the_pull() {
    let kept = shop(&["alpha", "beta"], "");
    let lost = shop(&["alpha", "beta"], "");
    let forget = |shop: &Shop| {
        for file in ["state.db", "state.db-wal", "state.db-shm"] {
            let _ = std::fs::remove_file(shop.dir().join(".git/referee").join(file));
        }
    };
    let play = |shop: &Shop, forgetful: bool| {
        let mut ran = Vec::new();
        let mut step = |name: &str, report: serde_json::Value| {
            if forgetful {
                forget(shop);
            }
            let turn = shop.played(name, report);
            ran.push((actions(&turn), turn["pull"]["round"].clone(), turn["next"]["kind"].clone()));
        };
        step("alpha", json!({ "findings": [finding("critical", "Token is logged", 3)] }));
        step("beta", json!({}));
        shop.ends(0, &["local", "reply", "L1", "F1", "I disagree: it is a test's token"]);
        step("alpha", json!({ "positions": [{ "finding": "F1", "position": "stands", "reply": "a.txt:3 logs it" }] }));
        shop.write("a.txt", changed(40, &[3]));
        shop.commit("Mend it");
        step("alpha", json!({ "positions": [{ "finding": "F1", "position": "fixed", "evidence": "a.txt:3" }] }));
        step("beta", json!({}));
        step("beta", json!({}));
        ran
    };
    let ran = play(&kept, false);
    assert_eq!(ran, play(&lost, true));
    assert_eq!(ran.last().expect("runs").0, [""; 0]);
    let words = |shop: &Shop| -> Vec<String> {
        let visible = |text: &str| text.split("\n\n<!--").next().unwrap_or_default().to_owned();
        let head = &shop.head()[..7];
        let talk = Talk::of(shop);
        talk.texts().iter().map(|(_, _, text)| visible(text).replace(head, "SHA")).collect()
    };
    // Two shops have other commits: what was said at the first head is compared by its length.
    let shapes = |shop: &Shop| words(shop).iter().map(String::len).collect::<Vec<_>>();
    assert_eq!(shapes(&kept), shapes(&lost));
}

// spec: LOOP-11 @local
#[test]
fn a_failing_reviewer_is_tried_three_times_with_pauses_then_a_person_is_asked() {
    let shop = shop(&["alpha"], "");
    let [alpha] = Reviewer::of(&shop, ["alpha"]);
    alpha.says(json!({}));
    alpha.breaks();
    let run = |starts: usize, code: i32| {
        let ran = shop.ends(code, &["review"]);
        assert_eq!(alpha.starts(), starts, "{}", ran.err);
        shop.json(&["explain"])
    };
    let turn = run(1, 14);
    assert_eq!((&turn["next"]["kind"], &turn["next"]["on"]), (&json!("wait"), &json!("alpha")), "{turn:#}");
    let says = Talk::of(&shop).says("alpha");
    assert!(says.starts_with("**Not reviewed** · alpha failed") && says.contains("no more memory"), "{says}");
    run(1, 0);
    shop.later(300);
    run(2, 14);
    shop.later(300);
    run(2, 0);
    shop.later(300);
    let turn = run(3, 14);
    assert_eq!((&turn["next"]["kind"], &turn["next"]["cause"]), (&json!("blocked"), &json!("reviewer_failed")));
    let asked = Talk::of(&shop).comments("referee");
    assert!(asked.len() == 1 && asked[0].starts_with("@ada, ") && asked[0].contains("retry"), "{asked:?}");
    for _ in 0..3 {
        shop.later(3600);
        run(3, 12);
    }
    assert_eq!(shop.json(&["review"])["calls"]["writes"], 0);
    assert_eq!(Talk::of(&shop).comments("referee"), asked);
    // Mended, and asked to try again.
    alpha.does(":");
    say(&shop, "/referee retry");
    let turn = run(4, 0);
    assert_eq!((role(&turn, "alpha").0, &turn["next"]["kind"]), (json!("approve"), &json!("ready")), "{turn:#}");
    run(4, 0);
}

// spec: LOOP-12, LOOP-8 @local
#[test]
fn people_command_and_each_word_is_answered_once() {
    let shop = shop(&["alpha"], "");
    let [alpha] = Reviewer::of(&shop, ["alpha"]);
    alpha.says(json!({ "findings": [finding("critical", "Token is logged", 3)] }));
    shop.ends(0, &["local", "open"]);
    let answers = || Talk::of(&shop).comments("referee");
    say(&shop, "/referee pause");
    shop.run(&["review"]);
    assert_eq!((alpha.starts(), answers().len()), (0, 1), "nothing starts: {:?}", answers());
    say(&shop, "/referee resume");
    shop.ends(20, &["review"]);
    assert_eq!((alpha.starts(), answers().len()), (1, 2));
    say(&shop, "/referee dismis F1 it is fine");
    say(&shop, "see\n/referee dismiss F1 this is no first line");
    shop.ends(20, &["review"]);
    let hints = answers();
    assert!(hints.len() == 3 && hints[2].contains("dismiss"), "{hints:?}");
    say(&shop, "@referee help");
    shop.ends(20, &["review"]);
    assert!(
        ["rounds +1", "break-glass", "retry", "pause"].iter().all(|verb| answers()[3].contains(verb)),
        "{:?}",
        answers()
    );
    say(&shop, "/referee dismiss F1 it is a test's token");
    let turn = shop.json(&["review"]);
    assert_eq!((role(&turn, "alpha"), alpha.starts()), ((json!("approve"), json!("approve")), 1), "{turn:#}");
    assert!(Talk::of(&shop).says("alpha").contains("accepted by ada"));
    say(&shop, "/referee reopen F1");
    let turn = shop.json(&["review"]);
    assert_eq!((role(&turn, "alpha").0, alpha.starts()), (json!("request_changes"), 1), "{turn:#}");
    assert_eq!(Talk::of(&shop).newest().as_deref(), Some("request_changes"));
    say(&shop, "/referee break-glass the site is down");
    shop.run(&["review"]);
    let talk = Talk::of(&shop);
    assert!(talk.says("alpha").starts_with("**Glass broken** · by ada"), "{}", talk.says("alpha"));
    assert_eq!((talk.newest().as_deref(), alpha.starts()), (Some("approve"), 1));
    assert_eq!(shop.json(&["review"])["calls"]["writes"], 0);
    // It ends with the next change.
    shop.write("a.txt", changed(40, &[30]));
    shop.commit("After the fire");
    shop.ends(20, &["review"]);
    assert_eq!((Talk::of(&shop).newest().as_deref(), alpha.starts()), (Some("request_changes"), 2));
}

// spec: LOOP-8 @local
#[test]
fn an_argument_has_an_end() {
    let shop = shop(&["alpha"], "");
    shop.played("alpha", json!({ "findings": [finding("critical", "Token is logged", 3)] }));
    let stands = |n: u32| json!({ "positions": [{ "finding": "F1", "position": "stands", "reply": format!("a.txt:3 logs it, {n}") }] });
    for n in 0..4 {
        shop.ends(0, &["local", "reply", "L1", "F1", &format!("I disagree, {n}"), "--as", "other-bot"]);
        shop.played("alpha", stands(n));
    }
    let talk = Talk::of(&shop);
    let notes = talk.threads()[0]["notes"].as_array().expect("notes");
    let own: Vec<String> = notes.iter().filter(|it| it["author"]["login"] == "referee").map(body).collect();
    assert_eq!(own.len(), 2, "the finding and one rebuttal: {own:?}");
    let turn = shop.json(&["explain"]);
    assert_eq!(turn["next"]["kind"], "blocked", "a person decides: {turn:#}");
}
