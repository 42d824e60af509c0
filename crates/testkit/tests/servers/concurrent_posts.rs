//! Concurrent posts of one identity, whose inline comments servers mix up.

use std::sync::Arc;
use std::thread;

use referee_core::mark::{Binding, Keys, Tag, TagKind, Topic, seal_draft};
use referee_core::model::{FindingId, Login, PullNumber, RepoId, RoleName, Sha, Verdict};
use referee_core::plan::{Action, DiffLocation, Gate, NewThread, Precondition, TextDraft, Trailer};
use referee_core::policy::{ApprovalMode, GateSetting};
use referee_core::track::Side;
use referee_forge::{ActionRequest, Forge, ForgeError, Gates, PerformOutcome, PlanBasis, RequestedGates, connect};
use referee_testkit::server::{BOTS, RealServer, ServerBuild, ServerRepo};

use crate::setup::{site, token, unthrottled_limits};
use crate::{FILE, on_each_server};

on_each_server! {
    concurrent_posts_create_each_thread_once
    setting_an_unknown_label_is_refused
}

const THREADS: u32 = 5;

// spec: PUB-14 @gitea @forgejo
fn concurrent_posts_create_each_thread_once(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let lines: String = (1..=20).map(|n| format!("fn number_{n}() {{}}\n")).collect();
    let pull = repo.as_("alice").open_pull("feature", &[(FILE, &lines)]);
    let head = repo.as_("alice").on(pull).head();
    thread::scope(|scope| {
        let posts = ["one", "two"].map(|name| {
            let (repo, head) = (&repo, &head);
            scope.spawn(move || perform_as_bot(repo, pull, &review(name, head)))
        });
        for post in posts {
            let performed = post.join().expect("no panic").expect("the post succeeds");
            assert!(
                matches!(&performed, PerformOutcome::Done(created) if created.threads.len() == THREADS as usize),
                "{performed:?}"
            );
        }
    });
    let fetched = with_forge(&repo, |forge| async move { forge.fetch(pull).await }).expect("the fetch succeeds");
    for (name, n) in ["one", "two"].into_iter().flat_map(|name| (1..=THREADS).map(move |n| (name, n))) {
        let text = format!("{name}, thread {n}");
        let roots = fetched.threads.iter().filter_map(|thread| thread.root());
        let found = roots.filter(|root| root.text.body_or_empty().starts_with(&text)).count();
        assert_eq!(found, 1, "`{text}`: {:#?}", fetched.threads);
    }
    // Posting again changes nothing, in whichever review the threads landed.
    for name in ["one", "two"] {
        let again = perform_as_bot(&repo, pull, &review(name, &head)).expect("the post succeeds");
        assert!(matches!(again, PerformOutcome::AlreadySo), "{again:?}");
    }
}

fn setting_an_unknown_label_is_refused(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let pull = repo.as_("alice").open_pull("feature", &[(FILE, "fn one() {}\n")]);
    let labelled = perform_as_bot(&repo, pull, &Action::SetLabel { name: "nobody made this".to_owned(), on: true });
    assert!(
        matches!(&labelled, Err(ForgeError::Refused(reason)) if reason.contains("nobody made this")),
        "{labelled:?}"
    );
    repo.as_("ruth").on(pull).label("ready");
    let labelled = perform_as_bot(&repo, pull, &Action::SetLabel { name: "ready".to_owned(), on: true });
    assert!(matches!(labelled, Ok(PerformOutcome::AlreadySo)), "{labelled:?}");
}

fn review(name: &str, head: &Sha) -> Action {
    // Each thread of both posts gets its own line.
    let first = if name == "one" { 0 } else { THREADS };
    let place =
        |n: u32| DiffLocation { path: FILE.to_owned(), line: Some(first + n), start_line: None, side: Side::New };
    let thread = |n: u32| NewThread {
        finding: FindingId(n.into()),
        place: place(n),
        text: draft(&format!("{name}, thread {n}"), head),
    };
    Action::PostReview {
        role: RoleName::from(name),
        verdict: Verdict::Comment,
        commit: head.clone(),
        text: draft(&format!("{name} says"), head),
        threads: (1..=THREADS).map(thread).collect(),
    }
}

fn draft(text: &str, head: &Sha) -> TextDraft {
    let tag = Tag { kind: TagKind::Topic(Topic::Said { to: "1".to_owned() }), head: head.clone() };
    let words = serde_json::from_value(text.into()).expect("a safe text");
    TextDraft { words, trailer: Trailer::Tag(Box::new(tag)) }
}

/// Performs an action as the bot, through a new client.
fn perform_as_bot(repo: &ServerRepo, pull: PullNumber, action: &Action) -> Result<PerformOutcome, ForgeError> {
    let binding = Binding { forge: "concurrent".to_owned(), repo: RepoId(42), pull };
    let action = action.map_text(|draft| seal_draft(draft, &binding, &Keys::empty()));
    with_forge(repo, |forge| async move {
        let gates =
            Gates::new(Gate::ALL.map(|gate| (gate, GateSetting::On)).into(), RequestedGates::new(), ApprovalMode::On);
        let permit = gates.permit_gate(Gate::Review).expect("all gates are open");
        let request = ActionRequest {
            action: &action,
            by: &Login::from(BOTS[0]),
            expect: &Precondition::Nothing,
            permit: &permit,
            basis: PlanBasis::default(),
        };
        forge.perform(pull, &request).await
    })
}

fn with_forge<T, F: Future<Output = Result<T, ForgeError>>>(
    repo: &ServerRepo,
    run: impl FnOnce(Arc<dyn Forge>) -> F,
) -> Result<T, ForgeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("create a runtime");
    runtime.block_on(async {
        let forge = connect(&site(repo, token(repo, BOTS[0]), unthrottled_limits(), None)).await?;
        run(forge).await
    })
}
