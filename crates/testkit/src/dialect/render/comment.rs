//! JSON of comments and reactions.

use referee_core::model::{Login, Time};
use serde_json::{Value, json};

use super::{JsonRenderer, format_time, numeric_id};
use crate::world::StoredComment;

/// The fields that plain comments, summaries and inline comments share.
#[derive(Clone, Copy, Debug)]
pub(in crate::dialect) struct CommentFields<'a> {
    pub(in crate::dialect) id: &'a str,
    /// The path of the pull's or issue's page, for example `pulls/7`.
    pub(in crate::dialect) page_path: &'a str,
    pub(in crate::dialect) by: &'a Login,
    pub(in crate::dialect) body: &'a str,
    pub(in crate::dialect) at: Time,
    pub(in crate::dialect) updated: Time,
}

impl JsonRenderer<'_> {
    /// Renders a comment as its own routes return it.
    pub(in crate::dialect) fn comment(&self, fields: &CommentFields<'_>) -> Value {
        let page = self.repo_page_url(fields.page_path);
        let is_pull = fields.page_path.starts_with("pulls/");
        json!({
            "id": numeric_id(fields.id),
            "html_url": format!("{page}#issuecomment-{}", fields.id),
            "pull_request_url": if is_pull { page.as_str() } else { "" },
            "issue_url": if is_pull { "" } else { page.as_str() },
            "user": self.user(fields.by),
            "original_author": "",
            "original_author_id": 0,
            "body": fields.body,
            "assets": [],
            "created_at": format_time(fields.at),
            "updated_at": format_time(fields.updated),
        })
    }

    pub(in crate::dialect) fn comments(&self, page_path: &str, rows: &[StoredComment]) -> Value {
        rows.iter().map(|row| self.comment(&plain_comment_fields(page_path, row))).collect()
    }

    pub(in crate::dialect) fn reaction(&self, by: &Login, content: &str, at: Time) -> Value {
        json!({ "user": self.user(by), "content": content, "created_at": format_time(at) })
    }
}

/// Returns the fields of a plain comment.
pub(in crate::dialect) fn plain_comment_fields<'a>(page_path: &'a str, row: &'a StoredComment) -> CommentFields<'a> {
    let StoredComment { id, author, at, updated, text, .. } = row;
    CommentFields { id: id.as_str(), page_path, by: author, body: text.body_or_empty(), at: *at, updated: *updated }
}
