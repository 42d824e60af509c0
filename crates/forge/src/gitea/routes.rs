//! The allow-list of requests to Gitea and Forgejo (SAF-1): the client sends nothing else.

use referee_http::{Method, Route};

macro_rules! routes {
    ($($name:ident = $route:expr;)+) => {
        $(pub(super) const $name: Route = $route;)+

        /// All routes.
        pub(super) const ALL: &[Route] = &[$($name),+];
    };
}

/// The server's API description.
pub(super) const SWAGGER: Route = Route::get("/swagger.v1.json");

routes! {
    VERSION = Route::get("/version");
    USER = Route::get("/user");
    REPO = Route::get("/repos/{owner}/{repo}");
    ASSIGNABLE = Route::get("/repos/{owner}/{repo}/assignees");
    BRANCH = Route::get("/repos/{owner}/{repo}/branches/{branch}");
    PROTECTION = Route::get("/repos/{owner}/{repo}/branch_protections/{branch}");
    HOOKS = Route::get("/repos/{owner}/{repo}/hooks");
    NOTIFICATIONS = Route::get("/notifications");
    PULLS = Route::get("/repos/{owner}/{repo}/pulls");
    ISSUES = Route::get("/repos/{owner}/{repo}/issues");
    ISSUE = Route::get("/repos/{owner}/{repo}/issues/{number}");
    PULL = Route::get("/repos/{owner}/{repo}/pulls/{number}");
    REVIEWS = Route::get("/repos/{owner}/{repo}/pulls/{number}/reviews");
    REVIEW_COMMENTS = Route::get("/repos/{owner}/{repo}/pulls/{number}/reviews/{review}/comments");
    TIMELINE = Route::get("/repos/{owner}/{repo}/issues/{number}/timeline");
    COMMENTS = Route::get("/repos/{owner}/{repo}/issues/{number}/comments");
    STATUSES = Route::get("/repos/{owner}/{repo}/statuses/{sha}");
    STATUS = Route::get("/repos/{owner}/{repo}/commits/{sha}/status");
    LABELS = Route::get("/repos/{owner}/{repo}/labels");
    ISSUE_LABELS = Route::get("/repos/{owner}/{repo}/issues/{number}/labels");
    REACTIONS = Route::get("/repos/{owner}/{repo}/issues/{number}/reactions");

    POST_REVIEW = Route::write(Method::Post, "/repos/{owner}/{repo}/pulls/{number}/reviews",
        &["body", "comments", "commit_id", "event"]);
    REPLY = Route::write(Method::Post, "/repos/{owner}/{repo}/pulls/{number}/comments/{comment}/replies", &["body"]);
    ADD_REVIEW_COMMENT = Route::write(Method::Post,
        "/repos/{owner}/{repo}/pulls/{number}/reviews/{review}/comments",
        &["body", "new_position", "old_position", "path"]);
    RESOLVE = Route::write_without_body(Method::Post, "/repos/{owner}/{repo}/pulls/comments/{comment}/resolve").idempotent();
    EDIT_COMMENT = Route::write(Method::Patch, "/repos/{owner}/{repo}/issues/comments/{comment}", &["body"])
        .idempotent();
    POST_COMMENT = Route::write(Method::Post, "/repos/{owner}/{repo}/issues/{number}/comments", &["body"]);
    ADD_LABELS = Route::write(Method::Post, "/repos/{owner}/{repo}/issues/{number}/labels", &["labels"]).idempotent();
    // delete: own label
    DROP_LABEL = Route::write_without_body(Method::Delete, "/repos/{owner}/{repo}/issues/{number}/labels/{label}").idempotent();
    SET_ASSIGNEES = Route::write(Method::Patch, "/repos/{owner}/{repo}/issues/{number}", &["assignees"]).idempotent();
    SET_STATUS = Route::write(Method::Post, "/repos/{owner}/{repo}/statuses/{sha}",
        &["context", "description", "state", "target_url"]);
    REACT = Route::write(Method::Post, "/repos/{owner}/{repo}/issues/{number}/reactions", &["content"]);
    // delete: own reaction
    UNREACT = Route::write(Method::Delete, "/repos/{owner}/{repo}/issues/{number}/reactions", &["content"]);
    OPEN_PULL = Route::write(Method::Post, "/repos/{owner}/{repo}/pulls", &["base", "body", "head", "title"]);
}
