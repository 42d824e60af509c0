//! Comments, labels, assignees, statuses, claims, and whether capabilities tell the truth.

use referee_core::model::{CheckState, Span, Support};
use referee_core::plan::{Action, Target};
use referee_forge::{Claimed, Forge, ForgeError, Performed, Purpose};

use super::reviews::own_review;
use crate::contract::bench::{Bench, Kept, Stop, holds, only, same};
use crate::contract::stage::{Stage, Staged};
use crate::contract::texts;

pub(super) async fn a_comment_is_written_once_and_edited_in_place<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let ensure = |existing, words| Action::EnsureComment {
        existing,
        target: Target::Pull,
        text: texts::draft(words, &staged.head),
    };
    let made = bench.done(staged.pull, &ensure(None, "first words")).await?;
    bench.again(staged.pull, &ensure(None, "first words")).await?;
    bench.done(staged.pull, &ensure(made.comment.clone(), "second words")).await?;
    bench.again(staged.pull, &ensure(made.comment.clone(), "second words")).await?;
    let fetched = bench.fetch(staged.pull).await?;
    let comment = only(fetched.comments, "comments")?;
    let expected = bench.text(&texts::draft("second words", &staged.head), staged.pull);
    holds(Some(&comment.id) == made.comment.as_ref() && same(&comment.text, &expected), || {
        format!("made {:?}, read {} {:?}", made.comment, comment.id, comment.text.words())
    })
}

pub(super) async fn a_label_is_put_on_and_taken_off_once<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let (theirs, mine) = (bench.pull().await?, bench.pull().await?);
    let name = bench.stage.label(theirs.pull).await.map_err(Stop::Broken)?;
    let (on, off) =
        (Action::SetLabel { name: name.clone(), on: true }, Action::SetLabel { name: name.clone(), on: false });
    if bench.fetch(mine.pull).await?.capabilities.labels == Support::Unsupported {
        return Ok(());
    }
    bench.again(theirs.pull, &on).await?;
    let taken = bench.act(theirs.pull, &off).await;
    let left = bench.fetch(theirs.pull).await?.pull.label(&name).is_some();
    holds(left && matches!(taken, Err(ForgeError::Forbidden(_))), || format!("a foreign label: {taken:?}"))?;
    bench.done(mine.pull, &on).await?;
    bench.again(mine.pull, &on).await?;
    let label = bench.fetch(mine.pull).await?.pull.label(&name).cloned();
    holds(label.as_ref().is_some_and(|label| label.by.as_ref() == Some(&bench.me) && label.at.is_some()), || {
        format!("the label reads {label:?}")
    })?;
    bench.done(mine.pull, &off).await?;
    bench.again(mine.pull, &off).await?;
    let left = bench.fetch(mine.pull).await?.pull.labels;
    holds(left.is_empty(), || format!("left: {left:?}"))
}

pub(super) async fn somebody_is_assigned_once<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let (on, off) = (assign(Some(bench.me.clone())), assign(None));
    if bench.fetch(staged.pull).await?.capabilities.labels == Support::Unsupported {
        return Ok(());
    }
    bench.done(staged.pull, &on).await?;
    bench.again(staged.pull, &on).await?;
    let assigned = bench.fetch(staged.pull).await?.pull.assignees;
    holds(assigned == [bench.me.clone()], || format!("assigned: {assigned:?}"))?;
    bench.done(staged.pull, &off).await?;
    bench.again(staged.pull, &off).await
}

pub(super) async fn a_status_is_written_once_and_is_no_check<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    if bench.fetch(staged.pull).await?.capabilities.status == Support::Unsupported {
        return Ok(());
    }
    for state in [CheckState::Fail, CheckState::Pass] {
        bench.done(staged.pull, &status(&staged, state)).await?;
        bench.again(staged.pull, &status(&staged, state)).await?;
        let checks = bench.fetch(staged.pull).await?.checks;
        let own = only(checks.own, "own statuses")?;
        holds(own.state == state && own.context == "referee/contract", || format!("the status reads {own:?}"))?;
        holds(checks.all.is_empty(), || format!("it is among the checks: {:?}", checks.all))?;
    }
    Ok(())
}

