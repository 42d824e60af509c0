//! How a verdict is published: posted, edited, superseded, escalated, released; and nothing twice.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::pull_view::{PullView, actions, body, finding, role_verdicts, string};
use crate::test_repo::TestRepo;

/// Roles whose reports are handed in.
pub(crate) fn roles_config(names: &[&str], rest: &str) -> String {
    let role = |name: &&str| format!("[[role]]\nname = \"{name}\"\ncommand = \"{name}\"\n");
    format!("{rest}\n{}", names.iter().map(role).collect::<String>())
}

/// A file of so many lines, each its own.
pub(crate) fn numbered_lines(count: u32) -> String {
    (1..=count).map(|n| format!("line {n} of the file\n")).collect()
}

/// The same with some lines changed.
pub(crate) fn changed_lines(count: u32, at: &[u32]) -> String {
    let line = |n: u32| if at.contains(&n) { format!("line {n}, mended\n") } else { format!("line {n} of the file\n") };
    (1..=count).map(line).collect()
}

/// A repo with a branch that adds `a.txt`.
pub(crate) fn repo_with_topic(names: &[&str], rest: &str) -> TestRepo {
    let repo = TestRepo::with_config(&roles_config(names, rest));
    repo.advance_clock(0);
    repo.branch("topic", &[("a.txt", &numbered_lines(40))]);
    repo
}

// spec: PUB-1, PUB-2, PUB-3, PUB-4, PUB-11, PUB-18, PUB-22 @local
#[test]
fn the_standing_review_is_edited_in_place_and_only_new_findings_open_threads() {
    let repo = repo_with_topic(&["alpha"], "");
    repo.run_expecting(0, &["local", "open"]);
    repo.run_expecting(0, &["local", "comment", "L1", "somebody was here first"]);
    repo.run_expecting(0, &["local", "comment", "L1", "a.txt:2", "and opened a thread"]);
    let first = json!({ "findings": [finding("critical", "Token is logged", 3)] });
    let turn = repo.report_json("alpha", first.clone());
    assert_eq!(
        (&turn["calls"]["writes"], role_verdicts(&turn, "alpha").0),
        (&json!(2), json!("request_changes")),
        "{turn:#}"
    );
    let posted = PullView::read(&repo);
    let [review] = posted.reviews() else { panic!("{posted:?}") };
    assert_eq!((&review["row"]["verdict"], &review["commit"]), (&json!("request_changes"), &json!(repo.head())));
    let text = body(review);
    assert!(text.contains(&format!("Evaluated against {}", &repo.head()[..7])), "{text}");
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert!(rows.len() == 3 && rows[2].contains("F1") && rows[2].contains("Token is logged"), "one table: {text}");
    let [_, thread] = posted.threads() else { panic!("{posted:?}") };
    assert_eq!((&thread["path"], &thread["line"], &thread["review"]), (&json!("a.txt"), &json!(3), &review["id"]));
    // What is edited and what is linked have names of their own, and not the same number.
    let number = |id: &Value| string(id).trim_start_matches(|c: char| !c.is_ascii_digit()).to_owned();
    assert_ne!(number(&review["id"]), number(&review["edit"]), "{review:#}");

    let again = repo.report_json("alpha", first);
    assert_eq!((&again["calls"]["writes"], &again["steps"]), (&json!(0), &json!([])));
    assert_eq!(PullView::read(&repo), posted);

    let more =
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 10)] });
    let turn = repo.report_json("alpha", more);
    assert_eq!(actions(&turn), ["open_threads", "ensure_comment", "edit_review", "set_status"], "{turn:#}");
    let edited = PullView::read(&repo);
    edited.assert_keeps(&posted);
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
    let turn = repo.report_json("alpha", third.clone());
    assert_eq!(actions(&turn), ["open_threads", "edit_review", "set_status"], "one notice a head: {turn:#}");
    assert_eq!(repo.report_json("alpha", third)["calls"]["writes"], 0);
    PullView::read(&repo).assert_keeps(&edited);
}

