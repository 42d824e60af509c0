//! Who is who, and what they may do (D10).

use std::collections::BTreeSet;

use referee_core::model::{Access, Author, Login};
use referee_http::RouteRequest;
use tokio::sync::OnceCell;

use super::pull_rows::PullRows;
use crate::ForgeError;
use crate::gitea::account::GiteaAccount;
use crate::gitea::wire::{User, login};
use crate::gitea::{GiteaForge, routes};

/// The program that runs the server's own jobs.
const ACTIONS_USER_ID: i64 = -2;

/// Who may write, as far as the rows of a pull tell.
pub(super) struct WriteAccess {
    writers: BTreeSet<Login>,
    /// Nobody else may write.
    is_complete: bool,
}

/// Who can be assigned in a repository, asked once for as many pulls as share it.
pub(super) type AssignableUsers = OnceCell<Option<Vec<User>>>;

impl WriteAccess {
    /// | who | may write |
    /// |---|---|
    /// | the owner, if that is a user: an organisation writes nothing | yes |
    /// | the reader, by the rights that the pull names | as they say |
    /// | whose verdict the server counts or counted | yes |
    /// | who can be assigned where a user owns the repository | yes, and nobody else |
    /// | who can be assigned where an organisation owns it | not known: those who may only read pulls are among them |
    pub(super) fn from_rows(raw: &PullRows, reader: &Login) -> Self {
        let mut writers = collect_known_writers(raw, reader);
        let assignees: BTreeSet<Login> = raw.assignees.iter().flatten().filter_map(User::login).collect();
        let all = repo_owner(raw).is_some_and(|owner| assignees.contains(&owner));
        if all {
            writers.extend(assignees);
        }
        Self { writers, is_complete: all }
    }

    /// Whether somebody is known to have write access.
    pub(super) fn can_write(&self, login: &Login) -> bool {
        self.writers.contains(login)
    }

    /// Somebody, with their rights.
    pub(super) fn to_author(&self, user: Option<&User>) -> Author {
        let Some(login) = login(user) else { return Author::default() };
        let access = match () {
            () if self.writers.contains(&login) => Access::Write,
            () if self.is_complete => Access::Read,
            () => Access::Unknown,
        };
        Author { login: Some(login), bot: user.is_some_and(|user| user.id == ACTIONS_USER_ID), access }
    }
}

/// Whether everybody who said anything is known to be able to write, so that nobody need be asked.
pub(super) fn are_all_writers_known(raw: &PullRows, reader: &Login) -> bool {
    let writers = collect_known_writers(raw, reader);
    let spoke =
        raw.events.iter().filter(|event| matches!(event.kind.as_str(), "comment" | "review" | "dismiss_review"));
    let users = [&raw.pull.user].into_iter().chain(spoke.map(|event| &event.user));
    let users = users.chain(raw.reviews.iter().map(|review| &review.user));
    let mut users = users.chain(raw.inline.iter().flat_map(|note| [&note.user, &note.resolver]));
    users.all(|user| login(user.as_ref()).is_none_or(|login| writers.contains(&login)))
}

fn collect_known_writers(raw: &PullRows, reader: &Login) -> BTreeSet<Login> {
    let verdicts = raw.reviews.iter().filter(|review| review.official && review.is_submitted());
    let mut writers: BTreeSet<Login> = verdicts.filter_map(|review| login(review.user.as_ref())).collect();
    writers.extend(repo_owner(raw));
    let rights = raw.pull.base.repo.as_ref().and_then(|repo| repo.permissions);
    if rights.is_some_and(|rights| rights.push) {
        writers.insert(reader.clone());
    }
    writers
}

fn repo_owner(raw: &PullRows) -> Option<Login> {
    login(raw.pull.base.repo.as_ref()?.owner.as_ref())
}

impl GiteaForge {
    /// Who can be assigned; `None` where this token may not ask.
    pub(super) async fn read_assignable_users(&self, hand: &GiteaAccount) -> Result<Option<Vec<User>>, ForgeError> {
        let call = RouteRequest::new(&routes::ASSIGNABLE, self.route_params([]));
        match hand.send_and_parse(&call, "who can be assigned").await {
            Ok(users) => Ok(Some(users)),
            Err(ForgeError::Forbidden(_) | ForgeError::NotFound(_) | ForgeError::Unsupported(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
