//! Two posts of one identity at one moment: servers mix their inline comments up.

use std::sync::Arc;
use std::thread;

use referee_core::mark::{Binding, Keys, Tag, TagKind, Topic, seal_draft};
use referee_core::model::{FindingId, Login, PullNumber, RepoId, RoleName, Sha, Verdict};
use referee_core::plan::{Action, DiffLocation, Gate, NewThread, Precondition, TextDraft, Trailer};
use referee_core::policy::{ApprovalMode, GateSetting};
use referee_core::track::Side;
use referee_forge::{ActionRequest, Forge, ForgeError, Gates, PerformOutcome, PlanBasis, RequestedGates, connect};
use referee_testkit::server::{BOTS, RealServer, ServerBuild, ServerRepo};

use crate::stage::{eager, site, token};
use crate::{FILE, on_each_server};

on_each_server! {
    threads_of_two_posts_at_once_are_each_there_once
    a_label_that_nobody_made_is_no_success
}

const THREADS: u32 = 5;

// spec: PUB-14 @gitea @forgejo
fn threads_of_two_posts_at_once_are_each_there_once(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let lines: String = (1..=20).map(|n| format!("fn number_{n}() {{}}\n")).collect();
    let pull = repo.as_("alice").open_pull("feature", &[(FILE, &lines)]);
    let head = repo.as_("alice").on(pull).head();
    thread::scope(|scope| {
        let posts = ["one", "two"].map(|name| {
            let (repo, head) = (&repo, &head);
            scope.spawn(move || done(repo, pull, &review(name, head)))
        });
        for post in posts {
            let performed = post.join().expect("no panic").expect("it is posted");
            assert!(
                matches!(&performed, PerformOutcome::Done(made) if made.threads.len() == THREADS as usize),
                "{performed:?}"
            );
        }
    });
    let fetched = on(&repo, |forge| async move { forge.fetch(pull).await }).expect("it is read");
    for (name, n) in ["one", "two"].into_iter().flat_map(|name| (1..=THREADS).map(move |n| (name, n))) {
        let words = format!("{name}, thread {n}");
        let roots = fetched.threads.iter().filter_map(|thread| thread.root());
        let there = roots.filter(|root| root.text.body_or_empty().starts_with(&words)).count();
        assert_eq!(there, 1, "`{words}`: {:#?}", fetched.threads);
    }
    // Whichever row they landed in, posting them again is nothing to do.
    for name in ["one", "two"] {
        let again = done(&repo, pull, &review(name, &head)).expect("it is looked at");
        assert!(matches!(again, PerformOutcome::AlreadySo), "{again:?}");
    }
}

fn a_label_that_nobody_made_is_no_success(build: ServerBuild) {
    let repo = RealServer::shared(build).create_repo(&[("README.md", "hello\n")]);
    let pull = repo.as_("alice").open_pull("feature", &[(FILE, "fn one() {}\n")]);
    let put = done(&repo, pull, &Action::SetLabel { name: "nobody made this".to_owned(), on: true });
    assert!(matches!(&put, Err(ForgeError::Refused(why)) if why.contains("nobody made this")), "{put:?}");
    repo.as_("ruth").on(pull).label("ready");
    let put = done(&repo, pull, &Action::SetLabel { name: "ready".to_owned(), on: true });
    assert!(matches!(put, Ok(PerformOutcome::AlreadySo)), "{put:?}");
}

fn review(name: &str, head: &Sha) -> Action {
    // No two on one line, of either.
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

fn draft(words: &str, head: &Sha) -> TextDraft {
    let tag = Tag { kind: TagKind::Topic(Topic::Said { to: "1".to_owned() }), head: head.clone() };
    let words = serde_json::from_value(words.into()).expect("words");
    TextDraft { words, trailer: Trailer::Tag(Box::new(tag)) }
}

/// Does an action as the bot, by a client of its own.
fn done(repo: &ServerRepo, pull: PullNumber, action: &Action) -> Result<PerformOutcome, ForgeError> {
    let binding = Binding { forge: "crossing".to_owned(), repo: RepoId(42), pull };
    let action = action.map_text(|draft| seal_draft(draft, &binding, &Keys::empty()));
    on(repo, |forge| async move {
        let gates =
            Gates::new(Gate::ALL.map(|gate| (gate, GateSetting::On)).into(), RequestedGates::new(), ApprovalMode::On);
        let permit = gates.permit_gate(Gate::Review).expect("all gates are open");
        let errand = ActionRequest {
            action: &action,
            by: &Login::from(BOTS[0]),
            expect: &Precondition::Nothing,
            permit: &permit,
            basis: PlanBasis::default(),
        };
        forge.perform(pull, &errand).await
    })
}

fn on<T, F: Future<Output = Result<T, ForgeError>>>(
    repo: &ServerRepo,
    ask: impl FnOnce(Arc<dyn Forge>) -> F,
) -> Result<T, ForgeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let forge = connect(&site(repo, token(repo, BOTS[0]), eager(), None)).await?;
        ask(forge).await
    })
}