// spec: PUB-18 @local
#[test]
fn no_notice_is_posted_if_notify_is_off() {
    let repo = repo_with_topic(&["alpha"], "[review]\nnotify = false");
    repo.report_json("alpha", json!({ "findings": [finding("critical", "Token is logged", 3)] }));
    let more =
        json!({ "findings": [finding("critical", "Token is logged", 3), finding("critical", "Loop never ends", 10)] });
    let turn = repo.report_json("alpha", more);
    assert_eq!(actions(&turn), ["open_threads", "edit_review", "set_status"]);
    assert_eq!(PullView::read(&repo).comments("referee"), [""; 0]);
}

// spec: PUB-5, PUB-6, PUB-9, PUB-17, PUB-21 @local
#[test]
fn every_verdict_change_posts_edits_or_supersedes_as_specified() {
    let repo = repo_with_topic(&["alpha"], "[gates]\napprove = \"on\"");
    repo.report_json("alpha", json!({}));
    let clean = PullView::read(&repo);
    assert_eq!(clean.verdicts(), [("referee".to_owned(), "approve".to_owned())]);
    assert!(
        clean.review_text("alpha").starts_with(&format!("**Approved** · `{}`", &repo.head()[..7])),
        "a visible statement"
    );
    repo.run_expecting(0, &["local", "approve", "L1", "fine by me", "--as", "bob"]);
    repo.run_expecting(0, &["local", "comment", "L1", "and by me", "--as", "eve"]);

    // Approve → request changes: the block first, then the old approval says what took its place.
    repo.write("a.txt", changed_lines(40, &[5]));
    repo.commit("Change line 5");
    let turn = repo.report_json("alpha", json!({ "findings": [finding("critical", "Token is logged", 5)] }));
    let order: Vec<String> = actions(&turn).into_iter().filter(|action| action != "set_status").collect();
    assert_eq!(order, ["post_review", "supersede"]);
    let blocked = PullView::read(&repo);
    blocked.assert_keeps(&clean);
    let old = body(&blocked.reviews()[0]);
    // A local pull has no address, so the text names the review as `referee local show` does.
    assert!(old.starts_with("Superseded by review `L1#r3`\n"), "{old}");
    assert!(old.contains("<details>") && old.contains("Approved"), "the old words are folded: {old}");
    assert_eq!(blocked.newest_verdict().as_deref(), Some("request_changes"));

    // Request changes → comment: nothing is posted, the block stays and its text says so.
    repo.run_expecting(0, &["local", "comment", "L1", "/referee dismiss F1 it is a test's token"]);
    repo.write("a.txt", changed_lines(40, &[5, 6]));
    repo.commit("Change line 6");
    let turn = repo.report_json("alpha", json!({ "outcome": "failed", "reason": "out of memory" }));
    assert_eq!(role_verdicts(&turn, "alpha"), (json!("comment"), json!("request_changes")), "{turn:#}");
    let stays = PullView::read(&repo);
    stays.assert_keeps(&blocked);
    assert_eq!(stays.reviews().len(), blocked.reviews().len());
    let told = "**Not reviewed** · nobody has read this head · alpha failed (out of memory)";
    assert!(stays.review_text("alpha").starts_with(told), "{}", stays.review_text("alpha"));
    assert_ne!(stays.review_text("alpha"), blocked.review_text("alpha"));

    // Request changes → approve: a new approval, the old block is history.
    repo.report_json("alpha", json!({}));
    let approved = PullView::read(&repo);
    approved.assert_keeps(&stays);
    assert_eq!(approved.newest_verdict().as_deref(), Some("approve"));
    assert_eq!(approved.reviews().len(), stays.reviews().len() + 1);
    assert_eq!(body(&approved.reviews()[2]), stays.review_text("alpha"), "history is not rewritten");

    // Approve → nothing known at a new change: a comment would withdraw no approval, so a block does; it is no round.
    repo.write("a.txt", changed_lines(40, &[5, 6, 7]));
    repo.commit("Change line 7");
    let turn = repo.report_json("alpha", json!({ "outcome": "failed", "reason": "out of memory" }));
    assert_eq!(role_verdicts(&turn, "alpha"), (json!("comment"), json!("request_changes")), "{turn:#}");
    assert_eq!(turn["pull"]["round"], 1, "one change was blocked");
    let unread = PullView::read(&repo);
    unread.assert_keeps(&approved);
    assert_eq!(unread.newest_verdict().as_deref(), Some("request_changes"));
    assert!(unread.review_text("alpha").starts_with(told), "{}", unread.review_text("alpha"));
    let turn = repo.report_json("alpha", json!({}));
    assert_eq!(role_verdicts(&turn, "alpha"), (json!("approve"), json!("approve")));
    let lifted = PullView::read(&repo);
    lifted.assert_keeps(&unread);
    assert_eq!(lifted.newest_verdict().as_deref(), Some("approve"));
    assert_eq!(repo.report_json("alpha", json!({}))["calls"]["writes"], 0);
}

