//! Routes that write. Each writes down what it changed, as a seat does.

mod desk;
mod reviews;
mod talk;

use axum::http::Method;
use referee_core::model::{Login, PullNumber};

use super::Dialect;
use super::reply::{Reply, Said};
use super::serve::{Asked, Caller};
use super::shape::Shape;
use crate::world::{Repo, State, What};

/// Answers a request that writes.
pub(super) fn route(caller: &Caller<'_>, state: &mut State, asked: &Asked) -> Reply {
    Writer { caller, state, asked }.route().unwrap_or_else(|reply| reply)
}

struct Writer<'a> {
    caller: &'a Caller<'a>,
    state: &'a mut State,
    asked: &'a Asked,
}

impl Writer<'_> {
    fn route(&mut self) -> Said {
        let path: Vec<&str> = self.asked.path.iter().map(String::as_str).collect();
        let ["api", "v1", "repos", owner, name, rest @ ..] = path.as_slice() else { return Err(Reply::nowhere()) };
        if self.repo().name != format!("{owner}/{name}") {
            return Err(self.not_found());
        }
        if self.me().as_str().is_empty() {
            return Err(Reply::error(401, "token is required"));
        }
        let posts_review = self.asked.method == Method::POST && matches!(rest, ["pulls", _, "reviews"]);
        if self.state.torn() && !posts_review {
            // Only a review has a half.
            return Err(Reply::broke());
        }
        self.in_repo(rest)
    }

    fn in_repo(&mut self, path: &[&str]) -> Said {
        match (self.asked.method.as_str(), path) {
            ("POST", ["pulls"]) => self.open_pull(),
            ("POST", ["pulls", number, "reviews"]) => self.post_review(self.pull(number)?),
            ("POST", ["pulls", number, "reviews", id]) => self.submit(self.pull(number)?, id),
            ("POST", ["pulls", number, "reviews", id, "comments"]) if self.dialect().is_forgejo() => {
                self.add_to_review(self.pull(number)?, id)
            }
            ("POST", ["pulls", number, "comments", id, "replies"]) if self.dialect() == Dialect::Gitea127 => {
                self.reply(self.pull(number)?, id)
            }
            ("POST", ["pulls", "comments", id, "resolve"]) if !self.dialect().is_forgejo() => self.resolve(id),
            ("PATCH", ["issues", "comments", id]) => self.edit_comment(id),
            ("POST", ["issues", number, "comments"]) => self.comment(number),
            ("POST", ["issues", number, "labels"]) => self.add_labels(self.pull(number)?),
            ("DELETE", ["issues", number, "labels", id]) => self.drop_label(self.pull(number)?, id),
            ("PATCH", ["issues" | "pulls", number]) => self.set_assignees(number),
            ("POST", ["statuses", sha]) => self.set_status(sha),
            ("POST", ["issues", number, "reactions"]) => self.react(number),
            ("DELETE", ["issues", number, "reactions"]) => self.unreact(number),
            // These are there for another method, on the servers that lack them.
            ("POST", ["pulls", _, "reviews", _, "comments"])
            | ("POST", ["pulls", _, "comments", _, "replies"])
            | ("POST", ["pulls", "comments", _, "resolve"]) => Err(Reply::empty(405)),
            _ => Err(Reply::nowhere()),
        }
    }

    fn shape(&self) -> Shape<'_> {
        Shape { caller: self.caller, repo: &self.state.repo }
    }

    fn effect(&mut self, pull: PullNumber, what: What) {
        self.state.effect(self.caller.login, pull, what);
    }

    fn may_write(&self) -> bool {
        self.repo().may_write(self.me())
    }

    fn pull(&self, number: &str) -> Result<PullNumber, Reply> {
        let number = number.parse().map(PullNumber).map_err(|_| self.not_found())?;
        self.repo().pull(number).map(|pull| pull.number).map_err(|_| self.not_found())
    }

    fn me(&self) -> &Login {
        self.caller.login
    }

    fn repo(&self) -> &Repo {
        &self.state.repo
    }

    fn dialect(&self) -> Dialect {
        self.caller.dialect
    }

    fn not_found(&self) -> Reply {
        Reply::not_found(self.dialect())
    }
}
