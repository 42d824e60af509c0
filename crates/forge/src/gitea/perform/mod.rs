//! One action, once: what is there is read first, and what the server left half done is completed.
//!
//! Everything is read through the hand that writes: a draft shows to its author alone.

mod desk;
mod edit;
mod own;
mod post;
mod send;
mod talk;
#[cfg(test)]
mod tests;
mod thread;

use referee_core::mark::Sealed;
use referee_core::model::{Login, PullNumber, Sha, Span};
use referee_core::plan::{Action, Delivery, Expect, Target};
use referee_http::{Call, Route};

use super::hand::Hand;
use super::wire::{self, User};
use super::{GiteaForge, routes};
use crate::{Claimed, Errand, Forge, ForgeError, Made, Performed, Permit, Purpose};

#[async_trait::async_trait]
impl Forge for GiteaForge {
    async fn perform(&self, pull: PullNumber, errand: &Errand<'_>) -> Result<Performed, ForgeError> {
        self.takes(errand.action)?;
        self.forget(pull);
        Pen { forge: self, hand: self.hand(errand.by)?, pull }.act(errand.action, errand.expect).await
    }

    async fn claim(&self, pull: PullNumber, purpose: Purpose, ttl: Span) -> Result<Claimed, ForgeError> {
        self.take_claim(pull, purpose, ttl).await
    }

    async fn release(&self, pull: PullNumber, purpose: Purpose, epoch: u64) -> Result<(), ForgeError> {
        self.give_back(pull, purpose, epoch).await
    }

    async fn open_pull(&self, delivery: &Delivery, permit: &Permit) -> Result<PullNumber, ForgeError> {
        self.deliver(delivery, permit).await
    }
}

impl GiteaForge {
    /// No text is longer than this server takes.
    fn takes(&self, action: &Action<Sealed>) -> Result<(), ForgeError> {
        let mut longest = 0;
        action.map(|text| longest = longest.max(text.as_str().len()));
        match longest > self.server.capabilities.max_text {
            true => Err(ForgeError::Refused("the text is too long".to_owned())),
            false => Ok(()),
        }
    }

    /// A request for something of this repository.
    pub(super) fn call<'r, const N: usize>(&self, route: &'r Route, places: [&dyn ToString; N]) -> Call<'r> {
        Call::new(route, self.places(places))
    }
}

/// Somebody who writes on a pull.
struct Pen<'a> {
    forge: &'a GiteaForge,
    hand: &'a Hand,
    pull: PullNumber,
}

impl Pen<'_> {
    async fn act(&self, action: &Action<Sealed>, expect: &Expect) -> Result<Performed, ForgeError> {
        match action {
            Action::PostReview { role: _, verdict, commit, text, threads } => {
                self.stands(commit, expect).await?;
                self.post_review(*verdict, commit, text.as_str(), threads).await
            }
            Action::OpenThreads { role: _, commit, threads } => {
                self.stands(commit, expect).await?;
                self.open_threads(commit, threads).await
            }
            Action::EditReview { review, edit, text } | Action::Supersede { review, edit, text } => {
                self.edit_review(review, edit, text.as_str(), expect).await
            }
            Action::Reply { thread, text } => self.reply(thread, text.as_str()).await,
            Action::Resolve { thread, mark } => {
                let mark = mark.as_ref().map(|(note, text)| (note, text.as_str()));
                self.resolve(thread, mark).await
            }
            Action::EnsureComment { existing, target, text } => {
                self.ensure_comment(existing.as_ref(), *target, text.as_str()).await
            }
            Action::SetLabel { name, on: true } => self.put_on(name).await,
            Action::SetLabel { name, on: false } => self.take_off(name).await,
            Action::Assign { target, who } => self.assign(*target, who.as_ref()).await,
            Action::SetStatus { commit, context, state, text } => {
                self.set_status(commit, context, *state, text.as_str()).await
            }
        }
    }

    /// The head is still the commit that is spoken of, where that is expected.
    async fn stands(&self, commit: &Sha, expect: &Expect) -> Result<(), ForgeError> {
        if *expect != Expect::Head {
            return Ok(());
        }
        let call = self.forge.call(&routes::PULL, [&self.pull.0]);
        let pull: wire::Pull = self.hand.read(&call, &self.pull.to_string()).await?;
        if pull.head.sha == commit.as_str() { Ok(()) } else { Err(ForgeError::Moved("the head".to_owned())) }
    }

    /// What people call a thing of this pull: `the reviews of #7`.
    fn what(&self, thing: &str) -> String {
        format!("{thing} of {}", self.pull)
    }

    fn is_me(&self, user: Option<&User>) -> bool {
        is(user, &self.hand.login)
    }

    /// Words are changed by who wrote them, and by nobody else (PUB-9): the server would let anybody with write access.
    fn wrote(&self, user: Option<&User>) -> Result<(), ForgeError> {
        if self.is_me(user) { Ok(()) } else { Err(ForgeError::Forbidden("edit what somebody else wrote".to_owned())) }
    }

    fn number_of(&self, target: Target) -> u64 {
        match target {
            Target::Pull => self.pull.0,
            Target::Issue(issue) => issue.0,
        }
    }
}

/// The id that a decimal name stands for; a name that is none is of nothing that is here.
fn id(name: &str) -> Result<u64, ForgeError> {
    name.parse().map_err(|_| ForgeError::NotFound(name.to_owned()))
}

/// What a token may not do is told, and the run goes on.
fn permitted<T>(result: Result<T, ForgeError>, done: impl FnOnce(T) -> Performed) -> Result<Performed, ForgeError> {
    match result {
        Err(ForgeError::Forbidden(_)) => Ok(Performed::NotPermitted),
        other => other.map(done),
    }
}

fn done() -> Performed {
    Performed::Done(Made::default())
}

/// Whether that is the same name; nobody is called nothing.
fn is(user: Option<&User>, login: &Login) -> bool {
    wire::login(user).is_some_and(|name| name == *login)
}
