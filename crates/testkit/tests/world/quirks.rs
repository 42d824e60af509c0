//! One test a switch: what shows with it, and that it does not show without.

use referee_core::model::{
    Access, CheckState, Completeness, PullState, ReviewKind, ReviewWeight, Span, Support, Verdict,
};
use referee_core::plan::Action;
use referee_forge::{ClaimOutcome, ClaimPurpose, Forge, ForgeError, PerformOutcome, Reader};
use referee_testkit::{EffectKind, Quirks, ReplyMode, block_on};

use super::{FILE, Stage, edit, login};

fn with(change: impl FnOnce(&mut Quirks)) -> Stage {
    let mut quirks = Quirks::plain();
    change(&mut quirks);
    Stage::new(quirks)
}

fn counts(stage: &Stage) -> Vec<ReviewWeight> {
    stage.reviews().into_iter().map(|review| review.counts).collect()
}

#[test]
fn lists_may_keep_the_first_text_while_fetch_reads_the_current_one() {
    for (listed, stage) in [("new", Stage::plain()), ("old", with(|quirks| quirks.original_text_in_lists = true))] {
        stage.made(&stage.post(Verdict::Comment, "old"));
        stage.made(&edit(&stage.reviews()[0], "new"));
        assert_eq!(stage.world.raw_review_list(stage.pull, &login("referee")).unwrap()[0].body, listed);
        assert_eq!(stage.reviews()[0].text.body_or_empty(), "new");
    }
}

#[test]
fn a_bad_line_loses_the_post_or_leaves_the_first_part_in_a_draft() {
    let threads = [(1, "first"), (99, "bad"), (2, "third")];
    let atomic = Stage::plain();
    let refused = atomic.act(&atomic.post_with(Verdict::Comment, "words", &threads));
    assert!(matches!(refused, Err(ForgeError::Refused(_))), "{refused:?}");
    assert!(atomic.fetch().reviews.is_empty());

    let torn = with(|quirks| quirks.inline_one_by_one = true);
    let lost = torn.act(&torn.post_with(Verdict::Comment, "words", &threads));
    assert_eq!(lost, Err(ForgeError::OutcomeUnknown));
    assert_eq!(torn.fetch().reviews[0].row, ReviewKind::Draft);
    assert_eq!(torn.fetch().threads, [], "what lies in a draft is no conversation yet");
    assert_eq!(torn.effects(), ["referee leaves draft 1 on #1"]);
}

#[test]
fn nobody_sees_a_foreign_draft() {
    let stage = Stage::plain();
    stage.world.people().as_("ruth").leave_draft(FILE, 1, "half a thought");
    assert_eq!(stage.fetch().reviews, []);
    assert_eq!(stage.fetch().threads, []);
}

#[test]
fn the_next_post_adopts_the_draft_and_sends_only_what_it_lacks() {
    let stage = with(|quirks| {
        quirks.inline_one_by_one = true;
        quirks.draft_adopted = true;
    });
    let words = |line| [(1, "first"), (line, "second")];
    stage.act(&stage.post_with(Verdict::Comment, "words", &words(99))).unwrap_err();
    let draft = stage.fetch().reviews[0].id.clone();
    let made = stage.made(&stage.post_with(Verdict::RequestChanges, "words", &words(2)));
    assert_eq!(made.review, Some(draft), "the draft's row is the review's");
    let fetched = stage.fetch();
    assert_eq!(fetched.reviews.len(), 1);
    let roots: Vec<_> =
        fetched.threads.iter().map(|thread| thread.root().unwrap().text.body_or_empty().to_owned()).collect();
    assert_eq!(roots, ["first", "second"], "no thread twice");
    assert_eq!(made.threads, fetched.threads.iter().map(|thread| thread.id.clone()).collect::<Vec<_>>());
}

#[test]
fn an_adopted_draft_publishes_orphans_of_another_post() {
    let stage = Stage::new(Quirks::gitea_like());
    stage.act(&stage.post_with(Verdict::Comment, "words", &[(1, "orphan"), (99, "bad")])).unwrap_err();
    stage.made(&stage.post(Verdict::Comment, "other words"));
    assert_eq!(stage.fetch().threads[0].root().unwrap().text.body_or_empty(), "orphan");
}

#[test]
fn two_posts_may_swap_their_inline_comments() {
    let stage = with(|quirks| quirks.posts_swap_comments = true);
    let one = stage.made(&stage.post_with(Verdict::Comment, "one", &[(1, "of one")]));
    let two = stage.made(&stage.post_with(Verdict::Comment, "two", &[(2, "of two")]));
    let threads = stage.fetch().threads;
    assert_eq!((&threads[0].review, &threads[1].review), (&two.review, &one.review));
    assert_eq!(threads[0].root().unwrap().text.body_or_empty(), "of one");
}

