//! The JSON of the servers, as far as it is used.
//!
//! Any field may be missing or `null`, and unknown fields are ignored, so all versions parse alike.

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use referee_core::model::{Login, Time};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `GET /version`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Version {
    pub(super) version: String,
}

/// A user. A deleted user is called `Ghost`; the server's built-in bots have negative ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct User {
    pub(super) id: i64,
    pub(super) login: String,
}

/// `GET /pulls/{n}`, and a row of the list of pulls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Pull {
    pub(super) number: u64,
    pub(super) title: String,
    pub(super) user: Option<User>,
    pub(super) state: String,
    pub(super) draft: bool,
    pub(super) merged: bool,
    pub(super) mergeable: bool,
    pub(super) html_url: String,
    pub(super) head: End,
    pub(super) base: End,
    pub(super) labels: Vec<Label>,
    pub(super) assignees: Vec<User>,
    pub(super) allow_maintainer_edit: bool,
    /// Neither counter is the exact number of comments; a change of either shows that one was added or deleted.
    pub(super) comments: u64,
    pub(super) review_comments: u64,
    pub(super) created_at: String,
    pub(super) updated_at: String,
}

/// The head or base of a pull.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct End {
    #[serde(rename = "ref")]
    pub(super) branch: String,
    pub(super) sha: String,
    /// `None` once a fork is deleted.
    pub(super) repo: Option<Repo>,
}

/// A repository as embedded in a pull.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Repo {
    pub(super) id: u64,
    pub(super) full_name: String,
    pub(super) owner: Option<User>,
    pub(super) default_branch: String,
    pub(super) permissions: Option<Permissions>,
}

/// `GET /branches/{branch}`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Branch {
    pub(super) protected: bool,
    /// Whether the requesting user may push; `None` where the server does not say.
    pub(super) user_can_push: Option<bool>,
    pub(super) commit: Commit,
}

/// The newest commit of a branch.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Commit {
    pub(super) id: String,
}

/// The rights of the user; its token may have fewer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Permissions {
    pub(super) push: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Label {
    pub(super) id: u64,
    pub(super) name: String,
}

/// A row of the list of reviews. `body` is the text as first posted; the timeline has the current one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Review {
    pub(super) id: u64,
    pub(super) user: Option<User>,
    /// `APPROVED`, `REQUEST_CHANGES`, `COMMENT`, `PENDING`, `REQUEST_REVIEW`.
    pub(super) state: String,
    pub(super) body: String,
    pub(super) commit_id: String,
    pub(super) official: bool,
    pub(super) dismissed: bool,
    pub(super) comments_count: u64,
    pub(super) submitted_at: String,
    pub(super) updated_at: String,
    pub(super) html_url: String,
}

/// The body of a review that only publishes a draft's threads: the server requires a body, and this one is invisible.
pub(super) const DRAFT_WRAPPER_BODY: &str = "<!-- threads -->";

/// An inline comment. `position` is a line of the new side, or 0 where `original_position` is a line of the old side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Inline {
    pub(super) id: u64,
    pub(super) body: String,
    pub(super) user: Option<User>,
    pub(super) resolver: Option<User>,
    pub(super) pull_request_review_id: u64,
    pub(super) created_at: String,
    pub(super) updated_at: String,
    pub(super) path: String,
    pub(super) position: u64,
    pub(super) original_position: u64,
    pub(super) diff_hunk: String,
    pub(super) html_url: String,
}

/// A row of the timeline. Its id is the one under which its text is edited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Event {
    pub(super) id: u64,
    /// `comment`, `review`, `label`, `pull_push`, `reopen`, `review_request`, `dismiss_review` and many more.
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) user: Option<User>,
    pub(super) body: String,
    pub(super) created_at: String,
    pub(super) updated_at: String,
    pub(super) html_url: String,
    pub(super) review_id: u64,
    pub(super) label: Option<Label>,
    pub(super) assignee: Option<User>,
    pub(super) removed_assignee: bool,
}

/// The body of a `pull_push` row.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Pushed {
    /// The new commits, oldest first; for a force push the old and the new head.
    pub(super) commit_ids: Vec<String>,
}

/// A page of `GET /commits/{sha}/status`. The `state` in it covers this page only and is not used.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Statuses {
    pub(super) statuses: Vec<Status>,
}

/// A commit status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Status {
    pub(super) id: u64,
    pub(super) context: String,
    pub(super) status: String,
    pub(super) description: String,
}

/// An issue.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Issue {
    pub(super) number: u64,
    pub(super) title: String,
    pub(super) body: String,
    pub(super) labels: Vec<Label>,
    pub(super) assignees: Vec<User>,
    pub(super) comments: u64,
}

/// A plain comment of an issue.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Comment {
    pub(super) id: u64,
    pub(super) user: Option<User>,
    pub(super) body: String,
    pub(super) created_at: String,
    pub(super) updated_at: String,
    pub(super) html_url: String,
}

impl Event {
    /// Returns the comment that a row of type `comment` shows.
    pub(super) fn into_comment(self) -> Comment {
        let Self { id, user, body, created_at, updated_at, html_url, .. } = self;
        Comment { id, user, body, created_at, updated_at, html_url }
    }
}

impl User {
    /// Returns the login; `None` for a deleted user.
    pub(super) fn login(&self) -> Option<Login> {
        let nobody = self.login.is_empty() || self.login.eq_ignore_ascii_case("ghost");
        (!nobody).then(|| Login(self.login.clone()))
    }
}

pub(super) fn login(user: Option<&User>) -> Option<Login> {
    user.and_then(User::login)
}

/// Parses JSON in which any field may be `null`. Servers send `null` for an empty list.
pub(super) fn parse_json<T: DeserializeOwned>(body: &[u8]) -> Result<T, serde_json::Error> {
    let mut value = serde_json::from_slice(body)?;
    drop_nulls(&mut value);
    match value {
        Value::Null => serde_json::from_value(Value::Array(Vec::new())),
        value => serde_json::from_value(value),
    }
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.retain(|item| !item.is_null());
            items.iter_mut().for_each(drop_nulls);
        }
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Parses `2026-11-15T09:37:49Z`; anything else becomes the epoch.
pub(super) fn parse_time(text: &str) -> Time {
    text.parse().map(|at: Timestamp| Time(at.as_second())).unwrap_or_default()
}

/// Formats a time for a query parameter.
pub(super) fn format_time(at: Time) -> String {
    Timestamp::from_second(at.0).unwrap_or_default().to_string()
}

/// Parses a `Date` header: `Sun, 15 Nov 2026 09:37:49 GMT`.
pub(super) fn parse_http_date(header: &str) -> Option<Time> {
    rfc2822::parse(header).ok().map(|at| Time(at.timestamp().as_second()))
}
