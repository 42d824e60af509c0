//! Clauses about reviews: posted once, edited in place, completed after a failure.

use referee_core::model::{EditId, PullNumber, Review, ReviewKind, ReviewWeight, Support, Text, Verdict};
use referee_core::plan::{Action, NewThread, Precondition, TextDraft};
use referee_forge::{ForgeError, PerformOutcome};

use crate::contract::context::{
    ClauseContext, ClauseResult, ClauseStop, ensure, expect_one, fail_clause, is_same_text,
};
use crate::contract::drafts;
use crate::contract::setup::{ContractSetup, StagedPull};

pub(super) async fn a_posted_review_is_read_back<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    let threads = two_threads(&staged);
    let summary = drafts::build_draft("two problems", &staged.head);
    let created =
        context.expect_done(staged.pull, &post_review_action(&staged, Verdict::Comment, &summary, &threads)).await?;
    let fetched = context.fetch(staged.pull).await?;
    let review = expect_one(context.own_reviews(&fetched), "own reviews")?;
    ensure(created.review.as_ref() == Some(&review.id), || {
        format!("created {:?}, read {}", created.review, review.id)
    })?;
    ensure(review.row == ReviewKind::Verdict(Verdict::Comment), || format!("the row is {:?}", review.row))?;
    ensure(review.commit.as_ref() == Some(&staged.head), || format!("the commit is {:?}", review.commit))?;
    ensure(is_same_text(&review.text, &context.seal_text(&summary, staged.pull)), || {
        format!("the text is {:?}", review.text.body_or_empty())
    })?;
    ensure(created.threads.len() == threads.len(), || format!("created {} threads", created.threads.len()))?;
    for (new, id) in threads.iter().zip(&created.threads) {
        let thread = expect_one(
            context.threads_with_root(&fetched, &context.seal_text(&new.text, staged.pull)),
            "threads of one text",
        )?;
        ensure(thread.id == *id, || format!("created {id}, read {}", thread.id))?;
        ensure(thread.path.as_ref() == Some(&new.place.path) && thread.line == new.place.line, || {
            format!("posted on {:?}, read on {:?}:{:?}", new.place, thread.path, thread.line)
        })?;
        ensure(thread.root().is_some_and(|root| root.author.has_login(&context.me)), || {
            "another user wrote the root".to_owned()
        })?;
    }
    Ok(())
}

pub(super) async fn verdicts_count<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    let supported = context.fetch(staged.pull).await?.capabilities.verdicts != Support::Unsupported;
    for verdict in [Verdict::RequestChanges, Verdict::Approve] {
        let summary = drafts::build_draft(&verdict.to_string(), &staged.head);
        let posted = context.perform(staged.pull, &post_review_action(&staged, verdict, &summary, &[])).await;
        if !supported {
            ensure(matches!(posted, Err(ForgeError::Unsupported(_))), || format!("{verdict} ended as {posted:?}"))?;
            continue;
        }
        let fetched = context.fetch(staged.pull).await?;
        let newest = context.own_reviews(&fetched).pop().map(|review| (review.row, review.counts.clone()));
        ensure(newest == Some((ReviewKind::Verdict(verdict), ReviewWeight::Yes)), || {
            format!("after {verdict} ({posted:?}) the newest row is {newest:?}")
        })?;
    }
    Ok(())
}

pub(super) async fn a_review_posted_twice_is_one<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    let summary = drafts::build_draft("once", &staged.head);
    let action = post_review_action(&staged, Verdict::Comment, &summary, &two_threads(&staged));
    context.expect_done(staged.pull, &action).await?;
    context.expect_already_so(staged.pull, &action).await?;
    let fetched = context.fetch(staged.pull).await?;
    expect_one(context.own_reviews(&fetched), "own reviews")?;
    ensure(fetched.threads.len() == 2, || format!("{} threads, expected 2", fetched.threads.len()))
}