// spec: PUB-6, PUB-17 @local
#[test]
fn equal_verdicts_share_one_review() {
    let repo = repo_with_topic(&["alpha"], "[gates]\napprove = \"lift\"");
    let failed = repo.report_json("alpha", json!({ "outcome": "failed", "reason": "out of memory" }));
    assert_eq!(role_verdicts(&failed, "alpha"), (json!("comment"), json!("comment")));
    let talk = PullView::read(&repo);
    assert!(
        talk.review_text("alpha").starts_with("**Not reviewed** · alpha failed (out of memory)"),
        "{}",
        talk.review_text("alpha")
    );
    let clean = repo.report_json("alpha", json!({}));
    assert_eq!(role_verdicts(&clean, "alpha"), (json!("approve"), json!("approve")));
    let now = PullView::read(&repo);
    now.assert_keeps(&talk);
    assert_eq!(now.verdicts(), [("referee".to_owned(), "comment".to_owned())], "comment to approve is an edit");
    assert!(now.review_text("alpha").starts_with(&format!("**Nothing blocking** · `{}`", &repo.head()[..7])));
    // A clean review of the next head says so there.
    repo.write("a.txt", changed_lines(40, &[5]));
    let head = repo.commit("Change line 5");
    repo.report_json("alpha", json!({}));
    let next = PullView::read(&repo);
    assert_eq!(next.reviews().len(), 1);
    assert!(
        next.review_text("alpha").contains(&format!("Evaluated against {}", &head[..7])),
        "{}",
        next.review_text("alpha")
    );
}

