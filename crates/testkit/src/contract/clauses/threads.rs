//! Threads: replies once, resolved once, and honest where the forge cannot.

use referee_core::model::{Support, Thread};
use referee_core::plan::Action;
use referee_forge::{ForgeError, Performed};

use crate::contract::bench::{Bench, Kept, Stop, holds, only, same};
use crate::contract::stage::{Stage, Staged};
use crate::contract::texts;

pub(super) async fn a_reply_is_the_last_note_and_not_doubled<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let thread = foreign_thread(bench, &staged).await?;
    let supported = bench.fetch(staged.pull).await?.capabilities.reply != Support::Unsupported;
    let text = texts::draft("because", &staged.head);
    let reply = Action::Reply { thread: thread.id.clone(), text: text.clone() };
    if !supported {
        let ended = bench.act(staged.pull, &reply).await;
        return holds(matches!(ended, Err(ForgeError::Unsupported(_))), || format!("the reply ended as {ended:?}"));
    }
    bench.done(staged.pull, &reply).await?;
    bench.again(staged.pull, &reply).await?;
    let fetched = bench.fetch(staged.pull).await?;
    let thread = only(fetched.threads.iter().filter(|read| read.id == thread.id).collect(), "threads of one id")?;
    let last = thread.last().filter(|last| thread.notes.len() == 2 && last.author.is(&bench.me));
    holds(last.is_some_and(|last| same(&last.text, &bench.text(&text, staged.pull))), || {
        format!("after the reply the thread reads {:?}", thread.notes)
    })?;
    holds(bench.own(&fetched).is_empty(), || "the reply counts as a review".to_owned())
}

pub(super) async fn resolving_twice_is_already_so<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let root = texts::thread("a thing", &staged.places[0], &staged.head);
    let threads = vec![root.clone()];
    let open = Action::OpenThreads { role: "contract".into(), commit: staged.head.clone(), threads };
    bench.done(staged.pull, &open).await?;
    let fetched = bench.fetch(staged.pull).await?;
    let thread = only(bench.rooted(&fetched, &bench.text(&root.text, staged.pull)), "threads of one text")?.clone();
    let settled = texts::draft("settled", &staged.head);
    let mark = thread.root().map(|root| (root.id.clone(), settled.clone()));
    let resolve = Action::Resolve { thread: thread.id.clone(), mark };
    let ended = bench.act(staged.pull, &resolve).await;
    let fetched = bench.fetch(staged.pull).await?;
    let read = only(fetched.threads.iter().filter(|read| read.id == thread.id).collect(), "threads of one id")?;
    let by_me = read.resolved.as_ref().is_some_and(|resolution| resolution.by.is(&bench.me));
    let in_text = read.root().is_some_and(|root| same(&root.text, &bench.text(&settled, staged.pull)));
    let expected = match fetched.capabilities.resolve {
        Support::Native => matches!(ended, Ok(Performed::Done(_))) && by_me && !in_text,
        Support::Emulated => ended == Ok(Performed::MarkedInText) && !by_me && in_text,
        Support::Unsupported => return holds(ended == Ok(Performed::NotPermitted), || format!("ended as {ended:?}")),
    };
    holds(expected, || format!("{ended:?}, and the thread is {:?}", read.resolved))?;
    bench.again(staged.pull, &resolve).await
}

pub(super) async fn a_foreign_thread_is_resolved_or_left_alone<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let thread = foreign_thread(bench, &staged).await?;
    let resolve = Action::Resolve { thread: thread.id.clone(), mark: None };
    let ended = bench.act(staged.pull, &resolve).await;
    let fetched = bench.fetch(staged.pull).await?;
    let read = only(fetched.threads.iter().filter(|read| read.id == thread.id).collect(), "threads of one id")?;
    let native = fetched.capabilities.resolve == Support::Native;
    let honest = match &ended {
        Ok(Performed::Done(_)) => native && read.resolved.is_some(),
        Ok(Performed::NotPermitted) => !native && read.resolved.is_none(),
        _ => false,
    };
    holds(honest && read.notes == thread.notes, || format!("{ended:?}, and the thread is {read:?}"))
}

async fn foreign_thread<S: Stage>(bench: &Bench<'_, S>, staged: &Staged) -> Result<Thread, Stop> {
    let id = bench.stage.thread(staged.pull, &staged.places[0], "why?").await.map_err(Stop::Broken)?;
    let fetched = bench.fetch(staged.pull).await?;
    only(fetched.threads.into_iter().filter(|thread| thread.id == id).collect(), "threads of one id")
}
