//! Clauses about what must not happen, and about the content of errors.

use referee_core::model::{CommentId, EditId, PullNumber, ThreadId, Verdict};
use referee_core::plan::{Action, CommentTarget, Precondition};
use referee_forge::{ForgeError, PerformOutcome};

use crate::contract::context::{ClauseContext, ClauseResult, ClauseStop, ensure, expect_one, skip_clause};
use crate::contract::drafts;
use crate::contract::setup::ContractSetup;

pub(super) async fn texts_of_others_are_never_edited<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    let (pull, setup) = (staged.pull, context.setup);
    let comment = setup.post_comment(pull, "their comment").await.map_err(ClauseStop::Broken)?;
    let review = setup.post_review(pull, "their review").await.map_err(ClauseStop::Broken)?;
    let thread =
        setup.open_thread(pull, &staged.commentable_lines[0], "their note").await.map_err(ClauseStop::Broken)?;
    let before = context.fetch(pull).await?;
    let row = expect_one(before.reviews.iter().filter(|row| row.id == review).collect(), "reviews of one id")?;
    let edit = row.edit.clone().unwrap_or_else(|| EditId::from("1"));
    let note =
        before.threads.iter().find(|row| row.id == thread).and_then(|row| row.root()).map(|root| root.id.clone());
    let text = drafts::build_draft("our text", &staged.head);
    let attempts = [
        Action::EditReview { review: review.clone(), edit: edit.clone(), text: text.clone() },
        Action::Supersede { review, successor: None, edit, text: text.clone() },
        Action::EnsureComment { existing: Some(comment), target: CommentTarget::Pull, text: text.clone() },
        Action::Resolve { thread, mark: note.map(|note| (note, text)) },
    ];
    for action in attempts {
        let outcome = context.perform(pull, &action).await;
        let refused = match &outcome {
            Err(ForgeError::Forbidden(_) | ForgeError::Unsupported(_)) | Ok(PerformOutcome::NotPermitted) => true,
            // Resolving needs no edit where the forge has a resolve route.
            Ok(PerformOutcome::Done(_)) => matches!(action, Action::Resolve { .. }),
            _ => false,
        };
        ensure(refused, || format!("{} ended as {outcome:?}", action.name()))?;
    }
    let after = context.fetch(pull).await?;
    let texts = |fetched: &referee_forge::FetchedPull| {
        let mut bodies: Vec<String> = fetched.reviews.iter().map(|row| row.text.body_or_empty().to_owned()).collect();
        bodies.extend(fetched.comments.iter().map(|row| row.text.body_or_empty().to_owned()));
        bodies.extend(fetched.threads.iter().flat_map(|row| &row.notes).map(|row| row.text.body_or_empty().to_owned()));
        bodies
    };
    ensure(texts(&before) == texts(&after), || format!("{:?} became {:?}", texts(&before), texts(&after)))
}

pub(super) async fn missing_objects_are_not_found<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    let not_found = |what: &str, outcome: Option<ForgeError>| {
        ensure(matches!(outcome, Some(ForgeError::NotFound(_))), || format!("{what} ended as {outcome:?}"))
    };
    let missing = PullNumber(987_654_321);
    let forge = context.setup.forge();
    not_found("fetch of a missing pull", context.record_error(forge.fetch(missing).await).err())?;
    not_found("head of a missing pull", context.record_error(forge.fetch_head(missing).await).err())?;
    let thread = ThreadId::from("987654321");
    not_found(
        "resolving a missing thread",
        context.perform(staged.pull, &Action::Resolve { thread, mark: None }).await.err(),
    )?;
    let text = drafts::build_draft("a lost text", &staged.head);
    let existing = Some(CommentId::from("987654321"));
    let comment = Action::EnsureComment { existing, target: CommentTarget::Pull, text };
    not_found("editing a missing comment", context.perform(staged.pull, &comment).await.err())
}

