//! Reviews: posted once, edited in place, completed.

use referee_core::model::{Counts, EditId, PullNumber, Review, Row, Support, Text, Verdict};
use referee_core::plan::{Action, Draft, Expect, NewThread};
use referee_forge::{ForgeError, Performed};

use crate::contract::bench::{Bench, Kept, Stop, broken, holds, only, same};
use crate::contract::stage::{Stage, Staged};
use crate::contract::texts;

pub(super) async fn a_posted_review_is_read_back<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let threads = two_threads(&staged);
    let summary = texts::draft("two things", &staged.head);
    let made = bench.done(staged.pull, &post(&staged, Verdict::Comment, &summary, &threads)).await?;
    let fetched = bench.fetch(staged.pull).await?;
    let review = only(bench.own(&fetched), "own reviews")?;
    holds(made.review.as_ref() == Some(&review.id), || format!("made {:?}, read {}", made.review, review.id))?;
    holds(review.row == Row::Verdict(Verdict::Comment), || format!("the row is {:?}", review.row))?;
    holds(review.commit.as_ref() == Some(&staged.head), || format!("the commit is {:?}", review.commit))?;
    holds(same(&review.text, &bench.text(&summary, staged.pull)), || format!("the text is {:?}", review.text.words()))?;
    holds(made.threads.len() == threads.len(), || format!("made {} threads", made.threads.len()))?;
    for (new, id) in threads.iter().zip(&made.threads) {
        let thread = only(bench.rooted(&fetched, &bench.text(&new.text, staged.pull)), "threads of one text")?;
        holds(thread.id == *id, || format!("made {id}, read {}", thread.id))?;
        holds(thread.path.as_ref() == Some(&new.place.path) && thread.line == new.place.line, || {
            format!("posted on {:?}, read on {:?}:{:?}", new.place, thread.path, thread.line)
        })?;
        holds(thread.root().is_some_and(|root| root.author.is(&bench.me)), || "the root is not ours".to_owned())?;
    }
    Ok(())
}

pub(super) async fn verdicts_are_rows_that_count<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let supported = bench.fetch(staged.pull).await?.capabilities.verdicts != Support::Unsupported;
    for verdict in [Verdict::RequestChanges, Verdict::Approve] {
        let summary = texts::draft(&verdict.to_string(), &staged.head);
        let posted = bench.act(staged.pull, &post(&staged, verdict, &summary, &[])).await;
        if !supported {
            holds(matches!(posted, Err(ForgeError::Unsupported(_))), || format!("{verdict} ended as {posted:?}"))?;
            continue;
        }
        let fetched = bench.fetch(staged.pull).await?;
        let newest = bench.own(&fetched).pop().map(|review| (review.row, review.counts.clone()));
        holds(newest == Some((Row::Verdict(verdict), Counts::Yes)), || {
            format!("after {verdict} ({posted:?}) the newest row is {newest:?}")
        })?;
    }
    Ok(())
}

pub(super) async fn a_review_posted_twice_is_one<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let summary = texts::draft("once", &staged.head);
    let action = post(&staged, Verdict::Comment, &summary, &two_threads(&staged));
    bench.done(staged.pull, &action).await?;
    bench.again(staged.pull, &action).await?;
    let fetched = bench.fetch(staged.pull).await?;
    only(bench.own(&fetched), "own reviews")?;
    holds(fetched.threads.len() == 2, || format!("{} threads, not 2", fetched.threads.len()))
}

pub(super) async fn the_edited_text_is_what_fetch_reads<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let edit = |review: &Review, edit: &EditId, text: Draft| Action::EditReview {
        review: review.id.clone(),
        edit: edit.clone(),
        text,
    };
    edited(bench, edit).await
}

pub(super) async fn a_superseded_text_is_what_fetch_reads<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let supersede = |review: &Review, edit: &EditId, text: Draft| Action::Supersede {
        review: review.id.clone(),
        edit: edit.clone(),
        text,
    };
    edited(bench, supersede).await
}

async fn edited<S: Stage>(bench: &Bench<'_, S>, action: impl Fn(&Review, &EditId, Draft) -> Action) -> Kept {
    let staged = bench.pull().await?;
    let (first, second) = (texts::draft("first words", &staged.head), texts::draft("second words", &staged.head));
    bench.done(staged.pull, &post(&staged, Verdict::Comment, &first, &[])).await?;
    let fetched = bench.fetch(staged.pull).await?;
    let review = only(bench.own(&fetched), "own reviews")?;
    let Some(edit) = &review.edit else {
        let made_up = action(review, &EditId::from("1"), second);
        let refused = bench.act(staged.pull, &made_up).await;
        let says_no = fetched.capabilities.edit_review == Support::Unsupported;
        return holds(says_no && matches!(refused, Err(ForgeError::Unsupported(_))), || {
            format!("no edit id, and the edit ended as {refused:?}")
        });
    };
    let action = action(review, edit, second.clone());
    bench.done(staged.pull, &action).await?;
    let fetched = bench.fetch(staged.pull).await?;
    let review = only(bench.own(&fetched), "own reviews")?;
    holds(same(&review.text, &bench.text(&second, staged.pull)), || {
        format!("after the edit fetch reads {:?}", review.text.words())
    })?;
    bench.again(staged.pull, &action).await
}