#[test]
fn a_push_may_dismiss_approvals_and_nothing_else() {
    let stage = with(|quirks| quirks.dismiss_on_push = true);
    stage.made(&stage.post(Verdict::Approve, "fine"));
    stage.world.people().as_("ruth").block("no");
    stage.world.people().as_("alice").amend();
    assert_eq!(counts(&stage), [ReviewWeight::Yes, ReviewWeight::Yes], "the same patch dismisses nothing");
    stage.world.people().as_("alice").push(FILE, |text| text.replace("one", "uno"));
    assert_eq!(
        counts(&stage),
        [ReviewWeight::Dismissed { by: None, at: stage.fetch().pull.head_since }, ReviewWeight::Yes]
    );
}

#[test]
fn a_newer_verdict_may_take_the_weight_of_older_ones() {
    let stage = with(|quirks| quirks.newest_verdict_only = true);
    for verdict in [Verdict::RequestChanges, Verdict::RequestChanges, Verdict::Comment] {
        stage.made(&stage.post(verdict, &format!("{verdict} {}", stage.reviews().len())));
    }
    assert_eq!(counts(&stage), [ReviewWeight::Replaced, ReviewWeight::Yes, ReviewWeight::No]);
}

#[test]
fn a_request_may_clear_a_block_and_withdrawing_gives_it_back() {
    let stage = with(|quirks| quirks.request_clears_verdict = true);
    stage.made(&stage.post(Verdict::RequestChanges, "no"));
    let alice = stage.world.people().as_("alice");
    alice.request_review("referee");
    assert_eq!(counts(&stage), [ReviewWeight::Requested]);
    assert!(!stage.world.decision(stage.pull).is_blocked());
    assert_eq!(stage.fetch().pull.requests[0].by, Some(login("alice")));
    alice.withdraw_request("referee");
    assert_eq!(counts(&stage), [ReviewWeight::Yes]);
    alice.request_review("referee");
    stage.made(&stage.post(Verdict::RequestChanges, "still no"));
    assert_eq!(counts(&stage), [ReviewWeight::Requested, ReviewWeight::Yes]);
    assert_eq!(stage.fetch().pull.requests, [], "any review answers the request");
}

#[test]
fn stale_flags_show_in_the_list_and_may_cost_the_weight() {
    let stage = with(|quirks| quirks.stale_flags = true);
    stage.made(&stage.post(Verdict::Approve, "fine"));
    stage.world.people().as_("alice").push(FILE, |text| text.replace("one", "uno"));
    assert!(stage.world.raw_review_list(stage.pull, &login("referee")).unwrap()[0].stale);
    assert_eq!(counts(&stage), [ReviewWeight::Yes]);
    stage.world.change_quirks(|quirks| quirks.stale_rows_ignored = true);
    assert!(matches!(counts(&stage)[..], [ReviewWeight::Dismissed { by: None, .. }]));
}

#[test]
fn a_commit_may_roll_forward_with_a_force_push_of_the_same_patch() {
    for (rolls, stage) in [(false, Stage::plain()), (true, with(|quirks| quirks.commit_rolls_forward = true))] {
        stage.made(&stage.post(Verdict::Approve, "fine"));
        let before = stage.head();
        stage.world.people().as_("alice").amend();
        let commit = stage.reviews()[0].commit.clone().unwrap();
        assert_eq!(commit == stage.head(), rolls);
        assert_eq!(commit == before, !rolls);
    }
}

#[test]
fn without_resolve_the_own_root_says_so() {
    let stage = with(|quirks| quirks.no_resolve = true);
    stage.made(&stage.open(&[(1, "finding")]));
    let thread = stage.fetch().threads[0].clone();
    let root = thread.root().unwrap().id.clone();
    assert_eq!((thread.can_resolve, stage.fetch().capabilities.resolve), (false, Support::Emulated));
    let mark = Action::Resolve { thread: thread.id.clone(), mark: Some((root, "settled".to_owned())) };
    assert_eq!(stage.act(&mark), Ok(PerformOutcome::MarkedInText));
    assert_eq!(stage.act(&mark), Ok(PerformOutcome::AlreadySo));
    assert_eq!(stage.act(&Action::Resolve { thread: thread.id, mark: None }), Ok(PerformOutcome::NotPermitted));
    let foreign = stage.world.people().as_("ruth").open_thread(FILE, 2, "my thread");
    let root = stage.fetch().threads[1].root().unwrap().id.clone();
    let mark = Action::Resolve { thread: foreign, mark: Some((root, "settled".to_owned())) };
    assert!(matches!(stage.act(&mark), Err(ForgeError::Forbidden(_))));
}

