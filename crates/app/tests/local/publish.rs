//! How a verdict is published: posted, edited, superseded, escalated, released; and nothing written twice.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::shop::Shop;
use crate::talk::{Talk, actions, body, finding, role, word};

/// Roles whose reports are handed in.
pub(crate) fn roles(names: &[&str], rest: &str) -> String {
    let role = |name: &&str| format!("[[role]]\nname = \"{name}\"\ncommand = \"{name}\"\n");
    format!("{rest}\n{}", names.iter().map(role).collect::<String>())
}

/// A file of so many lines, each its own.
pub(crate) fn lines(count: u32) -> String {
    (1..=count).map(|n| format!("line {n} of the file\n")).collect()
}

/// The same with some lines changed.
pub(crate) fn changed(count: u32, at: &[u32]) -> String {
    let line = |n: u32| if at.contains(&n) { format!("line {n}, mended\n") } else { format!("line {n} of the file\n") };
    (1..=count).map(line).collect()
}

/// A shop with a branch that adds `a.txt`.
pub(crate) fn shop(names: &[&str], rest: &str) -> Shop {
    let shop = Shop::with_config(&roles(names, rest));
    shop.later(0);
    shop.branch("topic", &[("a.txt", &lines(40))]);
    shop
}

// spec: PUB-1, PUB-2, PUB-3, PUB-4, PUB-11, PUB-18, PUB-22 @local
#[test]
fn the_standing_review_is_edited_in_place_and_only_new_findings_open_threads() {
    let shop = shop(&["alpha"], "");
    shop.ends(0, &["local", "open"]);
    shop.ends(0, &["local", "comment", "L1", "somebody was here first"]);
    shop.ends(0, &["local", "comment", "L1", "a.txt:2", "and opened a thread"]);
    let first = json!({ "findings": [finding("critical", "Token is logged", 3)] });
    let turn = shop.played("alpha", first.clone());
    assert_eq!((&turn["calls"]["writes"], role(&turn, "alpha").0), (&json!(2), json!("request_changes")), "{turn:#}");
    let posted = Talk::of(&shop);
    let [review] = posted.reviews() else { panic!("{posted:?}") };
    assert_eq!((&review["row"]["verdict"], &review["commit"]), (&json!("request_changes"), &json!(shop.head())));
    let text = body(review);
    assert!(text.contains(&format!("Evaluated against {}", &shop.head()[..7])), "{text}");
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.len() == 3 && rows[2].contains("F1") && rows[2].contains("Token is logged"), "one table: {text}");
    let [_, thread] = posted.threads() else { panic!("{posted:?}") };
    assert_eq!((&thread["path"], &thread["line"], &thread["review"]), (&json!("a.txt"), &json!(3), &review["id"]));
    // What is edited and what is linked have names of their own, and not the same number.
    let number = |id: &Value| word(id).trim_start_matches(|c: char| !c.is_ascii_digit()).to_owned();
    assert_ne!(number(&review["id"]), number(&review["edit"]), "{review:#}");

    let again = shop.played("alpha", first);
    assert_eq!((&again["calls"]["writes"], &again["steps"]), (&json!(0), &json!([])));
    assert_eq!(Talk::of(&shop), posted);

    let more =
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 10)] });
    let turn = shop.played("alpha", more);
    assert_eq!(actions(&turn), ["open_threads", "ensure_comment", "edit_review", "set_status"], "{turn:#}");
    let edited = Talk::of(&shop);
    edited.keeps(&posted);
    let [review_now] = edited.reviews() else { panic!("{edited:?}") };
    assert_eq!((&review_now["id"], &review_now["edit"]), (&review["id"], &review["edit"]));
    assert!(body(review_now).contains("Loop never ends"));
    let [theirs, old, new] = edited.threads() else { panic!("{edited:?}") };
    assert_eq!((theirs, old), (&posted.threads()[0], &posted.threads()[1]), "threads stay as they are");
    assert_eq!(new["line"], 10);
    let [notice] = edited.comments("referee").try_into().expect("one notice");
    assert!(notice.contains("Blocking findings changed") && notice.contains("2 blocking"), "{notice}");

    let third = json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 10),
                                     finding("critical", "File is not closed", 20)] });
    let turn = shop.played("alpha", third.clone());
    assert_eq!(actions(&turn), ["open_threads", "edit_review", "set_status"], "one notice a head: {turn:#}");
    assert_eq!(shop.played("alpha", third)["calls"]["writes"], 0);
    Talk::of(&shop).keeps(&edited);
}

