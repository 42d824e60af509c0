//! Reading a pull, in the order of the requests:
//!
//! | request | purpose |
//! |---|---|
//! | pull | its state, its head, the reader's rights; the `Date` header is the snapshot's clock |
//! | reviews | verdicts, and whether they count |
//! | timeline | current texts, comments, labels, pushes, review requests, dismissals |
//! | inline comments of each review that has some | threads |
//! | statuses of the head | checks |
//! | assignees | who has write access, unless that is known for everybody involved, or was read within the last minute |
//!
//! Where everything is read again and the head is known from an earlier read, the pull comes last. A write may then follow
//! without another check of the head (PUB-15).

mod access;
mod board;
mod checks;
mod incremental;
mod open_pulls;
mod pull;
mod pull_rows;
mod reviews;
#[cfg(test)]
mod tests;
mod threads;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use referee_core::model::{Board, Completeness, Login, Pull, PullNumber, Sha, Span};
use referee_http::{RequestCounts, RouteRequest};
use std::collections::BTreeMap;

use self::access::{AssignableUsers, are_all_writers_known};
use self::board::IssueSelection;
use self::pull_rows::PullRows;
use super::account::{GiteaAccount, parse_response, server_time};
use super::pages::{Listing, MAX_ROW_BYTES};
use super::{GiteaForge, routes, wire};
use crate::{BranchTip, FetchedPull, ForgeError, ForgeInfo, ListedPull, Reader, Reuse, ServerFacts};

/// How many requests are started at once. The client limits how many of them are sent concurrently.
const MAX_CONCURRENT_READS: usize = 6;

#[async_trait::async_trait]
impl Reader for GiteaForge {
    fn info(&self) -> ForgeInfo {
        self.describe()
    }

    async fn fetch_reusing(&self, pull: PullNumber, reuse: Reuse<'_>) -> Result<FetchedPull, ForgeError> {
        let assignable = AssignableUsers::new();
        if let Some(fetched) = self.fetch_with_head_last(pull, reuse, &assignable).await? {
            return Ok(fetched);
        }
        let raw = self.fetch_pull_row(pull).await?;
        self.fetch_rest(raw, reuse, &assignable).await
    }

    async fn fetch_head(&self, pull: PullNumber) -> Result<Sha, ForgeError> {
        let call =
            RouteRequest::new(&routes::PULL, self.route_params([&pull.0])).with_max_response_bytes(MAX_ROW_BYTES);
        let row: wire::Pull = self.reader_account()?.send_and_parse(&call, &pull.to_string()).await?;
        Ok(Sha(row.head.sha))
    }

    async fn fetch_board(&self) -> Result<Board, ForgeError> {
        self.read_board().await
    }

    async fn fetch_board_and_pulls(&self, reuse: Reuse<'_>) -> Result<(Board, Vec<FetchedPull>), ForgeError> {
        let rows = self.list_open_rows().await?;
        let board = self.build_board(&rows, IssueSelection::UnlessPullsAreOpen).await?;
        Ok((board, self.fetch_listed_pulls(rows, reuse).await?))
    }

    async fn may_push(&self, pull: PullNumber, by: &Login, reuse: Reuse<'_>) -> Result<bool, ForgeError> {
        let account = self.find_account(by)?;
        // The reader's rights and the repository of the branch are known from the read that was just made.
        let read = if *by == self.reader_account()?.login { PullRows::from_reuse(pull, reuse) } else { None };
        let row = match read {
            Some(raw) => raw.pull,
            None => {
                account
                    .send_and_parse(&RouteRequest::new(&routes::PULL, self.route_params([&pull.0])), &pull.to_string())
                    .await?
            }
        };
        match (pull::is_pushable(&row), &row.head.repo, &row.base.repo) {
            (Some(false), ..) => Ok(false),
            (_, Some(head), Some(base)) if head.id == base.id => {
                self.branch_allows_push(account, &row.head.branch).await
            }
            _ => Ok(true),
        }
    }

    async fn list_open_pulls(&self) -> Result<Vec<ListedPull>, ForgeError> {
        self.read_open_pulls().await
    }

    async fn fetch_default_branch(&self) -> Result<BranchTip, ForgeError> {
        self.read_default_branch().await
    }

    async fn fetch_trusted_base(&self, pull: &Pull) -> Result<BranchTip, ForgeError> {
        self.read_trusted_base(pull).await
    }

    async fn fetch_labels(&self) -> Result<BTreeMap<u64, String>, ForgeError> {
        self.read_labels().await
    }

