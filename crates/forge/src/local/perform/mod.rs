//! Performing one action in one transaction, so that a crash leaves all of it or nothing.

mod discussion;
mod metadata;
mod reviews;

use referee_core::mark::SealedText;
use referee_core::model::{Login, PullNumber, Text};
use referee_core::plan::{Action, CommentTarget, DiffLocation, NewThread, Precondition};
use rusqlite::{OptionalExtension, params};

use super::names::{format_local_name, parse_row_id};
use super::pulls::{LocalPullRecord, pull_row_id};
use super::resolved_pull::ResolvedPull;
use super::writer::{LocalWriter, LocalWriterKind};
use super::{LocalError, LocalForge, MAX_TEXT_BYTES, commit_files};
use crate::PerformOutcome;

impl LocalForge {
    pub(super) fn perform_action(
        &self,
        pull: PullNumber,
        by: &Login,
        action: &Action<SealedText>,
        expect: &Precondition,
    ) -> Result<PerformOutcome, LocalError> {
        check_text_length(action)?;
        let kept = self.load_record(pull)?;
        self.check_preconditions(&kept, action, expect)?;
        self.write(|tx| {
            let writer = LocalWriter { tx, pull, by, kind: LocalWriterKind::Bot, at: (self.now)() };
            writer.check_expected_text(action, expect)?;
            match action {
                Action::PostReview { role: _, verdict, commit, text, threads } => {
                    writer.post_review(*verdict, commit, text.as_str(), threads)
                }
                Action::OpenThreads { role: _, commit, threads } => writer.open_threads(commit, threads),
                Action::EditReview { review, edit, text } | Action::Supersede { review, edit, text, .. } => {
                    writer.edit_review(review, edit, text.as_str())
                }
                Action::Reply { thread, text } => writer.reply(thread, text.as_str()),
                // The local forge can resolve, so the text of the root is not needed.
                Action::Resolve { thread, mark: _ } => writer.resolve_thread(thread),
                Action::EnsureComment { existing, target: CommentTarget::Pull, text } => {
                    writer.ensure_comment(existing.as_ref(), text.as_str())
                }
                Action::SetLabel { name, on: true } => writer.add_label(name),
                Action::SetLabel { name, on: false } => writer.remove_label(name),
                Action::Assign { target: CommentTarget::Pull, who } => writer.set_assignee(who.as_ref()),
                Action::SetStatus { commit, context, state, text } => {
                    writer.set_status(commit, context, *state, text.as_str())
                }
                Action::EnsureComment { target: CommentTarget::Issue(issue), .. }
                | Action::Assign { target: CommentTarget::Issue(issue), .. } => {
                    Err(LocalError::NotFound(format!("issue {issue}")))
                }
            }
        })
    }

    /// Checks through git what must hold before a write: the head, the commit, and the locations in it.
    fn check_preconditions(
        &self,
        kept: &LocalPullRecord,
        action: &Action<SealedText>,
        expect: &Precondition,
    ) -> Result<(), LocalError> {
        let none: &[NewThread<SealedText>] = &[];
        let (commit, threads) = match action {
            Action::PostReview { commit, threads, .. } | Action::OpenThreads { commit, threads, .. } => {
                (commit, threads.as_slice())
            }
            Action::SetStatus { commit, .. } => (commit, none),
            _ => return Ok(()),
        };
        if !self.git.has_commit(commit)? {
            return Err(LocalError::Refused("there is no such commit".to_owned()));
        }
        if threads.is_empty() && *expect != Precondition::Head {
            return Ok(());
        }
        let tip = ResolvedPull::resolve(&self.git, kept)?;
        if *expect == Precondition::Head && tip.head != *commit {
            return Err(LocalError::Conflict("the head"));
        }
        let places: Vec<&DiffLocation> = threads.iter().map(|thread| &thread.place).collect();
        commit_files::check_locations(&self.git, commit, &tip.base_sha, &places)
    }
}

/// Checks that no text is longer than the forge stores.
fn check_text_length(action: &Action<SealedText>) -> Result<(), LocalError> {
    let mut longest = 0;
    action.map_text(|text| longest = longest.max(text.as_str().len()));
    match longest > MAX_TEXT_BYTES {
        true => Err(LocalError::Refused("the text is too long".to_owned())),
        false => Ok(()),
    }
}

impl LocalWriter<'_> {
    /// Checks that the text is by this identity and unchanged since it was read, or already as it is to be.
    fn check_expected_text(&self, action: &Action<SealedText>, expect: &Precondition) -> Result<(), LocalError> {
        let Precondition::OwnText { edit, seen } = expect else { return Ok(()) };
        let sql = "SELECT author, body FROM reviews JOIN texts ON texts.id = reviews.text
                   WHERE texts.id = ?1 AND pull = ?2";
        let row = self.tx.query_row(sql, params![parse_row_id(edit.as_str(), 'e'), pull_row_id(self.pull)], |row| {
            Ok((Login(row.get(0)?), row.get::<_, String>(1)?))
        });
        let Some((author, body)) = row.optional()? else { return Ok(()) };
        if author != *self.by {
            return Err(LocalError::NotTheAuthor);
        }
        let said = match action {
            Action::EditReview { text, .. } | Action::Supersede { text, .. } => text.as_str() == body,
            _ => false,
        };
        if said || Text::from_body(body).hash == *seen { Ok(()) } else { Err(LocalError::Conflict("the text")) }
    }

    /// Returns the row of a thread of this pull.
    pub(in crate::local) fn find_thread_row(&self, thread: &str) -> Result<i64, LocalError> {
        let sql = "SELECT id FROM threads WHERE id = ?1 AND pull = ?2";
        let row = self
            .tx
            .query_row(sql, params![parse_row_id(thread, 't'), pull_row_id(self.pull)], |row| row.get(0))
            .optional()?;
        row.ok_or_else(|| LocalError::NotFound(format!("{} {thread}", format_local_name(self.pull))))
    }
}
