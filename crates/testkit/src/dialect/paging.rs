//! Pages, as each server cuts them.

use super::Dialect;
use super::serve::Asked;

const DEFAULT: usize = 30;
const MOST: usize = 50;

/// Which part of a list is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    /// All of it.
    Whole,
    /// So many, after so many.
    Part { skip: usize, take: usize },
}

impl Page {
    /// | | Gitea | Forgejo |
    /// |---|---|---|
    /// | without `page` | the first page | all, whatever `limit` says |
    /// | `limit` missing | 30 | 30 |
    /// | above 50 | 50 | 50 |
    /// | zero or less | 30 | all |
    pub(super) fn of(dialect: Dialect, asked: &Asked) -> Self {
        let number = |name: &str| asked.query(name).and_then(|value| value.parse::<i64>().ok());
        let (page, limit) = (number("page"), number("limit"));
        if dialect.is_forgejo() && (page.is_none() || limit.is_some_and(|limit| limit <= 0)) {
            return Self::Whole;
        }
        let take = limit.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0);
        let take = take.unwrap_or(DEFAULT).min(MOST);
        let page = page.and_then(|page| usize::try_from(page).ok()).unwrap_or(1).max(1);
        Self::Part { skip: (page - 1).saturating_mul(take), take }
    }

    pub(super) fn cut<T>(self, rows: Vec<T>) -> Vec<T> {
        match self {
            Self::Whole => rows,
            Self::Part { skip, take } => rows.into_iter().skip(skip).take(take).collect(),
        }
    }
}