// spec: PUB-18 @local
#[test]
fn no_notice_is_written_where_nobody_wants_one() {
    let shop = shop(&["alpha"], "[review]\nnotify = false");
    shop.played("alpha", json!({ "findings": [finding("critical", "Token is logged", 3)] }));
    let more =
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 10)] });
    let turn = shop.played("alpha", more);
    assert_eq!(actions(&turn), ["open_threads", "edit_review", "set_status"]);
    assert_eq!(Talk::of(&shop).comments("referee"), [""; 0]);
}

// spec: PUB-5, PUB-6, PUB-9, PUB-17, PUB-21 @local
#[test]
fn every_change_of_a_verdict_leaves_the_rows_that_it_should() {
    let shop = shop(&["alpha"], "[gates]\napprove = \"on\"");
    shop.played("alpha", json!({}));
    let clean = Talk::of(&shop);
    assert_eq!(clean.forms(), [("referee".to_owned(), "approve".to_owned())]);
    assert!(clean.says("alpha").starts_with(&format!("**Approved** · `{}`", &shop.head()[..7])), "a visible statement");
    shop.ends(0, &["local", "approve", "L1", "fine by me", "--as", "bob"]);
    shop.ends(0, &["local", "comment", "L1", "and by me", "--as", "eve"]);

    // Approve → request changes: the block first, then the old approval says what took its place.
    shop.write("a.txt", changed(40, &[5]));
    shop.commit("Change line 5");
    let turn = shop.played("alpha", json!({ "findings": [finding("critical", "Token is logged", 5)] }));
    let order: Vec<String> = actions(&turn).into_iter().filter(|action| action != "set_status").collect();
    assert_eq!(order, ["post_review", "supersede"]);
    let blocked = Talk::of(&shop);
    blocked.keeps(&clean);
    let old = body(&blocked.reviews()[0]);
    // A local pull has no address, so there is nothing to link.
    assert!(old.starts_with("Superseded by a newer review\n"), "{old}");
    assert!(old.contains("<details>") && old.contains("Approved"), "the old words are folded: {old}");
    assert_eq!(blocked.newest().as_deref(), Some("request_changes"));

    // Request changes → comment: nothing is posted, the block stays and its text says so.
    shop.ends(0, &["local", "comment", "L1", "/referee dismiss F1 it is a test's token"]);
    shop.write("a.txt", changed(40, &[5, 6]));
    shop.commit("Change line 6");
    let turn = shop.played("alpha", json!({ "outcome": "failed", "reason": "out of memory" }));
    assert_eq!(role(&turn, "alpha"), (json!("comment"), json!("request_changes")), "{turn:#}");
    let stays = Talk::of(&shop);
    stays.keeps(&blocked);
    assert_eq!(stays.reviews().len(), blocked.reviews().len());
    let told = "**Not reviewed** · nobody has read this head · alpha failed (out of memory)";
    assert!(stays.says("alpha").starts_with(told), "{}", stays.says("alpha"));
    assert_ne!(stays.says("alpha"), blocked.says("alpha"));

    // Request changes → approve: a new approval, the old block is history.
    shop.played("alpha", json!({}));
    let approved = Talk::of(&shop);
    approved.keeps(&stays);
    assert_eq!(approved.newest().as_deref(), Some("approve"));
    assert_eq!(approved.reviews().len(), stays.reviews().len() + 1);
    assert_eq!(body(&approved.reviews()[2]), stays.says("alpha"), "history is not rewritten");

    // Approve → nothing known at a new change: a comment would withdraw no approval, so a block does; it is no round.
    shop.write("a.txt", changed(40, &[5, 6, 7]));
    shop.commit("Change line 7");
    let turn = shop.played("alpha", json!({ "outcome": "failed", "reason": "out of memory" }));
    assert_eq!(role(&turn, "alpha"), (json!("comment"), json!("request_changes")), "{turn:#}");
    assert_eq!(turn["pull"]["round"], 1, "one change was blocked");
    let unread = Talk::of(&shop);
    unread.keeps(&approved);
    assert_eq!(unread.newest().as_deref(), Some("request_changes"));
    assert!(unread.says("alpha").starts_with(told), "{}", unread.says("alpha"));
    let turn = shop.played("alpha", json!({}));
    assert_eq!(role(&turn, "alpha"), (json!("approve"), json!("approve")));
    let lifted = Talk::of(&shop);
    lifted.keeps(&unread);
    assert_eq!(lifted.newest().as_deref(), Some("approve"));
    assert_eq!(shop.played("alpha", json!({}))["calls"]["writes"], 0);
}

