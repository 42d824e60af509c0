//! JSON of the timeline.

use referee_core::model::{ReviewKind, Time};
use serde_json::{Value, json};

use super::comment::{CommentFields, plain_comment_fields};
use super::{JsonRenderer, numeric_id};
use crate::world::{EventKind, StoredPull, TimelineEvent};

/// A row of the timeline, possibly hidden.
#[derive(Debug)]
pub(in crate::dialect) struct TimelineRow {
    at: Time,
    id: u64,
    /// The time that `since` compares with.
    pub(in crate::dialect) updated: Time,
    /// `None` for inline comments, which take a place on a page and are then left out.
    pub(in crate::dialect) shown: Option<Value>,
}

impl JsonRenderer<'_> {
    /// Returns all rows, oldest first.
    pub(in crate::dialect) fn timeline(&self, pull: &StoredPull) -> Vec<TimelineRow> {
        let page_path = format!("pulls/{}", pull.number.0);
        let mut rows = Vec::new();
        for review in pull.reviews.iter().filter(|review| review.row != ReviewKind::Draft) {
            let (id, body) = (review.edit.as_str(), review.text.body_or_empty());
            let fields = CommentFields {
                id,
                page_path: &page_path,
                by: &review.author,
                body,
                at: review.at,
                updated: review.updated,
            };
            let mut shown = self.timeline_json("review", &fields);
            shown["review_id"] = json!(numeric_id(review.id.as_str()));
            rows.push(build_row(&fields, shown));
        }
        for comment in &pull.comments {
            let fields = plain_comment_fields(&page_path, comment);
            rows.push(build_row(&fields, self.timeline_json("comment", &fields)));
        }
        for note in pull.threads.iter().flat_map(|thread| &thread.notes) {
            rows.push(TimelineRow {
                at: note.at,
                id: numeric_id(note.id.as_str()),
                updated: note.updated,
                shown: None,
            });
        }
        rows.extend(pull.events.iter().map(|event| self.event_row(&page_path, event)));
        rows.sort_by_key(|row| (row.at, row.id));
        rows
    }

    fn event_row(&self, page_path: &str, event: &TimelineEvent) -> TimelineRow {
        let body = match &event.kind {
            EventKind::Pushed { forced, commits } => {
                let ids: Vec<&str> = commits.iter().map(|sha| sha.as_str()).collect();
                json!({ "is_force_push": forced, "commit_ids": ids }).to_string()
            }
            EventKind::Labelled { .. } => "1".to_owned(),
            _ => String::new(),
        };
        let kind = match &event.kind {
            EventKind::Pushed { .. } => "pull_push",
            EventKind::Labelled { .. } | EventKind::Unlabelled { .. } => "label",
            EventKind::Requested { .. } => "review_request",
            EventKind::Dismissed { .. } => "dismiss_review",
            EventKind::Closed => "close",
            EventKind::Reopened => "reopen",
        };
        let (at, updated) = (event.at, event.at);
        let fields = CommentFields { id: &event.id, page_path, by: &event.by, body: &body, at, updated };
        let mut shown = self.timeline_json(kind, &fields);
        match &event.kind {
            EventKind::Labelled { name } | EventKind::Unlabelled { name } => shown["label"] = self.label(name),
            EventKind::Requested { of } => shown["assignee"] = self.user(of),
            EventKind::Dismissed { review } => shown["review_id"] = json!(numeric_id(review.as_str())),
            EventKind::Pushed { .. } | EventKind::Closed | EventKind::Reopened => {}
        }
        build_row(&fields, shown)
    }

    fn timeline_json(&self, kind: &str, fields: &CommentFields<'_>) -> Value {
        let mut row = self.comment(fields);
        if let Some(members) = row.as_object_mut() {
            for only_of_comments in ["original_author", "original_author_id", "assets"] {
                members.remove(only_of_comments);
            }
            members.insert("type".to_owned(), json!(kind));
        }
        for name in ["old_project_id", "project_id", "review_id"] {
            row[name] = json!(0);
        }
        for name in ["old_title", "new_title", "old_ref", "new_ref", "ref_commit_sha"] {
            row[name] = json!("");
        }
        for name in [
            "old_milestone",
            "milestone",
            "tracked_time",
            "ref_issue",
            "ref_comment",
            "label",
            "assignee",
            "assignee_team",
            "resolve_doer",
            "dependent_issue",
        ] {
            row[name] = Value::Null;
        }
        row["ref_action"] = json!("none");
        row["removed_assignee"] = json!(false);
        row
    }
}

fn build_row(fields: &CommentFields<'_>, shown: Value) -> TimelineRow {
    TimelineRow { at: fields.at, id: numeric_id(fields.id), updated: fields.updated, shown: Some(shown) }
}