    fn request_counts(&self) -> RequestCounts {
        self.count_requests()
    }

    fn server_facts(&self) -> Option<ServerFacts> {
        Some(self.facts())
    }
}

impl GiteaForge {
    /// Reads the row of the pull alone.
    async fn fetch_pull_row(&self, number: PullNumber) -> Result<PullRows, ForgeError> {
        let call =
            RouteRequest::new(&routes::PULL, self.route_params([&number.0])).with_max_response_bytes(MAX_ROW_BYTES);
        let answer = self.reader_account()?.send(&call, &number.to_string()).await?;
        let pull: wire::Pull = parse_response(&answer, &number.to_string())?;
        if let Some(repo) = pull.base.repo.as_ref().filter(|repo| !repo.default_branch.is_empty()) {
            self.default_branch.get_or_init(|| repo.default_branch.clone());
        }
        Ok(PullRows::new(pull, server_time(&answer)))
    }

    /// Reads the rest of a pull: what may have changed since an earlier read if that is enough, otherwise everything.
    async fn fetch_rest(
        &self,
        mut raw: PullRows,
        reuse: Reuse<'_>,
        assignable: &AssignableUsers,
    ) -> Result<FetchedPull, ForgeError> {
        let account = self.reader_account()?;
        let earlier = PullRows::from_reuse(PullNumber(raw.pull.number), reuse);
        raw.assignees = earlier.as_ref().and_then(|old| old.recent_assignees(raw.taken_at));
        if let (Some(old), Reuse::Since { max_age, .. }) =
            (earlier.filter(|old| old.pull.head.sha == raw.pull.head.sha), reuse)
        {
            raw.head_seen = old.head_seen;
            let again = match self.reread_changes(account, old, &raw, max_age).await {
                Err(ForgeError::TooLarge(_)) => None,
                again => again?,
            };
            if let Some(again) = again {
                return Ok(FetchedPull { is_fresh: false, ..again.to_fetched(&self.server, self.viewer()) });
            }
        }
        self.read_pull_rows(account, PullNumber(raw.pull.number), &mut raw).await?;
        self.add_assignees(account, &mut raw, assignable).await?;
        Ok(raw.to_fetched(&self.server, self.viewer()))
    }

    /// Reads everything, the pull last; `None` if its head is unknown or moved meanwhile, or if less than everything may be
    /// read.
    async fn fetch_with_head_last(
        &self,
        number: PullNumber,
        reuse: Reuse<'_>,
        assignable: &AssignableUsers,
    ) -> Result<Option<FetchedPull>, ForgeError> {
        let Reuse::Since { max_age: Span(0), .. } = reuse else { return Ok(None) };
        let Some(old) = PullRows::from_reuse(number, reuse) else { return Ok(None) };
        let account = self.reader_account()?;
        let mut raw = PullRows::new(old.pull.clone(), old.taken_at);
        self.read_pull_rows(account, number, &mut raw).await?;
        let PullRows { pull, taken_at, .. } = self.fetch_pull_row(number).await?;
        let same_head = pull.head.sha == old.pull.head.sha;
        (raw.pull, raw.taken_at, raw.whole_at, raw.head_seen) = (pull, taken_at, taken_at, old.head_seen);
        if !same_head || !raw.has_expected_events(&raw.events) {
            return Ok(None);
        }
        raw.assignees = old.recent_assignees(taken_at);
        let head_read_last = !self.add_assignees(account, &mut raw, assignable).await?;
        Ok(Some(FetchedPull { head_read_last, ..raw.to_fetched(&self.server, self.viewer()) }))
    }

    /// Adds the assignable users if they are needed; returns whether they were.
    async fn add_assignees(
        &self,
        account: &GiteaAccount,
        raw: &mut PullRows,
        assignable: &AssignableUsers,
    ) -> Result<bool, ForgeError> {
        let needed = raw.assignees.is_none() && !are_all_writers_known(raw, &account.login);
        if needed {
            let users = assignable.get_or_try_init(|| self.read_assignable_users(account)).await?;
            raw.assignees = Some(users.clone());
        }
        Ok(needed)
    }

