//! Routes that write replies, resolutions, comments and edits.

use referee_core::model::{CommentId, IssueNumber, NoteId, PullNumber, ReviewId, ReviewKind, ThreadId};
use referee_core::plan::CommentTarget;
use serde_json::{Value, json};

use super::WriteHandler;
use super::reviews::parse_inline_comment;
use crate::dialect::render::{CommentFields, plain_comment_fields};
use crate::dialect::reply::{HttpReply, RouteResult};
use crate::world::{EffectKind, NewReview, StoredNote, StoredPull, StoredThread};

/// The owner of a comment id. One route edits all kinds of comments.
enum CommentLocation {
    Summary(PullNumber, ReviewId),
    Note(PullNumber, ThreadId, NoteId),
    Plain(CommentTarget, PullNumber, CommentId),
}

impl WriteHandler<'_> {
    /// Replies in the thread of the given note.
    pub(super) fn reply(&mut self, number: PullNumber, id: &str) -> RouteResult {
        if self.request.text("body").is_empty() {
            return Err(HttpReply::error(422, "[Body]: Required"));
        }
        let pull = self.repo().pull(number).map_err(|_| self.not_found())?;
        let has_note = |thread: &&StoredThread| thread.notes.iter().any(|note| note.id.as_str() == id);
        let thread =
            pull.threads.iter().find(has_note).map(|thread| thread.id.clone()).ok_or_else(|| self.not_found())?;
        let value = self.reply_in_thread(number, &thread)?;
        Ok(HttpReply::json(201, &value))
    }

    /// Adds to a submitted review of any author. On the line of an existing root it becomes a reply.
    pub(super) fn add_to_review(&mut self, number: PullNumber, id: &str) -> RouteResult {
        let id = ReviewId::from(id);
        let new = parse_inline_comment(&self.request.body);
        let pull = self.repo().pull(number).map_err(|_| self.not_found())?;
        let review = pull.review(&id).map_err(|_| self.not_found())?;
        let (commit, me) = (review.commit.clone(), self.login().clone());
        if review.row == ReviewKind::Draft && review.author != me {
            return Err(self.not_found());
        }
        let is_same_line = |thread: &&StoredThread| {
            thread.review.as_ref() == Some(&id)
                && (&thread.path, thread.line, thread.side) == (&new.place.path, new.place.line, new.place.side)
        };
        if let Some(thread) = pull.threads.iter().find(is_same_line).map(|thread| thread.id.clone()) {
            let value = self.reply_in_thread(number, &thread)?;
            return Ok(HttpReply::json(200, &value));
        }
        let inline = [new];
        let post = NewReview {
            by: &me,
            row: ReviewKind::Wrapper,
            commit: &commit,
            text: "",
            inline: &inline,
            interrupted: false,
        };
        let created = self.state.change(|repo| repo.store_inline_comments(number, &post, Some(&id), &inline));
        let threads = created.map_err(|_| HttpReply::server_error())?;
        self.record_effect(number, EffectKind::ThreadsOpened { threads: threads.clone() });
        let thread = threads.first().ok_or_else(HttpReply::server_error)?;
        Ok(HttpReply::json(200, &self.render_last_note(number, thread)?))
    }

    /// Resolves a thread. A resolution of a reply is accepted but has no effect on the thread.
    pub(super) fn resolve(&mut self, id: &str) -> RouteResult {
        let location = match self.find_comment(id) {
            Some(CommentLocation::Note(pull, thread, note)) => (pull, thread, note),
            Some(_) => return Err(HttpReply::error(400, "comment is not a review comment")),
            None => return Err(self.not_found()),
        };
        let (pull, thread, note) = location;
        let row = self.repo().pull(pull).and_then(|row| row.thread(&thread)).map_err(|_| self.not_found())?;
        let (is_root, is_resolved) = (row.notes.first().is_some_and(|root| root.id == note), row.resolved.is_some());
        if is_root && !is_resolved {
            let by = self.login().clone();
            if self.state.change(|repo| repo.resolve(pull, &by, &thread)).is_err() {
                return Err(HttpReply::error(403, "user should have permission to resolve comment"));
            }
            self.record_effect(pull, EffectKind::Resolved { thread });
        }
        Ok(HttpReply::empty(204))
    }

    /// Adds a comment, which is stored even where the server then answers 500.
    pub(super) fn add_comment(&mut self, number: &str) -> RouteResult {
        let serial: u64 = number.parse().map_err(|_| self.not_found())?;
        let (by, text) = (self.login().clone(), self.request.text("body").to_owned());
        if text.is_empty() {
            return Err(HttpReply::error(422, "[Body]: Required"));
        }
        let issue = self.repo().issues.contains_key(&IssueNumber(serial)).then_some(IssueNumber(serial));
        let (target, pull) = (issue.map_or(CommentTarget::Pull, CommentTarget::Issue), PullNumber(serial));
        let created = self.state.change(|repo| repo.add_comment(pull, target, &by, &text));
        let comment = created.map_err(|_| self.not_found())?;
        self.record_effect(pull, EffectKind::Commented { comment: comment.clone(), issue, text });
        if self.repo().quirks.comment_answers_500 && issue.is_none() {
            return Err(HttpReply::server_error());
        }
        Ok(HttpReply::json(201, &self.render_comment(target, pull, &comment)))
    }

    /// Edits a comment, an inline comment or the summary of a review.
    pub(super) fn edit_comment(&mut self, id: &str) -> RouteResult {
        let (by, text) = (self.login().clone(), self.request.text("body").to_owned());
        let location = self.find_comment(id).ok_or_else(|| self.not_found())?;
        if text.is_empty() {
            return Err(HttpReply::error(422, "[Body]: Required"));
        }
        let edited = self.state.change(|repo| match &location {
            CommentLocation::Summary(pull, review) => repo.edit_review(*pull, &by, review, &text),
            CommentLocation::Note(pull, _, note) => repo.edit_note(*pull, &by, note, &text),
            CommentLocation::Plain(target, pull, comment) => repo.edit_comment(*pull, *target, &by, comment, &text),
        });
        edited.map_err(|_| HttpReply::empty(403))?;
        match location {
            CommentLocation::Summary(pull, review) => {
                self.record_effect(pull, EffectKind::ReviewEdited { review: review.clone(), text });
                let row = self.repo().pull(pull).and_then(|row| row.review(&review)).map_err(|_| self.not_found())?;
                let (at, updated, body) = (row.at, row.updated, row.text.body_or_empty());
                let page_path = format!("pulls/{}", pull.0);
                let fields =
                    CommentFields { id: row.edit.as_str(), page_path: &page_path, by: &row.author, body, at, updated };
                Ok(HttpReply::json(200, &self.renderer().comment(&fields)))
            }
            CommentLocation::Note(pull, thread, note) => {
                self.record_effect(pull, EffectKind::ThreadMarked { thread: thread.clone(), text });
                let row = self.repo().pull(pull).and_then(|row| row.thread(&thread)).map_err(|_| self.not_found())?;
                let row = row.notes.iter().find(|row| row.id == note).ok_or_else(|| self.not_found())?;
                Ok(HttpReply::json(
                    200,
                    &self.renderer().comment(&inline_comment_fields(&format!("pulls/{}", pull.0), row)),
                ))
            }
            CommentLocation::Plain(target, pull, comment) => {
                let issue = match target {
                    CommentTarget::Pull => None,
                    CommentTarget::Issue(issue) => Some(issue),
                };
                self.record_effect(pull, EffectKind::CommentEdited { comment: comment.clone(), issue, text });
                Ok(HttpReply::json(200, &self.render_comment(target, pull, &comment)))
            }
        }
    }

    fn reply_in_thread(&mut self, number: PullNumber, thread: &ThreadId) -> Result<Value, HttpReply> {
        let (by, text) = (self.login().clone(), self.request.text("body").to_owned());
        let created = self.state.change(|repo| repo.reply(number, &by, thread, &text));
        let note = created.map_err(|_| self.not_found())?;
        self.record_effect(number, EffectKind::Replied { thread: thread.clone(), note, text });
        self.render_last_note(number, thread)
    }

    fn render_last_note(&self, number: PullNumber, thread: &ThreadId) -> Result<Value, HttpReply> {
        let pull = self.repo().pull(number).map_err(|_| self.not_found())?;
        let row = pull.thread(thread).map_err(|_| self.not_found())?;
        let note = row.notes.last().ok_or_else(|| self.not_found())?;
        Ok(self.renderer().note(pull, row, note))
    }

    fn render_comment(&self, target: CommentTarget, pull: PullNumber, id: &CommentId) -> Value {
        let page_path = match target {
            CommentTarget::Pull => format!("pulls/{}", pull.0),
            CommentTarget::Issue(issue) => format!("issues/{}", issue.0),
        };
        let row = self.repo().comments(pull, target).ok().and_then(|rows| rows.iter().find(|row| row.id == *id));
        row.map_or(json!(null), |row| self.renderer().comment(&plain_comment_fields(&page_path, row)))
    }

    fn find_comment(&self, id: &str) -> Option<CommentLocation> {
        let in_pull = |pull: &StoredPull| {
            let summary = pull.reviews.iter().find(|row| row.edit.as_str() == id && row.row != ReviewKind::Draft);
            let comment = || pull.comments.iter().find(|row| row.id.as_str() == id);
            let note = || {
                let notes = pull.threads.iter().flat_map(|thread| thread.notes.iter().map(move |note| (thread, note)));
                notes.into_iter().find(|(_, note)| note.id.as_str() == id)
            };
            let summary = summary.map(|row| CommentLocation::Summary(pull.number, row.id.clone()));
            let summary = summary.or_else(|| {
                comment().map(|row| CommentLocation::Plain(CommentTarget::Pull, pull.number, row.id.clone()))
            });
            summary.or_else(|| {
                note().map(|(thread, row)| CommentLocation::Note(pull.number, thread.id.clone(), row.id.clone()))
            })
        };
        let in_issues = || {
            self.repo().issues.iter().find_map(|(number, issue)| {
                let row = issue.comments.iter().find(|row| row.id.as_str() == id)?;
                Some(CommentLocation::Plain(CommentTarget::Issue(*number), PullNumber(number.0), row.id.clone()))
            })
        };
        self.repo().pulls.values().find_map(|pull| in_pull(pull)).or_else(in_issues)
    }
}

fn inline_comment_fields<'a>(page_path: &'a str, note: &'a StoredNote) -> CommentFields<'a> {
    let (at, updated) = (note.at, note.updated);
    CommentFields { id: note.id.as_str(), page_path, by: &note.author, body: note.text.body_or_empty(), at, updated }
}
