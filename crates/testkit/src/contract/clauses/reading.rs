//! Reading: whole, or said to be cut.

use referee_core::model::{Completeness, PullState};
use referee_forge::Reader;

use crate::contract::bench::{Bench, Kept, Stop, holds, skipped};
use crate::contract::stage::{Made, Stage};

pub(super) async fn head_agrees_with_fetch<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let moved = bench.stage.push(staged.pull).await.map_err(Stop::Broken)?;
    let head = bench.stage.forge().head(staged.pull).await;
    let fetched = bench.fetch(staged.pull).await?;
    holds(head.as_ref() == Ok(&moved) && fetched.pull.head == moved, || {
        format!("after a push of {moved} the head is {head:?} and fetch says {}", fetched.pull.head)
    })?;
    holds(fetched.pull.number == staged.pull && fetched.pull.state == PullState::Open, || {
        format!("fetch says {} {:?}", fetched.pull.number, fetched.pull.state)
    })?;
    holds(fetched.viewer.login == bench.me && fetched.viewer.holds.contains(&bench.me), || {
        format!("fetch says that it reads as {}", fetched.viewer.login)
    })
}

pub(super) async fn the_board_lists_the_pull<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let board = bench.seen(bench.stage.forge().board().await);
    holds(board.as_ref().is_ok_and(|board| board.pulls.contains(&staged.pull)), || format!("the board is {board:?}"))
}

pub(super) async fn more_than_one_page_is_complete<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let made = bench.stage.many(&staged).await.map_err(Stop::Broken)?;
    let fetched = bench.fetch(staged.pull).await?;
    let words = |text: &referee_core::model::Text| !text.words().is_empty();
    let read = Made {
        reviews: fetched.reviews.iter().filter(|review| words(&review.text)).count(),
        threads: fetched.threads.len(),
        comments: fetched.comments.len(),
    };
    holds(read == made && fetched.complete == Completeness::Complete, || {
        format!("{made:?} were made, {read:?} were read, and fetch says {:?}", fetched.complete)
    })?;
    holds(fetched.reviews.is_sorted_by_key(|review| review.at), || "reviews are not oldest first".to_owned())?;
    holds(fetched.comments.is_sorted_by_key(|comment| comment.at), || "comments are not oldest first".to_owned())
}

pub(super) async fn a_cut_off_read_is_truncated<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    bench.stage.many(&staged).await.map_err(Stop::Broken)?;
    let Some(forge) = bench.stage.cut_off(staged.pull).await else { return skipped("no bound can be staged") };
    match bench.seen(forge.fetch(staged.pull).await) {
        Err(_) => Ok(()),
        Ok(fetched) => holds(matches!(fetched.complete, Completeness::Truncated { .. }), || {
            format!("a cut read says {:?}", fetched.complete)
        }),
    }
}
