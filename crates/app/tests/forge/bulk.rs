//! Bulk content and broken reads: an outsider silences nobody, and an approval does not outlive a push that cannot be read
//! (D43).

use std::process::{Command, Stdio};

use referee_testkit::proxy::{ProxyFault, RequestMatcher};
use referee_testkit::server::ServerBuild;
use serde_json::{Value, json};

use crate::on_each_server;
use crate::site::RunOutput;
use crate::test_pull::{TestPull, critical};

on_each_server! {
    big_comments_of_an_outsider_stop_no_review
    an_approval_does_not_outlive_a_push_that_cannot_be_read
    a_list_of_reviews_that_lacks_shown_reviews_is_a_failed_read
    a_change_that_git_must_not_list_is_blocked_and_its_approval_withdrawn
}

const APPROVES: &str = "[gates]\napprove = \"on\"";

/// The longest response that is read as one page.
const MAX_RESPONSE_BYTES: usize = 32 << 20;

// spec: PUB-2, PUB-5, PUB-10 @gitea @forgejo
fn big_comments_of_an_outsider_stop_no_review(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], APPROVES);
    test_pull.report("alpha", json!({}));
    let outsider = test_pull.as_("passer-by");
    // The JSON of `&` has six bytes, so 34 comments of 1 MB are longer than a page may be. On one server a single comment
    // is, too: it is slow to send.
    if build == ServerBuild::Gitea127 {
        outsider.comment(&format!("/referee pause\n{}", "&".repeat(MAX_RESPONSE_BYTES / 6)));
    }
    let long = format!("/referee pause\n{}", "&".repeat((1 << 20) / 6));
    for _ in 0..34 {
        outsider.comment(&long);
    }
    test_pull.push(&[3]);
    let turn = test_pull.report("alpha", critical(3));
    let talk = test_pull.talk();
    assert_eq!(talk.verdicts(), ["APPROVED", "REQUEST_CHANGES"], "{turn:#}");
    test_pull.assert_quiet();
    let sizes = test_pull.site.proxy.log();
    let smaller = sizes.iter().filter(|seen| seen.path.contains("/timeline?") && !seen.path.contains("limit=50"));
    assert!(smaller.count() > 0, "no smaller page was read: {sizes:#?}");
}

// spec: PUB-6, PUB-15, PUB-19 @gitea @forgejo
fn an_approval_does_not_outlive_a_push_that_cannot_be_read(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], APPROVES);
    test_pull.report("alpha", json!({}));
    assert_eq!(test_pull.talk().verdicts(), ["APPROVED"]);
    // Ruth may command, so nobody knows what the rest of her comment would say.
    let comment = test_pull.as_("ruth").comment(&"so much ".repeat(20_000));
    let before = test_pull.review();
    assert!(named(&before).contains("a comment of ruth"), "{before:#}");
    assert_eq!(test_pull.site.proxy.write_count(), 0, "the approval is for this head: {before:#}");

    let head = test_pull.push(&[3]);
    // Without the right to see the pull, nothing is written.
    for status in [401, 403, 404] {
        test_pull.site.proxy.inject_fault(
            ProxyFault::Refused(status),
            RequestMatcher::nth_read(1).with_path("/timeline").and_following(),
        );
        let refused = test_pull.site.on("review", test_pull.pull, &[]);
        assert!(refused.code != 0 && test_pull.site.proxy.write_count() == 0, "{refused:?}");
        test_pull.site.proxy.forget();
    }
    let dry = test_pull.site.on("review", test_pull.pull, &["--dry-run"]);
    assert!(dry.out.contains("a comment of ruth") || dry.err.contains("a comment of ruth"), "{dry:?}");
    let turn = test_pull.review();
    let talk = test_pull.talk();
    assert_eq!(talk.verdicts(), ["APPROVED", "REQUEST_CHANGES"], "{turn:#}");
    let texts: Vec<String> = talk.reviews().iter().map(|row| talk.review_text(row)).collect();
    assert!(texts[0].contains("Superseded by"), "{}", texts[0]);
    assert!(texts[1].contains("a comment of ruth") && texts[1].contains(&head[..7]), "{}", texts[1]);
    assert_eq!(status(&test_pull, &head), ("failure".to_owned(), "not reviewed at this head".to_owned()));
    assert!(named(&turn).contains("a comment of ruth"), "{turn:#}");
    let ran = test_pull.site.on("review", test_pull.pull, &[]);
    assert_eq!(ran.code, 14, "{ran:?}");
    test_pull.site.forget();
    test_pull.review();
    assert_eq!(test_pull.site.proxy.write_count(), 0, "{:#?}", test_pull.site.proxy.log());
    assert!(named(&test_pull.explain()).contains("a comment of ruth"));

    // Once it can be read, the loop continues.
    test_pull.as_("ruth").edit_text(comment.as_str(), "never mind");
    let turn = test_pull.report("alpha", json!({}));
    assert_eq!(test_pull.talk().verdicts(), ["APPROVED", "REQUEST_CHANGES", "APPROVED"], "{turn:#}");
    assert_eq!(status(&test_pull, &head).0, "success");
    test_pull.assert_quiet();
}