// spec: PUB-6, PUB-17 @local
#[test]
fn what_has_the_same_form_is_one_review() {
    let shop = shop(&["alpha"], "[gates]\napprove = \"lift\"");
    let failed = shop.played("alpha", json!({ "outcome": "failed", "reason": "out of memory" }));
    assert_eq!(role(&failed, "alpha"), (json!("comment"), json!("comment")));
    let talk = Talk::of(&shop);
    assert!(
        talk.says("alpha").starts_with("**Not reviewed** · alpha failed (out of memory)"),
        "{}",
        talk.says("alpha")
    );
    let clean = shop.played("alpha", json!({}));
    assert_eq!(role(&clean, "alpha"), (json!("approve"), json!("approve")));
    let now = Talk::of(&shop);
    now.keeps(&talk);
    assert_eq!(now.forms(), [("referee".to_owned(), "comment".to_owned())], "comment to approve is an edit");
    assert!(now.says("alpha").starts_with(&format!("**Nothing blocking** · `{}`", &shop.head()[..7])));
    // A clean review of the next head says so there.
    shop.write("a.txt", changed(40, &[5]));
    let head = shop.commit("Change line 5");
    shop.played("alpha", json!({}));
    let next = Talk::of(&shop);
    assert_eq!(next.reviews().len(), 1);
    assert!(next.says("alpha").contains(&format!("Evaluated against {}", &head[..7])), "{}", next.says("alpha"));
}

