//! Comments and reactions.

use referee_core::model::{Login, Time};
use serde_json::{Value, json};

use super::{Shape, at, number};
use crate::world::StoredComment;

/// What comments have in common, whether they are plain, a summary or inline.
#[derive(Clone, Copy, Debug)]
pub(in crate::dialect) struct Words<'a> {
    pub(in crate::dialect) id: &'a str,
    /// The pull's or the page: `pulls/7`.
    pub(in crate::dialect) on: &'a str,
    pub(in crate::dialect) by: &'a Login,
    pub(in crate::dialect) body: &'a str,
    pub(in crate::dialect) at: Time,
    pub(in crate::dialect) updated: Time,
}

impl Shape<'_> {
    /// A comment as its own routes answer it.
    pub(in crate::dialect) fn comment(&self, words: &Words<'_>) -> Value {
        let page = self.repo_page(words.on);
        let pull = words.on.starts_with("pulls/");
        json!({
            "id": number(words.id),
            "html_url": format!("{page}#issuecomment-{}", words.id),
            "pull_request_url": if pull { page.as_str() } else { "" },
            "issue_url": if pull { "" } else { page.as_str() },
            "user": self.user(words.by),
            "original_author": "",
            "original_author_id": 0,
            "body": words.body,
            "assets": [],
            "created_at": at(words.at),
            "updated_at": at(words.updated),
        })
    }

    pub(in crate::dialect) fn comments(&self, on: &str, rows: &[StoredComment]) -> Value {
        rows.iter().map(|row| self.comment(&plain(on, row))).collect()
    }

    /// A reaction.
    pub(in crate::dialect) fn reaction(&self, by: &Login, word: &str, since: Time) -> Value {
        json!({ "user": self.user(by), "content": word, "created_at": at(since) })
    }
}

/// A plain comment.
pub(in crate::dialect) fn plain<'a>(on: &'a str, row: &'a StoredComment) -> Words<'a> {
    let StoredComment { id, author, at, updated, text, .. } = row;
    Words { id: id.as_str(), on, by: author, body: text.words(), at: *at, updated: *updated }
}
