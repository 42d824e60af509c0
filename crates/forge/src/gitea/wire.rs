//! What the servers say, in their own words, as far as referee listens.
//!
//! Every member may be missing or `null`, and there may be more than are here: servers of all versions are read alike.

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

/// Somebody. A deleted one is called `Ghost`, the server's own programs have negative ids.
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
    /// Neither is a number of comments; both tell that there are more or fewer of something.
    pub(super) comments: u64,
    pub(super) review_comments: u64,
    pub(super) created_at: String,
    pub(super) updated_at: String,
}

/// One end of a pull.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct End {
    #[serde(rename = "ref")]
    pub(super) branch: String,
    pub(super) sha: String,
    /// None once a fork is gone.
    pub(super) repo: Option<Repo>,
}

/// A repository, as it stands in a pull.
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
    /// Whoever asks may; nothing where the server does not say.
    pub(super) user_can_push: Option<bool>,
    pub(super) commit: Commit,
}

/// The last commit of a branch.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Commit {
    pub(super) id: String,
}

/// What the user may do, whatever its token may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Permissions {
    pub(super) push: bool,
}

/// A label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Label {
    pub(super) id: u64,
    pub(super) name: String,
}

/// A row of the list of reviews. Its `body` is the first one: the timeline has the current one.
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

/// What stands in a review that only brings a draft's threads out: the server wants words, and nobody needs to see any.
pub(super) const DRAFT_WRAPPER_BODY: &str = "<!-- threads -->";

/// An inline comment. The positions are line numbers: of the new side, or else of the old one.
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

/// A row of the timeline. Its id is what an edit of that text addresses.
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
    /// The new commits, oldest first; of a forced push the old and the new head.
    pub(super) commit_ids: Vec<String>,
}

/// A page of `GET /commits/{sha}/status`. Its `state` is of this page alone.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Statuses {
    pub(super) statuses: Vec<Status>,
}

/// A word of a context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Status {
    pub(super) id: u64,
    pub(super) context: String,
    pub(super) status: String,
    pub(super) description: String,
}

/// An issue or a plain comment's place.
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

impl User {
    /// The name; a deleted user has none.
    pub(super) fn login(&self) -> Option<Login> {
        let nobody = self.login.is_empty() || self.login.eq_ignore_ascii_case("ghost");
        (!nobody).then(|| Login(self.login.clone()))
    }
}

/// The name of somebody who may be missing.
pub(super) fn login(user: Option<&User>) -> Option<Login> {
    user.and_then(User::login)
}

/// Reads JSON in which any member may be `null`. An empty list is `null` too.
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

/// `2026-11-15T09:37:49Z`; what is no time is the beginning of all.
pub(super) fn parse_time(text: &str) -> Time {
    text.parse().map(|at: Timestamp| Time(at.as_second())).unwrap_or_default()
}

/// A moment as queries take it.
pub(super) fn format_time(at: Time) -> String {
    Timestamp::from_second(at.0).unwrap_or_default().to_string()
}

/// The `Date` header: `Sun, 15 Nov 2026 09:37:49 GMT`.
pub(super) fn parse_http_date(header: &str) -> Option<Time> {
    rfc2822::parse(header).ok().map(|at| Time(at.timestamp().as_second()))
}
