//! Paging, as each server does it.

use super::Dialect;
use super::server::ApiRequest;

const DEFAULT_PAGE_SIZE: usize = 30;
const MAX_PAGE_SIZE: usize = 50;

/// The requested part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageRange {
    All,
    Part { skip: usize, take: usize },
}

impl PageRange {
    /// Parses `page` and `limit`.
    ///
    /// | | Gitea | Forgejo |
    /// |---|---|---|
    /// | no `page` | first page | everything, regardless of `limit` |
    /// | no `limit` | 30 | 30 |
    /// | `limit` above 50 | 50 | 50 |
    /// | `limit` zero or less | 30 | everything |
    pub(super) fn from_request(dialect: Dialect, request: &ApiRequest) -> Self {
        let number = |name: &str| request.query(name).and_then(|value| value.parse::<i64>().ok());
        let (page, limit) = (number("page"), number("limit"));
        if dialect.is_forgejo() && (page.is_none() || limit.is_some_and(|limit| limit <= 0)) {
            return Self::All;
        }
        let take = limit.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0);
        let take = take.unwrap_or(DEFAULT_PAGE_SIZE).min(MAX_PAGE_SIZE);
        let page = page.and_then(|page| usize::try_from(page).ok()).unwrap_or(1).max(1);
        Self::Part { skip: (page - 1).saturating_mul(take), take }
    }

    pub(super) fn slice_rows<T>(self, rows: Vec<T>) -> Vec<T> {
        match self {
            Self::All => rows,
            Self::Part { skip, take } => rows.into_iter().skip(skip).take(take).collect(),
        }
    }
}
