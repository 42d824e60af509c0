//! Reviews: posted once, edited in place, completed.

use referee_core::model::{EditId, PullNumber, Review, ReviewKind, ReviewWeight, Support, Text, Verdict};
use referee_core::plan::{Action, NewThread, Precondition, TextDraft};
use referee_forge::{ForgeError, PerformOutcome};

use crate::contract::context::{
    ClauseContext, ClauseResult, ClauseStop, ensure, expect_one, fail_clause, is_same_text,
};
use crate::contract::drafts;
use crate::contract::setup::{ContractSetup, StagedPull};

pub(super) async fn a_posted_review_is_read_back<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let threads = two_threads(&staged);
    let summary = drafts::build_draft("two things", &staged.head);
    let made =
        bench.expect_done(staged.pull, &post_review_action(&staged, Verdict::Comment, &summary, &threads)).await?;
    let fetched = bench.fetch(staged.pull).await?;
    let review = expect_one(bench.own_reviews(&fetched), "own reviews")?;
    ensure(made.review.as_ref() == Some(&review.id), || format!("made {:?}, read {}", made.review, review.id))?;
    ensure(review.row == ReviewKind::Verdict(Verdict::Comment), || format!("the row is {:?}", review.row))?;
    ensure(review.commit.as_ref() == Some(&staged.head), || format!("the commit is {:?}", review.commit))?;
    ensure(is_same_text(&review.text, &bench.seal_text(&summary, staged.pull)), || {
        format!("the text is {:?}", review.text.body_or_empty())
    })?;
    ensure(made.threads.len() == threads.len(), || format!("made {} threads", made.threads.len()))?;
    for (new, id) in threads.iter().zip(&made.threads) {
        let thread = expect_one(
            bench.threads_with_root(&fetched, &bench.seal_text(&new.text, staged.pull)),
            "threads of one text",
        )?;
        ensure(thread.id == *id, || format!("made {id}, read {}", thread.id))?;
        ensure(thread.path.as_ref() == Some(&new.place.path) && thread.line == new.place.line, || {
            format!("posted on {:?}, read on {:?}:{:?}", new.place, thread.path, thread.line)
        })?;
        ensure(thread.root().is_some_and(|root| root.author.has_login(&bench.me)), || {
            "the root is not ours".to_owned()
        })?;
    }
    Ok(())
}

pub(super) async fn verdicts_are_rows_that_count<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let supported = bench.fetch(staged.pull).await?.capabilities.verdicts != Support::Unsupported;
    for verdict in [Verdict::RequestChanges, Verdict::Approve] {
        let summary = drafts::build_draft(&verdict.to_string(), &staged.head);
        let posted = bench.perform(staged.pull, &post_review_action(&staged, verdict, &summary, &[])).await;
        if !supported {
            ensure(matches!(posted, Err(ForgeError::Unsupported(_))), || format!("{verdict} ended as {posted:?}"))?;
            continue;
        }
        let fetched = bench.fetch(staged.pull).await?;
        let newest = bench.own_reviews(&fetched).pop().map(|review| (review.row, review.counts.clone()));
        ensure(newest == Some((ReviewKind::Verdict(verdict), ReviewWeight::Yes)), || {
            format!("after {verdict} ({posted:?}) the newest row is {newest:?}")
        })?;
    }
    Ok(())
}

pub(super) async fn a_review_posted_twice_is_one<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let summary = drafts::build_draft("once", &staged.head);
    let action = post_review_action(&staged, Verdict::Comment, &summary, &two_threads(&staged));
    bench.expect_done(staged.pull, &action).await?;
    bench.expect_already_so(staged.pull, &action).await?;
    let fetched = bench.fetch(staged.pull).await?;
    expect_one(bench.own_reviews(&fetched), "own reviews")?;
    ensure(fetched.threads.len() == 2, || format!("{} threads, not 2", fetched.threads.len()))
}

