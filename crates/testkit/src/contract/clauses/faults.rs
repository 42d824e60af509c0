//! What must not happen, and what errors say.

use referee_core::model::{CommentId, EditId, PullNumber, ThreadId, Verdict};
use referee_core::plan::{Action, CommentTarget, Precondition};
use referee_forge::{ForgeError, PerformOutcome, Reader};

use crate::contract::context::{ClauseContext, ClauseResult, ClauseStop, ensure, expect_one, skip_clause};
use crate::contract::drafts;
use crate::contract::setup::ContractSetup;

pub(super) async fn foreign_words_are_never_edited<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let (pull, stage) = (staged.pull, bench.setup);
    let comment = stage.post_comment(pull, "their comment").await.map_err(ClauseStop::Broken)?;
    let review = stage.post_review(pull, "their review").await.map_err(ClauseStop::Broken)?;
    let thread =
        stage.open_thread(pull, &staged.commentable_lines[0], "their note").await.map_err(ClauseStop::Broken)?;
    let before = bench.fetch(pull).await?;
    let row = expect_one(before.reviews.iter().filter(|row| row.id == review).collect(), "reviews of one id")?;
    let edit = row.edit.clone().unwrap_or_else(|| EditId::from("1"));
    let note =
        before.threads.iter().find(|row| row.id == thread).and_then(|row| row.root()).map(|root| root.id.clone());
    let text = drafts::build_draft("our words", &staged.head);
    let tries = [
        Action::EditReview { review: review.clone(), edit: edit.clone(), text: text.clone() },
        Action::Supersede { review, edit, text: text.clone() },
        Action::EnsureComment { existing: Some(comment), target: CommentTarget::Pull, text: text.clone() },
        Action::Resolve { thread, mark: note.map(|note| (note, text)) },
    ];
    for action in tries {
        let ended = bench.perform(pull, &action).await;
        let refused = match &ended {
            Err(ForgeError::Forbidden(_) | ForgeError::Unsupported(_)) | Ok(PerformOutcome::NotPermitted) => true,
            // Resolving needs no edit where the forge can resolve.
            Ok(PerformOutcome::Done(_)) => matches!(action, Action::Resolve { .. }),
            _ => false,
        };
        ensure(refused, || format!("{} ended as {ended:?}", action.name()))?;
    }
    let after = bench.fetch(pull).await?;
    let words = |fetched: &referee_forge::FetchedPull| {
        let mut all: Vec<String> = fetched.reviews.iter().map(|row| row.text.body_or_empty().to_owned()).collect();
        all.extend(fetched.comments.iter().map(|row| row.text.body_or_empty().to_owned()));
        all.extend(fetched.threads.iter().flat_map(|row| &row.notes).map(|row| row.text.body_or_empty().to_owned()));
        all
    };
    ensure(words(&before) == words(&after), || format!("{:?} became {:?}", words(&before), words(&after)))
}

pub(super) async fn what_is_not_there_is_not_found<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let not_found = |what: &str, ended: Option<ForgeError>| {
        ensure(matches!(ended, Some(ForgeError::NotFound(_))), || format!("{what} ended as {ended:?}"))
    };
    let nowhere = PullNumber(987_654_321);
    let forge = bench.setup.forge();
    not_found("fetch of no pull", bench.record_error(forge.fetch(nowhere).await).err())?;
    not_found("head of no pull", bench.record_error(forge.fetch_head(nowhere).await).err())?;
    let thread = ThreadId::from("987654321");
    not_found("no thread", bench.perform(staged.pull, &Action::Resolve { thread, mark: None }).await.err())?;
    let text = drafts::build_draft("nowhere", &staged.head);
    let existing = Some(CommentId::from("987654321"));
    let comment = Action::EnsureComment { existing, target: CommentTarget::Pull, text };
    not_found("no comment", bench.perform(staged.pull, &comment).await.err())
}

