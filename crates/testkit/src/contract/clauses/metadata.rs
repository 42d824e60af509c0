//! Comments, labels, assignees, statuses, claims, and whether capabilities tell the truth.

use referee_core::model::{CheckState, Span, Support};
use referee_core::plan::{Action, CommentTarget};
use referee_forge::{ClaimOutcome, ClaimPurpose, Forge, ForgeError, PerformOutcome};

use super::reviews::post_own_review;
use crate::contract::context::{ClauseContext, ClauseResult, ClauseStop, ensure, expect_one, is_same_text};
use crate::contract::drafts;
use crate::contract::setup::{ContractSetup, StagedPull};

pub(super) async fn a_comment_is_written_once_and_edited_in_place<S: ContractSetup>(
    bench: &ClauseContext<'_, S>,
) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let comment = |existing, words| Action::EnsureComment {
        existing,
        target: CommentTarget::Pull,
        text: drafts::build_draft(words, &staged.head),
    };
    let made = bench.expect_done(staged.pull, &comment(None, "first words")).await?;
    bench.expect_already_so(staged.pull, &comment(None, "first words")).await?;
    bench.expect_done(staged.pull, &comment(made.comment.clone(), "second words")).await?;
    bench.expect_already_so(staged.pull, &comment(made.comment.clone(), "second words")).await?;
    let fetched = bench.fetch(staged.pull).await?;
    let comment = expect_one(fetched.comments, "comments")?;
    let expected = bench.seal_text(&drafts::build_draft("second words", &staged.head), staged.pull);
    ensure(Some(&comment.id) == made.comment.as_ref() && is_same_text(&comment.text, &expected), || {
        format!("made {:?}, read {} {:?}", made.comment, comment.id, comment.text.body_or_empty())
    })
}

pub(super) async fn a_label_is_put_on_and_taken_off_once<S: ContractSetup>(
    bench: &ClauseContext<'_, S>,
) -> ClauseResult {
    let (theirs, mine) = (bench.open_pull().await?, bench.open_pull().await?);
    let name = bench.setup.add_label(theirs.pull).await.map_err(ClauseStop::Broken)?;
    let (on, off) =
        (Action::SetLabel { name: name.clone(), on: true }, Action::SetLabel { name: name.clone(), on: false });
    if bench.fetch(mine.pull).await?.capabilities.labels == Support::Unsupported {
        return Ok(());
    }
    bench.expect_already_so(theirs.pull, &on).await?;
    let taken = bench.perform(theirs.pull, &off).await;
    let left = bench.fetch(theirs.pull).await?.pull.label(&name).is_some();
    ensure(left && matches!(taken, Err(ForgeError::Forbidden(_))), || format!("a foreign label: {taken:?}"))?;
    bench.expect_done(mine.pull, &on).await?;
    bench.expect_already_so(mine.pull, &on).await?;
    let label = bench.fetch(mine.pull).await?.pull.label(&name).cloned();
    ensure(label.as_ref().is_some_and(|label| label.by.as_ref() == Some(&bench.me) && label.at.is_some()), || {
        format!("the label reads {label:?}")
    })?;
    bench.expect_done(mine.pull, &off).await?;
    bench.expect_already_so(mine.pull, &off).await?;
    let left = bench.fetch(mine.pull).await?.pull.labels;
    ensure(left.is_empty(), || format!("left: {left:?}"))
}

pub(super) async fn somebody_is_assigned_once<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let (on, off) = (assign_action(Some(bench.me.clone())), assign_action(None));
    if bench.fetch(staged.pull).await?.capabilities.labels == Support::Unsupported {
        return Ok(());
    }
    bench.expect_done(staged.pull, &on).await?;
    bench.expect_already_so(staged.pull, &on).await?;
    let assigned = bench.fetch(staged.pull).await?.pull.assignees;
    ensure(assigned == [bench.me.clone()], || format!("assigned: {assigned:?}"))?;
    bench.expect_done(staged.pull, &off).await?;
    bench.expect_already_so(staged.pull, &off).await
}

pub(super) async fn a_status_is_written_once_and_is_no_check<S: ContractSetup>(
    bench: &ClauseContext<'_, S>,
) -> ClauseResult {
    let staged = bench.open_pull().await?;
    if bench.fetch(staged.pull).await?.capabilities.status == Support::Unsupported {
        return Ok(());
    }
    for state in [CheckState::Fail, CheckState::Pass] {
        bench.expect_done(staged.pull, &status_action(&staged, state)).await?;
        bench.expect_already_so(staged.pull, &status_action(&staged, state)).await?;
        let checks = bench.fetch(staged.pull).await?.checks;
        let own = expect_one(checks.own, "own statuses")?;
        ensure(own.state == state && own.context == "referee/contract", || format!("the status reads {own:?}"))?;
        ensure(checks.all.is_empty(), || format!("it is among the checks: {:?}", checks.all))?;
    }
    Ok(())
}