pub(super) async fn the_edited_text_is_what_fetch_reads<S: ContractSetup>(
    bench: &ClauseContext<'_, S>,
) -> ClauseResult {
    let edit = |review: &Review, edit: &EditId, text: TextDraft| Action::EditReview {
        review: review.id.clone(),
        edit: edit.clone(),
        text,
    };
    check_edit(bench, edit).await
}

pub(super) async fn a_superseded_text_is_what_fetch_reads<S: ContractSetup>(
    bench: &ClauseContext<'_, S>,
) -> ClauseResult {
    let supersede = |review: &Review, edit: &EditId, text: TextDraft| Action::Supersede {
        review: review.id.clone(),
        edit: edit.clone(),
        text,
    };
    check_edit(bench, supersede).await
}

async fn check_edit<S: ContractSetup>(
    bench: &ClauseContext<'_, S>,
    action: impl Fn(&Review, &EditId, TextDraft) -> Action,
) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let (first, second) =
        (drafts::build_draft("first words", &staged.head), drafts::build_draft("second words", &staged.head));
    bench.expect_done(staged.pull, &post_review_action(&staged, Verdict::Comment, &first, &[])).await?;
    let fetched = bench.fetch(staged.pull).await?;
    let review = expect_one(bench.own_reviews(&fetched), "own reviews")?;
    let Some(edit) = &review.edit else {
        let made_up = action(review, &EditId::from("1"), second);
        let refused = bench.perform(staged.pull, &made_up).await;
        let says_no = fetched.capabilities.edit_review == Support::Unsupported;
        return ensure(says_no && matches!(refused, Err(ForgeError::Unsupported(_))), || {
            format!("no edit id, and the edit ended as {refused:?}")
        });
    };
    let action = action(review, edit, second.clone());
    bench.expect_done(staged.pull, &action).await?;
    let fetched = bench.fetch(staged.pull).await?;
    let review = expect_one(bench.own_reviews(&fetched), "own reviews")?;
    ensure(is_same_text(&review.text, &bench.seal_text(&second, staged.pull)), || {
        format!("after the edit fetch reads {:?}", review.text.body_or_empty())
    })?;
    bench.expect_already_so(staged.pull, &action).await
}

pub(super) async fn threads_opened_later_are_no_review<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let threads = two_threads(&staged);
    let action =
        Action::OpenThreads { role: "contract".into(), commit: staged.head.clone(), threads: threads.to_vec() };
    let made = bench.expect_done(staged.pull, &action).await?;
    bench.expect_already_so(staged.pull, &action).await?;
    let fetched = bench.fetch(staged.pull).await?;
    ensure(bench.own_reviews(&fetched).is_empty(), || "the threads count as a review".to_owned())?;
    for (new, id) in threads.iter().zip(&made.threads) {
        let thread = expect_one(
            bench.threads_with_root(&fetched, &bench.seal_text(&new.text, staged.pull)),
            "threads of one text",
        )?;
        ensure(thread.id == *id, || format!("made {id}, read {}", thread.id))?;
    }
    ensure(made.threads.len() == 2, || format!("made {} threads, not 2", made.threads.len()))
}

pub(super) async fn a_broken_post_is_completed_not_doubled<S: ContractSetup>(
    bench: &ClauseContext<'_, S>,
) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let [first, second] = two_threads(&staged);
    let bad = NewThread { place: staged.missing_line.clone(), ..second.clone() };
    let summary = drafts::build_draft("two things", &staged.head);
    let broke = bench
        .perform(staged.pull, &post_review_action(&staged, Verdict::Comment, &summary, &[first.clone(), bad]))
        .await;
    let whole = post_review_action(&staged, Verdict::Comment, &summary, &[first.clone(), second.clone()]);
    if let Err(error) = bench.perform(staged.pull, &whole).await {
        return fail_clause(format!("after a bad line ({broke:?}) the good post failed: {error}"));
    }
    let fetched = bench.fetch(staged.pull).await?;
    expect_one(bench.own_reviews(&fetched), "own reviews")?;
    ensure(fetched.reviews.iter().all(|review| review.row != ReviewKind::Draft), || "a draft is left".to_owned())?;
    for new in [first, second] {
        expect_one(bench.threads_with_root(&fetched, &bench.seal_text(&new.text, staged.pull)), "threads of one text")?;
    }
    Ok(())
}

