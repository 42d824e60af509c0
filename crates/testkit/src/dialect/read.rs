//! Routes that read.

use referee_core::model::{IssueNumber, Login, PullNumber, PullState, ReviewId, ReviewKind, Sha};
use serde_json::{Value, json};

use super::Dialect;
use super::paging::PageRange;
use super::render::JsonRenderer;
use super::reply::{HttpReply, RouteResult};
use super::server::{ApiRequest, Caller};
use super::timestamp::parse_timestamp;
use crate::world::{StoredPull, StoredRepo};

/// Handles a request that reads.
pub(super) fn route(caller: &Caller<'_>, repo: &StoredRepo, request: &ApiRequest) -> HttpReply {
    let renderer = JsonRenderer { caller, repo };
    ReadHandler { renderer, request }.route().unwrap_or_else(|reply| reply)
}

struct ReadHandler<'a> {
    renderer: JsonRenderer<'a>,
    request: &'a ApiRequest,
}

impl ReadHandler<'_> {
    fn route(&self) -> RouteResult {
        let path: Vec<&str> = self.request.path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["swagger.v1.json"] => Ok(self.show_swagger()),
            ["api", "v1", "version"] => Ok(self.reply_json(&json!({ "version": self.dialect().version() }))),
            ["api", "v1", "user"] => match self.renderer.caller.login.as_str() {
                "" => Err(HttpReply::error(401, "token is required")),
                _ => Ok(self.reply_json(&self.renderer.user(self.renderer.caller.login))),
            },
            ["api", "v1", "notifications"] => Err(self.scope_error()),
            ["api", "v1", "repos", owner, name, rest @ ..] => {
                if self.repo().name != format!("{owner}/{name}") {
                    return Err(self.not_found());
                }
                self.route_in_repo(rest)
            }
            _ => Err(HttpReply::no_such_route()),
        }
    }

    fn route_in_repo(&self, path: &[&str]) -> RouteResult {
        match path {
            [] => Ok(self.reply_json(&self.renderer.repository())),
            ["assignees"] => self.list_assignable(),
            ["labels"] => {
                Ok(self.reply_page(self.repo().labels.iter().map(|name| self.renderer.label(name)).collect()))
            }
            ["collaborators", user, "permission"] => self.show_permission(user),
            ["branches", name] => match self.repo().branch(name) {
                Some(tip) => Ok(self.reply_json(&self.renderer.branch(name, tip))),
                None => Err(self.not_found()),
            },
            ["branch_protections" | "hooks", ..] => {
                Err(HttpReply::error(403, "user should be an owner or a collaborator"))
            }
            ["pulls"] => Ok(self.list_pulls()),
            ["pulls", number] => Ok(self.reply_json(&self.renderer.pull(self.find_pull(number)?))),
            ["pulls", number, "reviews"] => Ok(self.list_reviews(self.find_pull(number)?)),
            ["pulls", number, "reviews", id] => {
                let (pull, id) = self.find_review(number, id)?;
                Ok(self.reply_json(&pull.review(&id).map_or(Value::Null, |review| self.renderer.review(pull, review))))
            }
            ["pulls", number, "reviews", id, "comments"] => {
                let (pull, id) = self.find_review(number, id)?;
                Ok(self.reply_json(&self.renderer.review_comments(pull, &id)))
            }
            ["issues"] => Ok(self.list_issues()),
            ["issues", number] => self.show_issue(number),
            ["issues", number, "timeline"] => Ok(self.list_timeline(self.find_pull(number)?)),
            ["issues", number, "comments"] => self.list_comments(number),
            ["issues", number, "labels"] => Ok(self.reply_json(&self.renderer.labels(&self.find_pull(number)?.labels))),
            ["issues", number, "reactions"] => Ok(self.list_reactions(number)),
            ["commits", sha, "status"] => self.show_status(sha),
            ["statuses", sha] => Ok(self.list_statuses(sha)),
            _ => Err(HttpReply::no_such_route()),
        }
    }

    fn list_pulls(&self) -> HttpReply {
        let state = self.request.query("state").unwrap_or("open");
        let matches_state = |pull: &StoredPull| match state {
            "all" => true,
            "closed" => pull.state != PullState::Open,
            _ => pull.state == PullState::Open,
        };
        let newest_first: Vec<_> = self.repo().pulls.values().rev().filter(|pull| matches_state(pull)).collect();
        let total = newest_first.len();
        let page: Value =
            self.requested_page().slice_rows(newest_first).into_iter().map(|pull| self.renderer.pull(pull)).collect();
        self.reply_json(&page).with_header("x-total-count", total)
    }

    fn list_issues(&self) -> HttpReply {
        let closed = self.request.query("state") == Some("closed");
        let issues = self.repo().issues.iter().rev().filter(|(_, issue)| issue.open != closed);
        let mut rows: Vec<Value> = issues.map(|(number, issue)| self.renderer.issue(*number, issue)).collect();
        if self.request.query("type") != Some("issues") {
            rows.extend(self.repo().pulls.values().rev().map(|pull| self.renderer.pull_as_issue(pull)));
        }
        self.reply_page(rows)
    }

    fn show_issue(&self, number: &str) -> RouteResult {
        let serial = IssueNumber(number.parse().map_err(|_| self.not_found())?);
        let value = match self.repo().issues.get(&serial) {
            Some(issue) => self.renderer.issue(serial, issue),
            None => self.renderer.pull_as_issue(self.find_pull(number)?),
        };
        Ok(self.reply_json(&value))
    }

    /// Drafts of other users are removed after paging, but `x-total-count` includes them.
    fn list_reviews(&self, pull: &StoredPull) -> HttpReply {
        let me = self.renderer.caller.login;
        let is_visible = |row: &ReviewKind, author: &Login| *row != ReviewKind::Draft || author == me;
        let reviews = pull.reviews.iter().map(|review| {
            let shown = is_visible(&review.row, &review.author).then(|| self.renderer.review(pull, review));
            (review_serial(&review.id), shown)
        });
        let requests = pull
            .requests
            .iter()
            .map(|(id, request)| (review_serial(id), Some(self.renderer.request(pull, id, request))));
        let mut rows: Vec<(u64, Option<Value>)> = reviews.chain(requests).collect();
        rows.sort_by_key(|(id, _)| *id);
        let total = rows.len();
        let page: Value = self.requested_page().slice_rows(rows).into_iter().filter_map(|(_, shown)| shown).collect();
        self.reply_json(&page).with_header("x-total-count", total)
    }

    /// `x-total-count` is the length of this page only, and an empty page is `null`.
    fn list_timeline(&self, pull: &StoredPull) -> HttpReply {
        let since = self.request.query("since").and_then(parse_timestamp);
        let mut rows = self.renderer.timeline(pull);
        rows.retain(|row| since.is_none_or(|since| row.updated >= since));
        let page: Vec<Value> = self.requested_page().slice_rows(rows).into_iter().filter_map(|row| row.shown).collect();
        let total = page.len();
        let page = if page.is_empty() { Value::Null } else { json!(page) };
        self.reply_json(&page).with_header("x-total-count", total)
    }

    fn list_comments(&self, number: &str) -> RouteResult {
        let serial: u64 = number.parse().map_err(|_| self.not_found())?;
        let rows = match self.repo().issues.get(&IssueNumber(serial)) {
            Some(issue) => self.renderer.comments(&format!("issues/{number}"), &issue.comments),
            None => self.renderer.comments(&format!("pulls/{number}"), &self.find_pull(number)?.comments),
        };
        let total = rows.as_array().map_or(0, Vec::len);
        Ok(self.reply_json(&rows).with_header("x-total-count", total))
    }

    fn list_reactions(&self, number: &str) -> HttpReply {
        let number: u64 = number.parse().unwrap_or_default();
        let rows = self.repo().reactions.iter().filter(|row| row.number == number);
        let rows: Vec<Value> = rows.map(|row| self.renderer.reaction(&row.by, &row.content, row.at)).collect();
        let total = rows.len();
        let page = self.requested_page().slice_rows(rows);
        let page = if page.is_empty() { Value::Null } else { json!(page) };
        self.reply_json(&page).with_header("x-total-count", total)
    }

    fn show_status(&self, sha: &str) -> RouteResult {
        let sha = Sha::from(sha);
        if !self.repo().commits.contains_key(&sha) {
            return Err(self.not_found());
        }
        let all: Vec<_> = self.repo().statuses.iter().filter(|status| status.commit == sha).collect();
        let total = all.len();
        let page = self.requested_page().slice_rows(all);
        Ok(self.reply_json(&self.renderer.combined_status(&sha, &page)).with_header("x-total-count", total))
    }

    /// Lists all statuses ever set on a commit, including superseded ones. Real servers sort by the second, so the order
    /// within one second is undefined; they do not check that the commit exists.
    fn list_statuses(&self, sha: &str) -> HttpReply {
        let all = self.repo().superseded_statuses.iter().chain(&self.repo().statuses);
        let on_commit = all.filter(|status| status.commit.as_str() == sha);
        self.reply_page(on_commit.map(|status| self.renderer.status(status)).collect())
    }

    /// Lists the users with write access, and the owner.
    fn list_assignable(&self) -> RouteResult {
        if self.repo().quirks.access_hidden {
            return Err(HttpReply::error(403, "token does not have at least one of required scope(s)"));
        }
        let owner = Login::from(self.repo().name.split('/').next().unwrap_or_default());
        let writers = self.repo().users.keys().filter(|login| self.repo().may_write(login));
        Ok(self.reply_json(&writers.chain([&owner]).map(|login| self.renderer.user(login)).collect()))
    }

    /// Users may query their own permission; only admins may query that of others.
    fn show_permission(&self, user: &str) -> RouteResult {
        let login = Login::from(user);
        if login != *self.renderer.caller.login {
            return Err(HttpReply::error(
                403,
                "Only admins can query all permissions, repo admins can query all repo permissions, collaborators can query only their own",
            ));
        }
        let permission = if self.repo().may_write(&login) { "write" } else { "read" };
        let user = self.renderer.user(&login);
        Ok(self.reply_json(&json!({ "permission": permission, "role_name": permission, "user": user })))
    }

    fn show_swagger(&self) -> HttpReply {
        let mut paths = json!({ "/repos/{owner}/{repo}/pulls/{index}/reviews": { "get": {}, "post": {} } });
        if !self.dialect().is_forgejo() {
            paths["/repos/{owner}/{repo}/pulls/comments/{id}/resolve"] = json!({ "post": {} });
        }
        if self.dialect() == Dialect::Gitea127 {
            paths["/repos/{owner}/{repo}/pulls/{index}/comments/{id}/replies"] = json!({ "post": {} });
        }
        self.reply_json(&json!({ "swagger": "2.0", "paths": paths }))
    }

    fn scope_error(&self) -> HttpReply {
        HttpReply::error(
            403,
            match self.dialect().is_forgejo() {
                true => "token does not have at least one of required scope(s): [read:notification]",
                false => {
                    "token does not have at least one of required scope(s), required=[read:notification], token scope=write:issue,write:repository,read:user"
                }
            },
        )
    }

    /// Finds a review that the caller may see.
    fn find_review(&self, number: &str, id: &str) -> Result<(&StoredPull, ReviewId), HttpReply> {
        let pull = self.find_pull(number)?;
        let id = ReviewId::from(id);
        let review = pull.review(&id).map_err(|_| self.not_found())?;
        if review.row == ReviewKind::Draft && review.author != *self.renderer.caller.login {
            return Err(self.not_found());
        }
        Ok((pull, id))
    }

    fn find_pull(&self, number: &str) -> Result<&StoredPull, HttpReply> {
        let number = number.parse().map_err(|_| self.not_found())?;
        self.repo().pull(PullNumber(number)).map_err(|_| self.not_found())
    }

    fn reply_page(&self, rows: Vec<Value>) -> HttpReply {
        let total = rows.len();
        self.reply_json(&json!(self.requested_page().slice_rows(rows))).with_header("x-total-count", total)
    }

    fn reply_json(&self, value: &Value) -> HttpReply {
        HttpReply::json(200, value)
    }

    fn requested_page(&self) -> PageRange {
        PageRange::from_request(self.dialect(), self.request)
    }

    fn dialect(&self) -> Dialect {
        self.renderer.caller.dialect
    }

    fn repo(&self) -> &StoredRepo {
        self.renderer.repo
    }

    fn not_found(&self) -> HttpReply {
        HttpReply::not_found(self.dialect())
    }
}

fn review_serial(id: &ReviewId) -> u64 {
    id.as_str().parse().unwrap_or_default()
}