/// More than fit on a page of any server.
pub(super) async fn the_latest_status_counts_whatever_was_said_before<S: ContractSetup>(
    bench: &ClauseContext<'_, S>,
) -> ClauseResult {
    let staged = bench.open_pull().await?;
    if bench.fetch(staged.pull).await?.capabilities.status == Support::Unsupported {
        return Ok(());
    }
    for _ in 0..26 {
        bench.expect_done(staged.pull, &status_action(&staged, CheckState::Fail)).await?;
        bench.expect_done(staged.pull, &status_action(&staged, CheckState::Pass)).await?;
    }
    bench.expect_already_so(staged.pull, &status_action(&staged, CheckState::Pass)).await?;
    let own = expect_one(bench.fetch(staged.pull).await?.checks.own, "own statuses")?;
    ensure(own.state == CheckState::Pass, || format!("the status reads {own:?}"))
}

pub(super) async fn a_claim_is_held_once_and_given_back<S: ContractSetup>(
    bench: &ClauseContext<'_, S>,
) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let forge = bench.setup.forge();
    if bench.fetch(staged.pull).await?.capabilities.claim == Support::Unsupported {
        return Ok(());
    }
    let claim = |purpose| async move {
        bench.record_error(forge.acquire_claim(staged.pull, purpose, Span::from_hours(1)).await)
    };
    let (first, second, other) =
        (claim(ClaimPurpose::Work).await, claim(ClaimPurpose::Work).await, claim(ClaimPurpose::Publish).await);
    let Ok(ClaimOutcome::Acquired(epoch)) = first else {
        return ensure(false, || format!("the first claim is {first:?}"));
    };
    ensure(second == Ok(ClaimOutcome::HeldElsewhere), || format!("the second claim is {second:?}"))?;
    ensure(matches!(other, Ok(ClaimOutcome::Acquired(_))), || format!("a claim for another purpose is {other:?}"))?;
    for _ in 0..2 {
        let released = bench.record_error(forge.release_claim(staged.pull, ClaimPurpose::Work, epoch).await);
        ensure(released.is_ok(), || format!("giving it back ended as {released:?}"))?;
    }
    let third = claim(ClaimPurpose::Work).await;
    ensure(matches!(third, Ok(ClaimOutcome::Acquired(newer)) if newer > epoch), || {
        format!("after {epoch} the next is {third:?}")
    })
}

/// What is said to work works, and what is said not to work says so when it is tried.
pub(super) async fn capabilities_tell_the_truth<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let thread =
        bench.setup.open_thread(staged.pull, &staged.commentable_lines[0], "why?").await.map_err(ClauseStop::Broken)?;
    let name = bench.setup.add_label(bench.open_pull().await?.pull).await.map_err(ClauseStop::Broken)?;
    let review = post_own_review(bench, &staged, "words").await?;
    let said = bench.fetch(staged.pull).await?.capabilities;
    let edit = review.edit.clone().unwrap_or_else(|| "1".into());
    let text = drafts::build_draft("other words", &staged.head);
    let tried = [
        ("edit_review", said.edit_review, Action::EditReview { review: review.id, edit, text: text.clone() }),
        ("reply", said.reply, Action::Reply { thread: thread.clone(), text }),
        ("status", said.status, status_action(&staged, CheckState::Pass)),
        ("labels", said.labels, Action::SetLabel { name, on: true }),
        ("labels", said.labels, assign_action(Some(bench.me.clone()))),
    ];
    for (what, support, action) in tried {
        let ended = bench.perform(staged.pull, &action).await;
        let works = match &ended {
            Ok(PerformOutcome::Done(_) | PerformOutcome::AlreadySo | PerformOutcome::MarkedInText) => true,
            Ok(PerformOutcome::NotPermitted) | Err(ForgeError::Unsupported(_)) => false,
            Err(_) => return ensure(false, || format!("`{what}` is said to be {support:?} and ended as {ended:?}")),
        };
        ensure(works == (support != Support::Unsupported), || {
            format!("`{what}` is said to be {support:?} and ended as {ended:?}")
        })?;
    }
    let claimed = bench
        .record_error(bench.setup.forge().acquire_claim(staged.pull, ClaimPurpose::Work, Span::from_hours(1)).await);
    let works = !matches!(claimed, Err(ForgeError::Unsupported(_)));
    ensure(works == (said.claim != Support::Unsupported), || {
        format!("`claim` is said to be {:?} and ended as {claimed:?}", said.claim)
    })
}

fn assign_action(who: Option<referee_core::model::Login>) -> Action {
    Action::Assign { target: CommentTarget::Pull, who }
}

fn status_action(staged: &StagedPull, state: CheckState) -> Action {
    let (commit, text) = (staged.head.clone(), drafts::safe_text("as the contract says"));
    Action::SetStatus { commit, context: "referee/contract".to_owned(), state, text }
}
