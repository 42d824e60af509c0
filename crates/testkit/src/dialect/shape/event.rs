//! The timeline.

use referee_core::model::{Row, Time};
use serde_json::{Value, json};

use super::comment::{Words, plain};
use super::{Shape, number};
use crate::world::{Deed, Event, StoredPull};

/// A row of the timeline, shown or not.
#[derive(Debug)]
pub(in crate::dialect) struct TimelineRow {
    at: Time,
    id: u64,
    /// What `since` asks for.
    pub(in crate::dialect) updated: Time,
    /// `None` for inline comments: they take their place on a page, and are then left out.
    pub(in crate::dialect) shown: Option<Value>,
}

impl Shape<'_> {
    /// All rows, oldest first.
    pub(in crate::dialect) fn timeline(&self, pull: &StoredPull) -> Vec<TimelineRow> {
        let on = format!("pulls/{}", pull.number.0);
        let mut rows = Vec::new();
        for review in pull.reviews.iter().filter(|review| review.row != Row::Draft) {
            let (id, body) = (review.edit.as_str(), review.text.words());
            let words = Words { id, on: &on, by: &review.author, body, at: review.at, updated: review.updated };
            let mut shown = self.row("review", &words);
            shown["review_id"] = json!(number(review.id.as_str()));
            rows.push(shown_row(&words, shown));
        }
        for comment in &pull.comments {
            let words = plain(&on, comment);
            rows.push(shown_row(&words, self.row("comment", &words)));
        }
        for note in pull.threads.iter().flat_map(|thread| &thread.notes) {
            rows.push(TimelineRow { at: note.at, id: number(note.id.as_str()), updated: note.updated, shown: None });
        }
        rows.extend(pull.events.iter().map(|event| self.event(&on, event)));
        rows.sort_by_key(|row| (row.at, row.id));
        rows
    }

    fn event(&self, on: &str, event: &Event) -> TimelineRow {
        let body = match &event.deed {
            Deed::Pushed { forced, commits } => {
                let ids: Vec<&str> = commits.iter().map(|sha| sha.as_str()).collect();
                json!({ "is_force_push": forced, "commit_ids": ids }).to_string()
            }
            Deed::Labelled { .. } => "1".to_owned(),
            _ => String::new(),
        };
        let kind = match &event.deed {
            Deed::Pushed { .. } => "pull_push",
            Deed::Labelled { .. } | Deed::Unlabelled { .. } => "label",
            Deed::Requested { .. } => "review_request",
            Deed::Dismissed { .. } => "dismiss_review",
            Deed::Closed => "close",
            Deed::Reopened => "reopen",
        };
        let (at, updated) = (event.at, event.at);
        let words = Words { id: &event.id, on, by: &event.by, body: &body, at, updated };
        let mut shown = self.row(kind, &words);
        match &event.deed {
            Deed::Labelled { name } | Deed::Unlabelled { name } => shown["label"] = self.label(name),
            Deed::Requested { of } => shown["assignee"] = self.user(of),
            Deed::Dismissed { review } => shown["review_id"] = json!(number(review.as_str())),
            Deed::Pushed { .. } | Deed::Closed | Deed::Reopened => {}
        }
        shown_row(&words, shown)
    }

    fn row(&self, kind: &str, words: &Words<'_>) -> Value {
        let mut row = self.comment(words);
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

fn shown_row(words: &Words<'_>, shown: Value) -> TimelineRow {
    TimelineRow { at: words.at, id: number(words.id), updated: words.updated, shown: Some(shown) }
}