    async fn read_pull_rows(
        &self,
        account: &GiteaAccount,
        number: PullNumber,
        raw: &mut PullRows,
    ) -> Result<(), ForgeError> {
        let reviews = self.read_reviews(account, number).await;
        let hidden_drafts = reviews.as_ref().map_or(0, Listing::count_hidden_rows);
        raw.reviews = raw.take_rows(PullPart::Reviews, reviews)?;
        let hidden = raw.reviews.iter().map(|review| review.comments_count).sum::<u64>();
        let hidden = usize::try_from(hidden).unwrap_or(usize::MAX);
        let events = self.read_timeline(account, number, None, hidden, |events| raw.has_expected_events(events)).await;
        raw.events = raw.take_rows(PullPart::Other, events)?;
        self.check_reviews(account, number, raw, hidden_drafts).await?;
        self.read_threads(account, number, raw).await?;
        let statuses = self.read_statuses(account, &raw.pull.head.sha).await;
        raw.statuses = raw.take_rows(PullPart::Other, statuses)?;
        Ok(())
    }

    /// Checks that the list of reviews has every review that the timeline shows. An empty answer of a proxy or a broken
    /// server would look like a pull without reviews, and everything would be posted again.
    async fn check_reviews(
        &self,
        account: &GiteaAccount,
        number: PullNumber,
        raw: &mut PullRows,
        hidden_drafts: usize,
    ) -> Result<(), ForgeError> {
        if raw.complete != Completeness::Complete || raw.lists_shown_reviews(&account.login, hidden_drafts) {
            return Ok(());
        }
        // A review may have been posted between the two reads.
        let reviews = self.read_reviews(account, number).await;
        let hidden_drafts = reviews.as_ref().map_or(0, Listing::count_hidden_rows);
        raw.reviews = raw.take_rows(PullPart::Reviews, reviews)?;
        if raw.lists_shown_reviews(&account.login, hidden_drafts) {
            return Ok(());
        }
        Err(ForgeError::Unreadable(format!("the reviews of {number}: the list lacks reviews that the timeline shows")))
    }

    async fn read_threads(
        &self,
        account: &GiteaAccount,
        number: PullNumber,
        raw: &mut PullRows,
    ) -> Result<(), ForgeError> {
        let with_threads: Vec<(u64, u64)> = raw.reviews.iter().map(|row| (row.id, row.comments_count)).collect();
        let with_threads: Vec<_> = with_threads.into_iter().filter(|(_, count)| *count > 0).collect();
        let asked = with_threads.iter().map(|(review, _)| self.read_review_comments(account, number, *review));
        for ((_, count), rows) in with_threads.iter().zip(run_concurrently(asked).await) {
            let rows = match rows {
                Err(ForgeError::TooLarge(_)) => Vec::new(),
                rows => rows?,
            };
            if (rows.len() as u64) < *count {
                raw.mark_truncated(PullPart::Other, &format!("the threads of {number}"));
            }
            raw.inline.extend(rows);
        }
        Ok(())
    }
}

/// Runs several futures at a time and returns their outputs in order.
async fn run_concurrently<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting = futures.enumerate();
    let mut running: Vec<(usize, Pin<Box<F>>)> = Vec::new();
    let mut ended: Vec<(usize, F::Output)> = Vec::new();
    poll_fn(|context| {
        loop {
            running.extend(
                waiting.by_ref().take(MAX_CONCURRENT_READS - running.len()).map(|(at, future)| (at, Box::pin(future))),
            );
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
            // When one future ends, the next one must be polled once, or it is never woken.
            if before == ended.len() {
                return Poll::Pending;
            }
        }
    })
    .await;
    ended.sort_by_key(|(at, _)| *at);
    ended.into_iter().map(|(_, output)| output).collect()
}

/// A part of a pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PullPart {
    Reviews,
    Other,
}

impl PullRows {
    /// Returns the rows of a list. One that is truncated or too large marks the whole read as truncated.
    fn take_rows<T>(&mut self, part: PullPart, listing: Result<Listing<T>, ForgeError>) -> Result<Vec<T>, ForgeError> {
        let (rows, complete) = match listing {
            Ok(listing) => (listing.items, listing.complete),
            Err(ForgeError::TooLarge(what)) => (Vec::new(), Completeness::truncated(what)),
            Err(error) => return Err(error),
        };
        if let Completeness::Truncated { what, .. } = complete {
            self.mark_truncated(part, &what);
        }
        Ok(rows)
    }

    fn mark_truncated(&mut self, part: PullPart, what: &str) {
        let read = |complete: &Completeness| match complete {
            Completeness::Complete => true,
            Completeness::Truncated { own_reviews_read, .. } => *own_reviews_read,
        };
        let own_reviews_read = part != PullPart::Reviews && read(&self.complete);
        self.complete = Completeness::Truncated { what: what.to_owned(), own_reviews_read };
    }
}
