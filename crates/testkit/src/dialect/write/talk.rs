//! Replies, resolutions, comments and edits.

use referee_core::model::{CommentId, IssueNumber, NoteId, PullNumber, ReviewId, Row, ThreadId};
use referee_core::plan::Target;
use serde_json::{Value, json};

use super::Writer;
use super::reviews::inline;
use crate::dialect::reply::{Reply, Said};
use crate::dialect::shape::{Words, plain};
use crate::world::{Post, StoredNote, StoredPull, StoredThread, What};

/// Where a text lies: what an edit through the one route of all comments finds.
enum Found {
    Summary(PullNumber, ReviewId),
    Note(PullNumber, ThreadId, NoteId),
    Plain(Target, PullNumber, CommentId),
}

impl Writer<'_> {
    /// Answers in the thread of any of its notes.
    pub(super) fn reply(&mut self, number: PullNumber, id: &str) -> Said {
        if self.asked.text("body").is_empty() {
            return Err(Reply::error(422, "[Body]: Required"));
        }
        let pull = self.repo().pull(number).map_err(|_| self.not_found())?;
        let has = |thread: &&StoredThread| thread.notes.iter().any(|note| note.id.as_str() == id);
        let thread = pull.threads.iter().find(has).map(|thread| thread.id.clone()).ok_or_else(|| self.not_found())?;
        let value = self.answer_in(number, &thread)?;
        Ok(Reply::json(201, &value))
    }

    /// Adds to a review that was submitted, whoever wrote it. On a root's place it becomes a reply.
    pub(super) fn add_to_review(&mut self, number: PullNumber, id: &str) -> Said {
        let id = ReviewId::from(id);
        let new = inline(&self.asked.body);
        let pull = self.repo().pull(number).map_err(|_| self.not_found())?;
        let review = pull.review(&id).map_err(|_| self.not_found())?;
        let (commit, me) = (review.commit.clone(), self.me().clone());
        if review.row == Row::Draft && review.author != me {
            return Err(self.not_found());
        }
        let same = |thread: &&StoredThread| {
            thread.review.as_ref() == Some(&id)
                && (&thread.path, thread.line, thread.side) == (&new.place.path, new.place.line, new.place.side)
        };
        if let Some(thread) = pull.threads.iter().find(same).map(|thread| thread.id.clone()) {
            let value = self.answer_in(number, &thread)?;
            return Ok(Reply::json(200, &value));
        }
        let inline = [new];
        let post = Post { by: &me, row: Row::Wrapper, commit: &commit, text: "", inline: &inline, torn: false };
        let made = self.state.change(|repo| repo.inline(number, &post, Some(&id), &inline));
        let threads = made.map_err(|_| Reply::broke())?;
        self.effect(number, What::Opened { threads: threads.clone() });
        let thread = threads.first().ok_or_else(Reply::broke)?;
        Ok(Reply::json(200, &self.last_note(number, thread)?))
    }

    /// A reply's own resolution is stored beside the thread's and shows nowhere else.
    pub(super) fn resolve(&mut self, id: &str) -> Said {
        let found = match self.find(id) {
            Some(Found::Note(pull, thread, note)) => (pull, thread, note),
            Some(_) => return Err(Reply::error(400, "comment is not a review comment")),
            None => return Err(self.not_found()),
        };
        let (pull, thread, note) = found;
        let row = self.repo().pull(pull).and_then(|row| row.thread(&thread)).map_err(|_| self.not_found())?;
        let (root, so) = (row.notes.first().is_some_and(|root| root.id == note), row.resolved.is_some());
        if root && !so {
            let by = self.me().clone();
            if self.state.change(|repo| repo.resolve(pull, &by, &thread)).is_err() {
                return Err(Reply::error(403, "user should have permission to resolve comment"));
            }
            self.effect(pull, What::Resolved { thread });
        }
        Ok(Reply::empty(204))
    }

    /// A new comment. Where the server falls over on it, it is stored all the same.
    pub(super) fn comment(&mut self, number: &str) -> Said {
        let serial: u64 = number.parse().map_err(|_| self.not_found())?;
        let (by, text) = (self.me().clone(), self.asked.text("body").to_owned());
        if text.is_empty() {
            return Err(Reply::error(422, "[Body]: Required"));
        }
        let issue = self.repo().issues.contains_key(&IssueNumber(serial)).then_some(IssueNumber(serial));
        let (target, pull) = (issue.map_or(Target::Pull, Target::Issue), PullNumber(serial));
        let made = self.state.change(|repo| repo.comment(pull, target, &by, &text));
        let comment = made.map_err(|_| self.not_found())?;
        self.effect(pull, What::Commented { comment: comment.clone(), on: issue, text });
        if self.repo().quirks.comment_answers_500 && issue.is_none() {
            return Err(Reply::broke());
        }
        Ok(Reply::json(201, &self.plain(target, pull, &comment)))
    }

    /// One route edits them all: comments, inline comments and the summaries of reviews.
    pub(super) fn edit_comment(&mut self, id: &str) -> Said {
        let (by, text) = (self.me().clone(), self.asked.text("body").to_owned());
        let found = self.find(id).ok_or_else(|| self.not_found())?;
        if text.is_empty() {
            return Err(Reply::error(422, "[Body]: Required"));
        }
        let edited = self.state.change(|repo| match &found {
            Found::Summary(pull, review) => repo.edit_review(*pull, &by, review, &text),
            Found::Note(pull, _, note) => repo.edit_note(*pull, &by, note, &text),
            Found::Plain(target, pull, comment) => repo.edit_comment(*pull, *target, &by, comment, &text),
        });
        edited.map_err(|_| Reply::empty(403))?;
        match found {
            Found::Summary(pull, review) => {
                self.effect(pull, What::Edited { review: review.clone(), text });
                let row = self.repo().pull(pull).and_then(|row| row.review(&review)).map_err(|_| self.not_found())?;
                let (at, updated, body) = (row.at, row.updated, row.text.words());
                let on = format!("pulls/{}", pull.0);
                let words = Words { id: row.edit.as_str(), on: &on, by: &row.author, body, at, updated };
                Ok(Reply::json(200, &self.shape().comment(&words)))
            }
            Found::Note(pull, thread, note) => {
                self.effect(pull, What::Marked { thread: thread.clone(), text });
                let row = self.repo().pull(pull).and_then(|row| row.thread(&thread)).map_err(|_| self.not_found())?;
                let row = row.notes.iter().find(|row| row.id == note).ok_or_else(|| self.not_found())?;
                Ok(Reply::json(200, &self.shape().comment(&inline_words(&format!("pulls/{}", pull.0), row))))
            }
            Found::Plain(target, pull, comment) => {
                let on = match target {
                    Target::Pull => None,
                    Target::Issue(issue) => Some(issue),
                };
                self.effect(pull, What::CommentEdited { comment: comment.clone(), on, text });
                Ok(Reply::json(200, &self.plain(target, pull, &comment)))
            }
        }
    }

    fn answer_in(&mut self, number: PullNumber, thread: &ThreadId) -> Result<Value, Reply> {
        let (by, text) = (self.me().clone(), self.asked.text("body").to_owned());
        let made = self.state.change(|repo| repo.reply(number, &by, thread, &text));
        let note = made.map_err(|_| self.not_found())?;
        self.effect(number, What::Replied { thread: thread.clone(), note, text });
        self.last_note(number, thread)
    }

    fn last_note(&self, number: PullNumber, thread: &ThreadId) -> Result<Value, Reply> {
        let pull = self.repo().pull(number).map_err(|_| self.not_found())?;
        let row = pull.thread(thread).map_err(|_| self.not_found())?;
        let note = row.notes.last().ok_or_else(|| self.not_found())?;
        Ok(self.shape().note(pull, row, note))
    }

    fn plain(&self, target: Target, pull: PullNumber, id: &CommentId) -> Value {
        let on = match target {
            Target::Pull => format!("pulls/{}", pull.0),
            Target::Issue(issue) => format!("issues/{}", issue.0),
        };
        let row = self.repo().comments(pull, target).ok().and_then(|rows| rows.iter().find(|row| row.id == *id));
        row.map_or(json!(null), |row| self.shape().comment(&plain(&on, row)))
    }

    fn find(&self, id: &str) -> Option<Found> {
        let in_pull = |pull: &StoredPull| {
            let summary = pull.reviews.iter().find(|row| row.edit.as_str() == id && row.row != Row::Draft);
            let comment = || pull.comments.iter().find(|row| row.id.as_str() == id);
            let note = || {
                let notes = pull.threads.iter().flat_map(|thread| thread.notes.iter().map(move |note| (thread, note)));
                notes.into_iter().find(|(_, note)| note.id.as_str() == id)
            };
            let summary = summary.map(|row| Found::Summary(pull.number, row.id.clone()));
            let summary =
                summary.or_else(|| comment().map(|row| Found::Plain(Target::Pull, pull.number, row.id.clone())));
            summary.or_else(|| note().map(|(thread, row)| Found::Note(pull.number, thread.id.clone(), row.id.clone())))
        };
        let in_issues = || {
            self.repo().issues.iter().find_map(|(number, issue)| {
                let row = issue.comments.iter().find(|row| row.id.as_str() == id)?;
                Some(Found::Plain(Target::Issue(*number), PullNumber(number.0), row.id.clone()))
            })
        };
        self.repo().pulls.values().find_map(|pull| in_pull(pull)).or_else(in_issues)
    }
}

fn inline_words<'a>(on: &'a str, note: &'a StoredNote) -> Words<'a> {
    let (at, updated) = (note.at, note.updated);
    Words { id: note.id.as_str(), on, by: &note.author, body: note.text.words(), at, updated }
}