pub(super) async fn a_bad_token_is_unauthenticated<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    let Some(forge) = context.setup.with_bad_token().await else { return skip_clause("the forge has no tokens") };
    let read = context.record_error(forge.fetch(staged.pull).await).err();
    ensure(read == Some(ForgeError::Unauthenticated), || format!("fetch ended as {read:?}"))?;
    let text = drafts::build_draft("a secret plan", &staged.head);
    let comment = Action::EnsureComment { existing: None, target: CommentTarget::Pull, text };
    let wrote = context.perform_as(&*forge, &context.me, staged.pull, &comment, &Precondition::Nothing).await;
    ensure(wrote == Err(ForgeError::Unauthenticated), || format!("a comment ended as {wrote:?}"))
}

pub(super) async fn an_outsider_is_not_permitted<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let staged = context.open_pull().await?;
    let name = context.setup.add_label(context.open_pull().await?.pull).await.map_err(ClauseStop::Broken)?;
    let thread = context
        .setup
        .open_thread(staged.pull, &staged.commentable_lines[0], "why?")
        .await
        .map_err(ClauseStop::Broken)?;
    let Some((forge, login)) = context.setup.as_outsider().await else {
        return skip_clause("the forge has no access rights");
    };
    for action in [Action::SetLabel { name, on: true }, Action::Resolve { thread, mark: None }] {
        let outcome = context.perform_as(&*forge, &login, staged.pull, &action, &Precondition::Nothing).await;
        ensure(outcome == Ok(PerformOutcome::NotPermitted), || format!("{} ended as {outcome:?}", action.name()))?;
    }
    let summary = drafts::build_draft("fine by me", &staged.head);
    let (commit, threads) = (staged.head.clone(), Vec::new());
    let post =
        Action::PostReview { role: "contract".into(), verdict: Verdict::Approve, commit, text: summary, threads };
    // Some forges accept an outsider's approval; none may count it.
    let outcome = context.perform_as(&*forge, &login, staged.pull, &post, &Precondition::Nothing).await;
    let fetched = context.fetch(staged.pull).await?;
    let counted = fetched.reviews.iter().any(|row| row.counts == referee_core::model::ReviewWeight::Yes);
    ensure(!counted, || format!("an outsider's approval ({outcome:?}) counts"))
}

pub(super) async fn forged_marks_are_not_marks<S: ContractSetup>(context: &ClauseContext<'_, S>) -> ClauseResult {
    let Some(is_trusted) = context.sealing.is_trusted else { return skip_clause("this run does not check seals") };
    let staged = context.open_pull().await?;
    let text = drafts::build_draft("our text", &staged.head);
    let comment = Action::EnsureComment { existing: None, target: CommentTarget::Pull, text: text.clone() };
    let created = context.expect_done(staged.pull, &comment).await?;
    let copied = context.seal_text(&text, staged.pull);
    context.setup.post_comment(staged.pull, copied.body_or_empty()).await.map_err(ClauseStop::Broken)?;
    let fetched = context.fetch(staged.pull).await?;
    ensure(fetched.comments.len() == 2, || format!("{} comments, expected 2", fetched.comments.len()))?;
    for comment in fetched.comments {
        let (ours, trusted) =
            (created.comment.as_ref() == Some(&comment.id), is_trusted(&comment.text, &comment.author, staged.pull));
        ensure(ours == trusted, || format!("a text of {} is trusted: {trusted}", comment.author.display_name()))?;
    }
    Ok(())
}

pub(super) async fn errors_contain_no_secret_and_no_text<S: ContractSetup>(
    context: &ClauseContext<'_, S>,
) -> ClauseResult {
    let errors = context.errors.borrow();
    ensure(!errors.is_empty(), || "no clause recorded an error".to_owned())?;
    let mut forbidden = context.setup.secrets();
    forbidden.extend(["a secret plan", "our text", "a lost text", "because"].map(str::to_owned));
    for error in errors.iter() {
        if let Some(secret) = forbidden.iter().find(|secret| error.contains(secret.as_str())) {
            // The message must not contain the secret either.
            let length = secret.len();
            return ensure(false, || format!("an error contains a secret or a text of {length} bytes"));
        }
    }
    Ok(())
}
