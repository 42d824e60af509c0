//! Reading: whole, or said to be cut.

use referee_core::model::{Completeness, PullState};
use referee_forge::Reader;

use crate::contract::context::{ClauseContext, ClauseResult, ClauseStop, ensure, skip_clause};
use crate::contract::setup::{ContractSetup, CreatedCounts};

pub(super) async fn head_agrees_with_fetch<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let moved = bench.setup.push_commit(staged.pull).await.map_err(ClauseStop::Broken)?;
    let head = bench.setup.forge().fetch_head(staged.pull).await;
    let fetched = bench.fetch(staged.pull).await?;
    ensure(head.as_ref() == Ok(&moved) && fetched.pull.head == moved, || {
        format!("after a push of {moved} the head is {head:?} and fetch says {}", fetched.pull.head)
    })?;
    ensure(fetched.pull.number == staged.pull && fetched.pull.state == PullState::Open, || {
        format!("fetch says {} {:?}", fetched.pull.number, fetched.pull.state)
    })?;
    ensure(fetched.viewer.login == bench.me && fetched.viewer.holds.contains(&bench.me), || {
        format!("fetch says that it reads as {}", fetched.viewer.login)
    })
}

pub(super) async fn the_board_lists_the_pull<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let board = bench.record_error(bench.setup.forge().fetch_board().await);
    ensure(board.as_ref().is_ok_and(|board| board.pulls.contains(&staged.pull)), || format!("the board is {board:?}"))
}

pub(super) async fn more_than_one_page_is_complete<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let made = bench.setup.fill_pages(&staged).await.map_err(ClauseStop::Broken)?;
    let fetched = bench.fetch(staged.pull).await?;
    let words = |text: &referee_core::model::Text| !text.body_or_empty().is_empty();
    let read = CreatedCounts {
        reviews: fetched.reviews.iter().filter(|review| words(&review.text)).count(),
        threads: fetched.threads.len(),
        comments: fetched.comments.len(),
    };
    ensure(read == made && fetched.complete == Completeness::Complete, || {
        format!("{made:?} were made, {read:?} were read, and fetch says {:?}", fetched.complete)
    })?;
    ensure(fetched.reviews.is_sorted_by_key(|review| review.at), || "reviews are not oldest first".to_owned())?;
    ensure(fetched.comments.is_sorted_by_key(|comment| comment.at), || "comments are not oldest first".to_owned())
}

pub(super) async fn a_cut_off_read_is_truncated<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    bench.setup.fill_pages(&staged).await.map_err(ClauseStop::Broken)?;
    let Some(forge) = bench.setup.with_low_limit(staged.pull).await else {
        return skip_clause("no bound can be staged");
    };
    match bench.record_error(forge.fetch(staged.pull).await) {
        Err(_) => Ok(()),
        Ok(fetched) => ensure(matches!(fetched.complete, Completeness::Truncated { .. }), || {
            format!("a cut read says {:?}", fetched.complete)
        }),
    }
}
