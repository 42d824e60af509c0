//! Reading: what is asked of the server, and in which order.
//!
//! | request | why |
//! |---|---|
//! | pull | its state, its head, the own rights; its `Date` is the snapshot's clock |
//! | reviews | the verdicts and whether they count |
//! | timeline | the texts as they are now, comments, labels, pushes, requests, dismissals |
//! | inline comments of each review that has some | the threads |
//! | statuses of the head | the checks |
//! | assignees | who may write, unless everybody here is known |

mod board;
mod checks;
mod people;
mod pull;
mod raw;
mod reviews;
mod sweep;
#[cfg(test)]
mod tests;
mod threads;
mod warm;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use referee_core::model::{Board, Completeness, Login, PullNumber, Sha, Span};
use referee_http::Call;

use self::board::Issues;
use self::people::{Assignable, everybody_known};
use self::raw::Raw;
use super::hand::{Hand, clock, understand};
use super::pages::cut;
use super::{GiteaForge, routes, wire};
use crate::{Fetched, ForgeError, Reader};

/// So many wait for an answer at most; how many of them are on their way is the client's to say.
const AT_ONCE: usize = 6;

#[async_trait::async_trait]
impl Reader for GiteaForge {
    async fn fetch(&self, pull: PullNumber) -> Result<Fetched, ForgeError> {
        let raw = self.row(pull).await?;
        match self.briefly(&raw, warm::STALE).await? {
            Some(again) => Ok(again),
            None => self.whole(raw, &Assignable::new()).await,
        }
    }

    async fn fetch_anew(&self, pull: PullNumber) -> Result<Fetched, ForgeError> {
        self.whole(self.row(pull).await?, &Assignable::new()).await
    }

    async fn head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        let call = Call::new(&routes::PULL, self.places([&pull.0]));
        let row: wire::Pull = self.reader()?.read(&call, &pull.to_string()).await?;
        Ok(Sha(row.head.sha))
    }

    async fn board(&self) -> Result<Board, ForgeError> {
        self.read_board().await
    }

    async fn survey(&self) -> Result<(Board, Vec<Fetched>), ForgeError> {
        let rows = self.open_rows().await?;
        let board = self.told_board(&rows, Issues::UnlessPullsAreOpen).await?;
        let pulls = self.swept(rows).await.into_iter().map(|(_, fetched)| fetched);
        Ok((board, pulls.collect::<Result<_, _>>()?))
    }

    async fn may_push(&self, pull: PullNumber, by: &Login) -> Result<bool, ForgeError> {
        let hand = self.hand(by)?;
        // The reader's own rights are decided on already, and whose branch it is stands in what was read.
        let read = if *by == self.reader()?.login { self.shelved(pull) } else { None };
        let row = match read {
            Some(raw) => raw.pull,
            None => hand.read(&Call::new(&routes::PULL, self.places([&pull.0])), &pull.to_string()).await?,
        };
        match (pull::pushable(&row), &row.head.repo, &row.base.repo) {
            (Some(false), ..) => Ok(false),
            (_, Some(head), Some(base)) if head.id == base.id => self.lets_push(hand, &row.head.branch).await,
            _ => Ok(true),
        }
    }
}

impl GiteaForge {
    /// The pull itself, and nothing else yet.
    async fn row(&self, number: PullNumber) -> Result<Raw, ForgeError> {
        let call = Call::new(&routes::PULL, self.places([&number.0]));
        let answer = self.reader()?.ask(&call, &number.to_string()).await?;
        let pull: wire::Pull = understand(&answer, &number.to_string())?;
        if let Some(repo) = pull.base.repo.as_ref().filter(|repo| !repo.default_branch.is_empty()) {
            self.default_branch.get_or_init(|| repo.default_branch.clone());
        }
        Ok(Raw::new(pull, clock(&answer)))
    }

