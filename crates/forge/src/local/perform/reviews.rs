//! Reviews and the threads that come with them.

use referee_core::mark::SealedText;
use referee_core::model::{EditId, ReviewId, Sha, ThreadId, Verdict};
use referee_core::plan::NewThread;
use rusqlite::{OptionalExtension, params};

use crate::local::LocalError;
use crate::local::column::ColumnValue;
use crate::local::names::{parse_row_id, review_id, thread_id};
use crate::local::pulls::pull_row_id;
use crate::local::writer::{EditOutcome, LocalWriter};
use crate::{CreatedIds, PerformOutcome};

impl LocalWriter<'_> {
    pub(super) fn post_review(
        &self,
        verdict: Verdict,
        commit: &Sha,
        body: &str,
        threads: &[NewThread<SealedText>],
    ) -> Result<PerformOutcome, LocalError> {
        let standing = self.find_same_review(verdict, commit, body)?;
        let review = match standing {
            Some(review) => review,
            None => self.insert_review(verdict, commit, body)?,
        };
        let opened = self.ensure_threads(Some(review), commit, threads)?;
        if standing.is_some() && opened.new_count == 0 {
            return Ok(PerformOutcome::AlreadySo);
        }
        Ok(PerformOutcome::Done(CreatedIds { review: Some(review_id(review)), comment: None, threads: opened.ids }))
    }

    pub(super) fn open_threads(
        &self,
        commit: &Sha,
        threads: &[NewThread<SealedText>],
    ) -> Result<PerformOutcome, LocalError> {
        let opened = self.ensure_threads(None, commit, threads)?;
        match opened.new_count {
            0 => Ok(PerformOutcome::AlreadySo),
            _ => Ok(PerformOutcome::Done(CreatedIds { threads: opened.ids, ..CreatedIds::default() })),
        }
    }

    pub(super) fn edit_review(
        &self,
        review: &ReviewId,
        edit: &EditId,
        body: &str,
    ) -> Result<PerformOutcome, LocalError> {
        let sql = "SELECT text FROM reviews WHERE id = ?1 AND text = ?2 AND pull = ?3";
        let ids = params![parse_row_id(review.as_str(), 'r'), parse_row_id(edit.as_str(), 'e'), pull_row_id(self.pull)];
        let text: Option<i64> = self.tx.query_row(sql, ids, |row| row.get(0)).optional()?;
        let text = text.ok_or_else(|| LocalError::NotFound(review.to_string()))?;
        match self.edit_text(text, body)? {
            EditOutcome::AlreadySo => Ok(PerformOutcome::AlreadySo),
            EditOutcome::Done => {
                Ok(PerformOutcome::Done(CreatedIds { review: Some(review.clone()), ..CreatedIds::default() }))
            }
        }
    }

    /// Finds an equal review of this identity.
    fn find_same_review(&self, verdict: Verdict, commit: &Sha, body: &str) -> Result<Option<i64>, LocalError> {
        let sql = "SELECT reviews.id FROM reviews JOIN texts ON texts.id = reviews.text
                   WHERE pull = ?1 AND author = ?2 AND verdict = ?3 AND commit_sha = ?4 AND body = ?5";
        let same = params![pull_row_id(self.pull), self.by.as_str(), verdict.column_text(), commit.as_str(), body];
        Ok(self.tx.query_row(sql, same, |row| row.get(0)).optional()?)
    }

    /// Opens the threads that do not exist yet, in any review.
    fn ensure_threads(
        &self,
        review: Option<i64>,
        commit: &Sha,
        threads: &[NewThread<SealedText>],
    ) -> Result<EnsuredThreads, LocalError> {
        let mut opened = EnsuredThreads { ids: Vec::with_capacity(threads.len()), new_count: 0 };
        for NewThread { finding: _, place, text } in threads {
            let thread = match self.find_thread_by_root(&place.path, text.as_str())? {
                Some(thread) => thread,
                None => {
                    opened.new_count += 1;
                    self.insert_thread(review, place, commit, text.as_str())?
                }
            };
            opened.ids.push(thread_id(thread));
        }
        Ok(opened)
    }

    /// Finds a thread of this identity on that file with that root text.
    fn find_thread_by_root(&self, path: &str, body: &str) -> Result<Option<i64>, LocalError> {
        let sql = "SELECT threads.id FROM threads JOIN texts
                   ON texts.id = (SELECT min(text) FROM notes WHERE thread = threads.id)
                   WHERE pull = ?1 AND author = ?2 AND path = ?3 AND body = ?4";
        let same = params![pull_row_id(self.pull), self.by.as_str(), path, body];
        Ok(self.tx.query_row(sql, same, |row| row.get(0)).optional()?)
    }
}

/// The ids of the threads in the order of the request, and how many of them are new.
struct EnsuredThreads {
    ids: Vec<ThreadId>,
    new_count: usize,
}