pub(super) async fn the_edited_text_is_what_fetch_reads<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
) -> ClauseResult {
    let edit = |review: &Review, edit: &EditId, text: TextDraft| Action::EditReview {
        review: review.id.clone(),
        edit: edit.clone(),
        text,
    };
    check_edit(context, edit).await
}

pub(super) async fn a_superseded_text_is_what_fetch_reads<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
) -> ClauseResult {
    let supersede = |review: &Review, edit: &EditId, text: TextDraft| Action::Supersede {
        review: review.id.clone(),
        successor: None,
        edit: edit.clone(),
        text,
    };
    check_edit(context, supersede).await
}

async fn check_edit<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
    action: impl Fn(&Review, &EditId, TextDraft) -> Action,
) -> ClauseResult {
    let staged = context.open_pull().await?;
    let (first, second) =
        (drafts::build_draft("first text", &staged.head), drafts::build_draft("second text", &staged.head));
    context.expect_done(staged.pull, &post_review_action(&staged, Verdict::Comment, &first, &[])).await?;
    let fetched = context.fetch(staged.pull).await?;
    let review = expect_one(context.own_reviews(&fetched), "own reviews")?;
    let Some(edit) = &review.edit else {
        let made_up = action(review, &EditId::from("1"), second);
        let refused = context.perform(staged.pull, &made_up).await;
        let says_no = fetched.capabilities.edit_review == Support::Unsupported;
        return ensure(says_no && matches!(refused, Err(ForgeError::Unsupported(_))), || {
            format!("no edit id, and the edit ended as {refused:?}")
        });
    };
    let action = action(review, edit, second.clone());
    context.expect_done(staged.pull, &action).await?;
    let fetched = context.fetch(staged.pull).await?;
    let review = expect_one(context.own_reviews(&fetched), "own reviews")?;
    ensure(is_same_text(&review.text, &context.seal_text(&second, staged.pull)), || {
        format!("after the edit fetch reads {:?}", review.text.body_or_empty())
    })?;
    context.expect_already_so(staged.pull, &action).await
}

pub(super) async fn threads_opened_later_add_no_review<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
) -> ClauseResult {
    let staged = context.open_pull().await?;
    let threads = two_threads(&staged);
    let action =
        Action::OpenThreads { role: "contract".into(), commit: staged.head.clone(), threads: threads.to_vec() };
    let created = context.expect_done(staged.pull, &action).await?;
    context.expect_already_so(staged.pull, &action).await?;
    let fetched = context.fetch(staged.pull).await?;
    ensure(context.own_reviews(&fetched).is_empty(), || "the threads count as a review".to_owned())?;
    for (new, id) in threads.iter().zip(&created.threads) {
        let thread = expect_one(
            context.threads_with_root(&fetched, &context.seal_text(&new.text, staged.pull)),
            "threads of one text",
        )?;
        ensure(thread.id == *id, || format!("created {id}, read {}", thread.id))?;
    }
    ensure(created.threads.len() == 2, || format!("created {} threads, expected 2", created.threads.len()))
}

pub(super) async fn a_partial_post_is_completed_not_duplicated<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
) -> ClauseResult {
    let staged = context.open_pull().await?;
    let [first, second] = two_threads(&staged);
    let bad = NewThread { place: staged.missing_line.clone(), ..second.clone() };
    let summary = drafts::build_draft("two problems", &staged.head);
    let partial = context
        .perform(staged.pull, &post_review_action(&staged, Verdict::Comment, &summary, &[first.clone(), bad]))
        .await;
    let complete = post_review_action(&staged, Verdict::Comment, &summary, &[first.clone(), second.clone()]);
    if let Err(error) = context.perform(staged.pull, &complete).await {
        return fail_clause(format!("after a post with a bad line ({partial:?}) the complete post failed: {error}"));
    }
    let fetched = context.fetch(staged.pull).await?;
    expect_one(context.own_reviews(&fetched), "own reviews")?;
    ensure(fetched.reviews.iter().all(|review| review.row != ReviewKind::Draft), || "a draft remains".to_owned())?;
    for new in [first, second] {
        expect_one(
            context.threads_with_root(&fetched, &context.seal_text(&new.text, staged.pull)),
            "threads of one text",
        )?;
    }
    Ok(())
}

