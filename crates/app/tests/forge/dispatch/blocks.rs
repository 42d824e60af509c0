//! Rule 2: who blocks a pull, what clears the block, and who acts next.

use referee_core::model::{PullNumber, Verdict};
use referee_testkit::server::{ADMIN, OWNER, ServerBuild, ServerPerson};
use serde_json::{Value, json};

use super::{OpenedPull, Project, evaluated, row, why};
use crate::on_each_server;

on_each_server! { a_block_stands_until_an_authorised_person_clears_it a_persons_block_is_answered_once_and_then_awaited }

// spec: DSP-5, DSP-12 @gitea @forgejo
fn a_block_stands_until_an_authorised_person_clears_it(build: ServerBuild) {
    let project = Project::new(build);
    let names = [
        "person",
        "bot",
        "oldbot",
        "stranger",
        "gone",
        "commented",
        "approved",
        "elsewhere",
        "dismissed",
        "rolebad",
        "roleweak",
        "everything",
    ];
    let pulls = project.pulls(names);
    let [person, bot, oldbot, stranger, gone, commented, approved, elsewhere, dismissed, rolebad, roleweak, everything] =
        pulls.each_ref();
    let as_ = |login: &str, it: &OpenedPull| -> ServerPerson { project.site.at(login, it.pull) };
    as_("ruth", person).block("not like this");
    as_("sec", bot).block(&evaluated(&bot.head, ""));
    as_("sec", oldbot).block(&evaluated(&oldbot.head, ""));
    as_("alice", oldbot).push("src/oldbot.rs", |_| "fn b() {}\n".to_owned());
    // Not one whose word counts as the bot's: a person with a bot's words.
    as_("ruth", stranger).block(&evaluated(&stranger.head, ""));
    block_and_leave(&project, gone.pull);
    as_("ruth", commented).block("not like this");
    as_("ruth", commented).review_without_verdict("and another thing");
    as_(OWNER, commented).approve("fine by me");
    as_("ruth", approved).block("not like this");
    as_("ruth", approved).approve("now it is");
    as_("ruth", elsewhere).review(Verdict::RequestChanges, &elsewhere.head, "not like this");
    as_("alice", elsewhere).push("src/elsewhere.rs", |_| "fn b() {}\n".to_owned());
    let block = as_("ruth", dismissed).block("not like this");
    as_(OWNER, dismissed).dismiss(&block);
    let finding = |severity: &str| json!({ "findings": [{ "title": "It leaks", "body": "It does.", "severity": severity, "path": "", "line": 1 }] });
    for (it, name, severity) in [(rolebad, "rolebad", "critical"), (roleweak, "roleweak", "suggestion")] {
        let mut report = finding(severity);
        report["findings"][0]["path"] = json!(format!("role/{name}.rs"));
        project.site.report(it.pull, "alpha", report);
    }
    // All at once: the block goes first.
    as_("ruth", everything).block("not like this");
    as_("alice", everything).report_check("ci", "failure");
    as_("ruth", everything).open_thread("src/everything.rs", 1, "why?");
    as_("alice", everything).push_base("src/everything.rs", |_| "fn other() {}\n".to_owned());
    // Pulls of others: the author's own dismissal lifts nothing, and a verdict that is a comment by its form is none.
    let owners = project.site.repo.as_(OWNER).open_pull("owners", &[("src/owners.rs", "fn a() {}\n")]);
    let block = project.site.at("ruth", owners).block("not like this");
    project.site.at(OWNER, owners).dismiss(&block);
    let own = project.site.repo.as_("referee").open_pull("own", &[("role/own.rs", "fn a() {}\n")]);
    let mut report = finding("critical");
    report["findings"][0]["path"] = json!("role/own.rs");
    project.site.report(own, "alpha", report);
    let forms: Vec<Value> = project.site.at("ruth", own).list_reviews().iter().map(|it| it["state"].clone()).collect();
    assert_eq!(forms, ["COMMENT"]);

    let document = project.json(&project.file);
    let rule2 = "changes-requested";
    for (pull, kind, on, fact) in [
        (person.pull, "spawn", "findings", "ruth asks for changes; findings for person:ruth@"),
        (bot.pull, "spawn", "findings", "sonnet asks for changes; findings for bot:sonnet@"),
        (stranger.pull, "spawn", "findings", "findings for person:ruth@"),
        (gone.pull, "spawn", "findings", " asks for changes"),
        (commented.pull, "wait", "operator", "owner approved this head"),
        (elsewhere.pull, "spawn", "findings", "ruth asks for changes"),
        (rolebad.pull, "spawn", "findings", "alpha asks for changes; findings for role:alpha"),
        (everything.pull, "spawn", "findings", "ruth asks for changes"),
        (owners, "spawn", "findings", "ruth asks for changes"),
        (own, "spawn", "findings", "alpha asks for changes; findings for role:alpha"),
    ] {
        let [rule, is_kind, is_on, facts] = why(&document, pull);
        assert_eq!([rule.as_str(), &is_kind, &is_on], [rule2, kind, on], "{pull}: {facts}");
        assert!(facts.contains(fact), "{pull}: {facts}");
    }
    // D29: a block from an older head is not active; rule 5 waits for the bot to read this one.
    let [rule, is_kind, is_on, facts] = why(&document, oldbot.pull);
    assert_eq!([rule.as_str(), &is_kind, &is_on], ["reviews-missing", "wait", "sonnet"], "{facts}");
    assert!(facts.contains("sonnet asked for changes at an older head"), "{facts}");
    for it in [approved, dismissed] {
        assert_eq!(row(&document, it.pull)["next"]["kind"], "ready", "{:#}", row(&document, it.pull));
    }
    let [rule, kind, on, facts] = why(&document, roleweak.pull);
    assert_eq!([rule.as_str(), &kind, &on], ["findings-unanswered", "spawn", "address-feedback"], "{facts}");
}

