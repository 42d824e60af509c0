//! Clauses about reading: complete, or reported as truncated.

use referee_core::model::{Completeness, PullState};

use crate::contract::context::{ClauseContext, ClauseResult, ClauseStop, ensure, skip_clause};
use crate::contract::setup::{ContractSetup, CreatedCounts};

pub(super) async fn head_agrees_with_fetch<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    let pushed = context.setup.push_commit(staged.pull).await.map_err(ClauseStop::Broken)?;
    let head = context.setup.forge().fetch_head(staged.pull).await;
    let fetched = context.fetch(staged.pull).await?;
    ensure(head.as_ref() == Ok(&pushed) && fetched.pull.head == pushed, || {
        format!("after a push of {pushed}, fetch_head returns {head:?} and fetch returns {}", fetched.pull.head)
    })?;
    ensure(fetched.pull.number == staged.pull && fetched.pull.state == PullState::Open, || {
        format!("fetch returns {} {:?}", fetched.pull.number, fetched.pull.state)
    })?;
    ensure(fetched.viewer.login == context.me && fetched.viewer.holds.contains(&context.me), || {
        format!("fetch returns the viewer {}", fetched.viewer.login)
    })
}

pub(super) async fn the_board_lists_the_pull<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    let board = context.record_error(context.setup.forge().fetch_board().await);
    ensure(board.as_ref().is_ok_and(|board| board.pulls.contains(&staged.pull)), || format!("the board is {board:?}"))
}

pub(super) async fn more_than_one_page_is_complete<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    let created = context.setup.fill_pages(&staged).await.map_err(ClauseStop::Broken)?;
    let fetched = context.fetch(staged.pull).await?;
    let has_body = |text: &referee_core::model::Text| !text.body_or_empty().is_empty();
    let read = CreatedCounts {
        reviews: fetched.reviews.iter().filter(|review| has_body(&review.text)).count(),
        threads: fetched.threads.len(),
        comments: fetched.comments.len(),
    };
    ensure(read == created && fetched.complete == Completeness::Complete, || {
        format!("created {created:?}, read {read:?}, and fetch returns {:?}", fetched.complete)
    })?;
    ensure(fetched.reviews.is_sorted_by_key(|review| review.at), || "reviews are not sorted oldest first".to_owned())?;
    ensure(fetched.comments.is_sorted_by_key(|comment| comment.at), || {
        "comments are not sorted oldest first".to_owned()
    })
}

pub(super) async fn a_limited_read_is_reported_as_truncated<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
) -> ClauseResult {
    let staged = context.open_pull().await?;
    context.setup.fill_pages(&staged).await.map_err(ClauseStop::Broken)?;
    let Some(forge) = context.setup.with_low_limit(staged.pull).await else {
        return skip_clause("the forge has no limit to reach");
    };
    match context.record_error(forge.fetch(staged.pull).await) {
        Err(_) => Ok(()),
        Ok(fetched) => ensure(matches!(fetched.complete, Completeness::Truncated { .. }), || {
            format!("a limited read is reported as {:?}", fetched.complete)
        }),
    }
}
