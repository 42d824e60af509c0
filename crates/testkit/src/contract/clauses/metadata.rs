//! Clauses about comments, labels, assignees, statuses, claims, and the reported capabilities.

use referee_core::model::{CheckState, Span, Support};
use referee_core::plan::{Action, CommentTarget};
use referee_forge::{ClaimOutcome, ClaimPurpose, ForgeError, PerformOutcome};

use super::reviews::post_own_review;
use crate::contract::context::{ClauseContext, ClauseResult, ClauseStop, ensure, expect_one, is_same_text};
use crate::contract::drafts;
use crate::contract::setup::{ContractSetup, StagedPull};

pub(super) async fn a_comment_is_written_once_and_edited_in_place<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
) -> ClauseResult {
    let staged = context.open_pull().await?;
    let comment = |existing, text| Action::EnsureComment {
        existing,
        target: CommentTarget::Pull,
        text: drafts::build_draft(text, &staged.head),
    };
    let created = context.expect_done(staged.pull, &comment(None, "first text")).await?;
    context.expect_already_so(staged.pull, &comment(None, "first text")).await?;
    context.expect_done(staged.pull, &comment(created.comment.clone(), "second text")).await?;
    context.expect_already_so(staged.pull, &comment(created.comment.clone(), "second text")).await?;
    let fetched = context.fetch(staged.pull).await?;
    let comment = expect_one(fetched.comments, "comments")?;
    let expected = context.seal_text(&drafts::build_draft("second text", &staged.head), staged.pull);
    ensure(Some(&comment.id) == created.comment.as_ref() && is_same_text(&comment.text, &expected), || {
        format!("created {:?}, read {} {:?}", created.comment, comment.id, comment.text.body_or_empty())
    })
}

pub(super) async fn a_label_is_added_and_removed_once<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
) -> ClauseResult {
    let (theirs, mine) = (context.open_pull().await?, context.open_pull().await?);
    let name = context.setup.add_label(theirs.pull).await.map_err(ClauseStop::Broken)?;
    let (on, off) =
        (Action::SetLabel { name: name.clone(), on: true }, Action::SetLabel { name: name.clone(), on: false });
    if context.fetch(mine.pull).await?.capabilities.labels == Support::Unsupported {
        return Ok(());
    }
    context.expect_already_so(theirs.pull, &on).await?;
    let removed = context.perform(theirs.pull, &off).await;
    let remains = context.fetch(theirs.pull).await?.pull.label(&name).is_some();
    ensure(remains && matches!(removed, Err(ForgeError::Forbidden(_))), || {
        format!("removing a label of others: {removed:?}")
    })?;
    context.expect_done(mine.pull, &on).await?;
    context.expect_already_so(mine.pull, &on).await?;
    let label = context.fetch(mine.pull).await?.pull.label(&name).cloned();
    ensure(label.as_ref().is_some_and(|label| label.by.as_ref() == Some(&context.me) && label.at.is_some()), || {
        format!("the label reads {label:?}")
    })?;
    context.expect_done(mine.pull, &off).await?;
    context.expect_already_so(mine.pull, &off).await?;
    let remaining = context.fetch(mine.pull).await?.pull.labels;
    ensure(remaining.is_empty(), || format!("remaining labels: {remaining:?}"))
}

pub(super) async fn an_assignment_is_made_once<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    let (on, off) = (assign_action(Some(context.me.clone())), assign_action(None));
    if context.fetch(staged.pull).await?.capabilities.labels == Support::Unsupported {
        return Ok(());
    }
    context.expect_done(staged.pull, &on).await?;
    context.expect_already_so(staged.pull, &on).await?;
    let assigned = context.fetch(staged.pull).await?.pull.assignees;
    ensure(assigned == [context.me.clone()], || format!("assigned: {assigned:?}"))?;
    context.expect_done(staged.pull, &off).await?;
    context.expect_already_so(staged.pull, &off).await
}

pub(super) async fn a_status_is_written_once_and_is_not_a_check<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
) -> ClauseResult {
    let staged = context.open_pull().await?;
    if context.fetch(staged.pull).await?.capabilities.status == Support::Unsupported {
        return Ok(());
    }
    for state in [CheckState::Fail, CheckState::Pass] {
        context.expect_done(staged.pull, &status_action(&staged, state)).await?;
        context.expect_already_so(staged.pull, &status_action(&staged, state)).await?;
        let checks = context.fetch(staged.pull).await?.checks;
        let own = expect_one(checks.own, "own statuses")?;
        ensure(own.state == state && own.context == "referee/contract", || format!("the status reads {own:?}"))?;
        ensure(checks.all.is_empty(), || format!("the status is listed among the checks: {:?}", checks.all))?;
    }
    Ok(())
}