#[test]
fn replies_are_notes_or_wrapped_or_impossible() {
    for (replies, support, wrappers) in [
        (ReplyMode::Native, Support::Native, 0),
        (ReplyMode::Wrapped, Support::Native, 1),
        (ReplyMode::Emulated, Support::Emulated, 1),
    ] {
        let stage = with(|quirks| quirks.replies = replies);
        let thread = stage.world.people().as_("ruth").open_thread(FILE, 1, "why?");
        stage.made(&Action::Reply { thread, text: "because".to_owned() });
        let fetched = stage.fetch();
        assert_eq!(fetched.threads[0].last().unwrap().text.body_or_empty(), "because");
        assert_eq!(fetched.reviews.iter().filter(|review| review.row == ReviewKind::Wrapper).count(), wrappers);
        assert_eq!(fetched.capabilities.reply, support);
    }
    let stage = with(|quirks| quirks.replies = ReplyMode::Unsupported);
    let thread = stage.world.people().as_("ruth").open_thread(FILE, 1, "why?");
    assert!(!stage.fetch().threads[0].can_reply);
    let reply = stage.act(&Action::Reply { thread, text: "because".to_owned() });
    assert!(matches!(reply, Err(ForgeError::Unsupported(_))));
}

#[test]
fn threads_beside_a_review_may_come_wrapped() {
    for (wrappers, stage) in [(0, Stage::plain()), (1, with(|quirks| quirks.threads_wrapped = true))] {
        stage.made(&stage.open(&[(1, "finding")]));
        assert_eq!(stage.fetch().reviews.len(), wrappers);
        assert_eq!(stage.reviews(), []);
        assert_eq!(stage.fetch().threads.len(), 1);
    }
}

#[test]
fn what_the_forge_lacks_is_unsupported_or_not_permitted() {
    let stage = with(|quirks| {
        quirks.no_edit = true;
        quirks.no_verdicts = true;
        quirks.no_claims = true;
        quirks.no_labels = true;
        quirks.no_statuses = true;
    });
    stage.made(&stage.post(Verdict::Comment, "words"));
    assert_eq!(stage.reviews()[0].edit, None);
    assert!(matches!(stage.act(&stage.post(Verdict::Approve, "fine")), Err(ForgeError::Unsupported(_))));
    let claim = block_on(stage.seat.acquire_claim(stage.pull, ClaimPurpose::Work, Span::from_minutes(1)));
    assert!(matches!(claim, Err(ForgeError::Unsupported(_))));
    let label = Action::SetLabel { name: "wip".to_owned(), on: true };
    assert_eq!(stage.act(&label), Ok(PerformOutcome::NotPermitted));
    assert_eq!(stage.act(&status(&stage, CheckState::Pass)), Ok(PerformOutcome::NotPermitted));
}

#[test]
fn verdicts_may_be_refused_on_own_and_on_closed_pulls() {
    let stage = with(|quirks| {
        quirks.no_verdict_on_own_pull = true;
        quirks.no_verdict_on_closed = true;
    });
    stage.world.people().as_("alice").close();
    assert!(matches!(stage.act(&stage.post(Verdict::Approve, "fine")), Err(ForgeError::Refused(_))));
    let own = stage.world.people().as_("referee").open_pull("own", &[(FILE, "fn four() {}\n")]);
    let mine = Stage { world: stage.world.clone(), pull: own, seat: stage.seat.clone() };
    assert!(matches!(mine.act(&mine.post(Verdict::Approve, "fine")), Err(ForgeError::Refused(_))));
    mine.made(&mine.post(Verdict::Comment, "fine"));
}

#[test]
fn texts_may_be_too_long() {
    let stage = with(|quirks| quirks.max_text = 10);
    assert_eq!(stage.fetch().capabilities.max_text, 10);
    assert!(matches!(stage.act(&stage.post(Verdict::Comment, "eleven long")), Err(ForgeError::Refused(_))));
    assert!(matches!(stage.act(&stage.open(&[(1, "eleven long")])), Err(ForgeError::Refused(_))));
    stage.made(&stage.post(Verdict::Comment, "ten longer"));
}

#[test]
fn access_may_be_hidden() {
    let stage = with(|quirks| quirks.access_hidden = true);
    assert_eq!(stage.fetch().pull.author.access, Access::Unknown);
}

#[test]
fn a_comment_may_be_stored_and_answered_with_an_error() {
    let stage = with(|quirks| quirks.comment_answers_500 = true);
    let target = referee_core::plan::CommentTarget::Pull;
    let comment = Action::EnsureComment { existing: None, target, text: "hello".to_owned() };
    assert_eq!(stage.act(&comment), Err(ForgeError::OutcomeUnknown));
    assert_eq!(stage.act(&comment), Ok(PerformOutcome::AlreadySo));
    assert_eq!(stage.fetch().comments.len(), 1);
}

