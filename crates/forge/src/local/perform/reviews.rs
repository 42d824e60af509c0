//! Reviews and the threads that come with them.

use referee_core::mark::Sealed;
use referee_core::model::{EditId, ReviewId, Sha, ThreadId, Verdict};
use referee_core::plan::NewThread;
use rusqlite::{OptionalExtension, params};

use crate::local::LocalError;
use crate::local::names::{review_id, row_of, thread_id};
use crate::local::pen::{Edited, Pen};
use crate::local::pulls::key;
use crate::local::words::Word;
use crate::{Made, Performed};

impl Pen<'_> {
    pub(super) fn post_review(
        &self,
        verdict: Verdict,
        commit: &Sha,
        body: &str,
        threads: &[NewThread<Sealed>],
    ) -> Result<Performed, LocalError> {
        let standing = self.same_review(verdict, commit, body)?;
        let review = match standing {
            Some(review) => review,
            None => self.review(verdict, commit, body)?,
        };
        let opened = self.ensure_threads(Some(review), commit, threads)?;
        if standing.is_some() && opened.new == 0 {
            return Ok(Performed::AlreadySo);
        }
        Ok(Performed::Done(Made { review: Some(review_id(review)), comment: None, threads: opened.all }))
    }

    pub(super) fn open_threads(&self, commit: &Sha, threads: &[NewThread<Sealed>]) -> Result<Performed, LocalError> {
        let opened = self.ensure_threads(None, commit, threads)?;
        match opened.new {
            0 => Ok(Performed::AlreadySo),
            _ => Ok(Performed::Done(Made { threads: opened.all, ..Made::default() })),
        }
    }

    pub(super) fn edit_review(&self, review: &ReviewId, edit: &EditId, body: &str) -> Result<Performed, LocalError> {
        let sql = "SELECT text FROM reviews WHERE id = ?1 AND text = ?2 AND pull = ?3";
        let ids = params![row_of(review.as_str(), 'r'), row_of(edit.as_str(), 'e'), key(self.pull)];
        let text: Option<i64> = self.tx.query_row(sql, ids, |row| row.get(0)).optional()?;
        let text = text.ok_or_else(|| LocalError::NotFound(review.to_string()))?;
        match self.edit(text, body)? {
            Edited::AlreadySo => Ok(Performed::AlreadySo),
            Edited::Done => Ok(Performed::Done(Made { review: Some(review.clone()), ..Made::default() })),
        }
    }

    /// The own review that says all this already.
    fn same_review(&self, verdict: Verdict, commit: &Sha, body: &str) -> Result<Option<i64>, LocalError> {
        let sql = "SELECT reviews.id FROM reviews JOIN texts ON texts.id = reviews.text
                   WHERE pull = ?1 AND author = ?2 AND verdict = ?3 AND commit_sha = ?4 AND body = ?5";
        let same = params![key(self.pull), self.by.as_str(), verdict.word(), commit.as_str(), body];
        Ok(self.tx.query_row(sql, same, |row| row.get(0)).optional()?)
    }

    /// Opens the threads that are not there yet, whichever review they came with.
    fn ensure_threads(
        &self,
        review: Option<i64>,
        commit: &Sha,
        threads: &[NewThread<Sealed>],
    ) -> Result<Opened, LocalError> {
        let mut opened = Opened { all: Vec::with_capacity(threads.len()), new: 0 };
        for NewThread { finding: _, place, text } in threads {
            let thread = match self.rooted(&place.path, text.as_str())? {
                Some(thread) => thread,
                None => {
                    opened.new += 1;
                    self.thread(review, place, commit, text.as_str())?
                }
            };
            opened.all.push(thread_id(thread));
        }
        Ok(opened)
    }

    /// The own thread on that file whose root says that.
    fn rooted(&self, path: &str, body: &str) -> Result<Option<i64>, LocalError> {
        let sql = "SELECT threads.id FROM threads JOIN texts
                   ON texts.id = (SELECT min(text) FROM notes WHERE thread = threads.id)
                   WHERE pull = ?1 AND author = ?2 AND path = ?3 AND body = ?4";
        let same = params![key(self.pull), self.by.as_str(), path, body];
        Ok(self.tx.query_row(sql, same, |row| row.get(0)).optional()?)
    }
}

/// Threads that are there now, in the order they were asked for, and how many of them are new.
struct Opened {
    all: Vec<ThreadId>,
    new: usize,
}