pub(super) async fn a_bad_token_is_told_apart<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let Some(forge) = bench.setup.with_bad_token().await else { return skip_clause("no bad token can be staged") };
    let read = bench.record_error(forge.fetch(staged.pull).await).err();
    ensure(read == Some(ForgeError::Unauthenticated), || format!("fetch ended as {read:?}"))?;
    let text = drafts::build_draft("a secret plan", &staged.head);
    let comment = Action::EnsureComment { existing: None, target: CommentTarget::Pull, text };
    let wrote = bench.perform_as(&forge, &bench.me, staged.pull, &comment, &Precondition::Nothing).await;
    ensure(wrote == Err(ForgeError::Unauthenticated), || format!("a comment ended as {wrote:?}"))
}

pub(super) async fn an_outsider_is_not_permitted<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = bench.open_pull().await?;
    let name = bench.setup.add_label(bench.open_pull().await?.pull).await.map_err(ClauseStop::Broken)?;
    let thread =
        bench.setup.open_thread(staged.pull, &staged.commentable_lines[0], "why?").await.map_err(ClauseStop::Broken)?;
    let Some((forge, login)) = bench.setup.as_outsider().await else { return skip_clause("no outsider can be staged") };
    for action in [Action::SetLabel { name, on: true }, Action::Resolve { thread, mark: None }] {
        let ended = bench.perform_as(&forge, &login, staged.pull, &action, &Precondition::Nothing).await;
        ensure(ended == Ok(PerformOutcome::NotPermitted), || format!("{} ended as {ended:?}", action.name()))?;
    }
    let summary = drafts::build_draft("fine by me", &staged.head);
    let (commit, threads) = (staged.head.clone(), Vec::new());
    let post =
        Action::PostReview { role: "contract".into(), verdict: Verdict::Approve, commit, text: summary, threads };
    // Some forges take an outsider's approval and some do not; none may count it.
    let ended = bench.perform_as(&forge, &login, staged.pull, &post, &Precondition::Nothing).await;
    let fetched = bench.fetch(staged.pull).await?;
    let counted = fetched.reviews.iter().any(|row| row.counts == referee_core::model::ReviewWeight::Yes);
    ensure(!counted, || format!("an outsider's approval ({ended:?}) counts"))
}

pub(super) async fn forged_marks_are_not_marks<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let Some(believed) = bench.sealing.is_trusted else { return skip_clause("nothing reads Marks here") };
    let staged = bench.open_pull().await?;
    let text = drafts::build_draft("our words", &staged.head);
    let comment = Action::EnsureComment { existing: None, target: CommentTarget::Pull, text: text.clone() };
    let made = bench.expect_done(staged.pull, &comment).await?;
    let copied = bench.seal_text(&text, staged.pull);
    bench.setup.post_comment(staged.pull, copied.body_or_empty()).await.map_err(ClauseStop::Broken)?;
    let fetched = bench.fetch(staged.pull).await?;
    ensure(fetched.comments.len() == 2, || format!("{} comments, not 2", fetched.comments.len()))?;
    for comment in fetched.comments {
        let (ours, trusted) =
            (made.comment.as_ref() == Some(&comment.id), believed(&comment.text, &comment.author, staged.pull));
        ensure(ours == trusted, || format!("a text of {} is believed: {trusted}", comment.author.display_name()))?;
    }
    Ok(())
}

pub(super) async fn no_error_holds_a_secret_or_a_text<S: ContractSetup>(bench: &ClauseContext<'_, S>) -> ClauseResult {
    let errors = bench.errors.borrow();
    ensure(!errors.is_empty(), || "no clause saw an error: nothing was tried".to_owned())?;
    let mut hidden = bench.setup.secrets();
    hidden.extend(["a secret plan", "our words", "nowhere", "because"].map(str::to_owned));
    for error in errors.iter() {
        if let Some(secret) = hidden.iter().find(|secret| error.contains(secret.as_str())) {
            // The secret itself stays out of this text too.
            let length = secret.len();
            return ensure(false, || format!("an error holds a secret or a text of {length} bytes"));
        }
    }
    Ok(())
}
