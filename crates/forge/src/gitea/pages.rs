//! Paging, and whether a list was read completely.
//!
//! Anybody can write rows of any size and number (D43). A page whose response is too long is read again in smaller pages,
//! down to single rows; long texts are cut while they arrive; a list beyond the limits here is reported as truncated.

use referee_core::model::{Completeness, Time};
use referee_http::{Response, RouteRequest};
use serde::de::DeserializeOwned;

use super::account::{GiteaAccount, parse_response, server_time};
use super::wire::Event;
use crate::ForgeError;

/// Rows per page: the servers' default maximum.
pub(super) const PAGE_SIZE: usize = 50;
/// Each divides the one before, so that smaller pages cover exactly the rows of a larger one.
const SMALLER_PAGE_SIZES: [usize; 3] = [25, 5, 1];
/// A single row cannot be split further. Its long texts are dropped while it arrives, so this does not cost memory.
pub(super) const MAX_ROW_BYTES: usize = 256 << 20;
/// A longer list is cut off and reported as truncated.
const MAX_PAGES: usize = 400;
/// The same for a list whose responses, without what was cut, are longer than so many times the longest response.
const MAX_LIST_RESPONSES: usize = 2;
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
    /// The length of the responses.
    bytes: usize,
    /// How many rows the server counted; `None` if it does not say.
    total_count: Option<usize>,
}

/// The rows of one page.
struct Page<T> {
    rows: Vec<T>,
    total_count: Option<usize>,
    taken_at: Time,
    bytes: usize,
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
            let read = self.read_page(call, what, page, &open).await?;
            let total = read.total_count;
            let empty = !list.add_page(read);
            if self.exceeds_list_limit(&list) {
                return Ok(list);
            }
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
        let page = self.read_page(call, what, 1, &|rows: Vec<T>| rows).await?;
        let mut list = Listing::new(what);
        let total = page.total_count;
        list.add_page(page);
        Ok((total == Some(list.items.len())).then(|| list.mark_complete()))
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
            let empty = !list.add_page(self.read_page(call, what, page, &|rows: Vec<Event>| rows).await?);
            if self.exceeds_list_limit(&list) {
                return Ok(list);
            }
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

    /// Reads the rows of a page of `PAGE_SIZE`, in smaller pages if its response is too long.
    async fn read_page<P: DeserializeOwned, T>(
        &self,
        call: &RouteRequest<'_>,
        what: &str,
        page: usize,
        open: &impl Fn(P) -> Vec<T>,
    ) -> Result<Page<T>, ForgeError> {
        let mut whole = Page { rows: Vec::new(), total_count: None, taken_at: Time::default(), bytes: 0 };
        let mut pending = vec![(page, PAGE_SIZE)];
        while let Some((page, size)) = pending.pop() {
            // Some versions ignore `limit` without `page`.
            let mut call = call.clone().with_query("page", page).with_query("limit", size);
            if size == 1 {
                call = call.with_max_response_bytes(MAX_ROW_BYTES);
            }
            let smaller = SMALLER_PAGE_SIZES.into_iter().find(|smaller| *smaller < size);
            match (self.send(&call, what).await, smaller) {
                (Err(ForgeError::TooLarge(_)), Some(smaller)) => {
                    let parts = size / smaller;
                    let first = (page - 1) * parts + 1;
                    pending.extend((first..first + parts).rev().map(|page| (page, smaller)));
                }
                (answer, _) => whole.add_response(&answer?, what, open)?,
            }
        }
        Ok(whole)
    }

    fn exceeds_list_limit<T>(&self, list: &Listing<T>) -> bool {
        list.bytes > MAX_LIST_RESPONSES * self.client.max_body_bytes()
    }
}

impl<T> Page<T> {
    fn add_response<P: DeserializeOwned>(
        &mut self,
        answer: &Response,
        what: &str,
        open: &impl Fn(P) -> Vec<T>,
    ) -> Result<(), ForgeError> {
        if self.taken_at == Time::default() {
            self.taken_at = server_time(answer);
        }
        self.total_count = parse_total_count(answer).or(self.total_count);
        self.bytes += answer.body.len();
        self.rows.extend(open(parse_response(answer, what)?));
        Ok(())
    }
}

fn parse_total_count(answer: &Response) -> Option<usize> {
    answer.header("x-total-count")?.parse().ok()
}

impl<T> Listing<T> {
    pub(super) fn map_items<U>(self, change: impl FnOnce(Vec<T>) -> Vec<U>) -> Listing<U> {
        Listing {
            items: change(self.items),
            complete: self.complete,
            taken_at: self.taken_at,
            bytes: self.bytes,
            total_count: self.total_count,
        }
    }

    fn new(what: &str) -> Self {
        Self {
            items: Vec::new(),
            complete: Completeness::truncated(what),
            taken_at: Time::default(),
            bytes: 0,
            total_count: None,
        }
    }

    /// Counts the rows that the server counted and did not show: those that the reader may not see.
    pub(super) fn count_hidden_rows(&self) -> usize {
        self.total_count.unwrap_or_default().saturating_sub(self.items.len())
    }

    /// Adds a page; returns whether it had rows.
    fn add_page(&mut self, page: Page<T>) -> bool {
        if self.taken_at == Time::default() {
            self.taken_at = page.taken_at;
        }
        self.bytes += page.bytes;
        self.total_count = page.total_count;
        let before = self.items.len();
        self.items.extend(page.rows);
        self.items.len() > before
    }

    fn mark_complete(self) -> Self {
        Self { complete: Completeness::Complete, ..self }
    }
}
