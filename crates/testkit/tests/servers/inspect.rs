//! The checks of `referee doctor` on a real server (SAF-7).

use referee_forge::{HealthStatus, InspectionItem, ServerSite, inspect};
use referee_http::{ClientLimits, ClientOptions, Token};
use referee_testkit::server::{ADMIN, OWNER, RealServer, ServerBuild};
use serde_json::{Value, json};

use crate::{FILE, LINES, on_each_server};

on_each_server! {
    a_bot_with_write_access_is_reported
    the_weight_of_verdicts_is_reported
    a_bot_of_a_team_can_neither_push_nor_merge
    a_rejected_token_is_reported_and_no_token_is_printed
}

/// Inspects a repository with a token.
fn inspect_with(server: &RealServer, repo: &str, token: &str) -> Vec<InspectionItem> {
    let (owner, repo) = repo.split_once('/').expect("a name");
    let limits = ClientLimits { requests_per_minute: 60_000, ..ClientLimits::default() };
    let client_options =
        ClientOptions { limits, ..ClientOptions::new(server.url().parse().expect("a valid URL"), None, &[]) };
    let site = ServerSite {
        kind: None,
        client: client_options,
        owner: owner.to_owned(),
        repo: repo.to_owned(),
        token: Token::new(token),
        known: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("create a runtime");
    runtime.block_on(inspect(&site)).expect("inspect the server").items
}

#[track_caller]
fn find_item<'a>(items: &'a [InspectionItem], what: &str) -> &'a InspectionItem {
    items.iter().find(|item| item.subject == what).unwrap_or_else(|| panic!("no item `{what}` in {items:#?}"))
}

#[track_caller]
fn assert_item(items: &[InspectionItem], what: &str, state: HealthStatus, text: &str) {
    let item = find_item(items, what);
    assert!(item.status == state && item.message.contains(text), "{item:#?}");
}

// spec: SAF-7 @gitea @forgejo
fn a_bot_with_write_access_is_reported(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let server = repo.server();
    let items = inspect_with(server, &repo.full_name(), server.token("referee"));
    let program = if build == ServerBuild::Forgejo10 { "Forgejo 10." } else { "Gitea 1.2" };
    assert_item(&items, "server", HealthStatus::Fine, program);
    assert_item(&items, "clock", HealthStatus::Fine, "agrees");
    assert_item(&items, "token", HealthStatus::Fine, "referee");
    assert_item(&items, "repository", HealthStatus::Fine, &repo.full_name());
    assert_item(&items, "rights", HealthStatus::Warning, "may push, merge");
    assert_item(&items, "protection", HealthStatus::Warning, "`main` is not protected");
    assert_item(&items, "verdict", HealthStatus::Unknown, "no verdict on the latest pulls");
    assert_item(&items, "statuses", HealthStatus::Fine, "may write");
    assert_item(&items, "webhook", HealthStatus::Unknown, "administrators");
    match build {
        ServerBuild::Forgejo10 => assert_item(&items, "scopes", HealthStatus::Unknown, "does not list"),
        ServerBuild::Gitea126 | ServerBuild::Gitea127 => {
            assert_item(&items, "scopes", HealthStatus::Fine, "`write:issue`")
        }
    }
    let resolving = if build == ServerBuild::Forgejo10 { "emulated replies, resolving" } else { "has edits" };
    assert_item(&items, "supports", HealthStatus::Fine, resolving);
}

// spec: SAF-7 @gitea @forgejo
fn the_weight_of_verdicts_is_reported(build: ServerBuild) {
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
    let uncounted = inspect_with(server, &name, server.token("referee"));
    assert_item(&uncounted, "verdict", HealthStatus::Warning, &format!("did not count on #{}", pull.0));
    let counted = inspect_with(server, &name, server.token("sec"));
    assert_item(&counted, "verdict", HealthStatus::Fine, "counts");
    assert_item(&counted, "protection", HealthStatus::Fine, "`main` requires 2 approvals, checks build");
    assert_item(&counted, "block", HealthStatus::Unknown, "administrators");
    assert_item(&counted, "requests", HealthStatus::Unknown, "administrators");

    repo.as_("alice").on(pull).request_review("sec");
    let lifted = inspect_with(server, &name, server.token("sec"));
    assert_item(&lifted, "verdict", HealthStatus::Warning, "another review was requested");
    assert!(
        find_item(&lifted, "verdict")
            .hint
            .as_ref()
            .is_some_and(|hint| hint.contains("block_on_official_review_requests"))
    );

    let owner = inspect_with(server, &name, server.token(OWNER));
    assert_item(&owner, "block", HealthStatus::Fine, "prevent a merge");
    assert_item(&owner, "requests", HealthStatus::Warning, "the author can lift a block");
    assert_item(&owner, "rights", HealthStatus::Warning, "administer the repository, push, merge");
    assert_item(&owner, "scopes", HealthStatus::Warning, "which a review does not need");
    assert_item(&owner, "webhook", HealthStatus::Fine, "none");
    let rule = json!({ "block_on_official_review_requests": true });
    repo.as_(OWNER).send("PATCH", "/branch_protections/main", Some(&rule));
    assert_item(&inspect_with(server, &name, server.token(OWNER)), "requests", HealthStatus::Fine, "does not lift");
}

// spec: SAF-7 @gitea @forgejo
fn a_bot_of_a_team_can_neither_push_nor_merge(build: ServerBuild) {
    let server = RealServer::shared(build);
    let call_api = |path: &str, method: &str, body: Value| -> Value {
        let response = server.send_as(ADMIN, method, path, Some(&body));
        assert!(response.is_success(), "{method} {path}: {} {}", response.status, response.message());
        response.json().unwrap_or_default()
    };
    call_api("/orgs", "POST", json!({ "username": "guild" }));
    call_api(
        "/orgs/guild/repos",
        "POST",
        json!({ "name": "api", "auto_init": true, "default_branch": "main", "private": true }),
    );
    let units = json!({ "repo.code": "read", "repo.issues": "write", "repo.pulls": "write" });
    let team = json!({
        "name": "reviewers", "permission": "read", "includes_all_repositories": true,
        "units": ["repo.code", "repo.issues", "repo.pulls"], "units_map": units,
    });
    let team = call_api("/orgs/guild/teams", "POST", team)["id"].clone();
    call_api(&format!("/teams/{team}/members/referee"), "PUT", json!({}));
    let items = inspect_with(&server, "guild/api", server.token("referee"));
    assert_item(&items, "rights", HealthStatus::Fine, "neither push nor merge");
    assert_item(&items, "statuses", HealthStatus::Warning, "right to push");
    assert_item(
        &inspect_with(&server, "guild/api", server.token("sec")),
        "repository",
        HealthStatus::Bad,
        "guild/api does not exist",
    );
}

// spec: SAF-7 @gitea @forgejo
fn a_rejected_token_is_reported_and_no_token_is_printed(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let (server, name) = (repo.server(), repo.full_name());
    let wrong = inspect_with(server, &name, "0123456789012345678901234567890123456789");
    let last = wrong.last().expect("an item");
    assert!(last.status == HealthStatus::Bad && last.message.contains("accept"), "{wrong:#?}");
    let printed = format!("{:?}", inspect_with(server, &name, server.token("referee")));
    assert!(server.tokens().all(|token| !printed.contains(token)), "{printed}");
}
