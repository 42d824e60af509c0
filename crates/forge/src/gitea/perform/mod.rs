//! Performing one action idempotently: the current state is read first, and a half-done post is completed.
//!
//! Reads here use the identity that writes: only its author sees a draft.

mod discussion;
mod edit;
mod metadata;
mod own_posts;
mod post;
mod send;
#[cfg(test)]
mod tests;
mod thread;

use std::collections::BTreeMap;
use std::sync::Arc;

use referee_core::mark::SealedText;
use referee_core::model::{Login, PullNumber, Sha, Span};
use referee_core::plan::{Action, CommentTarget, Delivery, Precondition};
use referee_http::{Route, RouteRequest};

use super::account::GiteaAccount;
use super::hook::parse_webhook;
use super::wire::{self, User};
use super::{GiteaForge, routes};
use crate::{
    ActionRequest, ClaimOutcome, ClaimPurpose, CreatedIds, Forge, ForgeError, Identity, PerformOutcome, Permit,
    PlanBasis, WebhookError, WebhookEvent,
};

#[async_trait::async_trait]
impl Forge for GiteaForge {
    async fn perform(&self, pull: PullNumber, request: &ActionRequest<'_>) -> Result<PerformOutcome, ForgeError> {
        self.check_text_length(request.action)?;
        let writer = GiteaWriter { forge: self, account: self.find_account(request.by)?, pull, basis: request.basis };
        self.keep_claim_during(pull, writer.perform_action(request.action, request.expect)).await
    }

    async fn acquire_claim(
        &self,
        pull: PullNumber,
        purpose: ClaimPurpose,
        ttl: Span,
    ) -> Result<ClaimOutcome, ForgeError> {
        self.acquire_reaction_claim(pull, purpose, ttl).await
    }

    async fn release_claim(&self, pull: PullNumber, purpose: ClaimPurpose, epoch: u64) -> Result<(), ForgeError> {
        self.release_reaction_claim(pull, purpose, epoch).await
    }

    async fn open_pull(&self, delivery: &Delivery, by: &Login, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.open_delivered_pull(delivery, by, permit).await
    }

    async fn with_identities(&self, identities: Vec<Identity>) -> Result<(Arc<dyn Forge>, Vec<Login>), ForgeError> {
        let (forge, logins) = self.add_identities(identities).await?;
        Ok((Arc::new(forge), logins))
    }

    fn decode_webhook(
        &self,
        headers: &BTreeMap<String, String>,
        body: &[u8],
        secret: &[u8],
    ) -> Result<Option<WebhookEvent>, WebhookError> {
        parse_webhook(headers, body, secret)
    }
}

impl GiteaForge {
    /// Checks that no text is longer than the server stores.
    fn check_text_length(&self, action: &Action<SealedText>) -> Result<(), ForgeError> {
        let mut longest = 0;
        action.map_text(|text| longest = longest.max(text.as_str().len()));
        match longest > self.server.capabilities.max_text {
            true => Err(ForgeError::Refused("the text is too long".to_owned())),
            false => Ok(()),
        }
    }

    /// Builds a request to a route of this repository.
    pub(super) fn repo_request<'r, const N: usize>(
        &self,
        route: &'r Route,
        places: [&dyn ToString; N],
    ) -> RouteRequest<'r> {
        RouteRequest::new(route, self.route_params(places))
    }
}

/// An identity writing on a pull.
struct GiteaWriter<'a> {
    forge: &'a GiteaForge,
    account: &'a GiteaAccount,
    pull: PullNumber,
    basis: PlanBasis<'a>,
}

impl GiteaWriter<'_> {
    async fn perform_action(
        &self,
        action: &Action<SealedText>,
        expect: &Precondition,
    ) -> Result<PerformOutcome, ForgeError> {
        match action {
            Action::PostReview { role: _, verdict, commit, text, threads } => {
                self.check_head(commit, expect).await?;
                self.post_review(*verdict, commit, text.as_str(), threads).await
            }
            Action::OpenThreads { role: _, commit, threads } => {
                self.check_head(commit, expect).await?;
                self.open_threads(commit, threads).await
            }
            Action::EditReview { review, edit, text } | Action::Supersede { review, edit, text, .. } => {
                self.edit_review(review, edit, text.as_str(), expect).await
            }
            Action::Reply { thread, text } => self.reply(thread, text.as_str()).await,
            Action::Resolve { thread, mark } => {
                let mark = mark.as_ref().map(|(note, text)| (note, text.as_str()));
                self.resolve_thread(thread, mark).await
            }
            Action::EnsureComment { existing, target, text } => {
                self.ensure_comment(existing.as_ref(), *target, text.as_str()).await
            }
            Action::SetLabel { name, on: true } => self.add_label(name).await,
            Action::SetLabel { name, on: false } => self.remove_label(name).await,
            Action::Assign { target, who } => self.set_assignee(*target, who.as_ref()).await,
            Action::SetStatus { commit, context, state, text } => {
                self.set_status(commit, context, *state, text.as_str()).await
            }
        }
    }

    /// Checks that the head is still that commit, where the request expects it and nobody checked it right before.
    async fn check_head(&self, commit: &Sha, expect: &Precondition) -> Result<(), ForgeError> {
        if *expect != Precondition::Head || self.basis.head_is_checked {
            return Ok(());
        }
        let call = self.forge.repo_request(&routes::PULL, [&self.pull.0]);
        let pull: wire::Pull = self.account.send_and_parse(&call, &self.pull.to_string()).await?;
        if pull.head.sha == commit.as_str() { Ok(()) } else { Err(ForgeError::Conflict("the head".to_owned())) }
    }

    /// Names a thing of this pull for error messages: `the reviews of #7`.
    fn describe(&self, thing: &str) -> String {
        format!("{thing} of {}", self.pull)
    }

    fn is_own_account(&self, user: Option<&User>) -> bool {
        has_login(user, &self.account.login)
    }

    /// Checks that this identity wrote a text (PUB-9): the server lets everybody with write access edit it.
    fn check_author(&self, user: Option<&User>) -> Result<(), ForgeError> {
        if self.is_own_account(user) {
            Ok(())
        } else {
            Err(ForgeError::Forbidden("edit what somebody else wrote".to_owned()))
        }
    }

    fn target_number(&self, target: CommentTarget) -> u64 {
        match target {
            CommentTarget::Pull => self.pull.0,
            CommentTarget::Issue(issue) => issue.0,
        }
    }
}

/// Parses an id; anything but a number names nothing on this server.
fn parse_id(name: &str) -> Result<u64, ForgeError> {
    name.parse().map_err(|_| ForgeError::NotFound(name.to_owned()))
}

/// Turns a missing right into an outcome: the run continues.
fn map_forbidden<T>(
    result: Result<T, ForgeError>,
    done: impl FnOnce(T) -> PerformOutcome,
) -> Result<PerformOutcome, ForgeError> {
    match result {
        Err(ForgeError::Forbidden(_)) => Ok(PerformOutcome::NotPermitted),
        other => other.map(done),
    }
}

fn done_without_ids() -> PerformOutcome {
    PerformOutcome::Done(CreatedIds::default())
}

fn has_login(user: Option<&User>, login: &Login) -> bool {
    wire::login(user).is_some_and(|name| name == *login)
}
