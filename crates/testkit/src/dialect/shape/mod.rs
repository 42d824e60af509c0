//! How things look on the wire. Members that nobody reads are here too: what was recorded has them.

mod comment;
mod event;
mod people;
mod pull;
mod repo;
mod review;
mod status;

pub(super) use comment::{Words, plain};
use referee_core::model::Time;
pub(super) use repo::label_id;

use super::Dialect;
use super::serve::Caller;
use super::stamp::stamp;
use crate::world::Repo;

/// Draws things for one caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape<'a> {
    pub(super) caller: &'a Caller<'a>,
    pub(super) repo: &'a Repo,
}

impl Shape<'_> {
    fn dialect(&self) -> Dialect {
        self.caller.dialect
    }

    /// A page of the server.
    fn page(&self, path: &str) -> String {
        format!("{}/{path}", self.caller.base)
    }

    /// A page of the repository.
    fn repo_page(&self, path: &str) -> String {
        format!("{}/{}/{path}", self.caller.base, self.repo.name)
    }

    /// An address of the interface in the repository.
    fn api(&self, path: &str) -> String {
        format!("{}/api/v1/repos/{}/{path}", self.caller.base, self.repo.name)
    }
}

/// Ids are numbers on the wire.
fn number(id: &str) -> u64 {
    id.parse().unwrap_or_default()
}

fn at(time: Time) -> String {
    stamp(time)
}