// spec: PUB-7, PUB-21 @local
#[test]
fn the_worst_verdict_of_an_identity_wins_until_it_is_lifted() {
    let repo = repo_with_topic(&["alpha", "beta"], "");
    let turn = repo.report_json("alpha", json!({}));
    assert_eq!(role_verdicts(&turn, "alpha"), (json!("approve"), json!("comment")), "it waits for beta");
    assert!(PullView::read(&repo).review_text("alpha").contains("waiting for beta"));
    let turn = repo.report_json("beta", json!({ "findings": [finding("critical", "Token is logged", 5)] }));
    assert_eq!(role_verdicts(&turn, "alpha"), (json!("approve"), json!("request_changes")), "{turn:#}");
    let held = PullView::read(&repo);
    assert!(
        held.review_text("alpha").starts_with("**Changes requested** · held by beta"),
        "{}",
        held.review_text("alpha")
    );
    assert_eq!(held.newest_verdict().as_deref(), Some("request_changes"));

    // Nobody approves before all have read the new head; the block stays.
    repo.write("a.txt", changed_lines(40, &[5]));
    repo.commit("Mend line 5");
    let fixed = json!({ "positions": [{ "finding": "F1", "position": "fixed", "evidence": "a.txt:5 is mended" }] });
    let turn = repo.report_json("beta", fixed);
    assert_eq!(role_verdicts(&turn, "beta"), (json!("approve"), json!("request_changes")), "{turn:#}");
    assert_eq!(PullView::read(&repo).newest_verdict().as_deref(), Some("request_changes"));
    let turn = repo.report_json("alpha", json!({}));
    assert_eq!(
        (role_verdicts(&turn, "alpha").1, role_verdicts(&turn, "beta").1),
        (json!("approve"), json!("approve")),
        "{turn:#}"
    );
    let released = PullView::read(&repo);
    released.assert_keeps(&held);
    assert_eq!(released.newest_verdict().as_deref(), Some("approve"));
    assert!(
        released.review_text("alpha").starts_with("**Approved**")
            && released.review_text("beta").starts_with("**Approved**")
    );
    assert_eq!(repo.report_json("alpha", json!({}))["calls"]["writes"], 0);

    // A role that was removed from the config, or may no longer block, blocks nothing.
    for (at, config) in
        [(7, roles_config(&["alpha"], "")), (8, roles_config(&["alpha", "beta"], "") + "blocks = false\n")]
    {
        base(&repo, &roles_config(&["alpha", "beta"], ""));
        repo.write("a.txt", changed_lines(40, &[5, at]));
        repo.commit("Change another line");
        repo.report_json("beta", json!({ "findings": [finding("critical", "Loop never ends", at)] }));
        let turn = repo.report_json("alpha", json!({}));
        assert_eq!(role_verdicts(&turn, "alpha"), (json!("approve"), json!("request_changes")), "{turn:#}");
        base(&repo, &config);
        let turn = repo.report_json("alpha", json!({}));
        assert_eq!(role_verdicts(&turn, "alpha"), (json!("approve"), json!("approve")), "{turn:#}");
        assert_eq!(PullView::read(&repo).newest_verdict().as_deref(), Some("approve"));
    }
}

/// Another config on `main`.
fn base(repo: &TestRepo, config: &str) {
    repo.git(&["switch", "--quiet", "main"]);
    repo.write("referee.toml", config);
    repo.commit("Configure the review anew");
    repo.git(&["switch", "--quiet", "topic"]);
}

// spec: PUB-21 @local
#[test]
fn in_every_order_the_newest_review_shows_the_enforced_verdict() {
    let reports = [("alpha", false), ("beta", true), ("gamma", false)];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let repo = repo_with_topic(&["alpha", "beta", "gamma"], "");
        let mut blocked = false;
        for at in order {
            let (name, blocks) = reports[at];
            blocked |= blocks;
            let critical = json!({ "findings": [finding("critical", "Token is logged", 5)] });
            let turn = repo.report_json(name, if blocks { critical } else { json!({}) });
            let newest = PullView::read(&repo).newest_verdict();
            assert_eq!(newest.as_deref(), blocked.then_some("request_changes"), "{order:?} {name} {turn:#}");
        }
        repo.write("a.txt", changed_lines(40, &[5]));
        repo.commit("Mend line 5");
        for (left, at) in order.into_iter().enumerate() {
            let (name, blocks) = reports[at];
            let fixed = json!({ "positions": [{ "finding": "F1", "position": "fixed", "evidence": "a.txt:5" }] });
            repo.report_json(name, if blocks { fixed } else { json!({}) });
            let wanted = if left == 2 { "approve" } else { "request_changes" };
            assert_eq!(PullView::read(&repo).newest_verdict().as_deref(), Some(wanted), "{order:?} {name}");
        }
        assert_eq!(repo.report_json("alpha", json!({}))["calls"]["writes"], 0, "{order:?}");
    }
}

