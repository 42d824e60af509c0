//! Reviews and the threads that come with them.

use referee_core::model::{Counts, EditId, Login, ReviewId, Row, Sha, Verdict};
use referee_core::plan::NewThread;
use referee_forge::{ForgeError, Made, Performed};

use super::{Doing, own};
use crate::world::effect::What;
use crate::world::posts::{Inline, Post, Torn};
use crate::world::rows::{Repo, StoredPull, StoredReview, missing};
use crate::world::state::State;

impl State {
    pub(super) fn post_review(
        &mut self,
        doing: &Doing<'_>,
        verdict: Verdict,
        commit: &Sha,
        text: &str,
        threads: &[NewThread<String>],
    ) -> Result<Performed, ForgeError> {
        let standing = standing(self.seen(), doing, verdict, commit, text)?;
        let missing = missing_threads(self.seen().pull(doing.pull)?, doing.by, threads);
        if let Some(review) = standing {
            if missing.is_empty() {
                return Ok(Performed::AlreadySo);
            }
            self.send(doing, Row::Wrapper, commit, "", &missing)?;
            return self.made(doing, Some(review), threads);
        }
        let review = self.send(doing, Row::Verdict(verdict), commit, text, &missing)?;
        self.made(doing, review, threads)
    }

    pub(super) fn open_threads(
        &mut self,
        doing: &Doing<'_>,
        commit: &Sha,
        threads: &[NewThread<String>],
    ) -> Result<Performed, ForgeError> {
        let pull = self.seen().pull(doing.pull)?;
        let missing = missing_threads(pull, doing.by, threads);
        let drafted = |thread: &NewThread<String>| in_draft(pull, doing.by, thread);
        if missing.is_empty() && !threads.iter().any(drafted) {
            return Ok(Performed::AlreadySo);
        }
        self.send(doing, Row::Wrapper, commit, "", &missing)?;
        self.made(doing, None, threads)
    }

    pub(super) fn edit_review(
        &mut self,
        doing: &Doing<'_>,
        review: &ReviewId,
        edit: &EditId,
        text: &str,
        what: What,
    ) -> Result<Performed, ForgeError> {
        if self.repo.quirks.no_edit {
            return Err(ForgeError::Unsupported("edit a summary".to_owned()));
        }
        let row = self.seen().pull(doing.pull)?.review(review)?;
        if row.edit != *edit {
            return Err(missing(edit));
        }
        own(doing.by, &row.author)?;
        if row.text.words() == text {
            return Ok(Performed::AlreadySo);
        }
        self.change(|repo| repo.edit_review(doing.pull, doing.by, review, text))?;
        self.effect(doing.by, doing.pull, what);
        Ok(Performed::Done(Made { review: Some(review.clone()), ..Made::default() }))
    }

    /// Sends one review. An own draft is taken over by the forge, so only what it lacks is sent (PUB-14).
    fn send(
        &mut self,
        doing: &Doing<'_>,
        row: Row,
        commit: &Sha,
        text: &str,
        threads: &[&NewThread<String>],
    ) -> Result<Option<ReviewId>, ForgeError> {
        let inline: Vec<Inline> =
            threads.iter().map(|new| Inline { place: new.place.clone(), text: new.text.clone() }).collect();
        let torn = self.torn();
        let post = Post { by: doing.by, row, commit, text, inline: &inline, torn };
        match self.change(|repo| repo.post(doing.pull, &post)) {
            Ok(posted) => {
                let what = match (row, &posted.review) {
                    (Row::Verdict(verdict), Some(review)) => What::Posted {
                        review: review.clone(),
                        verdict,
                        commit: commit.clone(),
                        text: text.to_owned(),
                        threads: posted.threads,
                    },
                    _ => What::Opened { threads: posted.threads },
                };
                self.effect(doing.by, doing.pull, what);
                Ok(posted.review)
            }
            Err(Torn { error, left }) => {
                if let Some(review) = left {
                    self.effect(doing.by, doing.pull, What::Drafted { review });
                }
                Err(error)
            }
        }
    }

    fn made(
        &self,
        doing: &Doing<'_>,
        review: Option<ReviewId>,
        threads: &[NewThread<String>],
    ) -> Result<Performed, ForgeError> {
        let rows = &self.repo.pull(doing.pull)?.threads;
        let id_of = |new: &NewThread<String>| {
            rows.iter().find(|row| row.is_root(doing.by, &new.place.path, &new.text)).map(|row| row.id.clone())
        };
        let threads = threads.iter().filter_map(id_of).collect();
        Ok(Performed::Done(Made { review, comment: None, threads }))
    }
}

/// The row that says all this already and still has the weight it can have.
///
/// A row that a newer one of the same or a worse verdict replaced still stands (D17); one that was dismissed, or
/// whose author was asked again, does not (PUB-20).
fn standing(
    repo: &Repo,
    doing: &Doing<'_>,
    verdict: Verdict,
    commit: &Sha,
    text: &str,
) -> Result<Option<ReviewId>, ForgeError> {
    let pull = repo.pull(doing.pull)?;
    let own: Vec<&StoredReview> = pull.reviews.iter().filter(|row| row.author == *doing.by).collect();
    let stands = |row: &StoredReview| match repo.counts(row) {
        Counts::Yes | Counts::No => true,
        Counts::Dismissed { .. } | Counts::Requested => false,
        Counts::Replaced => own.iter().any(|newer| {
            newer.at > row.at
                && repo.counts(newer) == Counts::Yes
                && matches!(newer.row, Row::Verdict(newest) if newest >= verdict)
        }),
    };
    let same = |row: &StoredReview| {
        row.row == Row::Verdict(verdict) && row.text.words() == text && row.commit == *commit && stands(row)
    };
    Ok(own.iter().find(|row| same(row)).map(|row| row.id.clone()))
}

/// Threads that are nowhere yet, not even in the own draft.
fn missing_threads<'a>(pull: &StoredPull, by: &Login, threads: &'a [NewThread<String>]) -> Vec<&'a NewThread<String>> {
    let there = |new: &NewThread<String>| pull.threads.iter().any(|row| row.is_root(by, &new.place.path, &new.text));
    threads.iter().filter(|new| !there(new)).collect()
}

fn in_draft(pull: &StoredPull, by: &Login, new: &NewThread<String>) -> bool {
    pull.threads.iter().any(|row| row.is_root(by, &new.place.path, &new.text) && pull.in_draft(row))
}