/// More than fit on a page of any server.
pub(super) async fn the_latest_status_counts_whatever_was_said_before<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    if bench.fetch(staged.pull).await?.capabilities.status == Support::Unsupported {
        return Ok(());
    }
    for _ in 0..26 {
        bench.done(staged.pull, &status(&staged, CheckState::Fail)).await?;
        bench.done(staged.pull, &status(&staged, CheckState::Pass)).await?;
    }
    bench.again(staged.pull, &status(&staged, CheckState::Pass)).await?;
    let own = only(bench.fetch(staged.pull).await?.checks.own, "own statuses")?;
    holds(own.state == CheckState::Pass, || format!("the status reads {own:?}"))
}

pub(super) async fn a_claim_is_held_once_and_given_back<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let forge = bench.stage.forge();
    if bench.fetch(staged.pull).await?.capabilities.claim == Support::Unsupported {
        return Ok(());
    }
    let claim = |purpose| async move { bench.seen(forge.claim(staged.pull, purpose, Span::hours(1)).await) };
    let (first, second, other) =
        (claim(Purpose::Work).await, claim(Purpose::Work).await, claim(Purpose::Publish).await);
    let Ok(Claimed::Mine(epoch)) = first else { return holds(false, || format!("the first claim is {first:?}")) };
    holds(second == Ok(Claimed::Held), || format!("the second claim is {second:?}"))?;
    holds(matches!(other, Ok(Claimed::Mine(_))), || format!("a claim for another purpose is {other:?}"))?;
    for _ in 0..2 {
        let released = bench.seen(forge.release(staged.pull, Purpose::Work, epoch).await);
        holds(released.is_ok(), || format!("giving it back ended as {released:?}"))?;
    }
    let third = claim(Purpose::Work).await;
    holds(matches!(third, Ok(Claimed::Mine(newer)) if newer > epoch), || format!("after {epoch} the next is {third:?}"))
}

/// What is said to work works, and what is said not to work says so when it is tried.
pub(super) async fn capabilities_tell_the_truth<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let thread = bench.stage.thread(staged.pull, &staged.places[0], "why?").await.map_err(Stop::Broken)?;
    let name = bench.stage.label(bench.pull().await?.pull).await.map_err(Stop::Broken)?;
    let review = own_review(bench, &staged, "words").await?;
    let said = bench.fetch(staged.pull).await?.capabilities;
    let edit = review.edit.clone().unwrap_or_else(|| "1".into());
    let text = texts::draft("other words", &staged.head);
    let tried = [
        ("edit_review", said.edit_review, Action::EditReview { review: review.id, edit, text: text.clone() }),
        ("reply", said.reply, Action::Reply { thread: thread.clone(), text }),
        ("status", said.status, status(&staged, CheckState::Pass)),
        ("labels", said.labels, Action::SetLabel { name, on: true }),
        ("labels", said.labels, assign(Some(bench.me.clone()))),
    ];
    for (what, support, action) in tried {
        let ended = bench.act(staged.pull, &action).await;
        let works = match &ended {
            Ok(Performed::Done(_) | Performed::AlreadySo | Performed::MarkedInText) => true,
            Ok(Performed::NotPermitted) | Err(ForgeError::Unsupported(_)) => false,
            Err(_) => return holds(false, || format!("`{what}` is said to be {support:?} and ended as {ended:?}")),
        };
        holds(works == (support != Support::Unsupported), || {
            format!("`{what}` is said to be {support:?} and ended as {ended:?}")
        })?;
    }
    let claimed = bench.seen(bench.stage.forge().claim(staged.pull, Purpose::Work, Span::hours(1)).await);
    let works = !matches!(claimed, Err(ForgeError::Unsupported(_)));
    holds(works == (said.claim != Support::Unsupported), || {
        format!("`claim` is said to be {:?} and ended as {claimed:?}", said.claim)
    })
}

fn assign(who: Option<referee_core::model::Login>) -> Action {
    Action::Assign { target: Target::Pull, who }
}

fn status(staged: &Staged, state: CheckState) -> Action {
    let (commit, text) = (staged.head.clone(), texts::safe("as the contract says"));
    Action::SetStatus { commit, context: "referee/contract".to_owned(), state, text }
}
