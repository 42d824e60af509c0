//! Actions of people on the local forge, and claims.

use std::sync::atomic::{AtomicI64, Ordering};

use referee_core::model::{Login, PullState, ReviewKind, ReviewWeight, Span, ThreadId, Time, Verdict};
use referee_core::plan::{Action, CommentTarget};
use referee_forge::local::{LocalError, LocalForge};
use referee_forge::{ClaimOutcome, ClaimPurpose, Forge, ForgeError, PerformOutcome, Reader};
use referee_git::Git;
use referee_testkit::block_on;

use crate::repo::{FILE, NOW, TestRepo, ruth};
use crate::setup::{draft, perform_as};

#[test]
fn people_act_under_their_own_login() {
    let repo = TestRepo::new();
    let (forge, pull, head) = repo.pull("feature");
    let user = ruth(&forge);
    let thread = user.open_thread(pull, FILE, 2, "why?").expect("a thread");
    user.reply(pull, &thread, "because").expect("a reply");
    user.resolve_thread(pull, &thread).expect("resolved");
    user.resolve_thread(pull, &thread).expect("still resolved");
    user.request_changes(pull, "not yet").expect("a block");
    user.approve(pull, "").expect("an approval");
    let fetched = block_on(forge.fetch(pull)).expect("a pull");
    let fetched_thread = &fetched.threads[0];
    assert_eq!(
        (fetched_thread.path.as_deref(), fetched_thread.line, fetched_thread.notes.len()),
        (Some(FILE), Some(2), 2)
    );
    assert!(
        fetched_thread
            .resolved
            .as_ref()
            .is_some_and(|resolution| resolution.by.has_login(&Login::from("ruth")) && resolution.at == Some(NOW))
    );
    assert!(fetched_thread.notes.iter().all(|note| note.author.may_write() && !note.author.bot));
    let rows: Vec<_> = fetched.reviews.iter().map(|review| (review.row, review.counts.clone())).collect();
    let counted = |verdict| (ReviewKind::Verdict(verdict), ReviewWeight::Yes);
    assert_eq!(rows, [counted(Verdict::RequestChanges), counted(Verdict::Approve)]);
    assert!(fetched.reviews.iter().all(|review| review.commit.as_ref() == Some(&head)));
    user.reopen_thread(pull, &thread).expect("open again");
    assert_eq!(block_on(forge.fetch(pull)).expect("a pull").threads[0].resolved, None);
}

#[test]
fn invalid_actions_are_refused_with_a_reason() {
    let repo = TestRepo::new();
    let (forge, pull, _) = repo.pull("feature");
    let user = ruth(&forge);
    let assert_refused = |error: LocalError, message: &str| assert!(error.to_string().contains(message), "{error}");
    assert_refused(
        user.open_thread(pull, FILE, 4, "why?").expect_err("the line does not exist"),
        "`src/a.rs` has no such line",
    );
    assert_refused(
        user.open_thread(pull, "nowhere.rs", 1, "why?").expect_err("the file does not exist"),
        "`nowhere.rs` has no such line",
    );
    assert_refused(
        user.reply(pull, &ThreadId::from("t9"), "why?").expect_err("the thread does not exist"),
        "`L1 t9` was not found",
    );
    assert_refused(user.comment(pull, " \n").expect_err("the text is empty"), "the text is empty");
    let bot = forge.as_user(&Login::from("Referee"));
    assert_refused(bot.approve(pull, "fine by me").expect_err("the login is reserved"), "referee's own name");
    let fetched = block_on(forge.fetch(pull)).expect("a pull");
    assert!(fetched.threads.is_empty() && fetched.comments.is_empty() && fetched.reviews.is_empty());
}

#[test]
fn a_reopened_pull_lists_the_time() {
    let repo = TestRepo::new();
    let (forge, pull, head) = repo.pull("feature");
    let user = ruth(&forge);
    user.close(pull).expect("closed");
    user.close(pull).expect("still closed");
    repo.commit(FILE, "fn one() {}\n");
    let fetch_pull = || block_on(forge.fetch(pull)).expect("a pull").pull;
    assert_eq!((fetch_pull().state, fetch_pull().head, fetch_pull().reopens.len()), (PullState::Closed, head, 0));
    assert_eq!(block_on(forge.fetch_board()).expect("a board").pulls, []);
    user.reopen(pull).expect("open again");
    assert_eq!((fetch_pull().state, fetch_pull().pushes.len(), fetch_pull().reopens), (PullState::Open, 2, vec![NOW]));
    user.close(pull).expect("closed");
    let other = forge.open_range("feature", "main", &Login::from("alice")).expect("another pull");
    let error = user.reopen(pull).expect_err("another pull is open");
    assert!(
        error
            .to_string()
            .contains(&format!("`{}` is open for the same range", referee_forge::local::format_local_name(other)))
    );
}

#[test]
fn a_thread_is_outdated_when_its_line_changed() {
    let repo = TestRepo::new();
    let (forge, pull, _) = repo.pull("feature");
    let user = ruth(&forge);
    for line in [1, 2, 3] {
        user.open_thread(pull, FILE, line, &format!("line {line}")).expect("a thread");
    }
    repo.commit(FILE, "// new\nfn one() {}\nfn changed() {}\nfn three() {}\n");
    let outdated: Vec<bool> =
        block_on(forge.fetch(pull)).expect("a pull").threads.iter().map(|thread| thread.outdated).collect();
    assert_eq!(outdated, [false, true, false]);
}

#[test]
fn an_edited_comment_is_flagged() {
    let repo = TestRepo::new();
    let (forge, pull, head) = repo.pull("feature");
    let me = Login::from("referee");
    let ensure =
        |existing, text| Action::EnsureComment { existing, target: CommentTarget::Pull, text: draft(text, &head) };
    let Ok(PerformOutcome::Done(created)) = block_on(perform_as(&forge, &me, pull, &ensure(None, "first"))) else {
        panic!("the comment was not created")
    };
    let edited = || block_on(forge.fetch(pull)).expect("a pull").comments[0].edited;
    assert!(!edited());
    block_on(perform_as(&forge, &me, pull, &ensure(created.comment, "second"))).expect("an edit");
    assert!(edited());
}

#[test]
fn an_expired_claim_is_taken_over() {
    static CLOCK: AtomicI64 = AtomicI64::new(1_794_739_200);
    let repo = TestRepo::new();
    let (_, pull, _) = repo.pull("feature");
    let clock = || Time(CLOCK.load(Ordering::Relaxed));
    let forge = LocalForge::open(Git::discover(&repo.top).expect("a repository"), clock).expect("a forge");
    let claim = || block_on(forge.acquire_claim(pull, ClaimPurpose::Work, Span::from_hours(1)));
    assert_eq!(claim(), Ok(ClaimOutcome::Acquired(1)));
    CLOCK.fetch_add(3599, Ordering::Relaxed);
    assert!(matches!(claim(), Ok(ClaimOutcome::HeldElsewhere(_))));
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