#[test]
fn reads_may_lag_behind_writes_until_time_passes() {
    let stage = with(|quirks| quirks.read_lag = 2);
    stage.world.wait(Span(1));
    stage.made(&stage.post(Verdict::Comment, "one"));
    assert_eq!(stage.reviews().len(), 0);
    stage.made(&stage.post(Verdict::Comment, "two"));
    stage.made(&stage.post(Verdict::Comment, "three"));
    assert_eq!(stage.reviews().len(), 1);
    let head = stage.world.people().as_("alice").push(FILE, |_| "fn other() {}\n".to_owned());
    assert_ne!(block_on(stage.seat.fetch_head(stage.pull)).unwrap(), head);
    stage.world.wait(Span::from_minutes(1));
    assert_eq!(stage.reviews().len(), 3);
    assert_eq!(block_on(stage.seat.fetch_head(stage.pull)).unwrap(), head);
}

#[test]
fn lists_may_be_cut_and_say_so() {
    let stage = with(|quirks| quirks.page_limit = Some(2));
    for n in 0..2 {
        stage.world.people().as_("ruth").comment(&n.to_string());
    }
    assert_eq!(stage.fetch().complete, Completeness::Complete);
    stage.world.people().as_("ruth").comment("one more");
    assert_eq!(stage.fetch().complete, Completeness::Truncated { what: "comments".to_owned() });
    assert_eq!(stage.fetch().comments.len(), 2);
}

#[test]
fn what_is_approved_and_green_may_be_merged_at_once() {
    let stage = with(|quirks| quirks.auto_merge = true);
    let ci = stage.world.people().as_("ci");
    ci.report_check("build", CheckState::Pending);
    stage.made(&stage.post(Verdict::Approve, "fine"));
    assert_eq!(stage.fetch().pull.state, PullState::Open, "not green yet");
    stage.world.people().as_("ruth").block("no");
    ci.report_check("build", CheckState::Pass);
    assert_eq!(stage.fetch().pull.state, PullState::Open, "blocked");
    drop(stage.effects());
    stage.world.people().as_("ruth").approve("fine now");
    assert_eq!(stage.fetch().pull.state, PullState::Merged);
    assert!(
        matches!(stage.world.take_effects()[..], [ref merged] if merged.kind == EffectKind::Merged && merged.by.is_none())
    );
}

#[test]
fn a_claim_is_taken_once_and_taken_over_when_it_expires() {
    let stage = Stage::plain();
    let other = stage.world.client("referee");
    let ttl = Span::from_minutes(2);
    let claim = |seat: &referee_testkit::WorldClient| {
        block_on(seat.acquire_claim(stage.pull, ClaimPurpose::Work, ttl)).unwrap()
    };
    let release = |seat: &referee_testkit::WorldClient, epoch| {
        block_on(seat.release_claim(stage.pull, ClaimPurpose::Work, epoch))
    };
    assert_eq!(claim(&stage.seat), ClaimOutcome::Acquired(1));
    assert_eq!(claim(&other), ClaimOutcome::HeldElsewhere);
    assert_eq!(stage.fetch().lease.unwrap().epoch, 1);
    stage.world.wait(ttl);
    assert_eq!(claim(&other), ClaimOutcome::Acquired(2));
    assert!(matches!(release(&stage.seat, 1), Err(ForgeError::Conflict(_))), "the old epoch gives nothing back");
    release(&other, 2).unwrap();
    release(&other, 2).unwrap();
    assert_eq!(claim(&stage.seat), ClaimOutcome::Acquired(3), "epochs only rise");
    let publish = block_on(stage.seat.acquire_claim(stage.pull, ClaimPurpose::Publish, ttl));
    assert_eq!(publish, Ok(ClaimOutcome::Acquired(1)), "each purpose has its own words");
}

#[test]
fn a_take_over_may_race() {
    let stage = with(|quirks| quirks.claims_race = true);
    let claim = || block_on(stage.seat.acquire_claim(stage.pull, ClaimPurpose::Publish, Span(120))).unwrap();
    assert_eq!((claim(), claim()), (ClaimOutcome::Acquired(1), ClaimOutcome::HeldElsewhere));
    stage.world.wait(Span(120));
    assert_eq!(
        (claim(), claim(), claim()),
        (ClaimOutcome::Acquired(2), ClaimOutcome::Acquired(3), ClaimOutcome::HeldElsewhere)
    );
}

fn status(stage: &Stage, state: CheckState) -> Action<String> {
    let text = serde_json::from_value("looks fine".into()).unwrap();
    Action::SetStatus { commit: stage.head(), context: "referee/security".to_owned(), state, text }
}