/// Writes more statuses than a page of any server holds.
pub(super) async fn the_latest_status_counts<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    if context.fetch(staged.pull).await?.capabilities.status == Support::Unsupported {
        return Ok(());
    }
    for _ in 0..26 {
        context.expect_done(staged.pull, &status_action(&staged, CheckState::Fail)).await?;
        context.expect_done(staged.pull, &status_action(&staged, CheckState::Pass)).await?;
    }
    context.expect_already_so(staged.pull, &status_action(&staged, CheckState::Pass)).await?;
    let own = expect_one(context.fetch(staged.pull).await?.checks.own, "own statuses")?;
    ensure(own.state == CheckState::Pass, || format!("the status reads {own:?}"))
}

pub(super) async fn a_claim_is_exclusive_and_can_be_released<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
) -> ClauseResult {
    let staged = context.open_pull().await?;
    let forge = context.setup.forge();
    if context.fetch(staged.pull).await?.capabilities.claim == Support::Unsupported {
        return Ok(());
    }
    let claim = |purpose| async move {
        context.record_error(forge.acquire_claim(staged.pull, purpose, Span::from_hours(1)).await)
    };
    let (first, second, other) =
        (claim(ClaimPurpose::Work).await, claim(ClaimPurpose::Work).await, claim(ClaimPurpose::Publish).await);
    let Ok(ClaimOutcome::Acquired(epoch)) = first else {
        return ensure(false, || format!("the first claim is {first:?}"));
    };
    ensure(matches!(second, Ok(ClaimOutcome::HeldElsewhere(_))), || format!("the second claim is {second:?}"))?;
    ensure(matches!(other, Ok(ClaimOutcome::Acquired(_))), || format!("a claim for another purpose is {other:?}"))?;
    let release = || async { context.record_error(forge.release_claim(staged.pull, ClaimPurpose::Work, epoch).await) };
    let (released, again) = (release().await, release().await);
    ensure(released.is_ok(), || format!("releasing the claim ended as {released:?}"))?;
    ensure(matches!(again, Err(ForgeError::Conflict(_))), || format!("releasing it again ended as {again:?}"))?;
    let third = claim(ClaimPurpose::Work).await;
    ensure(matches!(third, Ok(ClaimOutcome::Acquired(newer)) if newer > epoch), || {
        format!("after epoch {epoch} the next claim is {third:?}")
    })
}

/// Tries every capability: a supported one works, an unsupported one is reported as such.
pub(super) async fn capabilities_match_behaviour<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    let thread = context
        .setup
        .open_thread(staged.pull, &staged.commentable_lines[0], "why?")
        .await
        .map_err(ClauseStop::Broken)?;
    let name = context.setup.add_label(context.open_pull().await?.pull).await.map_err(ClauseStop::Broken)?;
    let review = post_own_review(context, &staged, "text").await?;
    let reported = context.fetch(staged.pull).await?.capabilities;
    let edit = review.edit.clone().unwrap_or_else(|| "1".into());
    let text = drafts::build_draft("other text", &staged.head);
    let attempts = [
        ("edit_review", reported.edit_review, Action::EditReview { review: review.id, edit, text: text.clone() }),
        ("reply", reported.reply, Action::Reply { thread: thread.clone(), text }),
        ("status", reported.status, status_action(&staged, CheckState::Pass)),
        ("labels", reported.labels, Action::SetLabel { name, on: true }),
        ("labels", reported.labels, assign_action(Some(context.me.clone()))),
    ];
    for (name, support, action) in attempts {
        let outcome = context.perform(staged.pull, &action).await;
        let works = match &outcome {
            Ok(PerformOutcome::Done(_) | PerformOutcome::AlreadySo | PerformOutcome::MarkedInText) => true,
            Ok(PerformOutcome::NotPermitted) | Err(ForgeError::Unsupported(_)) => false,
            Err(_) => {
                return ensure(false, || format!("`{name}` is reported as {support:?} and ended as {outcome:?}"));
            }
        };
        ensure(works == (support != Support::Unsupported), || {
            format!("`{name}` is reported as {support:?} and ended as {outcome:?}")
        })?;
    }
    let claimed = context
        .record_error(context.setup.forge().acquire_claim(staged.pull, ClaimPurpose::Work, Span::from_hours(1)).await);
    let works = !matches!(claimed, Err(ForgeError::Unsupported(_)));
    ensure(works == (reported.claim != Support::Unsupported), || {
        format!("`claim` is reported as {:?} and ended as {claimed:?}", reported.claim)
    })
}

fn assign_action(who: Option<referee_core::model::Login>) -> Action {
    Action::Assign { target: CommentTarget::Pull, who }
}

fn status_action(staged: &StagedPull, state: CheckState) -> Action {
    let (commit, text) = (staged.head.clone(), drafts::safe_text("set by the contract suite"));
    Action::SetStatus { commit, context: "referee/contract".to_owned(), state, text }
}
