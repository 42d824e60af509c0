//! Threads: replies once, resolved once, and honest where the forge cannot.

use referee_core::model::{Support, Thread};
use referee_core::plan::Action;
use referee_forge::{ForgeError, PerformOutcome};

use crate::contract::context::{ClauseContext, ClauseResult, ClauseStop, ensure, expect_one, is_same_text};
use crate::contract::drafts;
use crate::contract::setup::{ContractSetup, StagedPull};

pub(super) async fn a_reply_is_the_last_note_and_not_doubled<S: ContractSetup>(
    bench: &ClauseContext<'_, S>,
) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let thread = open_foreign_thread(bench, &staged).await?;
    let supported = bench.fetch(staged.pull).await?.capabilities.reply != Support::Unsupported;
    let text = drafts::build_draft("because", &staged.head);
    let reply = Action::Reply { thread: thread.id.clone(), text: text.clone() };
    if !supported {
        let ended = bench.perform(staged.pull, &reply).await;
        return ensure(matches!(ended, Err(ForgeError::Unsupported(_))), || format!("the reply ended as {ended:?}"));
    }
    bench.expect_done(staged.pull, &reply).await?;
    bench.expect_already_so(staged.pull, &reply).await?;
    let fetched = bench.fetch(staged.pull).await?;
    let thread = expect_one(fetched.threads.iter().filter(|read| read.id == thread.id).collect(), "threads of one id")?;
    let last = thread.last().filter(|last| thread.notes.len() == 2 && last.author.has_login(&bench.me));
    ensure(last.is_some_and(|last| is_same_text(&last.text, &bench.seal_text(&text, staged.pull))), || {
        format!("after the reply the thread reads {:?}", thread.notes)
    })?;
    ensure(bench.own_reviews(&fetched).is_empty(), || "the reply counts as a review".to_owned())
}

pub(super) async fn resolving_twice_is_already_so<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let root = drafts::build_thread("a thing", &staged.commentable_lines[0], &staged.head);
    let threads = vec![root.clone()];
    let open = Action::OpenThreads { role: "contract".into(), commit: staged.head.clone(), threads };
    bench.expect_done(staged.pull, &open).await?;
    let fetched = bench.fetch(staged.pull).await?;
    let thread = expect_one(
        bench.threads_with_root(&fetched, &bench.seal_text(&root.text, staged.pull)),
        "threads of one text",
    )?
    .clone();
    let settled = drafts::build_draft("settled", &staged.head);
    let mark = thread.root().map(|root| (root.id.clone(), settled.clone()));
    let resolve = Action::Resolve { thread: thread.id.clone(), mark };
    let ended = bench.perform(staged.pull, &resolve).await;
    let fetched = bench.fetch(staged.pull).await?;
    let read = expect_one(fetched.threads.iter().filter(|read| read.id == thread.id).collect(), "threads of one id")?;
    let by_me = read.resolved.as_ref().is_some_and(|resolution| resolution.by.has_login(&bench.me));
    let in_text = read.root().is_some_and(|root| is_same_text(&root.text, &bench.seal_text(&settled, staged.pull)));
    let expected = match fetched.capabilities.resolve {
        Support::Native => matches!(ended, Ok(PerformOutcome::Done(_))) && by_me && !in_text,
        Support::Emulated => ended == Ok(PerformOutcome::MarkedInText) && !by_me && in_text,
        Support::Unsupported => {
            return ensure(ended == Ok(PerformOutcome::NotPermitted), || format!("ended as {ended:?}"));
        }
    };
    ensure(expected, || format!("{ended:?}, and the thread is {:?}", read.resolved))?;
    bench.expect_already_so(staged.pull, &resolve).await
}

pub(super) async fn a_foreign_thread_is_resolved_or_left_alone<S: ContractSetup>(
    bench: &ClauseContext<'_, S>,
) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let thread = open_foreign_thread(bench, &staged).await?;
    let resolve = Action::Resolve { thread: thread.id.clone(), mark: None };
    let ended = bench.perform(staged.pull, &resolve).await;
    let fetched = bench.fetch(staged.pull).await?;
    let read = expect_one(fetched.threads.iter().filter(|read| read.id == thread.id).collect(), "threads of one id")?;
    let native = fetched.capabilities.resolve == Support::Native;
    let honest = match &ended {
        Ok(PerformOutcome::Done(_)) => native && read.resolved.is_some(),
        Ok(PerformOutcome::NotPermitted) => !native && read.resolved.is_none(),
        _ => false,
    };
    ensure(honest && read.notes == thread.notes, || format!("{ended:?}, and the thread is {read:?}"))
}

async fn open_foreign_thread<S: ContractSetup>(
    bench: &ClauseContext<'_, S>,
    staged: &StagedPull,
) -> Result<Thread, ClauseStop> {
    let id =
        bench.setup.open_thread(staged.pull, &staged.commentable_lines[0], "why?").await.map_err(ClauseStop::Broken)?;
    let fetched = bench.fetch(staged.pull).await?;
    expect_one(fetched.threads.into_iter().filter(|thread| thread.id == id).collect(), "threads of one id")
}