pub(super) async fn threads_opened_later_are_no_review<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let threads = two_threads(&staged);
    let action =
        Action::OpenThreads { role: "contract".into(), commit: staged.head.clone(), threads: threads.to_vec() };
    let made = bench.done(staged.pull, &action).await?;
    bench.again(staged.pull, &action).await?;
    let fetched = bench.fetch(staged.pull).await?;
    holds(bench.own(&fetched).is_empty(), || "the threads count as a review".to_owned())?;
    for (new, id) in threads.iter().zip(&made.threads) {
        let thread = only(bench.rooted(&fetched, &bench.text(&new.text, staged.pull)), "threads of one text")?;
        holds(thread.id == *id, || format!("made {id}, read {}", thread.id))?;
    }
    holds(made.threads.len() == 2, || format!("made {} threads, not 2", made.threads.len()))
}

pub(super) async fn a_broken_post_is_completed_not_doubled<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let [first, second] = two_threads(&staged);
    let bad = NewThread { place: staged.nowhere.clone(), ..second.clone() };
    let summary = texts::draft("two things", &staged.head);
    let broke = bench.act(staged.pull, &post(&staged, Verdict::Comment, &summary, &[first.clone(), bad])).await;
    let whole = post(&staged, Verdict::Comment, &summary, &[first.clone(), second.clone()]);
    if let Err(error) = bench.act(staged.pull, &whole).await {
        return broken(format!("after a bad line ({broke:?}) the good post failed: {error}"));
    }
    let fetched = bench.fetch(staged.pull).await?;
    only(bench.own(&fetched), "own reviews")?;
    holds(fetched.reviews.iter().all(|review| review.row != Row::Draft), || "a draft is left".to_owned())?;
    for new in [first, second] {
        only(bench.rooted(&fetched, &bench.text(&new.text, staged.pull)), "threads of one text")?;
    }
    Ok(())
}

pub(super) async fn a_moved_head_is_told<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    bench.stage.push(staged.pull).await.map_err(Stop::Broken)?;
    let action = post(&staged, Verdict::Comment, &texts::draft("too late", &staged.head), &[]);
    let forge = bench.stage.forge();
    let ended = bench.act_as(forge, &bench.me, staged.pull, &action, &Expect::Head).await;
    holds(matches!(ended, Err(ForgeError::Moved(_))), || format!("the post ended as {ended:?}"))?;
    let fetched = bench.fetch(staged.pull).await?;
    holds(bench.own(&fetched).is_empty(), || "it was posted all the same".to_owned())
}

pub(super) async fn a_text_written_meanwhile_is_told<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let review = own_review(bench, &staged, "first words").await?;
    let Some(edit) = review.edit.clone() else { return Ok(()) };
    let text = texts::draft("third words", &staged.head);
    let action = Action::EditReview { review: review.id.clone(), edit: edit.clone(), text };
    let expecting = |seen| Expect::OwnText { edit: edit.clone(), seen };
    let forge = bench.stage.forge();
    let other = bench.text(&texts::draft("second words", &staged.head), staged.pull).hash;
    let ended = bench.act_as(forge, &bench.me, staged.pull, &action, &expecting(other.clone())).await;
    holds(matches!(ended, Err(ForgeError::Moved(_))), || format!("an edit of other words ended as {ended:?}"))?;
    let left = own_text(bench, &staged).await?;
    holds(same(&left, &review.text), || format!("it was edited all the same: {:?}", left.words()))?;
    let ended = bench.act_as(forge, &bench.me, staged.pull, &action, &expecting(review.text.hash)).await;
    holds(matches!(ended, Ok(Performed::Done(_))), || format!("an edit of the words as read ended as {ended:?}"))?;
    let ended = bench.act_as(forge, &bench.me, staged.pull, &action, &expecting(other)).await;
    holds(ended == Ok(Performed::AlreadySo), || format!("what is so already ended as {ended:?}"))
}

async fn own_text<S: Stage>(bench: &Bench<'_, S>, staged: &Staged) -> Result<Text, Stop> {
    let fetched = bench.fetch(staged.pull).await?;
    Ok(only(bench.own(&fetched), "own reviews")?.text.clone())
}

fn post(staged: &Staged, verdict: Verdict, text: &Draft, threads: &[NewThread]) -> Action {
    let (commit, text, threads) = (staged.head.clone(), text.clone(), threads.to_vec());
    Action::PostReview { role: "contract".into(), verdict, commit, text, threads }
}

fn two_threads(staged: &Staged) -> [NewThread; 2] {
    let [one, two, _] = &staged.places;
    [texts::thread("the first thing", one, &staged.head), texts::thread("the second thing", two, &staged.head)]
}

/// An own review to act on.
pub(super) async fn own_review<S: Stage>(bench: &Bench<'_, S>, staged: &Staged, words: &str) -> Result<Review, Stop> {
    let pull: PullNumber = staged.pull;
    bench.done(pull, &post(staged, Verdict::Comment, &texts::draft(words, &staged.head), &[])).await?;
    let fetched = bench.fetch(pull).await?;
    only(bench.own(&fetched), "own reviews").cloned()
}
