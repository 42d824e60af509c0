//! Paging, and whether a list was read completely.

use referee_core::model::{Completeness, Time};
use referee_http::{Response, RouteRequest};
use serde::de::DeserializeOwned;

use super::account::{GiteaAccount, parse_response, server_time};
use super::wire::Event;
use crate::ForgeError;

/// Rows per page: the servers' default maximum.
pub(super) const PAGE_SIZE: usize = 50;
/// A longer list is cut off and reported as truncated.
const MAX_PAGES: usize = 100;
/// Rows that the timeline may omit beside the known inline comments: inline comments in other people's drafts,
/// references from repositories that the token may not see.
const HIDDEN_ROWS_MARGIN: usize = 10;

/// The rows of a list.
#[derive(Clone, Debug)]
pub(super) struct Listing<T> {
    pub(super) items: Vec<T>,
    pub(super) complete: Completeness,
    /// The server's clock when the first page was read.
    pub(super) taken_at: Time,
}

impl GiteaAccount {
    /// Reads all pages of a list that reports its length in `X-Total-Count`. `open` returns the rows of a page.
    ///
    /// A short page is not the last one: the server filters out rows that the token may not see after paging, and still
    /// counts them.
    pub(super) async fn read_pages<P: DeserializeOwned, T>(
        &self,
        call: &RouteRequest<'_>,
        what: &str,
        open: impl Fn(P) -> Vec<T>,
    ) -> Result<Listing<T>, ForgeError> {
        let mut list = Listing::new(what);
        let mut counted: Option<usize> = None;
        for page in 1..=MAX_PAGES {
            // Some versions ignore `limit` without `page`.
            let answer = self.send(&call.clone().with_query("page", page).with_query("limit", PAGE_SIZE), what).await?;
            let total = parse_total_count(&answer);
            let empty = !list.add_page(&answer, open(parse_response(&answer, what)?));
            if counted.zip(total).is_some_and(|(before, now)| now < before) {
                // A row was deleted meanwhile, so another may have moved to a page that was already read.
                return Ok(list);
            }
            counted = total.or(counted);
            let reached = counted.is_none_or(|total| page * PAGE_SIZE >= total);
            if counted.is_some_and(|total| list.items.len() >= total) || (empty && reached) {
                return Ok(list.mark_complete());
            }
        }
        Ok(list)
    }

    /// Reads a list that fits on one page; `None` if it does not fit.
    pub(super) async fn read_single_page<T: DeserializeOwned>(
        &self,
        call: &RouteRequest<'_>,
        what: &str,
    ) -> Result<Option<Listing<T>>, ForgeError> {
        let answer = self.send(&call.clone().with_query("page", 1).with_query("limit", PAGE_SIZE), what).await?;
        let mut list = Listing::new(what);
        list.add_page(&answer, parse_response(&answer, what)?);
        Ok((parse_total_count(&answer) == Some(list.items.len())).then(|| list.mark_complete()))
    }

    /// Reads the timeline. The server reports no length and filters out inline comments after paging, so a page can be
    /// short or empty without being the last one. `hidden` is the number of inline comments; `whole` tells whether all
    /// expected rows are present.
    pub(super) async fn read_timeline(
        &self,
        call: &RouteRequest<'_>,
        what: &str,
        hidden: usize,
        whole: impl Fn(&[Event]) -> bool,
    ) -> Result<Listing<Event>, ForgeError> {
        let mut list: Listing<Event> = Listing::new(what);
        let mut empty_before = false;
        for page in 1..=MAX_PAGES {
            let answer = self.send(&call.clone().with_query("page", page).with_query("limit", PAGE_SIZE), what).await?;
            let empty = !list.add_page(&answer, parse_response(&answer, what)?);
            let room = (page * PAGE_SIZE).checked_sub(list.items.len() + hidden);
            let likely = empty || room.is_some_and(|room| room >= HIDDEN_ROWS_MARGIN);
            let ended = room.is_some() && ((likely && whole(&list.items)) || (empty && empty_before));
            empty_before = empty;
            if ended {
                return Ok(list.mark_complete());
            }
        }
        Ok(list)
    }
}

fn parse_total_count(answer: &Response) -> Option<usize> {
    answer.header("x-total-count")?.parse().ok()
}

impl<T> Listing<T> {
    pub(super) fn map_items<U>(self, change: impl FnOnce(Vec<T>) -> Vec<U>) -> Listing<U> {
        Listing { items: change(self.items), complete: self.complete, taken_at: self.taken_at }
    }

    fn new(what: &str) -> Self {
        Self { items: Vec::new(), complete: truncation(what), taken_at: Time::default() }
    }

    /// Adds a page; returns whether it had rows.
    fn add_page(&mut self, answer: &Response, rows: Vec<T>) -> bool {
        if self.taken_at == Time::default() {
            self.taken_at = server_time(answer);
        }
        let before = self.items.len();
        self.items.extend(rows);
        self.items.len() > before
    }

    fn mark_complete(self) -> Self {
        Self { complete: Completeness::Complete, ..self }
    }
}

pub(super) fn truncation(what: &str) -> Completeness {
    Completeness::Truncated { what: what.to_owned() }
}
