//! Clauses about threads: replied to once, resolved once, and reported as unsupported where the forge has no route.

use referee_core::model::{Support, Thread};
use referee_core::plan::Action;
use referee_forge::{ForgeError, PerformOutcome};

use crate::contract::context::{ClauseContext, ClauseResult, ClauseStop, ensure, expect_one, is_same_text};
use crate::contract::drafts;
use crate::contract::setup::{ContractSetup, StagedPull};

pub(super) async fn a_reply_is_the_last_note_and_not_duplicated<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
) -> ClauseResult {
    let staged = context.open_pull().await?;
    let thread = open_thread_of_others(context, &staged).await?;
    let supported = context.fetch(staged.pull).await?.capabilities.reply != Support::Unsupported;
    let text = drafts::build_draft("because", &staged.head);
    let reply = Action::Reply { thread: thread.id.clone(), text: text.clone() };
    if !supported {
        let outcome = context.perform(staged.pull, &reply).await;
        return ensure(matches!(outcome, Err(ForgeError::Unsupported(_))), || {
            format!("the reply ended as {outcome:?}")
        });
    }
    context.expect_done(staged.pull, &reply).await?;
    context.expect_already_so(staged.pull, &reply).await?;
    let fetched = context.fetch(staged.pull).await?;
    let thread = expect_one(fetched.threads.iter().filter(|read| read.id == thread.id).collect(), "threads of one id")?;
    let last = thread.last().filter(|last| thread.notes.len() == 2 && last.author.has_login(&context.me));
    ensure(last.is_some_and(|last| is_same_text(&last.text, &context.seal_text(&text, staged.pull))), || {
        format!("after the reply the thread reads {:?}", thread.notes)
    })?;
    ensure(context.own_reviews(&fetched).is_empty(), || "the reply counts as a review".to_owned())
}

pub(super) async fn resolving_twice_is_already_so<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    let root = drafts::build_thread("a problem", &staged.commentable_lines[0], &staged.head);
    let threads = vec![root.clone()];
    let open = Action::OpenThreads { role: "contract".into(), commit: staged.head.clone(), threads };
    context.expect_done(staged.pull, &open).await?;
    let fetched = context.fetch(staged.pull).await?;
    let thread = expect_one(
        context.threads_with_root(&fetched, &context.seal_text(&root.text, staged.pull)),
        "threads of one text",
    )?
    .clone();
    let settled = drafts::build_draft("settled", &staged.head);
    let mark = thread.root().map(|root| (root.id.clone(), settled.clone()));
    let resolve = Action::Resolve { thread: thread.id.clone(), mark };
    let outcome = context.perform(staged.pull, &resolve).await;
    let fetched = context.fetch(staged.pull).await?;
    let read = expect_one(fetched.threads.iter().filter(|read| read.id == thread.id).collect(), "threads of one id")?;
    let by_me = read.resolved.as_ref().is_some_and(|resolution| resolution.by.has_login(&context.me));
    let in_text = read.root().is_some_and(|root| is_same_text(&root.text, &context.seal_text(&settled, staged.pull)));
    let expected = match fetched.capabilities.resolve {
        Support::Native => matches!(outcome, Ok(PerformOutcome::Done(_))) && by_me && !in_text,
        Support::Emulated => outcome == Ok(PerformOutcome::MarkedInText) && !by_me && in_text,
        Support::Unsupported => {
            return ensure(outcome == Ok(PerformOutcome::NotPermitted), || format!("ended as {outcome:?}"));
        }
    };
    ensure(expected, || format!("{outcome:?}, and the thread is {:?}", read.resolved))?;
    context.expect_already_so(staged.pull, &resolve).await
}

pub(super) async fn a_thread_of_others_is_resolved_or_left_alone<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
) -> ClauseResult {
    let staged = context.open_pull().await?;
    let thread = open_thread_of_others(context, &staged).await?;
    let resolve = Action::Resolve { thread: thread.id.clone(), mark: None };
    let outcome = context.perform(staged.pull, &resolve).await;
    let fetched = context.fetch(staged.pull).await?;
    let read = expect_one(fetched.threads.iter().filter(|read| read.id == thread.id).collect(), "threads of one id")?;
    let native = fetched.capabilities.resolve == Support::Native;
    let consistent = match &outcome {
        Ok(PerformOutcome::Done(_)) => native && read.resolved.is_some(),
        Ok(PerformOutcome::NotPermitted) => !native && read.resolved.is_none(),
        _ => false,
    };
    ensure(consistent && read.notes == thread.notes, || format!("{outcome:?}, and the thread is {read:?}"))
}

async fn open_thread_of_others<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
    staged: &StagedPull,
) -> Result<Thread, ClauseStop> {
    let id = context
        .setup
        .open_thread(staged.pull, &staged.commentable_lines[0], "why?")
        .await
        .map_err(ClauseStop::Broken)?;
    let fetched = context.fetch(staged.pull).await?;
    expect_one(fetched.threads.into_iter().filter(|thread| thread.id == id).collect(), "threads of one id")
}
