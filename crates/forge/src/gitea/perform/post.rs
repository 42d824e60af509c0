//! Reviews, and threads beside them.
//!
//! Two threads on one line of one review are one conversation to the server and cannot be told apart. So the second one
//! on a line comes in a review of its own: a comment without words, which nobody takes for a review. Every thread has
//! its own root that way, whatever was posted with it.

use referee_core::mark::Sealed;
use referee_core::model::{ReviewId, Sha, Verdict};
use referee_core::plan::NewThread;

use super::Pen;
use super::own::{Own, Spot, event, hidden, spot};
use super::send::{Post, Sending};
use crate::gitea::wire::{Event, Review, time};
use crate::{ForgeError, Made, Performed};

impl Pen<'_> {
    pub(super) async fn post_review(
        &self,
        verdict: Verdict,
        commit: &Sha,
        text: &str,
        threads: &[NewThread<Sealed>],
    ) -> Result<Performed, ForgeError> {
        let threads: Vec<&NewThread<Sealed>> = threads.iter().collect();
        let own = self.own(commit).await?;
        let standing = self.standing(&own, verdict, commit, text).await?;
        let left = own.missing(&threads);
        if standing.is_some() && left.is_empty() && !own.waits(&threads) {
            return Ok(Performed::AlreadySo);
        }
        let mut sending = Sending { pen: self, commit, own, dropped: Vec::new() };
        let review = match standing {
            Some(review) => {
                self.open(&mut sending, &left).await?;
                review
            }
            None => {
                let mut layers = layers(&left, &sending.own.taken());
                let first = if layers.is_empty() { Vec::new() } else { layers.remove(0) };
                let review = sending.send(&Post { event: event(verdict), body: text }, first).await?;
                for layer in layers {
                    sending.send(&Post::WRAPPER, layer).await?;
                }
                review
            }
        };
        self.complete(&mut sending, &threads).await?;
        let threads = sending.own.ids(&threads);
        Ok(Performed::Done(Made { review: Some(ReviewId(review.to_string())), comment: None, threads }))
    }

    pub(super) async fn open_threads(
        &self,
        commit: &Sha,
        threads: &[NewThread<Sealed>],
    ) -> Result<Performed, ForgeError> {
        let threads: Vec<&NewThread<Sealed>> = threads.iter().collect();
        let own = self.own(commit).await?;
        let left = own.missing(&threads);
        if left.is_empty() && !own.waits(&threads) {
            return Ok(Performed::AlreadySo);
        }
        let mut sending = Sending { pen: self, commit, own, dropped: Vec::new() };
        self.open(&mut sending, &left).await?;
        self.complete(&mut sending, &threads).await?;
        Ok(Performed::Done(Made { threads: sending.own.ids(&threads), ..Made::default() }))
    }

    /// Opens threads that are nowhere yet; what waits in a draft comes out with them.
    async fn open<'t>(&self, sending: &mut Sending<'_, 't>, left: &[&'t NewThread<Sealed>]) -> Result<(), ForgeError> {
        let layers = layers(left, &sending.own.taken());
        if layers.first().is_none_or(Vec::is_empty) {
            sending.submit().await?;
        }
        for layer in layers.into_iter().filter(|layer| !layer.is_empty()) {
            sending.send(&Post::WRAPPER, layer).await?;
        }
        Ok(())
    }

    /// Opens what was sent and is not there: of two posts of one identity at one moment the server mixes up the inline
    /// comments, so they are looked for in all rows first.
    async fn complete<'t>(
        &self,
        sending: &mut Sending<'_, 't>,
        threads: &[&'t NewThread<Sealed>],
    ) -> Result<(), ForgeError> {
        if sending.missing(threads).is_empty() {
            return Ok(());
        }
        sending.own = self.own(sending.commit).await?;
        match sending.missing(threads) {
            left if left.is_empty() => Ok(()),
            left => self.open(sending, &left).await,
        }
    }

    /// The own row that says all this already.
    async fn standing(&self, own: &Own, verdict: Verdict, commit: &Sha, text: &str) -> Result<Option<u64>, ForgeError> {
        let same =
            |row: &&Review| row.state == event(verdict) && row.commit_id == commit.as_str() && own.stands(row, verdict);
        let rows: Vec<&Review> = own.rows.iter().filter(same).collect();
        let Some(first) = rows.iter().map(|row| time(&row.submitted_at)).min() else { return Ok(None) };
        // The list has the words that a row was posted with; the current ones are in the timeline alone.
        let is_of = |event: &Event, row: &Review| event.kind == "review" && event.review_id == row.id;
        let found = |events: &[Event]| rows.iter().all(|row| events.iter().any(|event| is_of(event, row)));
        let hidden = hidden(rows.iter().copied());
        let events = self.forge.timeline(self.hand, self.pull, Some(first), hidden, found).await?.items;
        let says = |row: &&&Review| events.iter().any(|event| is_of(event, row) && event.body == text);
        Ok(rows.iter().find(says).map(|row| row.id))
    }
}

/// The threads in as many reviews as it takes that no line has two in one; the first of them joins what is `taken`.
fn layers<'t>(threads: &[&'t NewThread<Sealed>], taken: &[Spot<'_>]) -> Vec<Vec<&'t NewThread<Sealed>>> {
    let mut layers: Vec<Vec<&NewThread<Sealed>>> = Vec::new();
    for (index, thread) in threads.iter().enumerate() {
        let here = spot(&thread.place);
        let before = threads.iter().take(index).filter(|other| spot(&other.place) == here).count();
        let depth = before + usize::from(taken.contains(&here));
        if layers.len() <= depth {
            layers.resize_with(depth + 1, Vec::new);
        }
        layers[depth].push(thread);
    }
    layers
}
