//! Routes that read.

use referee_core::model::{IssueNumber, Login, PullNumber, PullState, ReviewId, Row, Sha};
use serde_json::{Value, json};

use super::Dialect;
use super::paging::Page;
use super::reply::{Reply, Said};
use super::serve::{Asked, Caller};
use super::shape::Shape;
use super::stamp::moment;
use crate::world::{Repo, StoredPull};

/// Answers a request that reads.
pub(super) fn route(caller: &Caller<'_>, repo: &Repo, asked: &Asked) -> Reply {
    let shape = Shape { caller, repo };
    Reader { shape, asked }.route().unwrap_or_else(|reply| reply)
}

struct Reader<'a> {
    shape: Shape<'a>,
    asked: &'a Asked,
}

impl Reader<'_> {
    fn route(&self) -> Said {
        let path: Vec<&str> = self.asked.path.iter().map(String::as_str).collect();
        match path.as_slice() {
            ["swagger.v1.json"] => Ok(self.swagger()),
            ["api", "v1", "version"] => Ok(self.said(&json!({ "version": self.dialect().version() }))),
            ["api", "v1", "user"] => match self.shape.caller.login.as_str() {
                "" => Err(Reply::error(401, "token is required")),
                _ => Ok(self.said(&self.shape.user(self.shape.caller.login))),
            },
            ["api", "v1", "notifications"] => Err(self.out_of_scope()),
            ["api", "v1", "repos", owner, name, rest @ ..] => {
                if self.repo().name != format!("{owner}/{name}") {
                    return Err(self.not_found());
                }
                self.in_repo(rest)
            }
            _ => Err(Reply::nowhere()),
        }
    }

    fn in_repo(&self, path: &[&str]) -> Said {
        match path {
            [] => Ok(self.said(&self.shape.repository())),
            ["assignees"] => self.assignable(),
            ["labels"] => Ok(self.listed(self.repo().labels.iter().map(|name| self.shape.label(name)).collect())),
            ["collaborators", user, "permission"] => self.permission(user),
            ["branches", name] => match self.repo().branch(name) {
                Some(tip) => Ok(self.said(&self.shape.branch(name, tip))),
                None => Err(self.not_found()),
            },
            ["branch_protections" | "hooks", ..] => Err(Reply::error(403, "user should be an owner or a collaborator")),
            ["pulls"] => Ok(self.pulls()),
            ["pulls", number] => Ok(self.said(&self.shape.pull(self.pull(number)?))),
            ["pulls", number, "reviews"] => Ok(self.reviews(self.pull(number)?)),
            ["pulls", number, "reviews", id] => {
                let (pull, id) = self.review(number, id)?;
                Ok(self.said(&pull.review(&id).map_or(Value::Null, |review| self.shape.review(pull, review))))
            }
            ["pulls", number, "reviews", id, "comments"] => {
                let (pull, id) = self.review(number, id)?;
                Ok(self.said(&self.shape.review_comments(pull, &id)))
            }
            ["issues"] => Ok(self.issues()),
            ["issues", number] => self.issue(number),
            ["issues", number, "timeline"] => Ok(self.timeline(self.pull(number)?)),
            ["issues", number, "comments"] => self.comments(number),
            ["issues", number, "labels"] => Ok(self.said(&self.shape.labels(&self.pull(number)?.labels))),
            ["issues", number, "reactions"] => Ok(self.reactions(number)),
            ["commits", sha, "status"] => self.status(sha),
            ["statuses", sha] => Ok(self.statuses(sha)),
            _ => Err(Reply::nowhere()),
        }
    }

    fn pulls(&self) -> Reply {
        let wanted = self.asked.query("state").unwrap_or("open");
        let fits = |pull: &StoredPull| match wanted {
            "all" => true,
            "closed" => pull.state != PullState::Open,
            _ => pull.state == PullState::Open,
        };
        let newest_first: Vec<_> = self.repo().pulls.values().rev().filter(|pull| fits(pull)).collect();
        let total = newest_first.len();
        let page: Value = self.page().cut(newest_first).into_iter().map(|pull| self.shape.pull(pull)).collect();
        self.said(&page).with("x-total-count", total)
    }

    fn issues(&self) -> Reply {
        let closed = self.asked.query("state") == Some("closed");
        let issues = self.repo().issues.iter().rev().filter(|(_, issue)| issue.open != closed);
        let mut rows: Vec<Value> = issues.map(|(number, issue)| self.shape.issue(*number, issue)).collect();
        if self.asked.query("type") != Some("issues") {
            rows.extend(self.repo().pulls.values().rev().map(|pull| self.shape.pull_as_issue(pull)));
        }
        self.listed(rows)
    }

    fn issue(&self, number: &str) -> Said {
        let serial = IssueNumber(number.parse().map_err(|_| self.not_found())?);
        let value = match self.repo().issues.get(&serial) {
            Some(issue) => self.shape.issue(serial, issue),
            None => self.shape.pull_as_issue(self.pull(number)?),
        };
        Ok(self.said(&value))
    }

    /// Other people's drafts are taken out after paging, and still counted.
    fn reviews(&self, pull: &StoredPull) -> Reply {
        let me = self.shape.caller.login;
        let seen = |row: &Row, author: &Login| *row != Row::Draft || author == me;
        let reviews = pull.reviews.iter().map(|review| {
            let shown = seen(&review.row, &review.author).then(|| self.shape.review(pull, review));
            (serial(&review.id), shown)
        });
        let requests =
            pull.requests.iter().map(|(id, request)| (serial(id), Some(self.shape.request(pull, id, request))));
        let mut rows: Vec<(u64, Option<Value>)> = reviews.chain(requests).collect();
        rows.sort_by_key(|(id, _)| *id);
        let total = rows.len();
        let page: Value = self.page().cut(rows).into_iter().filter_map(|(_, shown)| shown).collect();
        self.said(&page).with("x-total-count", total)
    }

    /// The page's own length is all that is told of the length, and an empty page is `null`.
    fn timeline(&self, pull: &StoredPull) -> Reply {
        let since = self.asked.query("since").and_then(moment);
        let mut rows = self.shape.timeline(pull);
        rows.retain(|row| since.is_none_or(|since| row.updated >= since));
        let page: Vec<Value> = self.page().cut(rows).into_iter().filter_map(|row| row.shown).collect();
        let total = page.len();
        let page = if page.is_empty() { Value::Null } else { json!(page) };
        self.said(&page).with("x-total-count", total)
    }

    fn comments(&self, number: &str) -> Said {
        let serial: u64 = number.parse().map_err(|_| self.not_found())?;
        let rows = match self.repo().issues.get(&IssueNumber(serial)) {
            Some(issue) => self.shape.comments(&format!("issues/{number}"), &issue.comments),
            None => self.shape.comments(&format!("pulls/{number}"), &self.pull(number)?.comments),
        };
        let total = rows.as_array().map_or(0, Vec::len);
        Ok(self.said(&rows).with("x-total-count", total))
    }

    fn reactions(&self, number: &str) -> Reply {
        let on: u64 = number.parse().unwrap_or_default();
        let rows = self.repo().reactions.iter().filter(|row| row.on == on);
        let rows: Vec<Value> = rows.map(|row| self.shape.reaction(&row.by, &row.word, row.at)).collect();
        let total = rows.len();
        let page = self.page().cut(rows);
        let page = if page.is_empty() { Value::Null } else { json!(page) };
        self.said(&page).with("x-total-count", total)
    }

    fn status(&self, sha: &str) -> Said {
        let sha = Sha::from(sha);
        if !self.repo().commits.contains_key(&sha) {
            return Err(self.not_found());
        }
        let all: Vec<_> = self.repo().statuses.iter().filter(|status| status.commit == sha).collect();
        let total = all.len();
        let page = self.page().cut(all);
        Ok(self.said(&self.shape.combined(&sha, &page)).with("x-total-count", total))
    }

    /// All that was ever said of a commit, by the second it was said in: in one second by nothing at all. Nobody looks
    /// whether there is such a commit.
    fn statuses(&self, sha: &str) -> Reply {
        let all = self.repo().superseded.iter().chain(&self.repo().statuses);
        let here = all.filter(|status| status.commit.as_str() == sha);
        self.listed(here.map(|status| self.shape.status(status)).collect())
    }

    /// Everybody with write access, and the owner.
    fn assignable(&self) -> Said {
        if self.repo().quirks.access_hidden {
            return Err(Reply::error(403, "token does not have at least one of required scope(s)"));
        }
        let owner = Login::from(self.repo().name.split('/').next().unwrap_or_default());
        let writers = self.repo().users.keys().filter(|login| self.repo().may_write(login));
        Ok(self.said(&writers.chain([&owner]).map(|login| self.shape.user(login)).collect()))
    }

    /// Everybody may ask for the own permission, and only admins for that of others.
    fn permission(&self, user: &str) -> Said {
        let login = Login::from(user);
        if login != *self.shape.caller.login {
            return Err(Reply::error(
                403,
                "Only admins can query all permissions, repo admins can query all repo permissions, collaborators can query only their own",
            ));
        }
        let permission = if self.repo().may_write(&login) { "write" } else { "read" };
        let user = self.shape.user(&login);
        Ok(self.said(&json!({ "permission": permission, "role_name": permission, "user": user })))
    }

    fn swagger(&self) -> Reply {
        let mut paths = json!({ "/repos/{owner}/{repo}/pulls/{index}/reviews": { "get": {}, "post": {} } });
        if !self.dialect().is_forgejo() {
            paths["/repos/{owner}/{repo}/pulls/comments/{id}/resolve"] = json!({ "post": {} });
        }
        if self.dialect() == Dialect::Gitea127 {
            paths["/repos/{owner}/{repo}/pulls/{index}/comments/{id}/replies"] = json!({ "post": {} });
        }
        self.said(&json!({ "swagger": "2.0", "paths": paths }))
    }

    fn out_of_scope(&self) -> Reply {
        Reply::error(
            403,
            match self.dialect().is_forgejo() {
                true => "token does not have at least one of required scope(s): [read:notification]",
                false => {
                    "token does not have at least one of required scope(s), required=[read:notification], token scope=write:issue,write:repository,read:user"
                }
            },
        )
    }

    /// A review that this caller may see.
    fn review(&self, number: &str, id: &str) -> Result<(&StoredPull, ReviewId), Reply> {
        let pull = self.pull(number)?;
        let id = ReviewId::from(id);
        let review = pull.review(&id).map_err(|_| self.not_found())?;
        if review.row == Row::Draft && review.author != *self.shape.caller.login {
            return Err(self.not_found());
        }
        Ok((pull, id))
    }

    fn pull(&self, number: &str) -> Result<&StoredPull, Reply> {
        let number = number.parse().map_err(|_| self.not_found())?;
        self.repo().pull(PullNumber(number)).map_err(|_| self.not_found())
    }

    fn listed(&self, rows: Vec<Value>) -> Reply {
        let total = rows.len();
        self.said(&json!(self.page().cut(rows))).with("x-total-count", total)
    }

    fn said(&self, value: &Value) -> Reply {
        Reply::json(200, value)
    }

    fn page(&self) -> Page {
        Page::of(self.dialect(), self.asked)
    }

    fn dialect(&self) -> Dialect {
        self.shape.caller.dialect
    }

    fn repo(&self) -> &Repo {
        self.shape.repo
    }

    fn not_found(&self) -> Reply {
        Reply::not_found(self.dialect())
    }
}

fn serial(id: &ReviewId) -> u64 {
    id.as_str().parse().unwrap_or_default()
}
