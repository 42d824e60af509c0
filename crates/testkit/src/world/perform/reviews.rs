//! Reviews and the threads that they open.

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
        ctx: &ActionContext<'_>,
        verdict: Verdict,
        commit: &Sha,
        text: &str,
        threads: &[NewThread<String>],
    ) -> Result<PerformOutcome, ForgeError> {
        let standing = find_standing_review(self.readable_repo(), ctx, verdict, commit, text)?;
        let missing = find_missing_threads(self.readable_repo().pull(ctx.pull)?, ctx.by, threads);
        if let Some(review) = standing {
            if missing.is_empty() {
                return Ok(PerformOutcome::AlreadySo);
            }
            self.send_review(ctx, ReviewKind::Wrapper, commit, "", &missing)?;
            return self.build_done(ctx, Some(review), threads);
        }
        let review = self.send_review(ctx, ReviewKind::Verdict(verdict), commit, text, &missing)?;
        self.build_done(ctx, review, threads)
    }

    pub(super) fn open_threads(
        &mut self,
        ctx: &ActionContext<'_>,
        commit: &Sha,
        threads: &[NewThread<String>],
    ) -> Result<PerformOutcome, ForgeError> {
        let pull = self.readable_repo().pull(ctx.pull)?;
        let missing = find_missing_threads(pull, ctx.by, threads);
        let in_draft = |thread: &NewThread<String>| is_in_draft(pull, ctx.by, thread);
        if missing.is_empty() && !threads.iter().any(in_draft) {
            return Ok(PerformOutcome::AlreadySo);
        }
        self.send_review(ctx, ReviewKind::Wrapper, commit, "", &missing)?;
        self.build_done(ctx, None, threads)
    }

    pub(super) fn edit_review(
        &mut self,
        ctx: &ActionContext<'_>,
        review: &ReviewId,
        edit: &EditId,
        text: &str,
        effect: EffectKind,
    ) -> Result<PerformOutcome, ForgeError> {
        if self.repo.quirks.no_edit {
            return Err(ForgeError::Unsupported("edit a summary".to_owned()));
        }
        let row = self.readable_repo().pull(ctx.pull)?.review(review)?;
        if row.edit != *edit {
            return Err(not_found(edit));
        }
        check_own(ctx.by, &row.author)?;
        if row.text.body_or_empty() == text {
            return Ok(PerformOutcome::AlreadySo);
        }
        self.change(|repo| repo.edit_review(ctx.pull, ctx.by, review, text))?;
        self.record_effect(ctx.by, ctx.pull, effect);
        Ok(PerformOutcome::Done(CreatedIds { review: Some(review.clone()), ..CreatedIds::default() }))
    }

    /// Sends one review. The forge adopts the user's draft, so only the missing threads are sent (PUB-14).
    fn send_review(
        &mut self,
        ctx: &ActionContext<'_>,
        row: ReviewKind,
        commit: &Sha,
        text: &str,
        threads: &[&NewThread<String>],
    ) -> Result<Option<ReviewId>, ForgeError> {
        let inline: Vec<NewInlineComment> =
            threads.iter().map(|new| NewInlineComment { place: new.place.clone(), text: new.text.clone() }).collect();
        let interrupted = self.is_interrupted();
        let post = NewReview { by: ctx.by, row, commit, text, inline: &inline, interrupted };
        match self.change(|repo| repo.post_review(ctx.pull, &post)) {
            Ok(posted) => {
                let effect = match (row, &posted.review) {
                    (ReviewKind::Verdict(verdict), Some(review)) => EffectKind::ReviewPosted {
                        review: review.clone(),
                        verdict,
                        commit: commit.clone(),
                        text: text.to_owned(),
                        threads: posted.threads,
                    },
                    _ => EffectKind::ThreadsOpened { threads: posted.threads },
                };
                self.record_effect(ctx.by, ctx.pull, effect);
                Ok(posted.review)
            }
            Err(FailedPost { error, leftover_draft }) => {
                if let Some(review) = leftover_draft {
                    self.record_effect(ctx.by, ctx.pull, EffectKind::DraftLeft { review });
                }
                Err(error)
            }
        }
    }

    fn build_done(
        &self,
        ctx: &ActionContext<'_>,
        review: Option<ReviewId>,
        threads: &[NewThread<String>],
    ) -> Result<PerformOutcome, ForgeError> {
        let rows = &self.repo.pull(ctx.pull)?.threads;
        let id_of = |new: &NewThread<String>| {
            rows.iter().find(|row| row.has_root(ctx.by, &new.place.path, &new.text)).map(|row| row.id.clone())
        };
        let threads = threads.iter().filter_map(id_of).collect();
        Ok(PerformOutcome::Done(CreatedIds { review, comment: None, threads }))
    }
}

/// Finds a review with the same content that still has all the weight it can have.
///
/// A review that a newer one of the same or a worse verdict replaced still stands (D17). A dismissed one, or one whose
/// author was asked again, does not (PUB-20).
fn find_standing_review(
    repo: &StoredRepo,
    ctx: &ActionContext<'_>,
    verdict: Verdict,
    commit: &Sha,
    text: &str,
) -> Result<Option<ReviewId>, ForgeError> {
    let pull = repo.pull(ctx.pull)?;
    let own: Vec<&StoredReview> = pull.reviews.iter().filter(|row| row.author == *ctx.by).collect();
    let stands = |row: &StoredReview| match repo.counts(row) {
        ReviewWeight::Yes | ReviewWeight::No => true,
        ReviewWeight::Dismissed { .. } | ReviewWeight::Requested => false,
        ReviewWeight::Replaced => own.iter().any(|newer| {
            newer.at > row.at
                && repo.counts(newer) == ReviewWeight::Yes
                && matches!(newer.row, ReviewKind::Verdict(newest) if newest >= verdict)
        }),
    };
    let matches_post = |row: &StoredReview| {
        row.row == ReviewKind::Verdict(verdict)
            && row.text.body_or_empty() == text
            && row.commit == *commit
            && stands(row)
    };
    Ok(own.iter().find(|row| matches_post(row)).map(|row| row.id.clone()))
}

/// Returns the threads that do not exist yet, not even in the user's draft.
fn find_missing_threads<'a>(
    pull: &StoredPull,
    by: &Login,
    threads: &'a [NewThread<String>],
) -> Vec<&'a NewThread<String>> {
    let exists = |new: &NewThread<String>| pull.threads.iter().any(|row| row.has_root(by, &new.place.path, &new.text));
    threads.iter().filter(|new| !exists(new)).collect()
}

fn is_in_draft(pull: &StoredPull, by: &Login, new: &NewThread<String>) -> bool {
    pull.threads.iter().any(|row| row.has_root(by, &new.place.path, &new.text) && pull.is_in_draft(row))
}