// spec: PUB-7, PUB-21 @local
#[test]
fn the_worst_of_one_identity_wins_until_it_is_gone() {
    let shop = shop(&["alpha", "beta"], "");
    let turn = shop.played("alpha", json!({}));
    assert_eq!(role(&turn, "alpha"), (json!("approve"), json!("comment")), "it waits for beta");
    assert!(Talk::of(&shop).says("alpha").contains("waiting for beta"));
    let turn = shop.played("beta", json!({ "findings": [finding("critical", "Token is logged", 5)] }));
    assert_eq!(role(&turn, "alpha"), (json!("approve"), json!("request_changes")), "{turn:#}");
    let held = Talk::of(&shop);
    assert!(held.says("alpha").starts_with("**Changes requested** · held by beta"), "{}", held.says("alpha"));
    assert_eq!(held.newest().as_deref(), Some("request_changes"));

    // Nobody approves before all have read the new head; the block stays.
    shop.write("a.txt", changed(40, &[5]));
    shop.commit("Mend line 5");
    let fixed = json!({ "positions": [{ "finding": "F1", "position": "fixed", "evidence": "a.txt:5 is mended" }] });
    let turn = shop.played("beta", fixed);
    assert_eq!(role(&turn, "beta"), (json!("approve"), json!("request_changes")), "{turn:#}");
    assert_eq!(Talk::of(&shop).newest().as_deref(), Some("request_changes"));
    let turn = shop.played("alpha", json!({}));
    assert_eq!((role(&turn, "alpha").1, role(&turn, "beta").1), (json!("approve"), json!("approve")), "{turn:#}");
    let released = Talk::of(&shop);
    released.keeps(&held);
    assert_eq!(released.newest().as_deref(), Some("approve"));
    assert!(released.says("alpha").starts_with("**Approved**") && released.says("beta").starts_with("**Approved**"));
    assert_eq!(shop.played("alpha", json!({}))["calls"]["writes"], 0);

    // A sibling that the config no longer names, or no longer lets block, holds nobody.
    for (at, config) in [(7, roles(&["alpha"], "")), (8, roles(&["alpha", "beta"], "") + "blocks = false\n")] {
        base(&shop, &roles(&["alpha", "beta"], ""));
        shop.write("a.txt", changed(40, &[5, at]));
        shop.commit("Change another line");
        shop.played("beta", json!({ "findings": [finding("critical", "Loop never ends", at)] }));
        let turn = shop.played("alpha", json!({}));
        assert_eq!(role(&turn, "alpha"), (json!("approve"), json!("request_changes")), "{turn:#}");
        base(&shop, &config);
        let turn = shop.played("alpha", json!({}));
        assert_eq!(role(&turn, "alpha"), (json!("approve"), json!("approve")), "{turn:#}");
        assert_eq!(Talk::of(&shop).newest().as_deref(), Some("approve"));
    }
}

/// Another config on `main`.
fn base(shop: &Shop, config: &str) {
    shop.git(&["switch", "--quiet", "main"]);
    shop.write("referee.toml", config);
    shop.commit("Configure the review anew");
    shop.git(&["switch", "--quiet", "topic"]);
}

// spec: PUB-21 @local
#[test]
fn in_every_order_the_newest_row_says_what_holds() {
    let reports = [("alpha", false), ("beta", true), ("gamma", false)];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let shop = shop(&["alpha", "beta", "gamma"], "");
        let mut blocked = false;
        for at in order {
            let (name, blocks) = reports[at];
            blocked |= blocks;
            let critical = json!({ "findings": [finding("critical", "Token is logged", 5)] });
            let turn = shop.played(name, if blocks { critical } else { json!({}) });
            let newest = Talk::of(&shop).newest();
            assert_eq!(newest.as_deref(), blocked.then_some("request_changes"), "{order:?} {name} {turn:#}");
        }
        shop.write("a.txt", changed(40, &[5]));
        shop.commit("Mend line 5");
        for (left, at) in order.into_iter().enumerate() {
            let (name, blocks) = reports[at];
            let fixed = json!({ "positions": [{ "finding": "F1", "position": "fixed", "evidence": "a.txt:5" }] });
            shop.played(name, if blocks { fixed } else { json!({}) });
            let wanted = if left == 2 { "approve" } else { "request_changes" };
            assert_eq!(Talk::of(&shop).newest().as_deref(), Some(wanted), "{order:?} {name}");
        }
        assert_eq!(shop.played("alpha", json!({}))["calls"]["writes"], 0, "{order:?}");
    }
}