/// Somebody who may write asks for changes and is deleted.
fn block_and_leave(project: &Project, pull: PullNumber) {
    let server = project.site.repo.server();
    let (repo, name) = (project.site.repo.full_name(), project.site.repo.full_name().replace('/', "-"));
    let ask = |login: &str, method: &str, path: &str, body: Value| {
        let answer = server.send_as(login, method, path, Some(&body));
        assert!(answer.is_success(), "{method} {path}: {}", String::from_utf8_lossy(&answer.body));
    };
    let user = json!({ "username": name, "email": format!("{name}@example.org"), "password": "only-for-suites", "must_change_password": false });
    ask(ADMIN, "POST", "/admin/users", user);
    ask(OWNER, "PUT", &format!("/repos/{repo}/collaborators/{name}"), json!({ "permission": "write" }));
    let review = json!({ "event": "REQUEST_CHANGES", "body": "not like this" });
    ask(ADMIN, "POST", &format!("/repos/{repo}/pulls/{}/reviews?sudo={name}", pull.0), review);
    ask(ADMIN, "DELETE", &format!("/admin/users/{name}"), json!({}));
}

// spec: DSP-5, DSP-16 @gitea @forgejo
fn a_persons_block_is_answered_once_and_then_awaited(build: ServerBuild) {
    let project = Project::new(build);
    let [it] = project.pulls(["topic"]);
    let (alice, ruth) = (project.site.at("alice", it.pull), project.site.at("ruth", it.pull));
    ruth.block("not like this");
    assert_eq!(project.lines(&[]), [it.spawn("findings")]);
    // The worker pushes, and everybody but ruth approves; then alice pushes once more.
    for text in ["fn b() {}\n", "fn c() {}\n"] {
        let head = alice.push("src/topic.rs", |_| text.to_owned());
        project.settle(&OpenedPull { pull: it.pull, head });
        alice.unlabel("wip");
        project.site.forget();
        assert_eq!(project.lines(&[]), [""; 0]);
        let [rule, kind, on, facts] = why(&project.json(&project.file), it.pull);
        assert_eq!([rule.as_str(), &kind, &on], ["changes-requested", "wait", "ruth"], "{facts}");
        alice.label("wip");
    }
    // A new word of hers is a new cause; her approval lets it go.
    alice.unlabel("wip");
    ruth.block("still not like this");
    let now = OpenedPull { pull: it.pull, head: alice.head() };
    assert_eq!(project.lines(&[]), [now.spawn("findings")]);
    alice.unlabel("wip");
    ruth.approve("now it is");
    assert_eq!(project.lines(&[]), [format!("HANDOFF:{}", it.pull.0)]);
}
