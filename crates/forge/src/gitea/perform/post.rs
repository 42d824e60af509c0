//! Posting reviews and threads.
//!
//! The server merges two threads on one line of one review into one conversation. So the second thread on a line is
//! posted in a review of its own, with an empty body, which does not count as a review. That way every thread has its
//! own root.

use referee_core::mark::SealedText;
use referee_core::model::{ReviewId, Sha, Verdict};
use referee_core::plan::NewThread;

use super::GiteaWriter;
use super::own_posts::{CommentLine, OwnPosts, comment_line, count_inline_comments, verdict_word};
use super::send::{ReviewPost, ReviewSender};
use crate::gitea::wire::{Event, Review, parse_time};
use crate::{CreatedIds, ForgeError, PerformOutcome};

impl GiteaWriter<'_> {
    pub(super) async fn post_review(
        &self,
        verdict: Verdict,
        commit: &Sha,
        text: &str,
        threads: &[NewThread<SealedText>],
    ) -> Result<PerformOutcome, ForgeError> {
        let threads: Vec<&NewThread<SealedText>> = threads.iter().collect();
        let own = self.load_own_posts(commit).await?;
        let equal = self.find_equal_review(&own, verdict, commit, text).await?;
        let left = own.find_missing(&threads);
        if equal.is_some() && left.is_empty() && !own.has_drafted(&threads) {
            return Ok(PerformOutcome::AlreadySo);
        }
        let mut sending =
            ReviewSender { writer: self, commit, own_posts: own, dropped: Vec::new(), counted: Vec::new() };
        let review = match equal {
            Some(review) => {
                self.open_missing_threads(&mut sending, &left).await?;
                review
            }
            None => {
                let mut layers = split_into_layers(&left, &sending.own_posts.drafted_lines());
                let first = if layers.is_empty() { Vec::new() } else { layers.remove(0) };
                let review =
                    sending.send_review(&ReviewPost { event: verdict_word(verdict), body: text }, first).await?;
                // The review is posted; a thread that the server refuses is explained in its text.
                match sending.send_threads(layers).await {
                    Ok(()) | Err(ForgeError::Refused(_)) => review,
                    Err(error) => return Err(error),
                }
            }
        };
        self.complete_threads(&mut sending, &threads).await?;
        let threads = sending.own_posts.thread_ids(&threads);
        Ok(PerformOutcome::Done(CreatedIds { review: Some(ReviewId(review.to_string())), comment: None, threads }))
    }

    pub(super) async fn open_threads(
        &self,
        commit: &Sha,
        threads: &[NewThread<SealedText>],
    ) -> Result<PerformOutcome, ForgeError> {
        let threads: Vec<&NewThread<SealedText>> = threads.iter().collect();
        let own = self.load_own_posts(commit).await?;
        let left = own.find_missing(&threads);
        if left.is_empty() && !own.has_drafted(&threads) {
            return Ok(PerformOutcome::AlreadySo);
        }
        let mut sending =
            ReviewSender { writer: self, commit, own_posts: own, dropped: Vec::new(), counted: Vec::new() };
        self.open_missing_threads(&mut sending, &left).await?;
        self.complete_threads(&mut sending, &threads).await?;
        Ok(PerformOutcome::Done(CreatedIds {
            threads: sending.own_posts.thread_ids(&threads),
            ..CreatedIds::default()
        }))
    }

    /// Opens threads that are not stored yet, and publishes a draft along with them.
    async fn open_missing_threads<'t>(
        &self,
        sending: &mut ReviewSender<'_, 't>,
        left: &[&'t NewThread<SealedText>],
    ) -> Result<(), ForgeError> {
        let layers = split_into_layers(left, &sending.own_posts.drafted_lines());
        if layers.first().is_none_or(Vec::is_empty) {
            sending.submit_draft().await?;
        }
        sending.send_threads(layers).await
    }

    /// Opens threads that were sent and are missing. The server mixes up the inline comments of two simultaneous posts
    /// of one identity, so all reviews are searched first.
    async fn complete_threads<'t>(
        &self,
        sending: &mut ReviewSender<'_, 't>,
        threads: &[&'t NewThread<SealedText>],
    ) -> Result<(), ForgeError> {
        if sending.find_missing(threads).is_empty() {
            return Ok(());
        }
        sending.own_posts = self.read_own_posts(sending.commit).await?;
        match sending.find_missing(threads) {
            left if left.is_empty() => Ok(()),
            left => self.open_missing_threads(sending, &left).await,
        }
    }

    /// Finds a review of this identity with the same content that is not in the plan's basis: an earlier attempt at
    /// this post. Whether a review that the plan knows still stands is core's decision (D17).
    async fn find_equal_review(
        &self,
        own: &OwnPosts,
        verdict: Verdict,
        commit: &Sha,
        text: &str,
    ) -> Result<Option<u64>, ForgeError> {
        let same = |row: &&Review| {
            row.state == verdict_word(verdict) && row.commit_id == commit.as_str() && !self.is_known(row)
        };
        let rows: Vec<&Review> = own.reviews.iter().filter(same).collect();
        let Some(first) = rows.iter().map(|row| parse_time(&row.submitted_at)).min() else { return Ok(None) };
        // The list of reviews has the text as first posted; only the timeline has the current one.
        let is_of = |event: &Event, row: &Review| event.kind == "review" && event.review_id == row.id;
        let found = |events: &[Event]| rows.iter().all(|row| events.iter().any(|event| is_of(event, row)));
        let hidden = count_inline_comments(rows.iter().copied());
        let events = self.forge.read_timeline(self.account, self.pull, Some(first), hidden, found).await?.items;
        let says = |row: &&&Review| events.iter().any(|event| is_of(event, row) && event.body == text);
        Ok(rows.iter().find(says).map(|row| row.id))
    }
}

/// Distributes threads over reviews so that no line has two in one review. The first review also publishes the draft,
/// whose lines are `taken`.
fn split_into_layers<'t>(
    threads: &[&'t NewThread<SealedText>],
    taken: &[CommentLine<'_>],
) -> Vec<Vec<&'t NewThread<SealedText>>> {
    let mut layers: Vec<Vec<&NewThread<SealedText>>> = Vec::new();
    for (index, thread) in threads.iter().enumerate() {
        let here = comment_line(&thread.place);
        let before = threads.iter().take(index).filter(|other| comment_line(&other.place) == here).count();
        let depth = before + usize::from(taken.contains(&here));
        if layers.len() <= depth {
            layers.resize_with(depth + 1, Vec::new);
        }
        layers[depth].push(thread);
    }
    layers
}
