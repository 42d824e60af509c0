//! Reviews and the threads that come with them.

use referee_core::model::{EditId, Login, ReviewId, ReviewKind, ReviewWeight, Sha, Verdict};
use referee_core::plan::NewThread;
use referee_forge::{CreatedIds, ForgeError, PerformOutcome};

use super::{ActionContext, check_own};
use crate::world::effect::EffectKind;
use crate::world::posts::{FailedPost, NewInlineComment, NewReview};
use crate::world::rows::{StoredPull, StoredRepo, StoredReview, not_found};
use crate::world::state::WorldState;

impl WorldState {
    pub(super) fn post_review(
        &mut self,
        doing: &ActionContext<'_>,
        verdict: Verdict,
        commit: &Sha,
        text: &str,
        threads: &[NewThread<String>],
    ) -> Result<PerformOutcome, ForgeError> {
        let standing = find_standing_review(self.readable_repo(), doing, verdict, commit, text)?;
        let missing = find_missing_threads(self.readable_repo().pull(doing.pull)?, doing.by, threads);
        if let Some(review) = standing {
            if missing.is_empty() {
                return Ok(PerformOutcome::AlreadySo);
            }
            self.send_review(doing, ReviewKind::Wrapper, commit, "", &missing)?;
            return self.build_done(doing, Some(review), threads);
        }
        let review = self.send_review(doing, ReviewKind::Verdict(verdict), commit, text, &missing)?;
        self.build_done(doing, review, threads)
    }

    pub(super) fn open_threads(
        &mut self,
        doing: &ActionContext<'_>,
        commit: &Sha,
        threads: &[NewThread<String>],
    ) -> Result<PerformOutcome, ForgeError> {
        let pull = self.readable_repo().pull(doing.pull)?;
        let missing = find_missing_threads(pull, doing.by, threads);
        let drafted = |thread: &NewThread<String>| is_in_draft(pull, doing.by, thread);
        if missing.is_empty() && !threads.iter().any(drafted) {
            return Ok(PerformOutcome::AlreadySo);
        }
        self.send_review(doing, ReviewKind::Wrapper, commit, "", &missing)?;
        self.build_done(doing, None, threads)
    }

    pub(super) fn edit_review(
        &mut self,
        doing: &ActionContext<'_>,
        review: &ReviewId,
        edit: &EditId,
        text: &str,
        what: EffectKind,
    ) -> Result<PerformOutcome, ForgeError> {
        if self.repo.quirks.no_edit {
            return Err(ForgeError::Unsupported("edit a summary".to_owned()));
        }
        let row = self.readable_repo().pull(doing.pull)?.review(review)?;
        if row.edit != *edit {
            return Err(not_found(edit));
        }
        check_own(doing.by, &row.author)?;
        if row.text.body_or_empty() == text {
            return Ok(PerformOutcome::AlreadySo);
        }
        self.change(|repo| repo.edit_review(doing.pull, doing.by, review, text))?;
        self.record_effect(doing.by, doing.pull, what);
        Ok(PerformOutcome::Done(CreatedIds { review: Some(review.clone()), ..CreatedIds::default() }))
    }

    /// Sends one review. An own draft is taken over by the forge, so only what it lacks is sent (PUB-14).
    fn send_review(
        &mut self,
        doing: &ActionContext<'_>,
        row: ReviewKind,
        commit: &Sha,
        text: &str,
        threads: &[&NewThread<String>],
    ) -> Result<Option<ReviewId>, ForgeError> {
        let inline: Vec<NewInlineComment> =
            threads.iter().map(|new| NewInlineComment { place: new.place.clone(), text: new.text.clone() }).collect();
        let torn = self.is_interrupted();
        let post = NewReview { by: doing.by, row, commit, text, inline: &inline, interrupted: torn };
        match self.change(|repo| repo.post_review(doing.pull, &post)) {
            Ok(posted) => {
                let what = match (row, &posted.review) {
                    (ReviewKind::Verdict(verdict), Some(review)) => EffectKind::ReviewPosted {
                        review: review.clone(),
                        verdict,
                        commit: commit.clone(),
                        text: text.to_owned(),
                        threads: posted.threads,
                    },
                    _ => EffectKind::ThreadsOpened { threads: posted.threads },
                };
                self.record_effect(doing.by, doing.pull, what);
                Ok(posted.review)
            }
            Err(FailedPost { error, leftover_draft: left }) => {
                if let Some(review) = left {
                    self.record_effect(doing.by, doing.pull, EffectKind::DraftLeft { review });
                }
                Err(error)
            }
        }
    }

    fn build_done(
        &self,
        doing: &ActionContext<'_>,
        review: Option<ReviewId>,
        threads: &[NewThread<String>],
    ) -> Result<PerformOutcome, ForgeError> {
        let rows = &self.repo.pull(doing.pull)?.threads;
        let id_of = |new: &NewThread<String>| {
            rows.iter().find(|row| row.has_root(doing.by, &new.place.path, &new.text)).map(|row| row.id.clone())
        };
        let threads = threads.iter().filter_map(id_of).collect();
        Ok(PerformOutcome::Done(CreatedIds { review, comment: None, threads }))
    }
}

/// The row that says all this already and still has the weight it can have.
///
/// A row that a newer one of the same or a worse verdict replaced still stands (D17); one that was dismissed, or
/// whose author was asked again, does not (PUB-20).
fn find_standing_review(
    repo: &StoredRepo,
    doing: &ActionContext<'_>,
    verdict: Verdict,
    commit: &Sha,
    text: &str,
) -> Result<Option<ReviewId>, ForgeError> {
    let pull = repo.pull(doing.pull)?;
    let own: Vec<&StoredReview> = pull.reviews.iter().filter(|row| row.author == *doing.by).collect();
    let stands = |row: &StoredReview| match repo.counts(row) {
        ReviewWeight::Yes | ReviewWeight::No => true,
        ReviewWeight::Dismissed { .. } | ReviewWeight::Requested => false,
        ReviewWeight::Replaced => own.iter().any(|newer| {
            newer.at > row.at
                && repo.counts(newer) == ReviewWeight::Yes
                && matches!(newer.row, ReviewKind::Verdict(newest) if newest >= verdict)
        }),
    };
    let same = |row: &StoredReview| {
        row.row == ReviewKind::Verdict(verdict)
            && row.text.body_or_empty() == text
            && row.commit == *commit
            && stands(row)
    };
    Ok(own.iter().find(|row| same(row)).map(|row| row.id.clone()))
}

/// Threads that are nowhere yet, not even in the own draft.
fn find_missing_threads<'a>(
    pull: &StoredPull,
    by: &Login,
    threads: &'a [NewThread<String>],
) -> Vec<&'a NewThread<String>> {
    let there = |new: &NewThread<String>| pull.threads.iter().any(|row| row.has_root(by, &new.place.path, &new.text));
    threads.iter().filter(|new| !there(new)).collect()
}

fn is_in_draft(pull: &StoredPull, by: &Login, new: &NewThread<String>) -> bool {
    pull.threads.iter().any(|row| row.has_root(by, &new.place.path, &new.text) && pull.is_in_draft(row))
}
