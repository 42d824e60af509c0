//! Labels, assignees, statuses.

use referee_core::model::{CheckState, Login, Sha};
use referee_core::plan::Target;
use serde_json::json;

use super::own::{hidden, whole};
use super::{Pen, done, is, permitted};
use crate::gitea::routes;
use crate::gitea::wire::{Event, Issue, Label, Status, User};
use crate::{ForgeError, Performed};

impl Pen<'_> {
    pub(super) async fn put_on(&self, name: &str) -> Result<Performed, ForgeError> {
        if self.label(name).await?.is_some() {
            return Ok(Performed::AlreadySo);
        }
        let call = self.forge.call(&routes::ADD_LABELS, [&self.pull.0]).sending(json!({ "labels": [name] }));
        let labels: Result<Vec<Label>, ForgeError> = self.hand.read(&call, &self.what("the labels")).await;
        // A name that the repository does not have is passed over without a word.
        match labels {
            Ok(labels) if !labels.iter().any(|label| label.name == name) => {
                Err(ForgeError::Refused(format!("there is no label `{name}`")))
            }
            labels => permitted(labels, |_| done()),
        }
    }

    pub(super) async fn take_off(&self, name: &str) -> Result<Performed, ForgeError> {
        let Some(label) = self.label(name).await? else { return Ok(Performed::AlreadySo) };
        if !self.put_by_me(name).await? {
            return Err(ForgeError::Forbidden("take somebody else's label off".to_owned()));
        }
        // delete: own label
        let call = self.forge.call(&routes::DROP_LABEL, [&self.pull.0, &label.id]);
        permitted(self.hand.ask(&call, &self.what("the labels")).await, |_| done())
    }

    /// Assigns one more, or takes the own assignment back. The server replaces the whole list.
    pub(super) async fn assign(&self, target: Target, who: Option<&Login>) -> Result<Performed, ForgeError> {
        let number = self.number_of(target);
        let what = format!("the assignees of #{number}");
        let login = who.unwrap_or(&self.hand.login);
        let issue: Issue = self.hand.read(&self.forge.call(&routes::ISSUE, [&number]), &what).await?;
        let has = |issue: &Issue| issue.assignees.iter().any(|user| is(Some(user), login));
        if has(&issue) == who.is_some() {
            return Ok(Performed::AlreadySo);
        }
        let others = issue.assignees.iter().filter(|user| !is(Some(user), login)).map(|user| user.login.as_str());
        let assignees: Vec<&str> = others.chain(who.map(Login::as_str)).collect();
        let call = self.forge.call(&routes::SET_ASSIGNEES, [&number]).sending(json!({ "assignees": assignees }));
        match self.hand.read::<Issue>(&call, &what).await {
            Ok(issue) if has(&issue) != who.is_some() => {
                Err(ForgeError::Refused(format!("`{login}` cannot be assigned to #{number}")))
            }
            // Somebody whom the server does not know is a 500 to it.
            Err(ForgeError::Unknown) if !self.may_be_assigned(login).await? => {
                Err(ForgeError::Refused(format!("`{login}` cannot be assigned to #{number}")))
            }
            set => permitted(set, |_| done()),
        }
    }

    pub(super) async fn set_status(
        &self,
        commit: &Sha,
        context: &str,
        state: CheckState,
        text: &str,
    ) -> Result<Performed, ForgeError> {
        let said = |statuses: &[Status]| {
            let same = |status: &Status| status.status == word(state) && status.description == text;
            statuses.iter().find(|status| status.context == context).is_some_and(same)
        };
        if said(&self.statuses(commit).await?) {
            return Ok(Performed::AlreadySo);
        }
        let body = json!({ "context": context, "state": word(state), "description": text });
        let call = self.forge.call(&routes::SET_STATUS, [commit]).sending(body);
        match self.hand.ask(&call, &self.what("a status")).await {
            Err(ForgeError::Unknown) if said(&self.statuses(commit).await?) => Ok(done()),
            written => permitted(written, |_| done()),
        }
    }

    async fn may_be_assigned(&self, login: &Login) -> Result<bool, ForgeError> {
        let users: Vec<User> = self.hand.read(&self.forge.call(&routes::ASSIGNABLE, []), "who may be assigned").await?;
        Ok(users.iter().any(|user| is(Some(user), login)))
    }

    /// The label of that name on the pull: names differ in case.
    async fn label(&self, name: &str) -> Result<Option<Label>, ForgeError> {
        let call = self.forge.call(&routes::ISSUE_LABELS, [&self.pull.0]);
        let labels: Vec<Label> = self.hand.read(&call, &self.what("the labels")).await?;
        Ok(labels.into_iter().find(|label| label.name == name))
    }

    /// Whether the label on the pull was put there by this identity, by the timeline.
    async fn put_by_me(&self, name: &str) -> Result<bool, ForgeError> {
        let hidden = hidden(&self.reviews().await?);
        let events = self.forge.timeline(self.hand, self.pull, None, hidden, |_| false).await?;
        let put = |event: &&Event| {
            event.kind == "label" && event.body == "1" && event.label.as_ref().is_some_and(|it| it.name == name)
        };
        Ok(whole(events)?.iter().rev().find(put).is_some_and(|event| self.is_me(event.user.as_ref())))
    }

    /// The latest status of each context.
    async fn statuses(&self, commit: &Sha) -> Result<Vec<Status>, ForgeError> {
        whole(self.forge.statuses(self.hand, commit.as_str()).await?)
    }
}

/// The server's word for a state. Nothing is not one of them: what is not known yet is pending.
fn word(state: CheckState) -> &'static str {
    match state {
        CheckState::Pass => "success",
        CheckState::Fail => "failure",
        CheckState::Pending | CheckState::None => "pending",
    }
}