pub(super) async fn a_moved_head_is_told<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    bench.setup.push_commit(staged.pull).await.map_err(ClauseStop::Broken)?;
    let action = post_review_action(&staged, Verdict::Comment, &drafts::build_draft("too late", &staged.head), &[]);
    let forge = bench.setup.forge();
    let ended = bench.perform_as(forge, &bench.me, staged.pull, &action, &Precondition::Head).await;
    ensure(matches!(ended, Err(ForgeError::Conflict(_))), || format!("the post ended as {ended:?}"))?;
    let fetched = bench.fetch(staged.pull).await?;
    ensure(bench.own_reviews(&fetched).is_empty(), || "it was posted all the same".to_owned())
}

pub(super) async fn a_text_written_meanwhile_is_told<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let review = post_own_review(bench, &staged, "first words").await?;
    let Some(edit) = review.edit.clone() else { return Ok(()) };
    let text = drafts::build_draft("third words", &staged.head);
    let action = Action::EditReview { review: review.id.clone(), edit: edit.clone(), text };
    let expecting = |seen| Precondition::OwnText { edit: edit.clone(), seen };
    let forge = bench.setup.forge();
    let other = bench.seal_text(&drafts::build_draft("second words", &staged.head), staged.pull).hash;
    let ended = bench.perform_as(forge, &bench.me, staged.pull, &action, &expecting(other.clone())).await;
    ensure(matches!(ended, Err(ForgeError::Conflict(_))), || format!("an edit of other words ended as {ended:?}"))?;
    let left = fetch_own_text(bench, &staged).await?;
    ensure(is_same_text(&left, &review.text), || format!("it was edited all the same: {:?}", left.body_or_empty()))?;
    let ended = bench.perform_as(forge, &bench.me, staged.pull, &action, &expecting(review.text.hash)).await;
    ensure(matches!(ended, Ok(PerformOutcome::Done(_))), || {
        format!("an edit of the words as read ended as {ended:?}")
    })?;
    let ended = bench.perform_as(forge, &bench.me, staged.pull, &action, &expecting(other)).await;
    ensure(ended == Ok(PerformOutcome::AlreadySo), || format!("what is so already ended as {ended:?}"))
}

async fn fetch_own_text<S: ContractSetup>(
    bench: &ClauseContext<'_, S>,
    staged: &StagedPull,
) -> Result<Text, ClauseStop> {
    let fetched = bench.fetch(staged.pull).await?;
    Ok(expect_one(bench.own_reviews(&fetched), "own reviews")?.text.clone())
}

fn post_review_action(staged: &StagedPull, verdict: Verdict, text: &TextDraft, threads: &[NewThread]) -> Action {
    let (commit, text, threads) = (staged.head.clone(), text.clone(), threads.to_vec());
    Action::PostReview { role: "contract".into(), verdict, commit, text, threads }
}

fn two_threads(staged: &StagedPull) -> [NewThread; 2] {
    let [one, two, _] = &staged.commentable_lines;
    [
        drafts::build_thread("the first thing", one, &staged.head),
        drafts::build_thread("the second thing", two, &staged.head),
    ]
}

/// An own review to act on.
pub(super) async fn post_own_review<S: ContractSetup>(
    bench: &ClauseContext<'_, S>,
    staged: &StagedPull,
    words: &str,
) -> Result<Review, ClauseStop> {
    let pull: PullNumber = staged.pull;
    bench
        .expect_done(
            pull,
            &post_review_action(staged, Verdict::Comment, &drafts::build_draft(words, &staged.head), &[]),
        )
        .await?;
    let fetched = bench.fetch(pull).await?;
    expect_one(bench.own_reviews(&fetched), "own reviews").cloned()
}
