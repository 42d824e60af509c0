//! Comments and reactions.

use referee_core::model::{Login, Time};
use serde_json::{Value, json};

use super::{JsonRenderer, format_time, numeric_id};
use crate::world::StoredComment;

/// What comments have in common, whether they are plain, a summary or inline.
#[derive(Clone, Copy, Debug)]
pub(in crate::dialect) struct CommentFields<'a> {
    pub(in crate::dialect) id: &'a str,
    /// The pull's or the page: `pulls/7`.
    pub(in crate::dialect) page_path: &'a str,
    pub(in crate::dialect) by: &'a Login,
    pub(in crate::dialect) body: &'a str,
    pub(in crate::dialect) at: Time,
    pub(in crate::dialect) updated: Time,
}

impl JsonRenderer<'_> {
    /// A comment as its own routes answer it.
    pub(in crate::dialect) fn comment(&self, words: &CommentFields<'_>) -> Value {
        let page = self.repo_page_url(words.page_path);
        let pull = words.page_path.starts_with("pulls/");
        json!({
            "id": numeric_id(words.id),
            "html_url": format!("{page}#issuecomment-{}", words.id),
            "pull_request_url": if pull { page.as_str() } else { "" },
            "issue_url": if pull { "" } else { page.as_str() },
            "user": self.user(words.by),
            "original_author": "",
            "original_author_id": 0,
            "body": words.body,
            "assets": [],
            "created_at": format_time(words.at),
            "updated_at": format_time(words.updated),
        })
    }

    pub(in crate::dialect) fn comments(&self, on: &str, rows: &[StoredComment]) -> Value {
        rows.iter().map(|row| self.comment(&plain_comment_fields(on, row))).collect()
    }

    /// A reaction.
    pub(in crate::dialect) fn reaction(&self, by: &Login, word: &str, since: Time) -> Value {
        json!({ "user": self.user(by), "content": word, "created_at": format_time(since) })
    }
}

/// A plain comment.
pub(in crate::dialect) fn plain_comment_fields<'a>(on: &'a str, row: &'a StoredComment) -> CommentFields<'a> {
    let StoredComment { id, author, at, updated, text, .. } = row;
    CommentFields { id: id.as_str(), page_path: on, by: author, body: text.body_or_empty(), at: *at, updated: *updated }
}
