//! JSON of responses. Fields that the adapter does not read are included, because recorded responses have them.

mod comment;
mod pull;
mod repo;
mod review;
mod status;
mod timeline;
mod user;

pub(super) use comment::{CommentFields, plain_comment_fields};
use referee_core::model::Time;
pub(super) use repo::label_id;

use super::Dialect;
use super::server::Caller;
use super::timestamp::format_timestamp;
use crate::world::StoredRepo;

/// A renderer of JSON for one caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonRenderer<'a> {
    pub(super) caller: &'a Caller<'a>,
    pub(super) repo: &'a StoredRepo,
}

impl JsonRenderer<'_> {
    fn dialect(&self) -> Dialect {
        self.caller.dialect
    }

    /// Returns the URL of a page of the server.
    fn page_url(&self, path: &str) -> String {
        format!("{}/{path}", self.caller.base_url)
    }

    /// Returns the URL of a page of the repository.
    fn repo_page_url(&self, path: &str) -> String {
        format!("{}/{}/{path}", self.caller.base_url, self.repo.name)
    }

    /// Returns the URL of an API route of the repository.
    fn api_url(&self, path: &str) -> String {
        format!("{}/api/v1/repos/{}/{path}", self.caller.base_url, self.repo.name)
    }
}

/// Parses an id, which is a number in JSON.
fn numeric_id(id: &str) -> u64 {
    id.parse().unwrap_or_default()
}

fn format_time(time: Time) -> String {
    format_timestamp(time)
}