// spec: PUB-21 @local
#[test]
fn with_approvals_off_the_commit_status_carries_the_verdict() {
    let repo = repo_with_topic(&["alpha", "beta"], "[gates]\napprove = \"off\"");
    repo.report_json("alpha", json!({}));
    repo.report_json("beta", json!({ "findings": [finding("critical", "Token is logged", 5)] }));
    let talk = PullView::read(&repo);
    assert_eq!(talk.newest_verdict(), None, "{:?}", talk.verdicts());
    assert!(talk.review_text("beta").contains("Posted as a comment"), "{}", talk.review_text("beta"));
    let states = |talk: &PullView| -> Vec<(String, String)> {
        let own = talk.0["checks"]["own"].as_array().expect("statuses").iter();
        own.map(|it| (string(&it["context"]), string(&it["state"]))).collect()
    };
    let named = |state: &str| ["alpha", "beta"].map(|role| (format!("referee/{role}"), state.to_owned()));
    assert_eq!(states(&talk), named("fail"));
    repo.write("a.txt", changed_lines(40, &[5]));
    repo.commit("Mend line 5");
    repo.report_json("beta", json!({ "positions": [{ "finding": "F1", "position": "fixed", "evidence": "a.txt:5" }] }));
    repo.report_json("alpha", json!({}));
    assert_eq!(states(&PullView::read(&repo)), named("pass"));
    assert_eq!(PullView::read(&repo).newest_verdict(), None);
}

// spec: PUB-8, PUB-21 @local
#[test]
fn two_concurrent_reports_leave_one_review_per_role_and_the_block() {
    for first in ["alpha", "beta"] {
        let repo = repo_with_topic(&["alpha", "beta"], "");
        repo.run_expecting(0, &["local", "open"]);
        let critical = json!({ "findings": [finding("critical", "Token is logged", 5)] });
        let reports = [("alpha", json!({})), ("beta", critical)].map(|(name, report)| {
            (name, repo.write_outside(&format!("{name}.json"), repo.full_report(name, report).to_string()))
        });
        let mut order: Vec<_> = reports.iter().collect();
        order.sort_by_key(|(name, _)| *name != first);
        let running: Vec<_> = order
            .iter()
            .map(|(name, path)| {
                repo.referee(&["review", "--role", name, "--report", path])
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .expect("it starts")
            })
            .collect();
        let codes: Vec<_> = running.into_iter().map(|mut run| run.wait().expect("it ends").code()).collect();
        assert!(codes.iter().all(|code| matches!(code, Some(0 | 20))), "{codes:?}");
        let talk = PullView::read(&repo);
        let names: Vec<String> =
            talk.reviews().iter().map(|it| string(&it["text"]["reading"]["mark"]["data"]["role"])).collect();
        let of = |role: &str| names.iter().filter(|name| *name == role).count();
        assert_eq!(of("beta"), 1, "{names:?}");
        assert_eq!(talk.newest_verdict().as_deref(), Some("request_changes"));
        assert!(talk.review_text("alpha").contains("held by beta"), "{}", talk.review_text("alpha"));
        assert_eq!(talk.threads().len(), 1);
        let turn = repo.json(&["explain", "L1"]);
        assert_eq!(turn["steps"], json!([]), "nothing is left to do: {turn:#}");
    }
}

// spec: PUB-7 @local
#[test]
fn a_role_with_its_own_identity_posts_under_that_login() {
    let repo =
        TestRepo::with_config("version = 1\n[[role]]\nname = \"alpha\"\ncommand = \"reader\"\nidentity = \"sec\"\n");
    let operator = "[commands.reader]\nargv = [\"true\"]\n[identity.sec]\nlogin = \"sec-bot\"\n";
    let operator = repo.write_outside("operator.toml", operator);
    repo.branch("topic", &[("src/a.rs", "fn a() {}\n")]);
    let found = json!({ "title": "Token is logged", "severity": "critical", "path": "src/a.rs", "line": 1 });
    let report = json!({ "findings": [found] });
    let path = repo.write_outside("report.json", repo.full_report("alpha", report).to_string());
    repo.run_expecting(20, &["review", "--role", "alpha", "--report", &path, "--operator", &operator]);
    let stands = repo.json(&["local", "show", "L1", "--operator", &operator])["snapshot"].take();
    assert_eq!(stands["reviews"][0]["author"]["login"], "sec-bot", "{stands:#}");
    assert_eq!(stands["threads"][0]["notes"][0]["author"]["login"], "sec-bot");
}
