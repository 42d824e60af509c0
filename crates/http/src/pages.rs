//! Lists that come in pages, and whether all of a list was seen.

use serde::de::{DeserializeOwned, IgnoredAny};

use crate::answer::Answer;
use crate::call::Call;
use crate::client::Client;
use crate::error::HttpError;

/// How a list is turned over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    /// What the server calls the size of a page: `limit`.
    pub limit: &'static str,
    /// How many rows a page is asked to have.
    pub size: usize,
    /// How many pages are read at most.
    pub most: usize,
    /// The header that counts the rows of the whole list, in lower case: `x-total-count`.
    pub total: &'static str,
}

/// The pages of a list.
#[derive(Clone, Debug)]
pub struct Pages {
    /// What the server answered, in order. Only the last one can be a failure.
    pub answers: Vec<Answer>,
    /// Whether that is the whole list.
    pub complete: bool,
}

impl Client {
    /// Reads a list, page by page.
    ///
    /// A short page is not the end: rows that the token may not see are counted, and taken out afterwards. Nor is the
    /// page that reaches the total, if rows are missing: the server may give smaller pages than it is asked for. There,
    /// an empty page is the end.
    pub async fn pages(&self, call: &Call<'_>, paging: &Paging) -> Result<Pages, HttpError> {
        let mut pages = Pages { answers: Vec::new(), complete: false };
        let mut seen = 0;
        for page in 1..=paging.most {
            let answer = self.send(&call.clone().with("page", page).with(paging.limit, paging.size)).await?;
            let total = answer.header(paging.total).and_then(|it| it.parse::<usize>().ok());
            let rows = if answer.is_success() { Some(rows::<IgnoredAny>(&answer)?.len()) } else { None };
            pages.answers.push(answer);
            let (Some(total), Some(rows)) = (total, rows) else { break };
            seen += rows;
            pages.complete = seen >= total || (rows == 0 && page * paging.size >= total);
            if pages.complete {
                break;
            }
        }
        Ok(pages)
    }
}

impl Pages {
    /// The answer that is no page, if the server gave one.
    pub fn failure(&self) -> Option<&Answer> {
        self.answers.last().filter(|answer| !answer.is_success())
    }

    /// The rows of all pages. A page may be `null`, which is one without rows.
    pub fn rows<T: DeserializeOwned>(&self) -> Result<Vec<T>, HttpError> {
        let mut all = Vec::new();
        for answer in &self.answers {
            all.append(&mut rows(answer)?);
        }
        Ok(all)
    }
}

fn rows<T: DeserializeOwned>(answer: &Answer) -> Result<Vec<T>, HttpError> {
    Ok(answer.json::<Option<Vec<T>>>()?.unwrap_or_default())
}