// spec: LOOP-6 @gitea @forgejo
fn a_list_of_reviews_that_lacks_shown_reviews_is_a_failed_read(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], "");
    // Another user's draft review is missing from the list of reviews; that is not a failed read.
    let draft = json!({ "event": "PENDING", "body": "not yet", "commit_id": test_pull.as_("alice").head().as_str() });
    let path = format!("/pulls/{}/reviews", test_pull.pull.0);
    assert!(test_pull.as_("passer-by").send("POST", &path, Some(&draft)).is_success());
    test_pull.report("alpha", critical(3));
    test_pull.assert_quiet();
    test_pull.push(&[5]);
    test_pull.site.forget();
    test_pull.site.proxy.forget();
    test_pull
        .site
        .proxy
        .inject_fault(ProxyFault::NullList, RequestMatcher::nth_read(1).with_path("/reviews?").and_following());
    let file = test_pull.site.full_report(test_pull.pull, "alpha", critical(3));
    let ran = test_pull.site.on("review", test_pull.pull, &["--role", "alpha", "--report", &file]);
    assert!(ran.code == 1 && ran.err.contains("the list lacks reviews that the timeline shows"), "{ran:?}");
    assert_eq!(test_pull.site.proxy.write_count(), 0, "{:#?}", test_pull.site.proxy.log());
    // Only once: a review may be posted between the two reads.
    test_pull.site.proxy.forget();
    test_pull.site.proxy.inject_fault(ProxyFault::NullList, RequestMatcher::nth_read(1).with_path("/reviews?"));
    let turn = test_pull.report("alpha", critical(3));
    assert_eq!(test_pull.talk().verdicts(), ["REQUEST_CHANGES"], "{turn:#}");
}

// spec: PUB-6, SAF-6 @gitea @forgejo
fn a_change_that_git_must_not_list_is_blocked_and_its_approval_withdrawn(build: ServerBuild) {
    let test_pull = TestPull::new(build, &["alpha"], APPROVES);
    test_pull.report("alpha", json!({}));
    let head = push_deep_folders(&test_pull);
    let turn = test_pull.review();
    assert!(named(&turn).contains("the change, which has more than 100000 files"), "{turn:#}");
    assert_eq!(test_pull.talk().verdicts(), ["APPROVED", "REQUEST_CHANGES"], "{turn:#}");
    assert_eq!(status(&test_pull, &head).0, "failure");
    test_pull.site.forget();
    test_pull.review();
    assert_eq!(test_pull.site.proxy.write_count(), 0, "{:#?}", test_pull.site.proxy.log());
    // A smaller change is read again.
    test_pull.as_("alice").commit(|folder| std::fs::remove_dir_all(folder.join("a")).expect("the folders"));
    let turn = test_pull.report("alpha", json!({}));
    assert_eq!(test_pull.talk().verdicts().last().map(String::as_str), Some("APPROVED"), "{turn:#}");
}

/// Why the pull is where it is.
fn named(turn: &Value) -> String {
    turn["next"]["why"].to_string()
}

/// State and text of the status of `alpha`.
fn status(test_pull: &TestPull, head: &str) -> (String, String) {
    let path = format!("/statuses/{head}?page=1&limit=50&sort=recentupdate");
    let all: Vec<Value> = test_pull.as_("alice").send("GET", &path, None).json().expect("statuses");
    let newest = all.iter().filter(|it| it["context"] == "referee/alpha").max_by_key(|it| it["id"].as_u64());
    let newest = newest.unwrap_or_else(|| panic!("no status: {all:?}"));
    let text = |key: &str| newest[key].as_str().unwrap_or_default().to_owned();
    (text("status"), text("description"))
}

/// Pushes a commit with a file below more folders than are followed. It takes the same path as a commit of too many files,
/// which a server would list one by one.
fn push_deep_folders(test_pull: &TestPull) -> String {
    let folder = test_pull.site.path("deep");
    std::fs::create_dir_all(&folder).expect("a folder");
    let git = |args: &[&str], input: &str| {
        std::fs::write(folder.join("input"), input).expect("a file");
        let mut git = Command::new("git");
        git.args(args).current_dir(&folder);
        git.stdin(Stdio::from(std::fs::File::open(folder.join("input")).expect("a file")));
        let ran = RunOutput::from_output(git.output().expect("git runs"));
        assert_eq!(ran.code, 0, "git {args:?}: {}", ran.err);
        ran.out.trim().to_owned()
    };
    let token = test_pull.site.repo.server().token("alice");
    let url = test_pull.site.repo.url().replacen("://", &format!("://alice:{token}@"), 1);
    git(&["init", "--quiet", "--bare", "."], "");
    git(&["fetch", "--quiet", &url, "topic"], "");
    let parent = git(&["rev-parse", "FETCH_HEAD"], "");
    let commit = format!(
        "commit refs/heads/topic\ncommitter alice <alice@example.org> 1794739200 +0000\ndata 4\ndeep\nfrom {parent}\n\
         M 100644 inline {}x\ndata 2\nx\n\n",
        "a/".repeat(1_100)
    );
    git(&["fast-import", "--quiet"], &commit);
    let head = git(&["rev-parse", "refs/heads/topic"], "");
    git(&["push", "--quiet", &url, "refs/heads/topic"], "");
    test_pull.as_("alice").wait_for_head(&referee_core::model::Sha::from(head.as_str()));
    head
}
