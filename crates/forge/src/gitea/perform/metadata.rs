//! Labels, assignees, statuses.

use referee_core::model::{CheckState, Login, Sha};
use referee_core::plan::CommentTarget;
use serde_json::json;

use super::own_posts::{count_inline_comments, require_complete};
use super::{GiteaWriter, done_without_ids, has_login, map_forbidden};
use crate::gitea::routes;
use crate::gitea::wire::{Event, Issue, Label, Status, User};
use crate::{ForgeError, PerformOutcome};

impl GiteaWriter<'_> {
    pub(super) async fn add_label(&self, name: &str) -> Result<PerformOutcome, ForgeError> {
        if self.find_label(name).await?.is_some() {
            return Ok(PerformOutcome::AlreadySo);
        }
        let call = self.forge.repo_request(&routes::ADD_LABELS, [&self.pull.0]).with_body(json!({ "labels": [name] }));
        let labels: Result<Vec<Label>, ForgeError> =
            self.account.send_and_parse(&call, &self.describe("the labels")).await;
        // The server silently ignores a label that the repository does not have.
        match labels {
            Ok(labels) if !labels.iter().any(|label| label.name == name) => {
                Err(ForgeError::Refused(format!("there is no label `{name}`")))
            }
            labels => map_forbidden(labels, |_| done_without_ids()),
        }
    }

    pub(super) async fn remove_label(&self, name: &str) -> Result<PerformOutcome, ForgeError> {
        let Some(label) = self.find_label(name).await? else { return Ok(PerformOutcome::AlreadySo) };
        if !self.is_own_label(name).await? {
            return Err(ForgeError::Forbidden("take somebody else's label off".to_owned()));
        }
        // delete: own label
        let call = self.forge.repo_request(&routes::DROP_LABEL, [&self.pull.0, &label.id]);
        map_forbidden(self.account.send(&call, &self.describe("the labels")).await, |_| done_without_ids())
    }

    /// Assigns one more person, or removes the assignment of this identity. The server replaces the whole list.
    pub(super) async fn set_assignee(
        &self,
        target: CommentTarget,
        who: Option<&Login>,
    ) -> Result<PerformOutcome, ForgeError> {
        let number = self.target_number(target);
        let what = format!("the assignees of #{number}");
        let login = who.unwrap_or(&self.account.login);
        let issue: Issue =
            self.account.send_and_parse(&self.forge.repo_request(&routes::ISSUE, [&number]), &what).await?;
        let has = |issue: &Issue| issue.assignees.iter().any(|user| has_login(Some(user), login));
        if has(&issue) == who.is_some() {
            return Ok(PerformOutcome::AlreadySo);
        }
        let others =
            issue.assignees.iter().filter(|user| !has_login(Some(user), login)).map(|user| user.login.as_str());
        let assignees: Vec<&str> = others.chain(who.map(Login::as_str)).collect();
        let call =
            self.forge.repo_request(&routes::SET_ASSIGNEES, [&number]).with_body(json!({ "assignees": assignees }));
        match self.account.send_and_parse::<Issue>(&call, &what).await {
            Ok(issue) if has(&issue) != who.is_some() => {
                Err(ForgeError::Refused(format!("`{login}` cannot be assigned to #{number}")))
            }
            // The server answers 500 for an unknown user.
            Err(ForgeError::OutcomeUnknown) if !self.is_assignable(login).await? => {
                Err(ForgeError::Refused(format!("`{login}` cannot be assigned to #{number}")))
            }
            set => map_forbidden(set, |_| done_without_ids()),
        }
    }

    pub(super) async fn set_status(
        &self,
        commit: &Sha,
        context: &str,
        state: CheckState,
        text: &str,
    ) -> Result<PerformOutcome, ForgeError> {
        let said = |statuses: &[Status]| {
            let same = |status: &Status| status.status == status_word(state) && status.description == text;
            statuses.iter().find(|status| status.context == context).is_some_and(same)
        };
        let is_current = self.basis.is_current_for(&self.account.login);
        if !is_current && said(&self.read_statuses(commit).await?) {
            return Ok(PerformOutcome::AlreadySo);
        }
        let body = json!({ "context": context, "state": status_word(state), "description": text });
        let call = self.forge.repo_request(&routes::SET_STATUS, [commit]).with_body(body);
        match self.account.send(&call, &self.describe("a status")).await {
            Err(ForgeError::OutcomeUnknown) if said(&self.read_statuses(commit).await?) => Ok(done_without_ids()),
            written => map_forbidden(written, |_| done_without_ids()),
        }
    }

    async fn is_assignable(&self, login: &Login) -> Result<bool, ForgeError> {
        let users: Vec<User> = self
            .account
            .send_and_parse(&self.forge.repo_request(&routes::ASSIGNABLE, []), "who may be assigned")
            .await?;
        Ok(users.iter().any(|user| has_login(Some(user), login)))
    }

    /// Finds the pull's label of that name; names are case-sensitive.
    async fn find_label(&self, name: &str) -> Result<Option<Label>, ForgeError> {
        let call = self.forge.repo_request(&routes::ISSUE_LABELS, [&self.pull.0]);
        let labels: Vec<Label> = self.account.send_and_parse(&call, &self.describe("the labels")).await?;
        Ok(labels.into_iter().find(|label| label.name == name))
    }

    /// Returns whether this identity added the label, according to the timeline.
    async fn is_own_label(&self, name: &str) -> Result<bool, ForgeError> {
        let hidden = count_inline_comments(&self.read_reviews().await?);
        let events = self.forge.read_timeline(self.account, self.pull, None, hidden, |_| false).await?;
        let put = |event: &&Event| {
            event.kind == "label" && event.body == "1" && event.label.as_ref().is_some_and(|it| it.name == name)
        };
        Ok(require_complete(events)?
            .iter()
            .rev()
            .find(put)
            .is_some_and(|event| self.is_own_account(event.user.as_ref())))
    }

    async fn read_statuses(&self, commit: &Sha) -> Result<Vec<Status>, ForgeError> {
        require_complete(self.forge.read_statuses(self.account, commit.as_str()).await?)
    }
}

/// Returns the server's word for a state. It has none for `None`, which is written as pending.
fn status_word(state: CheckState) -> &'static str {
    match state {
        CheckState::Pass => "success",
        CheckState::Fail => "failure",
        CheckState::Pending | CheckState::None => "pending",
    }
}
