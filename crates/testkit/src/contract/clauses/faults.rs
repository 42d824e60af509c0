//! What must not happen, and what errors say.

use referee_core::model::{CommentId, EditId, PullNumber, ThreadId, Verdict};
use referee_core::plan::{Action, Expect, Target};
use referee_forge::{ForgeError, Performed, Reader};

use crate::contract::bench::{Bench, Kept, Stop, holds, only, skipped};
use crate::contract::stage::Stage;
use crate::contract::texts;

pub(super) async fn foreign_words_are_never_edited<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let (pull, stage) = (staged.pull, bench.stage);
    let comment = stage.comment(pull, "their comment").await.map_err(Stop::Broken)?;
    let review = stage.review(pull, "their review").await.map_err(Stop::Broken)?;
    let thread = stage.thread(pull, &staged.places[0], "their note").await.map_err(Stop::Broken)?;
    let before = bench.fetch(pull).await?;
    let row = only(before.reviews.iter().filter(|row| row.id == review).collect(), "reviews of one id")?;
    let edit = row.edit.clone().unwrap_or_else(|| EditId::from("1"));
    let note =
        before.threads.iter().find(|row| row.id == thread).and_then(|row| row.root()).map(|root| root.id.clone());
    let text = texts::draft("our words", &staged.head);
    let tries = [
        Action::EditReview { review: review.clone(), edit: edit.clone(), text: text.clone() },
        Action::Supersede { review, edit, text: text.clone() },
        Action::EnsureComment { existing: Some(comment), target: Target::Pull, text: text.clone() },
        Action::Resolve { thread, mark: note.map(|note| (note, text)) },
    ];
    for action in tries {
        let ended = bench.act(pull, &action).await;
        let refused = match &ended {
            Err(ForgeError::Forbidden(_) | ForgeError::Unsupported(_)) | Ok(Performed::NotPermitted) => true,
            // Resolving needs no edit where the forge can resolve.
            Ok(Performed::Done(_)) => matches!(action, Action::Resolve { .. }),
            _ => false,
        };
        holds(refused, || format!("{} ended as {ended:?}", action.name()))?;
    }
    let after = bench.fetch(pull).await?;
    let words = |fetched: &referee_forge::Fetched| {
        let mut all: Vec<String> = fetched.reviews.iter().map(|row| row.text.words().to_owned()).collect();
        all.extend(fetched.comments.iter().map(|row| row.text.words().to_owned()));
        all.extend(fetched.threads.iter().flat_map(|row| &row.notes).map(|row| row.text.words().to_owned()));
        all
    };
    holds(words(&before) == words(&after), || format!("{:?} became {:?}", words(&before), words(&after)))
}

pub(super) async fn what_is_not_there_is_not_found<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let not_found = |what: &str, ended: Option<ForgeError>| {
        holds(matches!(ended, Some(ForgeError::NotFound(_))), || format!("{what} ended as {ended:?}"))
    };
    let nowhere = PullNumber(987_654_321);
    let forge = bench.stage.forge();
    not_found("fetch of no pull", bench.seen(forge.fetch(nowhere).await).err())?;
    not_found("head of no pull", bench.seen(forge.head(nowhere).await).err())?;
    let thread = ThreadId::from("987654321");
    not_found("no thread", bench.act(staged.pull, &Action::Resolve { thread, mark: None }).await.err())?;
    let text = texts::draft("nowhere", &staged.head);
    let existing = Some(CommentId::from("987654321"));
    let comment = Action::EnsureComment { existing, target: Target::Pull, text };
    not_found("no comment", bench.act(staged.pull, &comment).await.err())
}

pub(super) async fn a_bad_token_is_told_apart<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let Some(forge) = bench.stage.with_bad_token().await else { return skipped("no bad token can be staged") };
    let read = bench.seen(forge.fetch(staged.pull).await).err();
    holds(read == Some(ForgeError::Unauthenticated), || format!("fetch ended as {read:?}"))?;
    let text = texts::draft("a secret plan", &staged.head);
    let comment = Action::EnsureComment { existing: None, target: Target::Pull, text };
    let wrote = bench.act_as(&forge, &bench.me, staged.pull, &comment, &Expect::Nothing).await;
    holds(wrote == Err(ForgeError::Unauthenticated), || format!("a comment ended as {wrote:?}"))
}

pub(super) async fn an_outsider_is_not_permitted<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let staged = bench.pull().await?;
    let name = bench.stage.label(bench.pull().await?.pull).await.map_err(Stop::Broken)?;
    let thread = bench.stage.thread(staged.pull, &staged.places[0], "why?").await.map_err(Stop::Broken)?;
    let Some((forge, login)) = bench.stage.as_outsider().await else { return skipped("no outsider can be staged") };
    for action in [Action::SetLabel { name, on: true }, Action::Resolve { thread, mark: None }] {
        let ended = bench.act_as(&forge, &login, staged.pull, &action, &Expect::Nothing).await;
        holds(ended == Ok(Performed::NotPermitted), || format!("{} ended as {ended:?}", action.name()))?;
    }
    let summary = texts::draft("fine by me", &staged.head);
    let (commit, threads) = (staged.head.clone(), Vec::new());
    let post =
        Action::PostReview { role: "contract".into(), verdict: Verdict::Approve, commit, text: summary, threads };
    // Some forges take an outsider's approval and some do not; none may count it.
    let ended = bench.act_as(&forge, &login, staged.pull, &post, &Expect::Nothing).await;
    let fetched = bench.fetch(staged.pull).await?;
    let counted = fetched.reviews.iter().any(|row| row.counts == referee_core::model::Counts::Yes);
    holds(!counted, || format!("an outsider's approval ({ended:?}) counts"))
}

pub(super) async fn forged_marks_are_not_marks<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let Some(believed) = bench.words.believed else { return skipped("nothing reads Marks here") };
    let staged = bench.pull().await?;
    let text = texts::draft("our words", &staged.head);
    let comment = Action::EnsureComment { existing: None, target: Target::Pull, text: text.clone() };
    let made = bench.done(staged.pull, &comment).await?;
    let copied = bench.text(&text, staged.pull);
    bench.stage.comment(staged.pull, copied.words()).await.map_err(Stop::Broken)?;
    let fetched = bench.fetch(staged.pull).await?;
    holds(fetched.comments.len() == 2, || format!("{} comments, not 2", fetched.comments.len()))?;
    for comment in fetched.comments {
        let (ours, trusted) =
            (made.comment.as_ref() == Some(&comment.id), believed(&comment.text, &comment.author, staged.pull));
        holds(ours == trusted, || format!("a text of {} is believed: {trusted}", comment.author.name()))?;
    }
    Ok(())
}

pub(super) async fn no_error_holds_a_secret_or_a_text<S: Stage>(bench: &Bench<'_, S>) -> Kept {
    let errors = bench.errors.borrow();
    holds(!errors.is_empty(), || "no clause saw an error: nothing was tried".to_owned())?;
    let mut hidden = bench.stage.secrets();
    hidden.extend(["a secret plan", "our words", "nowhere", "because"].map(str::to_owned));
    for error in errors.iter() {
        if let Some(secret) = hidden.iter().find(|secret| error.contains(secret.as_str())) {
            // The secret itself stays out of this text too.
            let length = secret.len();
            return holds(false, || format!("an error holds a secret or a text of {length} bytes"));
        }
    }
    Ok(())
}