// spec: PUB-21 @local
#[test]
fn where_verdicts_are_only_said_the_status_carries_them() {
    let shop = shop(&["alpha", "beta"], "[gates]\napprove = \"off\"");
    shop.played("alpha", json!({}));
    shop.played("beta", json!({ "findings": [finding("critical", "Token is logged", 5)] }));
    let talk = Talk::of(&shop);
    assert_eq!(talk.newest(), None, "{:?}", talk.forms());
    assert!(talk.says("beta").contains("Posted as a comment"), "{}", talk.says("beta"));
    let states = |talk: &Talk| -> Vec<(String, String)> {
        let own = talk.0["checks"]["own"].as_array().expect("statuses").iter();
        own.map(|it| (word(&it["context"]), word(&it["state"]))).collect()
    };
    let named = |state: &str| ["alpha", "beta"].map(|role| (format!("referee/{role}"), state.to_owned()));
    assert_eq!(states(&talk), named("fail"));
    shop.write("a.txt", changed(40, &[5]));
    shop.commit("Mend line 5");
    shop.played("beta", json!({ "positions": [{ "finding": "F1", "position": "fixed", "evidence": "a.txt:5" }] }));
    shop.played("alpha", json!({}));
    assert_eq!(states(&Talk::of(&shop)), named("pass"));
    assert_eq!(Talk::of(&shop).newest(), None);
}

// spec: PUB-8, PUB-21 @local
#[test]
fn two_reports_at_once_leave_one_review_for_each_role_and_the_block_stands() {
    for first in ["alpha", "beta"] {
        let shop = shop(&["alpha", "beta"], "");
        shop.ends(0, &["local", "open"]);
        let critical = json!({ "findings": [finding("critical", "Token is logged", 5)] });
        let reports = [("alpha", json!({})), ("beta", critical)].map(|(name, report)| {
            (name, shop.file(&format!("{name}.json"), shop.full_report(name, report).to_string()))
        });
        let mut order: Vec<_> = reports.iter().collect();
        order.sort_by_key(|(name, _)| *name != first);
        let running: Vec<_> = order
            .iter()
            .map(|(name, path)| {
                shop.referee(&["review", "--role", name, "--report", path])
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .expect("it starts")
            })
            .collect();
        let codes: Vec<_> = running.into_iter().map(|mut run| run.wait().expect("it ends").code()).collect();
        assert!(codes.iter().all(|code| matches!(code, Some(0 | 20))), "{codes:?}");
        let talk = Talk::of(&shop);
        let names: Vec<String> =
            talk.reviews().iter().map(|it| word(&it["text"]["reading"]["mark"]["data"]["role"])).collect();
        let of = |role: &str| names.iter().filter(|name| *name == role).count();
        assert_eq!(of("beta"), 1, "{names:?}");
        assert_eq!(talk.newest().as_deref(), Some("request_changes"));
        assert!(talk.says("alpha").contains("held by beta"), "{}", talk.says("alpha"));
        assert_eq!(talk.threads().len(), 1);
        let turn = shop.json(&["explain", "L1"]);
        assert_eq!(turn["steps"], json!([]), "nothing is left to do: {turn:#}");
    }
}

// spec: PUB-7 @local
#[test]
fn a_role_with_an_identity_of_its_own_speaks_under_that_name() {
    let shop = Shop::with_config("version = 1\n[[role]]\nname = \"alpha\"\ncommand = \"reader\"\nidentity = \"sec\"\n");
    let operator = "[commands.reader]\nargv = [\"true\"]\n[identity.sec]\nlogin = \"sec-bot\"\n";
    let operator = shop.file("operator.toml", operator);
    shop.branch("topic", &[("src/a.rs", "fn a() {}\n")]);
    let found = json!({ "title": "Token is logged", "severity": "critical", "path": "src/a.rs", "line": 1 });
    let report = json!({ "findings": [found] });
    let path = shop.file("report.json", shop.full_report("alpha", report).to_string());
    shop.ends(20, &["review", "--role", "alpha", "--report", &path, "--operator", &operator]);
    let stands = shop.json(&["local", "show", "L1", "--operator", &operator])["snapshot"].take();
    assert_eq!(stands["reviews"][0]["author"]["login"], "sec-bot", "{stands:#}");
    assert_eq!(stands["threads"][0]["notes"][0]["author"]["login"], "sec-bot");
}
