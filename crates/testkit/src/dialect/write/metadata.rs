//! Routes that write labels, assignees, statuses and reactions, and that open pulls.

use referee_core::model::{CheckState, IssueNumber, Login, PullNumber, PullState, Sha};
use referee_core::plan::CommentTarget;
use serde_json::Value;

use super::WriteHandler;
use crate::dialect::render::label_id;
use crate::dialect::reply::{HttpReply, RouteResult};
use crate::world::{EffectKind, NewPull};

/// The allowed reactions.
const REACTIONS: [&str; 8] = ["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"];

impl WriteHandler<'_> {
    /// Adds labels by name or by id. Unknown ones are ignored without an error.
    pub(super) fn add_labels(&mut self, number: PullNumber) -> RouteResult {
        let requested = self.request.body.get("labels").and_then(Value::as_array).cloned().unwrap_or_default();
        if requested.iter().any(Value::is_string) && requested.iter().any(Value::is_number) {
            return Err(HttpReply::error(400, "labels should be an array of strings or integers"));
        }
        self.check_may_label()?;
        let known = &self.repo().labels;
        let label_name = |label: &Value| match label {
            Value::String(name) => known.iter().find(|known| *known == name).cloned(),
            other => find_label_name(known, other.as_u64()?),
        };
        let names: Vec<String> = requested.iter().filter_map(label_name).collect();
        for name in names {
            let pull = self.repo().pull(number).map_err(|_| self.not_found())?;
            if pull.labels.iter().any(|label| label.name == name) {
                continue;
            }
            let by = self.login().clone();
            let labelled = self.state.change(|repo| repo.label(number, &by, &name));
            labelled.map_err(|_| self.not_found())?;
            self.record_effect(number, EffectKind::Labelled { name });
        }
        let pull = self.repo().pull(number).map_err(|_| self.not_found())?;
        Ok(HttpReply::json(200, &self.renderer().labels(&pull.labels)))
    }

    /// Removes a label by its id. A name is treated as an unknown id.
    pub(super) fn remove_label(&mut self, number: PullNumber, id: &str) -> RouteResult {
        self.check_may_label()?;
        let Some(name) = id.parse().ok().and_then(|id| find_label_name(&self.repo().labels, id)) else {
            return Err(match self.dialect() {
                crate::dialect::Dialect::Gitea127 => self.not_found(),
                _ => HttpReply::error(422, "label does not exist"),
            });
        };
        let pull = self.repo().pull(number).map_err(|_| self.not_found())?;
        if pull.labels.iter().any(|label| label.name == name) {
            let by = self.login().clone();
            let removed = self.state.change(|repo| repo.unlabel(number, &by, &name));
            removed.map_err(|_| self.not_found())?;
            self.record_effect(number, EffectKind::Unlabelled { name });
        }
        Ok(HttpReply::empty(204))
    }

    /// Replaces all assignees, unless the field is missing.
    pub(super) fn set_assignees(&mut self, number: &str) -> RouteResult {
        let serial: u64 = number.parse().map_err(|_| self.not_found())?;
        let issue = self.repo().issues.contains_key(&IssueNumber(serial)).then_some(IssueNumber(serial));
        let (target, pull) = (issue.map_or(CommentTarget::Pull, CommentTarget::Issue), PullNumber(serial));
        if issue.is_none() {
            self.find_pull(number)?;
        }
        if !self.may_write() || self.repo().quirks.no_labels {
            return Err(HttpReply::empty(403));
        }
        if let Some(logins) = self.request.body.get("assignees").and_then(Value::as_array) {
            let mut new: Vec<Login> = logins.iter().filter_map(Value::as_str).map(Login::from).collect();
            let replaced = self.state.change(|repo| {
                let assigned = repo.assignees_mut(pull, target)?;
                let old = std::mem::replace(assigned, new.clone());
                Ok::<_, referee_forge::ForgeError>(old)
            });
            let old = replaced.map_err(|_| self.not_found())?;
            for who in old.iter().filter(|who| !new.contains(who)) {
                self.record_effect(pull, EffectKind::Unassigned { who: who.clone(), issue });
            }
            new.retain(|who| !old.contains(who));
            for who in new {
                self.record_effect(pull, EffectKind::Assigned { who, issue });
            }
        }
        let renderer = self.renderer();
        let value = match issue {
            Some(issue) => self.repo().issues.get(&issue).map(|row| renderer.issue(issue, row)),
            None => self.repo().pull(pull).ok().map(|row| renderer.pull_as_issue(row)),
        };
        Ok(HttpReply::json(201, &value.unwrap_or_default()))
    }

    /// Sets a status. Any state is accepted; servers differ in how they interpret unknown ones.
    pub(super) fn set_status(&mut self, sha: &str) -> RouteResult {
        if !self.may_write() || self.repo().quirks.no_statuses {
            return Err(HttpReply::error(403, "user should have a permission to write to a repo"));
        }
        let commit = Sha::from(sha);
        if !self.repo().commits.contains_key(&commit) {
            return Err(HttpReply::server_error());
        }
        let state = match self.request.text("state") {
            "success" | "skipped" => CheckState::Pass,
            "failure" | "error" => CheckState::Fail,
            "warning" if !self.dialect().is_forgejo() => CheckState::Fail,
            "pending" => CheckState::Pending,
            _ if self.dialect().is_forgejo() => CheckState::Pass,
            _ => CheckState::Pending,
        };
        let context = match self.request.text("context") {
            "" => "default",
            context => context,
        };
        let text = self.request.text("description");
        self.state.change(|repo| repo.set_status(&commit, context, state, text));
        let (context, text) = (context.to_owned(), text.to_owned());
        let pull = self.repo().pulls.values().find(|pull| pull.head == commit).map(|pull| pull.number);
        let effect = EffectKind::StatusSet { commit, context, state, text };
        self.record_effect(pull.unwrap_or_default(), effect);
        let status = self.repo().statuses.last().map(|status| self.renderer().status(status));
        Ok(HttpReply::json(201, &status.unwrap_or_default()))
    }

    /// Adds a reaction: 201 for the first, 200 if it exists already. Claims depend on that difference.
    pub(super) fn add_reaction(&mut self, number: &str) -> RouteResult {
        let (number, content) = self.parse_reaction(number)?;
        let by = self.login().clone();
        let is_new = self.state.change(|repo| repo.add_reaction(number, &by, &content));
        if is_new {
            self.record_effect(PullNumber(number), EffectKind::Reacted { content: content.clone() });
        }
        let row =
            self.repo().reactions.iter().find(|row| row.number == number && row.by == by && row.content == content);
        let value = row.map(|row| self.renderer().reaction(&row.by, &row.content, row.at));
        Ok(HttpReply::json(if is_new { 201 } else { 200 }, &value.unwrap_or_default()))
    }

    pub(super) fn remove_reaction(&mut self, number: &str) -> RouteResult {
        let (number, content) = self.parse_reaction(number)?;
        let by = self.login().clone();
        if self.repo().reactions.iter().any(|row| row.number == number && row.by == by && row.content == content) {
            self.state.change(|repo| repo.remove_reaction(number, &by, &content));
            self.record_effect(PullNumber(number), EffectKind::Unreacted { content });
        }
        Ok(HttpReply::empty(if self.dialect().is_forgejo() { 200 } else { 204 }))
    }

    /// Opens a pull from an existing branch.
    pub(super) fn open_pull(&mut self) -> RouteResult {
        let (branch, title) = (self.request.text("head").to_owned(), self.request.text("title").to_owned());
        if !self.may_write() || self.repo().branch(&branch).is_none() {
            return Err(self.not_found());
        }
        let is_open =
            |pull: &&std::sync::Arc<crate::world::StoredPull>| pull.branch == branch && pull.state == PullState::Open;
        if let Some(pull) = self.repo().pulls.values().find(is_open) {
            let message = format!("pull request already exists for these targets [id: {}]", pull.number.0);
            return Err(HttpReply::error(409, &message));
        }
        let by = self.login().clone();
        let new_pull = NewPull { by: &by, branch: &branch, title: &title, from_fork: false };
        let opened = self.state.change(|repo| repo.open_pull(&new_pull));
        let number = opened.map_err(|_| self.not_found())?;
        self.record_effect(number, EffectKind::PullOpened { branch });
        let pull = self.repo().pull(number).map_err(|_| self.not_found())?;
        Ok(HttpReply::json(201, &self.renderer().pull(pull)))
    }

    fn parse_reaction(&self, number: &str) -> Result<(u64, String), HttpReply> {
        let serial: u64 = number.parse().map_err(|_| self.not_found())?;
        if !self.repo().issues.contains_key(&IssueNumber(serial)) {
            self.find_pull(number)?;
        }
        let content = self.request.text("content");
        if self.repo().quirks.no_claims || !REACTIONS.contains(&content) {
            return Err(HttpReply::error(403, &format!("'{content}' is not an allowed reaction")));
        }
        Ok((serial, content.to_owned()))
    }

    /// Forgejo answers with an HTML page although the route returns JSON.
    fn check_may_label(&self) -> Result<(), HttpReply> {
        if self.may_write() && !self.repo().quirks.no_labels {
            return Ok(());
        }
        Err(match self.dialect().is_forgejo() {
            true => HttpReply::html_page(403, "Forbidden"),
            false => HttpReply::error(403, "write permission is required"),
        })
    }
}

fn find_label_name(labels: &[String], id: u64) -> Option<String> {
    labels.iter().find(|name| label_id(labels, name).is_some_and(|label| label as u64 == id)).cloned()
}
