//! One action, once: all of it in one transaction, so that a process that dies leaves all of it or nothing.

mod desk;
mod reviews;
mod talk;

use referee_core::mark::Sealed;
use referee_core::model::{Login, PullNumber, Text};
use referee_core::plan::{Action, Expect, NewThread, Place, Target};
use rusqlite::{OptionalExtension, params};

use super::names::{local_name, row_of};
use super::pen::{Pen, Writer};
use super::pulls::{Kept, key};
use super::tip::Tip;
use super::{LocalError, LocalForge, MAX_TEXT, place};
use crate::Performed;

impl LocalForge {
    pub(super) fn act(
        &self,
        pull: PullNumber,
        by: &Login,
        action: &Action<Sealed>,
        expect: &Expect,
    ) -> Result<Performed, LocalError> {
        takes(action)?;
        let kept = self.kept(pull)?;
        self.stands(&kept, action, expect)?;
        self.write(|tx| {
            let pen = Pen { tx, pull, by, kind: Writer::Bot, at: (self.now)() };
            pen.expects(action, expect)?;
            match action {
                Action::PostReview { role: _, verdict, commit, text, threads } => {
                    pen.post_review(*verdict, commit, text.as_str(), threads)
                }
                Action::OpenThreads { role: _, commit, threads } => pen.open_threads(commit, threads),
                Action::EditReview { review, edit, text } | Action::Supersede { review, edit, text } => {
                    pen.edit_review(review, edit, text.as_str())
                }
                Action::Reply { thread, text } => pen.reply(thread, text.as_str()),
                // The forge can resolve: no root has to say so in words.
                Action::Resolve { thread, mark: _ } => pen.settle(thread),
                Action::EnsureComment { existing, target: Target::Pull, text } => {
                    pen.ensure_comment(existing.as_ref(), text.as_str())
                }
                Action::SetLabel { name, on: true } => pen.put_on(name),
                Action::SetLabel { name, on: false } => pen.take_off(name),
                Action::Assign { target: Target::Pull, who } => pen.assign(who.as_ref()),
                Action::SetStatus { commit, context, state, text } => {
                    pen.set_status(commit, context, *state, text.as_str())
                }
                Action::EnsureComment { target: Target::Issue(issue), .. }
                | Action::Assign { target: Target::Issue(issue), .. } => {
                    Err(LocalError::NotFound(format!("issue {issue}")))
                }
            }
        })
    }

    /// What git has to say before anything is written: the head, the commit, and the places in it.
    fn stands(&self, kept: &Kept, action: &Action<Sealed>, expect: &Expect) -> Result<(), LocalError> {
        let none: &[NewThread<Sealed>] = &[];
        let (commit, threads) = match action {
            Action::PostReview { commit, threads, .. } | Action::OpenThreads { commit, threads, .. } => {
                (commit, threads.as_slice())
            }
            Action::SetStatus { commit, .. } => (commit, none),
            _ => return Ok(()),
        };
        if !self.git.has(commit)? {
            return Err(LocalError::Refused("there is no such commit".to_owned()));
        }
        if threads.is_empty() && *expect != Expect::Head {
            return Ok(());
        }
        let tip = Tip::of(&self.git, kept)?;
        if *expect == Expect::Head && tip.head != *commit {
            return Err(LocalError::Moved("the head"));
        }
        let places: Vec<&Place> = threads.iter().map(|thread| &thread.place).collect();
        place::check(&self.git, commit, &tip.base_sha, &places)
    }
}

/// No text is longer than the forge says it takes.
fn takes(action: &Action<Sealed>) -> Result<(), LocalError> {
    let mut longest = 0;
    action.map(|text| longest = longest.max(text.as_str().len()));
    match longest > MAX_TEXT {
        true => Err(LocalError::Refused("the text is too long".to_owned())),
        false => Ok(()),
    }
}

impl Pen<'_> {
    /// The text is ours, and still the one that was read; or it says already what it is to say.
    fn expects(&self, action: &Action<Sealed>, expect: &Expect) -> Result<(), LocalError> {
        let Expect::OwnText { edit, seen } = expect else { return Ok(()) };
        let sql = "SELECT author, body FROM reviews JOIN texts ON texts.id = reviews.text
                   WHERE texts.id = ?1 AND pull = ?2";
        let row = self.tx.query_row(sql, params![row_of(edit.as_str(), 'e'), key(self.pull)], |row| {
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
        if said || Text::unread(body).hash == *seen { Ok(()) } else { Err(LocalError::Moved("the text")) }
    }

    /// A thread of this pull.
    pub(in crate::local) fn thread_row(&self, thread: &str) -> Result<i64, LocalError> {
        let sql = "SELECT id FROM threads WHERE id = ?1 AND pull = ?2";
        let row = self.tx.query_row(sql, params![row_of(thread, 't'), key(self.pull)], |row| row.get(0)).optional()?;
        row.ok_or_else(|| LocalError::NotFound(format!("{} {thread}", local_name(self.pull))))
    }
}
