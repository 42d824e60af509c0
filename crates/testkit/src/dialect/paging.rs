//! Pages, as each server cuts them.

use super::Dialect;
use super::server::ApiRequest;

const DEFAULT_PAGE_SIZE: usize = 30;
const MAX_PAGE_SIZE: usize = 50;

/// Which part of a list is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageRange {
    /// All of it.
    All,
    /// So many, after so many.
    Part { skip: usize, take: usize },
}

impl PageRange {
    /// | | Gitea | Forgejo |
    /// |---|---|---|
    /// | without `page` | the first page | all, whatever `limit` says |
    /// | `limit` missing | 30 | 30 |
    /// | above 50 | 50 | 50 |
    /// | zero or less | 30 | all |
    pub(super) fn from_request(dialect: Dialect, asked: &ApiRequest) -> Self {
        let number = |name: &str| asked.query(name).and_then(|value| value.parse::<i64>().ok());
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
