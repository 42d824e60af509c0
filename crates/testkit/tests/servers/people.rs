//! The actions of test people are visible on the server.

use referee_testkit::server::{OWNER, RealServer, ServerBuild};
use serde_json::json;

use crate::{FILE, LINES, on_each_server};

on_each_server! {
    reviews_replies_and_comments_have_their_author
    pushes_and_pull_edits_are_visible
    labels_assignees_checks_and_requests_are_visible
    a_pull_from_a_fork_is_opened_and_updated
    a_bot_token_has_only_the_needed_scopes
}

fn reviews_replies_and_comments_have_their_author(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let pull = repo.as_("alice").open_pull("feature", &[(FILE, LINES)]);
    let (alice, ruth) = (repo.as_("alice").on(pull), repo.as_("ruth").on(pull));
    let thread = ruth.open_thread(FILE, 2, "why?");
    let reply = alice.reply(&thread, "because");
    let blocked = ruth.block("not yet");
    let approved = ruth.approve("fine");
    let comment = alice.comment("done");
    assert_ne!(comment, alice.comment("done again"));
    let rows = ruth.list_reviews();
    let row = |id: &str| rows.iter().find(|row| row["id"].as_u64() == id.parse().ok()).expect("a review");
    assert_eq!(row(blocked.as_str())["state"], "REQUEST_CHANGES");
    assert_eq!(
        (&row(blocked.as_str())["dismissed"], &row(approved.as_str())["official"]),
        (&json!(true), &json!(true))
    );
    let notes: Vec<_> = rows.iter().flat_map(|row| ruth.list_notes(&row["id"].to_string())).collect();
    let bodies: Vec<_> = notes.iter().map(|note| (note["id"].to_string(), note["body"].clone())).collect();
    assert_eq!(bodies, [(thread.to_string(), json!("why?")), (reply.to_string(), json!("because"))]);
    if build == ServerBuild::Forgejo10 {
        assert_eq!(ruth.send("POST", &format!("/pulls/comments/{thread}/resolve"), None).status, 405);
    } else {
        ruth.resolve(&thread);
        let resolver =
            || ruth.list_notes(&notes[0]["pull_request_review_id"].to_string())[0]["resolver"]["login"].clone();
        assert_eq!(resolver(), "ruth");
        ruth.unresolve(&thread);
        assert!(resolver().is_null());
    }
}

fn pushes_and_pull_edits_are_visible(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n"), ("old.rs", LINES)]);
    let alice = repo.as_("alice");
    let alice = alice.on(alice.open_pull("feature", &[(FILE, LINES)]));
    let first = alice.head();
    let second = alice.push(FILE, |text| format!("{text}fn four() {{}}\n"));
    let amended = alice.amend();
    let forced = alice.force_push(FILE, |_| "fn other() {}\n".to_owned());
    let renamed = alice.rename("old.rs", "src/new.rs");
    let heads = [&first, &second, &amended, &forced, &renamed];
    assert!(heads.iter().enumerate().all(|(n, one)| heads.iter().skip(n + 1).all(|other| one != other)), "{heads:?}");
    assert_eq!(alice.head(), renamed);
    let files = alice.send("GET", &format!("/pulls/{}/files", alice.pull().0), None).json::<serde_json::Value>();
    let mut files: Vec<_> =
        files.expect("files").as_array().expect("a list").iter().map(|file| file.to_owned()).collect();
    files.sort_by_key(|file| file["filename"].to_string());
    let changes: Vec<_> = files.iter().map(|file| (&file["filename"], &file["status"], &file["additions"])).collect();
    assert_eq!(
        changes,
        [(&json!(FILE), &json!("added"), &json!(1)), (&json!("src/new.rs"), &json!("renamed"), &json!(0))]
    );
    alice.remove("README.md");
    repo.as_("ruth").push_base("README.md", |_| "hello again\n".to_owned());
    alice.close();
    assert_eq!(alice.fetch_pull()["state"], "closed");
    alice.reopen();
    alice.mark_draft();
    assert_eq!((&alice.fetch_pull()["state"], &alice.fetch_pull()["draft"]), (&json!("open"), &json!(true)));
    alice.mark_ready();
    assert_eq!((&alice.fetch_pull()["title"], &alice.fetch_pull()["draft"]), (&json!("feature"), &json!(false)));
}

fn labels_assignees_checks_and_requests_are_visible(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let pull = repo.as_("alice").open_pull("feature", &[(FILE, LINES)]);
    let ruth = repo.as_("ruth").on(pull);
    ruth.label("wip");
    ruth.label("urgent");
    ruth.unlabel("wip");
    ruth.assign(&["alice", "referee"]);
    ruth.report_check("build", "failure");
    let pull_json = ruth.fetch_pull();
    assert_eq!(pull_json["labels"].as_array().expect("labels").len(), 1);
    assert_eq!(pull_json["labels"][0]["name"], "urgent");
    assert_eq!(pull_json["assignees"].as_array().expect("assignees").len(), 2);
    let status = ruth.send("GET", &format!("/commits/{}/status", ruth.head()), None);
    assert_eq!(status.json::<serde_json::Value>().expect("a status")["state"], "failure");
    repo.as_(OWNER).protect_base(json!({"block_on_rejected_reviews": true}));
    ruth.block("not yet");
    ruth.request_review("referee");
    assert!(ruth.list_reviews().iter().any(|row| row["state"] == "REQUEST_REVIEW"));
    ruth.withdraw_request("referee");
    assert!(ruth.list_reviews().iter().all(|row| row["state"] != "REQUEST_REVIEW"));
    let branch = repo.as_("passer-by").send("GET", "/branches/main", None).json::<serde_json::Value>();
    assert_eq!(branch.expect("a branch")["protected"], true);
}

fn a_pull_from_a_fork_is_opened_and_updated(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let guest = repo.as_("passer-by");
    let guest = guest.on(guest.open_from_fork("feature", &[(FILE, LINES)]));
    let pushed = guest.push(FILE, |text| format!("{text}fn four() {{}}\n"));
    let pull_json = guest.fetch_pull();
    assert_eq!(pull_json["head"]["sha"], pushed.as_str());
    assert_eq!((&pull_json["head"]["repo"]["fork"], &pull_json["base"]["ref"]), (&json!(true), &json!("main")));
}

fn a_bot_token_has_only_the_needed_scopes(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let pull = repo.as_("alice").open_pull("feature", &[(FILE, LINES)]);
    let bot = repo.as_("referee").on(pull);
    bot.approve("fine");
    bot.comment("done");
    let server = repo.server();
    assert_eq!(server.send_as("referee", "GET", "/user", None).status, 200);
    assert_eq!(server.send_as("referee", "GET", "/notifications", None).status, 403);
    assert_eq!(server.send_as("referee", "GET", "/admin/users", None).status, 403);
    assert_eq!(bot.send("GET", "/hooks", None).status, 403);
}
