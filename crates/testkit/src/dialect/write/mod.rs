//! Routes that write. Each records its effect, as `WorldClient` does.

mod comments;
mod metadata;
mod reviews;

use axum::http::Method;
use referee_core::model::{Login, PullNumber};

use super::Dialect;
use super::render::JsonRenderer;
use super::reply::{HttpReply, RouteResult};
use super::server::{ApiRequest, Caller};
use crate::world::{EffectKind, StoredRepo, WorldState};

/// Handles a request that writes.
pub(super) fn route(caller: &Caller<'_>, state: &mut WorldState, request: &ApiRequest) -> HttpReply {
    WriteHandler { caller, state, request }.route().unwrap_or_else(|reply| reply)
}

struct WriteHandler<'a> {
    caller: &'a Caller<'a>,
    state: &'a mut WorldState,
    request: &'a ApiRequest,
}

impl WriteHandler<'_> {
    fn route(&mut self) -> RouteResult {
        let path: Vec<&str> = self.request.path.iter().map(String::as_str).collect();
        let ["api", "v1", "repos", owner, name, rest @ ..] = path.as_slice() else {
            return Err(HttpReply::no_such_route());
        };
        if self.repo().name != format!("{owner}/{name}") {
            return Err(self.not_found());
        }
        if self.login().as_str().is_empty() {
            return Err(HttpReply::error(401, "token is required"));
        }
        let posts_review = self.request.method == Method::POST && matches!(rest, ["pulls", _, "reviews"]);
        if self.state.is_interrupted() && !posts_review {
            // Only a review can be stored by half.
            return Err(HttpReply::server_error());
        }
        self.route_in_repo(rest)
    }

    fn route_in_repo(&mut self, path: &[&str]) -> RouteResult {
        match (self.request.method.as_str(), path) {
            ("POST", ["pulls"]) => self.open_pull(),
            ("POST", ["pulls", number, "reviews"]) => self.post_review(self.find_pull(number)?),
            ("POST", ["pulls", number, "reviews", id]) => self.submit_draft(self.find_pull(number)?, id),
            ("POST", ["pulls", number, "reviews", id, "comments"]) if self.dialect().is_forgejo() => {
                self.add_to_review(self.find_pull(number)?, id)
            }
            ("POST", ["pulls", number, "comments", id, "replies"]) if self.dialect() == Dialect::Gitea127 => {
                self.reply(self.find_pull(number)?, id)
            }
            ("POST", ["pulls", "comments", id, "resolve"]) if !self.dialect().is_forgejo() => self.resolve(id),
            ("PATCH", ["issues", "comments", id]) => self.edit_comment(id),
            ("POST", ["issues", number, "comments"]) => self.add_comment(number),
            ("POST", ["issues", number, "labels"]) => self.add_labels(self.find_pull(number)?),
            ("DELETE", ["issues", number, "labels", id]) => self.remove_label(self.find_pull(number)?, id),
            ("PATCH", ["issues" | "pulls", number]) => self.set_assignees(number),
            ("POST", ["statuses", sha]) => self.set_status(sha),
            ("POST", ["issues", number, "reactions"]) => self.add_reaction(number),
            ("DELETE", ["issues", number, "reactions"]) => self.remove_reaction(number),
            // The path exists for another method, so these servers answer 405 instead of 404.
            ("POST", ["pulls", _, "reviews", _, "comments"])
            | ("POST", ["pulls", _, "comments", _, "replies"])
            | ("POST", ["pulls", "comments", _, "resolve"]) => Err(HttpReply::empty(405)),
            _ => Err(HttpReply::no_such_route()),
        }
    }

    fn renderer(&self) -> JsonRenderer<'_> {
        JsonRenderer { caller: self.caller, repo: &self.state.repo }
    }

    fn record_effect(&mut self, pull: PullNumber, effect: EffectKind) {
        self.state.record_effect(self.caller.login, pull, effect);
    }

    fn may_write(&self) -> bool {
        self.repo().may_write(self.login())
    }

    fn find_pull(&self, number: &str) -> Result<PullNumber, HttpReply> {
        let number = number.parse().map(PullNumber).map_err(|_| self.not_found())?;
        self.repo().pull(number).map(|pull| pull.number).map_err(|_| self.not_found())
    }

    fn login(&self) -> &Login {
        self.caller.login
    }

    fn repo(&self) -> &StoredRepo {
        &self.state.repo
    }

    fn dialect(&self) -> Dialect {
        self.caller.dialect
    }

    fn not_found(&self) -> HttpReply {
        HttpReply::not_found(self.dialect())
    }
}
