//! People's hands, and what a claim is worth.

use std::sync::atomic::{AtomicI64, Ordering};

use referee_core::model::{Login, PullState, ReviewKind, ReviewWeight, Span, ThreadId, Time, Verdict};
use referee_core::plan::{Action, CommentTarget};
use referee_forge::local::{LocalError, LocalForge};
use referee_forge::{ClaimOutcome, ClaimPurpose, Forge, ForgeError, PerformOutcome, Reader};
use referee_git::Git;
use referee_testkit::block_on;

use crate::repo::{FILE, NOW, Repo, ruth};
use crate::stage::{act_as, draft};

#[test]
fn people_do_everything_in_their_own_name() {
    let repo = Repo::new();
    let (forge, pull, head) = repo.pull("feature");
    let hands = ruth(&forge);
    let thread = hands.open_thread(pull, FILE, 2, "why?").expect("a thread");
    hands.reply(pull, &thread, "because").expect("a reply");
    hands.resolve_thread(pull, &thread).expect("resolved");
    hands.resolve_thread(pull, &thread).expect("still resolved");
    hands.request_changes(pull, "not yet").expect("a block");
    hands.approve(pull, "").expect("an approval");
    let fetched = block_on(forge.fetch(pull)).expect("a pull");
    let told = &fetched.threads[0];
    assert_eq!((told.path.as_deref(), told.line, told.notes.len()), (Some(FILE), Some(2), 2));
    assert!(told.resolved.as_ref().is_some_and(|it| it.by.has_login(&Login::from("ruth")) && it.at == Some(NOW)));
    assert!(told.notes.iter().all(|note| note.author.may_write() && !note.author.bot));
    let rows: Vec<_> = fetched.reviews.iter().map(|review| (review.row, review.counts.clone())).collect();
    let counted = |verdict| (ReviewKind::Verdict(verdict), ReviewWeight::Yes);
    assert_eq!(rows, [counted(Verdict::RequestChanges), counted(Verdict::Approve)]);
    assert!(fetched.reviews.iter().all(|review| review.commit.as_ref() == Some(&head)));
    hands.reopen_thread(pull, &thread).expect("open again");
    assert_eq!(block_on(forge.fetch(pull)).expect("a pull").threads[0].resolved, None);
}

#[test]
fn what_is_not_there_is_told() {
    let repo = Repo::new();
    let (forge, pull, _) = repo.pull("feature");
    let hands = ruth(&forge);
    let refused = |error: LocalError, said: &str| assert!(error.to_string().contains(said), "{error}");
    refused(hands.open_thread(pull, FILE, 4, "why?").expect_err("no line"), "`src/a.rs` has no such line");
    refused(hands.open_thread(pull, "nowhere.rs", 1, "why?").expect_err("no file"), "`nowhere.rs` has no such line");
    refused(hands.reply(pull, &ThreadId::from("t9"), "why?").expect_err("no thread"), "`L1 t9` was not found");
    refused(hands.comment(pull, " \n").expect_err("no words"), "the text is empty");
    let bot = forge.as_user(&Login::from("Referee"));
    refused(bot.approve(pull, "fine by me").expect_err("not a person"), "referee's own name");
    let fetched = block_on(forge.fetch(pull)).expect("a pull");
    assert!(fetched.threads.is_empty() && fetched.comments.is_empty() && fetched.reviews.is_empty());
}

#[test]
fn a_reopened_pull_knows_since_when() {
    let repo = Repo::new();
    let (forge, pull, head) = repo.pull("feature");
    let hands = ruth(&forge);
    hands.close(pull).expect("closed");
    hands.close(pull).expect("still closed");
    repo.commit(FILE, "fn one() {}\n");
    let told = || block_on(forge.fetch(pull)).expect("a pull").pull;
    assert_eq!((told().state, told().head, told().reopens.len()), (PullState::Closed, head, 0));
    assert_eq!(block_on(forge.fetch_board()).expect("a board").pulls, []);
    hands.reopen(pull).expect("open again");
    assert_eq!((told().state, told().pushes.len(), told().reopens), (PullState::Open, 2, vec![NOW]));
    hands.close(pull).expect("closed");
    let other = forge.open_range("feature", "main", &Login::from("alice")).expect("another pull");
    let error = hands.reopen(pull).expect_err("there is another");
    assert!(
        error
            .to_string()
            .contains(&format!("`{}` is open for the same range", referee_forge::local::format_local_name(other)))
    );
}

#[test]
fn a_thread_is_outdated_when_its_line_changed() {
    let repo = Repo::new();
    let (forge, pull, _) = repo.pull("feature");
    let hands = ruth(&forge);
    for line in [1, 2, 3] {
        hands.open_thread(pull, FILE, line, &format!("line {line}")).expect("a thread");
    }
    repo.commit(FILE, "// new\nfn one() {}\nfn changed() {}\nfn three() {}\n");
    let outdated: Vec<bool> =
        block_on(forge.fetch(pull)).expect("a pull").threads.iter().map(|thread| thread.outdated).collect();
    assert_eq!(outdated, [false, true, false]);
}

#[test]
fn an_edit_is_shown_as_one() {
    let repo = Repo::new();
    let (forge, pull, head) = repo.pull("feature");
    let me = Login::from("referee");
    let ensure =
        |existing, words| Action::EnsureComment { existing, target: CommentTarget::Pull, text: draft(words, &head) };
    let Ok(PerformOutcome::Done(made)) = block_on(act_as(&forge, &me, pull, &ensure(None, "first"))) else {
        panic!("a comment")
    };
    let edited = || block_on(forge.fetch(pull)).expect("a pull").comments[0].edited;
    assert!(!edited());
    block_on(act_as(&forge, &me, pull, &ensure(made.comment, "second"))).expect("an edit");
    assert!(edited());
}

#[test]
fn a_claim_that_is_over_is_taken_by_the_next() {
    static CLOCK: AtomicI64 = AtomicI64::new(1_794_739_200);
    let repo = Repo::new();
    let (_, pull, _) = repo.pull("feature");
    let clock = || Time(CLOCK.load(Ordering::Relaxed));
    let forge = LocalForge::open(Git::discover(&repo.top).expect("a repository"), clock).expect("a forge");
    let claim = || block_on(forge.acquire_claim(pull, ClaimPurpose::Work, Span::from_hours(1)));
    assert_eq!(claim(), Ok(ClaimOutcome::Acquired(1)));
    CLOCK.fetch_add(3599, Ordering::Relaxed);
    assert_eq!(claim(), Ok(ClaimOutcome::HeldElsewhere));
    let lease = block_on(forge.fetch(pull)).expect("a pull").lease.expect("a lease");
    assert_eq!((lease.by.as_str(), lease.epoch, lease.until), ("referee", 1, NOW.saturating_add(Span::from_hours(1))));
    CLOCK.fetch_add(1, Ordering::Relaxed);
    assert_eq!(claim(), Ok(ClaimOutcome::Acquired(2)));
    assert_eq!(
        block_on(forge.release_claim(pull, ClaimPurpose::Work, 1)),
        Err(ForgeError::Conflict("the claim".to_owned()))
    );
    assert_eq!(block_on(forge.release_claim(pull, ClaimPurpose::Work, 2)), Ok(()));
    assert_eq!(block_on(forge.fetch(pull)).expect("a pull").lease, None);
}
