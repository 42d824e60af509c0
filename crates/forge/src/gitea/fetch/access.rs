//! Write access of the people on a pull (D10).

use std::collections::BTreeSet;

use referee_core::model::{Access, Author, Login, Span, Time};
use referee_http::RouteRequest;
use tokio::sync::OnceCell;

use super::pull_rows::PullRows;
use crate::ForgeError;
use crate::gitea::account::GiteaAccount;
use crate::gitea::wire::{User, login};
use crate::gitea::{GiteaForge, routes};

/// The id of the server's Actions bot.
const ACTIONS_USER_ID: i64 = -2;

/// Who has write access, as far as the rows of a pull show it.
pub(super) struct WriteAccess {
    writers: BTreeSet<Login>,
    /// Whether nobody else has write access.
    is_complete: bool,
}

/// How long the assignable users of an earlier read of the same pull are used. They are the repository's, and rarely change.
const ASSIGNEES_MAX_AGE: Span = Span::from_minutes(1);

/// The repository's assignable users, read once for all pulls of a survey.
pub(super) type AssignableUsers = OnceCell<Vec<User>>;

impl WriteAccess {
    /// | who | has write access |
    /// |---|---|
    /// | the owner, if that is a user | yes |
    /// | the reader | as the permissions in the pull say |
    /// | the author of a verdict that the server counts or counted | yes |
    /// | an assignable user, where a user owns the repository | yes, and nobody else |
    /// | an assignable user, where an organisation owns the repository | unknown: people who may only read are assignable too |
    pub(super) fn from_rows(raw: &PullRows, reader: &Login) -> Self {
        let mut writers = collect_known_writers(raw, reader);
        let assignees: BTreeSet<Login> = raw.assignees.iter().flatten().filter_map(User::login).collect();
        let all = repo_owner(raw).is_some_and(|owner| assignees.contains(&owner));
        if all {
            writers.extend(assignees);
        }
        Self { writers, is_complete: all }
    }

    pub(super) fn can_write(&self, login: &Login) -> bool {
        self.writers.contains(login)
    }

    /// Returns a user as an author with access.
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

/// Returns whether everybody who wrote on the pull is known to have write access, so that assignees need not be read.
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

impl PullRows {
    /// Returns the assignable users, if they were read a short time before `now`.
    pub(super) fn recent_assignees(&self, now: Time) -> Option<Vec<User>> {
        self.assignees.clone().filter(|_| now - self.whole_at < ASSIGNEES_MAX_AGE)
    }
}

impl GiteaForge {
    /// Reads the assignable users; none where the token may not.
    pub(super) async fn read_assignable_users(&self, account: &GiteaAccount) -> Result<Vec<User>, ForgeError> {
        let call = RouteRequest::new(&routes::ASSIGNABLE, self.route_params([]));
        match account.send_and_parse(&call, "who can be assigned").await {
            Err(ForgeError::Forbidden(_) | ForgeError::NotFound(_) | ForgeError::Unsupported(_)) => Ok(Vec::new()),
            read => read,
        }
    }
}