pub(super) async fn a_moved_head_is_reported<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    context.setup.push_commit(staged.pull).await.map_err(ClauseStop::Broken)?;
    let action = post_review_action(&staged, Verdict::Comment, &drafts::build_draft("too late", &staged.head), &[]);
    let forge = context.setup.forge();
    let outcome = context.perform_as(forge, &context.me, staged.pull, &action, &Precondition::Head).await;
    ensure(matches!(outcome, Err(ForgeError::Conflict(_))), || format!("the post ended as {outcome:?}"))?;
    let fetched = context.fetch(staged.pull).await?;
    ensure(context.own_reviews(&fetched).is_empty(), || "the review was posted nevertheless".to_owned())
}

pub(super) async fn a_concurrent_edit_is_reported<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    let review = post_own_review(context, &staged, "first text").await?;
    let Some(edit) = review.edit.clone() else { return Ok(()) };
    let text = drafts::build_draft("third text", &staged.head);
    let action = Action::EditReview { review: review.id.clone(), edit: edit.clone(), text };
    let expecting = |seen| Precondition::OwnText { edit: edit.clone(), seen };
    let forge = context.setup.forge();
    let other = context.seal_text(&drafts::build_draft("second text", &staged.head), staged.pull).hash;
    let outcome = context.perform_as(forge, &context.me, staged.pull, &action, &expecting(other.clone())).await;
    ensure(matches!(outcome, Err(ForgeError::Conflict(_))), || {
        format!("an edit that expects another text ended as {outcome:?}")
    })?;
    let current = fetch_own_text(context, &staged).await?;
    ensure(is_same_text(&current, &review.text), || {
        format!("the review was edited nevertheless: {:?}", current.body_or_empty())
    })?;
    let outcome = context.perform_as(forge, &context.me, staged.pull, &action, &expecting(review.text.hash)).await;
    ensure(matches!(outcome, Ok(PerformOutcome::Done(_))), || {
        format!("an edit that expects the current text ended as {outcome:?}")
    })?;
    let outcome = context.perform_as(forge, &context.me, staged.pull, &action, &expecting(other)).await;
    ensure(outcome == Ok(PerformOutcome::AlreadySo), || format!("the repeated edit ended as {outcome:?}"))
}

async fn fetch_own_text<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
    staged: &StagedPull,
) -> Result<Text, ClauseStop> {
    let fetched = context.fetch(staged.pull).await?;
    Ok(expect_one(context.own_reviews(&fetched), "own reviews")?.text.clone())
}

fn post_review_action(staged: &StagedPull, verdict: Verdict, text: &TextDraft, threads: &[NewThread]) -> Action {
    let (commit, text, threads) = (staged.head.clone(), text.clone(), threads.to_vec());
    Action::PostReview { role: "contract".into(), verdict, commit, text, threads }
}

fn two_threads(staged: &StagedPull) -> [NewThread; 2] {
    let [one, two, _] = &staged.commentable_lines;
    [
        drafts::build_thread("the first problem", one, &staged.head),
        drafts::build_thread("the second problem", two, &staged.head),
    ]
}

/// Posts a review of the identity under test.
pub(super) async fn post_own_review<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
    staged: &StagedPull,
    text: &str,
) -> Result<Review, ClauseStop> {
    let pull: PullNumber = staged.pull;
    context
        .expect_done(pull, &post_review_action(staged, Verdict::Comment, &drafts::build_draft(text, &staged.head), &[]))
        .await?;
    let fetched = context.fetch(pull).await?;
    expect_one(context.own_reviews(&fetched), "own reviews").cloned()
}