    /// Reads only what may have changed, if that is enough: `None` otherwise.
    async fn briefly(&self, now: &Raw, stale: Span) -> Result<Option<Fetched>, ForgeError> {
        let Some(old) = self.kept(&now.pull) else { return Ok(None) };
        let Some(raw) = self.again(self.reader()?, old, now, stale).await? else { return Ok(None) };
        self.keep(&raw);
        Ok(Some(Fetched { whole: false, ..raw.told(&self.server, self.viewer()) }))
    }

    /// Reads all the rest.
    async fn whole(&self, mut raw: Raw, assignable: &Assignable) -> Result<Fetched, ForgeError> {
        if let Some(old) = self.kept(&raw.pull) {
            raw.head_seen = old.head_seen;
        }
        let hand = self.reader()?;
        self.read_whole(hand, PullNumber(raw.pull.number), &mut raw).await?;
        if !everybody_known(&raw, &hand.login) {
            raw.assignees = assignable.get_or_try_init(|| self.assignees(hand)).await?.clone();
        }
        self.keep(&raw);
        Ok(raw.told(&self.server, self.viewer()))
    }

    async fn read_whole(&self, hand: &Hand, number: PullNumber, raw: &mut Raw) -> Result<(), ForgeError> {
        raw.reviews = raw.take(self.reviews(hand, number).await?);
        let hidden = raw.reviews.iter().map(|review| review.comments_count).sum::<u64>();
        let hidden = usize::try_from(hidden).unwrap_or(usize::MAX);
        let events = self.timeline(hand, number, None, hidden, |events| raw.has_all(events)).await?;
        raw.events = raw.take(events);
        self.read_threads(hand, number, raw).await?;
        let statuses = self.statuses(hand, &raw.pull.head.sha).await?;
        raw.statuses = raw.take(statuses);
        Ok(())
    }

    async fn read_threads(&self, hand: &Hand, number: PullNumber, raw: &mut Raw) -> Result<(), ForgeError> {
        let with_threads: Vec<(u64, u64)> = raw.reviews.iter().map(|row| (row.id, row.comments_count)).collect();
        let with_threads: Vec<_> = with_threads.into_iter().filter(|(_, count)| *count > 0).collect();
        let asked = with_threads.iter().map(|(review, _)| self.review_comments(hand, number, *review));
        for ((_, count), rows) in with_threads.iter().zip(together(asked).await) {
            let rows = rows?;
            if (rows.len() as u64) < *count {
                raw.complete = cut(&format!("the threads of {number}"));
            }
            raw.inline.extend(rows);
        }
        Ok(())
    }
}

/// Runs a few of them at once, and gives what each came to in their order.
async fn together<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting = futures.enumerate();
    let mut running: Vec<(usize, Pin<Box<F>>)> = Vec::new();
    let mut ended: Vec<(usize, F::Output)> = Vec::new();
    poll_fn(|context| {
        loop {
            running.extend(waiting.by_ref().take(AT_ONCE - running.len()).map(|(at, future)| (at, Box::pin(future))));
            let before = ended.len();
            running.retain_mut(|(at, future)| match future.as_mut().poll(context) {
                Poll::Ready(output) => {
                    ended.push((*at, output));
                    false
                }
                Poll::Pending => true,
            });
            if running.is_empty() && before == ended.len() {
                return Poll::Ready(());
            }
            // Where one ended, the next one must be polled once, or nobody wakes it.
            if before == ended.len() {
                return Poll::Pending;
            }
        }
    })
    .await;
    ended.sort_by_key(|(at, _)| *at);
    ended.into_iter().map(|(_, output)| output).collect()
}

impl Raw {
    /// The rows of a list; one that was cut off makes all of it incomplete.
    fn take<T>(&mut self, listing: super::pages::Listing<T>) -> Vec<T> {
        if let Completeness::Truncated { .. } = listing.complete {
            self.complete = listing.complete;
        }
        listing.items
    }
}
