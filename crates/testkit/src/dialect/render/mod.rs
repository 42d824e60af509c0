//! How things look on the wire. Members that nobody reads are here too: what was recorded has them.

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

/// Draws things for one caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonRenderer<'a> {
    pub(super) caller: &'a Caller<'a>,
    pub(super) repo: &'a StoredRepo,
}

impl JsonRenderer<'_> {
    fn dialect(&self) -> Dialect {
        self.caller.dialect
    }

    /// A page of the server.
    fn page_url(&self, path: &str) -> String {
        format!("{}/{path}", self.caller.base_url)
    }

    /// A page of the repository.
    fn repo_page_url(&self, path: &str) -> String {
        format!("{}/{}/{path}", self.caller.base_url, self.repo.name)
    }

    /// An address of the interface in the repository.
    fn api_url(&self, path: &str) -> String {
        format!("{}/api/v1/repos/{}/{path}", self.caller.base_url, self.repo.name)
    }
}

/// Ids are numbers on the wire.
fn numeric_id(id: &str) -> u64 {
    id.parse().unwrap_or_default()
}

fn format_time(time: Time) -> String {
    format_timestamp(time)
}
