//! What `referee doctor` finds out on a server (SAF-7).

use referee_forge::{HealthStatus, InspectionItem, ServerSite, inspect};
use referee_http::{ClientLimits, ClientOptions, Token};
use referee_testkit::server::{ADMIN, OWNER, RealServer, ServerBuild};
use serde_json::{Value, json};

use crate::{FILE, LINES, on_each_server};

on_each_server! {
    a_bot_that_may_write_is_told_so
    what_makes_a_verdict_count_is_told
    a_bot_of_a_team_can_neither_push_nor_merge
    what_cannot_work_is_said
}

/// What a token finds out.
fn found(server: &RealServer, repo: &str, token: &str) -> Vec<InspectionItem> {
    let (owner, repo) = repo.split_once('/').expect("a name");
    let limits = ClientLimits { requests_per_minute: 60_000, ..ClientLimits::default() };
    let reach = ClientOptions { limits, ..ClientOptions::new(server.url().parse().expect("an address"), None, &[]) };
    let site = ServerSite {
        kind: None,
        client: reach,
        owner: owner.to_owned(),
        repo: repo.to_owned(),
        token: Token::new(token),
        named: true,
        known: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(inspect(&site)).expect("the server is named").items
}

#[track_caller]
fn fact<'a>(facts: &'a [InspectionItem], what: &str) -> &'a InspectionItem {
    facts.iter().find(|fact| fact.subject == what).unwrap_or_else(|| panic!("nothing of `{what}` in {facts:#?}"))
}

#[track_caller]
fn is(facts: &[InspectionItem], what: &str, state: HealthStatus, words: &str) {
    let fact = fact(facts, what);
    assert!(fact.status == state && fact.message.contains(words), "{fact:#?}");
}

// spec: SAF-7 @gitea @forgejo
fn a_bot_that_may_write_is_told_so(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let server = repo.server();
    let facts = found(server, &repo.full_name(), server.token("referee"));
    let program = if build == ServerBuild::Forgejo10 { "Forgejo 10." } else { "Gitea 1.2" };
    is(&facts, "server", HealthStatus::Fine, program);
    is(&facts, "clock", HealthStatus::Fine, "agrees");
    is(&facts, "token", HealthStatus::Fine, "referee");
    is(&facts, "repository", HealthStatus::Fine, &repo.full_name());
    is(&facts, "rights", HealthStatus::Warning, "may push, merge");
    is(&facts, "protection", HealthStatus::Warning, "`main` is not protected");
    is(&facts, "verdict", HealthStatus::Unknown, "none by this user");
    is(&facts, "statuses", HealthStatus::Fine, "may write");
    is(&facts, "webhook", HealthStatus::Unknown, "administrators");
    match build {
        ServerBuild::Forgejo10 => is(&facts, "scopes", HealthStatus::Unknown, "does not list"),
        ServerBuild::Gitea126 | ServerBuild::Gitea127 => is(&facts, "scopes", HealthStatus::Fine, "`write:issue`"),
    }
    let resolving = if build == ServerBuild::Forgejo10 { "emulated replies, resolving" } else { "has edits" };
    is(&facts, "supports", HealthStatus::Fine, resolving);
}

// spec: SAF-7 @gitea @forgejo
fn what_makes_a_verdict_count_is_told(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let (server, name) = (repo.server(), repo.full_name());
    let pull = repo.as_("alice").open_pull("feature", &[(FILE, LINES)]);
    repo.as_(OWNER).protect_base(json!({
        "required_approvals": 2, "enable_approvals_whitelist": true, "approvals_whitelist_username": ["sec"],
        "block_on_rejected_reviews": true, "enable_status_check": true, "status_check_contexts": ["build"],
    }));
    for bot in ["referee", "sec"] {
        repo.as_(bot).on(pull).block("not yet");
    }
    let uncounted = found(server, &name, server.token("referee"));
    is(&uncounted, "verdict", HealthStatus::Warning, &format!("did not count on #{}", pull.0));
    let counted = found(server, &name, server.token("sec"));
    is(&counted, "verdict", HealthStatus::Fine, "counts");
    is(&counted, "protection", HealthStatus::Fine, "`main` asks for 2 approvals, checks build");
    is(&counted, "block", HealthStatus::Unknown, "administrators");
    is(&counted, "requests", HealthStatus::Unknown, "administrators");

    repo.as_("alice").on(pull).request_review("sec");
    let lifted = found(server, &name, server.token("sec"));
    is(&lifted, "verdict", HealthStatus::Warning, "another review was asked for");
    assert!(fact(&lifted, "verdict").hint.as_ref().is_some_and(|it| it.contains("block_on_official_review_requests")));

    let owner = found(server, &name, server.token(OWNER));
    is(&owner, "block", HealthStatus::Fine, "hold a merge back");
    is(&owner, "requests", HealthStatus::Warning, "the author lifts a block");
    is(&owner, "rights", HealthStatus::Warning, "administer the repository, push, merge");
    is(&owner, "scopes", HealthStatus::Warning, "more than a review needs");
    is(&owner, "webhook", HealthStatus::Fine, "none");
    let rule = json!({ "block_on_official_review_requests": true });
    repo.as_(OWNER).send("PATCH", "/branch_protections/main", Some(&rule));
    is(&found(server, &name, server.token(OWNER)), "requests", HealthStatus::Fine, "does not lift");
}

// spec: SAF-7 @gitea @forgejo
fn a_bot_of_a_team_can_neither_push_nor_merge(build: ServerBuild) {
    let server = RealServer::shared(build);
    let asked = |path: &str, method: &str, body: Value| -> Value {
        let answer = server.send_as(ADMIN, method, path, Some(&body));
        assert!(answer.is_success(), "{method} {path}: {} {}", answer.status, answer.message());
        answer.json().unwrap_or_default()
    };
    asked("/orgs", "POST", json!({ "username": "guild" }));
    asked(
        "/orgs/guild/repos",
        "POST",
        json!({ "name": "api", "auto_init": true, "default_branch": "main", "private": true }),
    );
    let units = json!({ "repo.code": "read", "repo.issues": "write", "repo.pulls": "write" });
    let team = json!({
        "name": "reviewers", "permission": "read", "includes_all_repositories": true,
        "units": ["repo.code", "repo.issues", "repo.pulls"], "units_map": units,
    });
    let team = asked("/orgs/guild/teams", "POST", team)["id"].clone();
    asked(&format!("/teams/{team}/members/referee"), "PUT", json!({}));
    let facts = found(&server, "guild/api", server.token("referee"));
    is(&facts, "rights", HealthStatus::Fine, "neither push nor merge");
    is(&facts, "statuses", HealthStatus::Warning, "right to push");
    is(&found(&server, "guild/api", server.token("sec")), "repository", HealthStatus::Bad, "guild/api is not there");
}

// spec: SAF-7 @gitea @forgejo
fn what_cannot_work_is_said(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let (server, name) = (repo.server(), repo.full_name());
    let wrong = found(server, &name, "0123456789012345678901234567890123456789");
    let last = wrong.last().expect("a fact");
    assert!(last.status == HealthStatus::Bad && last.message.contains("accept"), "{wrong:#?}");
    let told = format!("{:?}", found(server, &name, server.token("referee")));
    assert!(server.tokens().all(|token| !told.contains(token)), "{told}");
}
