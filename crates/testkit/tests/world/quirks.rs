//! One test per quirk: its visible behaviour, and the behaviour without it.

use referee_core::model::{
    Access, CheckState, Completeness, PullState, ReviewKind, ReviewWeight, Span, Support, Verdict,
};
use referee_core::plan::Action;
use referee_forge::{ClaimOutcome, ClaimPurpose, Forge, ForgeError, PerformOutcome, Reader};
use referee_testkit::{EffectKind, Quirks, ReplyMode, block_on};

use super::{FILE, WorldFixture, edit, login};

fn fixture_with(change: impl FnOnce(&mut Quirks)) -> WorldFixture {
    let mut quirks = Quirks::plain();
    change(&mut quirks);
    WorldFixture::new(quirks)
}

fn weights(fixture: &WorldFixture) -> Vec<ReviewWeight> {
    fixture.reviews().into_iter().map(|review| review.counts).collect()
}

#[test]
fn original_text_in_lists_hides_edits_from_the_list_but_not_from_fetch() {
    for (listed, fixture) in
        [("new", WorldFixture::plain()), ("old", fixture_with(|quirks| quirks.original_text_in_lists = true))]
    {
        fixture.expect_done(&fixture.post(Verdict::Comment, "old"));
        fixture.expect_done(&edit(&fixture.reviews()[0], "new"));
        assert_eq!(fixture.world.raw_review_list(fixture.pull, &login("referee")).unwrap()[0].body, listed);
        assert_eq!(fixture.reviews()[0].text.body_or_empty(), "new");
    }
}

#[test]
fn a_bad_line_refuses_the_post_or_leaves_a_draft_with_the_first_comments() {
    let threads = [(1, "first"), (99, "bad"), (2, "third")];
    let atomic = WorldFixture::plain();
    let refused = atomic.perform(&atomic.post_with(Verdict::Comment, "words", &threads));
    assert!(matches!(refused, Err(ForgeError::Refused(_))), "{refused:?}");
    assert!(atomic.fetch().reviews.is_empty());

    let one_by_one = fixture_with(|quirks| quirks.inline_one_by_one = true);
    let unknown = one_by_one.perform(&one_by_one.post_with(Verdict::Comment, "words", &threads));
    assert_eq!(unknown, Err(ForgeError::OutcomeUnknown));
    assert_eq!(one_by_one.fetch().reviews[0].row, ReviewKind::Draft);
    assert_eq!(one_by_one.fetch().threads, [], "threads in a draft are not visible");
    assert_eq!(one_by_one.effects(), ["referee leaves draft 1 on #1"]);
}

#[test]
fn drafts_of_others_are_invisible() {
    let fixture = WorldFixture::plain();
    fixture.world.people().as_("ruth").leave_draft(FILE, 1, "half a thought");
    assert_eq!(fixture.fetch().reviews, []);
    assert_eq!(fixture.fetch().threads, []);
}

#[test]
fn the_next_post_adopts_the_draft_and_sends_only_missing_threads() {
    let fixture = fixture_with(|quirks| {
        quirks.inline_one_by_one = true;
        quirks.draft_adopted = true;
    });
    let threads = |line| [(1, "first"), (line, "second")];
    fixture.perform(&fixture.post_with(Verdict::Comment, "words", &threads(99))).unwrap_err();
    let draft = fixture.fetch().reviews[0].id.clone();
    let created = fixture.expect_done(&fixture.post_with(Verdict::RequestChanges, "words", &threads(2)));
    assert_eq!(created.review, Some(draft), "the draft becomes the review");
    let fetched = fixture.fetch();
    assert_eq!(fetched.reviews.len(), 1);
    let roots: Vec<_> =
        fetched.threads.iter().map(|thread| thread.root().unwrap().text.body_or_empty().to_owned()).collect();
    assert_eq!(roots, ["first", "second"], "no thread is duplicated");
    assert_eq!(created.threads, fetched.threads.iter().map(|thread| thread.id.clone()).collect::<Vec<_>>());
}

#[test]
fn an_adopted_draft_publishes_comments_of_an_earlier_post() {
    let fixture = WorldFixture::new(Quirks::gitea_like());
    fixture.perform(&fixture.post_with(Verdict::Comment, "words", &[(1, "orphan"), (99, "bad")])).unwrap_err();
    fixture.expect_done(&fixture.post(Verdict::Comment, "other words"));
    assert_eq!(fixture.fetch().threads[0].root().unwrap().text.body_or_empty(), "orphan");
}

#[test]
fn posts_swap_comments_moves_comments_between_two_reviews() {
    let fixture = fixture_with(|quirks| quirks.posts_swap_comments = true);
    let one = fixture.expect_done(&fixture.post_with(Verdict::Comment, "one", &[(1, "of one")]));
    let two = fixture.expect_done(&fixture.post_with(Verdict::Comment, "two", &[(2, "of two")]));
    let threads = fixture.fetch().threads;
    assert_eq!((&threads[0].review, &threads[1].review), (&two.review, &one.review));
    assert_eq!(threads[0].root().unwrap().text.body_or_empty(), "of one");
}

#[test]
fn dismiss_on_push_dismisses_approvals_only() {
    let fixture = fixture_with(|quirks| quirks.dismiss_on_push = true);
    fixture.expect_done(&fixture.post(Verdict::Approve, "fine"));
    fixture.world.people().as_("ruth").block("no");
    fixture.world.people().as_("alice").amend();
    assert_eq!(weights(&fixture), [ReviewWeight::Yes, ReviewWeight::Yes], "the same patch dismisses nothing");
    fixture.world.people().as_("alice").push(FILE, |text| text.replace("one", "uno"));
    assert_eq!(
        weights(&fixture),
        [ReviewWeight::Dismissed { by: None, at: fixture.fetch().pull.head_since }, ReviewWeight::Yes]
    );
}

#[test]
fn newest_verdict_only_removes_the_weight_of_older_verdicts() {
    let fixture = fixture_with(|quirks| quirks.newest_verdict_only = true);
    for verdict in [Verdict::RequestChanges, Verdict::RequestChanges, Verdict::Comment] {
        fixture.expect_done(&fixture.post(verdict, &format!("{verdict} {}", fixture.reviews().len())));
    }
    assert_eq!(weights(&fixture), [ReviewWeight::Replaced, ReviewWeight::Yes, ReviewWeight::No]);
}

#[test]
fn request_clears_verdict_until_the_request_is_withdrawn() {
    let fixture = fixture_with(|quirks| quirks.request_clears_verdict = true);
    fixture.expect_done(&fixture.post(Verdict::RequestChanges, "no"));
    let alice = fixture.world.people().as_("alice");
    alice.request_review("referee");
    assert_eq!(weights(&fixture), [ReviewWeight::Requested]);
    assert!(!fixture.world.decision(fixture.pull).is_blocked());
    assert_eq!(fixture.fetch().pull.requests[0].by, Some(login("alice")));
    alice.withdraw_request("referee");
    assert_eq!(weights(&fixture), [ReviewWeight::Yes]);
    alice.request_review("referee");
    fixture.expect_done(&fixture.post(Verdict::RequestChanges, "still no"));
    assert_eq!(weights(&fixture), [ReviewWeight::Requested, ReviewWeight::Yes]);
    assert_eq!(fixture.fetch().pull.requests, [], "any review fulfils the request");
}

#[test]
fn stale_reviews_are_flagged_in_the_list_and_may_lose_their_weight() {
    let fixture = fixture_with(|quirks| quirks.stale_flags = true);
    fixture.expect_done(&fixture.post(Verdict::Approve, "fine"));
    fixture.world.people().as_("alice").push(FILE, |text| text.replace("one", "uno"));
    assert!(fixture.world.raw_review_list(fixture.pull, &login("referee")).unwrap()[0].stale);
    assert_eq!(weights(&fixture), [ReviewWeight::Yes]);
    fixture.world.change_quirks(|quirks| quirks.stale_rows_ignored = true);
    assert!(matches!(weights(&fixture)[..], [ReviewWeight::Dismissed { by: None, .. }]));
}

#[test]
fn commit_rolls_forward_on_a_force_push_of_the_same_patch() {
    for (rolls, fixture) in
        [(false, WorldFixture::plain()), (true, fixture_with(|quirks| quirks.commit_rolls_forward = true))]
    {
        fixture.expect_done(&fixture.post(Verdict::Approve, "fine"));
        let before = fixture.head();
        fixture.world.people().as_("alice").amend();
        let commit = fixture.reviews()[0].commit.clone().unwrap();
        assert_eq!(commit == fixture.head(), rolls);
        assert_eq!(commit == before, !rolls);
    }
}

#[test]
fn without_resolve_our_own_root_is_marked_as_settled() {
    let fixture = fixture_with(|quirks| quirks.no_resolve = true);
    fixture.expect_done(&fixture.open(&[(1, "finding")]));
    let thread = fixture.fetch().threads[0].clone();
    let root = thread.root().unwrap().id.clone();
    assert_eq!((thread.can_resolve, fixture.fetch().capabilities.resolve), (false, Support::Emulated));
    let mark = Action::Resolve { thread: thread.id.clone(), mark: Some((root, "settled".to_owned())) };
    assert_eq!(fixture.perform(&mark), Ok(PerformOutcome::MarkedInText));
    assert_eq!(fixture.perform(&mark), Ok(PerformOutcome::AlreadySo));
    assert_eq!(fixture.perform(&Action::Resolve { thread: thread.id, mark: None }), Ok(PerformOutcome::NotPermitted));
    let theirs = fixture.world.people().as_("ruth").open_thread(FILE, 2, "my thread");
    let root = fixture.fetch().threads[1].root().unwrap().id.clone();
    let mark = Action::Resolve { thread: theirs, mark: Some((root, "settled".to_owned())) };
    assert!(matches!(fixture.perform(&mark), Err(ForgeError::Forbidden(_))));
}

#[test]
fn replies_are_native_wrapped_emulated_or_unsupported() {
    for (replies, support, wrappers) in [
        (ReplyMode::Native, Support::Native, 0),
        (ReplyMode::Wrapped, Support::Native, 1),
        (ReplyMode::Emulated, Support::Emulated, 1),
    ] {
        let fixture = fixture_with(|quirks| quirks.replies = replies);
        let thread = fixture.world.people().as_("ruth").open_thread(FILE, 1, "why?");
        fixture.expect_done(&Action::Reply { thread, text: "because".to_owned() });
        let fetched = fixture.fetch();
        assert_eq!(fetched.threads[0].last().unwrap().text.body_or_empty(), "because");
        assert_eq!(fetched.reviews.iter().filter(|review| review.row == ReviewKind::Wrapper).count(), wrappers);
        assert_eq!(fetched.capabilities.reply, support);
    }
    let fixture = fixture_with(|quirks| quirks.replies = ReplyMode::Unsupported);
    let thread = fixture.world.people().as_("ruth").open_thread(FILE, 1, "why?");
    assert!(!fixture.fetch().threads[0].can_reply);
    let reply = fixture.perform(&Action::Reply { thread, text: "because".to_owned() });
    assert!(matches!(reply, Err(ForgeError::Unsupported(_))));
}

#[test]
fn threads_wrapped_puts_threads_into_an_empty_review() {
    for (wrappers, fixture) in [(0, WorldFixture::plain()), (1, fixture_with(|quirks| quirks.threads_wrapped = true))] {
        fixture.expect_done(&fixture.open(&[(1, "finding")]));
        assert_eq!(fixture.fetch().reviews.len(), wrappers);
        assert_eq!(fixture.reviews(), []);
        assert_eq!(fixture.fetch().threads.len(), 1);
    }
}

#[test]
fn missing_features_are_unsupported_or_not_permitted() {
    let fixture = fixture_with(|quirks| {
        quirks.no_edit = true;
        quirks.no_verdicts = true;
        quirks.no_claims = true;
        quirks.no_labels = true;
        quirks.no_statuses = true;
    });
    fixture.expect_done(&fixture.post(Verdict::Comment, "words"));
    assert_eq!(fixture.reviews()[0].edit, None);
    assert!(matches!(fixture.perform(&fixture.post(Verdict::Approve, "fine")), Err(ForgeError::Unsupported(_))));
    let claim = block_on(fixture.client.acquire_claim(fixture.pull, ClaimPurpose::Work, Span::from_minutes(1)));
    assert!(matches!(claim, Err(ForgeError::Unsupported(_))));
    let label = Action::SetLabel { name: "wip".to_owned(), on: true };
    assert_eq!(fixture.perform(&label), Ok(PerformOutcome::NotPermitted));
    assert_eq!(fixture.perform(&status(&fixture, CheckState::Pass)), Ok(PerformOutcome::NotPermitted));
}

#[test]
fn verdicts_on_own_and_on_closed_pulls_are_refused() {
    let fixture = fixture_with(|quirks| {
        quirks.no_verdict_on_own_pull = true;
        quirks.no_verdict_on_closed = true;
    });
    fixture.world.people().as_("alice").close();
    assert!(matches!(fixture.perform(&fixture.post(Verdict::Approve, "fine")), Err(ForgeError::Refused(_))));
    let own = fixture.world.people().as_("referee").open_pull("own", &[(FILE, "fn four() {}\n")]);
    let mine = WorldFixture { world: fixture.world.clone(), pull: own, client: fixture.client.clone() };
    assert!(matches!(mine.perform(&mine.post(Verdict::Approve, "fine")), Err(ForgeError::Refused(_))));
    mine.expect_done(&mine.post(Verdict::Comment, "fine"));
}

#[test]
fn texts_beyond_max_text_are_refused() {
    let fixture = fixture_with(|quirks| quirks.max_text = 10);
    assert_eq!(fixture.fetch().capabilities.max_text, 10);
    assert!(matches!(fixture.perform(&fixture.post(Verdict::Comment, "eleven long")), Err(ForgeError::Refused(_))));
    assert!(matches!(fixture.perform(&fixture.open(&[(1, "eleven long")])), Err(ForgeError::Refused(_))));
    fixture.expect_done(&fixture.post(Verdict::Comment, "ten longer"));
}

#[test]
fn hidden_access_is_reported_as_unknown() {
    let fixture = fixture_with(|quirks| quirks.access_hidden = true);
    assert_eq!(fixture.fetch().pull.author.access, Access::Unknown);
}

#[test]
fn comment_answers_500_although_the_comment_is_stored() {
    let fixture = fixture_with(|quirks| quirks.comment_answers_500 = true);
    let target = referee_core::plan::CommentTarget::Pull;
    let comment = Action::EnsureComment { existing: None, target, text: "hello".to_owned() };
    assert_eq!(fixture.perform(&comment), Err(ForgeError::OutcomeUnknown));
    assert_eq!(fixture.perform(&comment), Ok(PerformOutcome::AlreadySo));
    assert_eq!(fixture.fetch().comments.len(), 1);
}

#[test]
fn reads_lag_behind_writes_until_time_passes() {
    let fixture = fixture_with(|quirks| quirks.read_lag = 2);
    fixture.world.wait(Span(1));
    fixture.expect_done(&fixture.post(Verdict::Comment, "one"));
    assert_eq!(fixture.reviews().len(), 0);
    fixture.expect_done(&fixture.post(Verdict::Comment, "two"));
    fixture.expect_done(&fixture.post(Verdict::Comment, "three"));
    assert_eq!(fixture.reviews().len(), 1);
    let head = fixture.world.people().as_("alice").push(FILE, |_| "fn other() {}\n".to_owned());
    assert_ne!(block_on(fixture.client.fetch_head(fixture.pull)).unwrap(), head);
    fixture.world.wait(Span::from_minutes(1));
    assert_eq!(fixture.reviews().len(), 3);
    assert_eq!(block_on(fixture.client.fetch_head(fixture.pull)).unwrap(), head);
}

#[test]
fn lists_beyond_page_limit_are_reported_as_truncated() {
    let fixture = fixture_with(|quirks| quirks.page_limit = Some(2));
    for n in 0..2 {
        fixture.world.people().as_("ruth").comment(&n.to_string());
    }
    assert_eq!(fixture.fetch().complete, Completeness::Complete);
    fixture.world.people().as_("ruth").comment("one more");
    assert_eq!(fixture.fetch().complete, Completeness::truncated("comments"));
    assert_eq!(fixture.fetch().comments.len(), 2);
}

#[test]
fn auto_merge_merges_an_approved_pull_with_passing_checks() {
    let fixture = fixture_with(|quirks| quirks.auto_merge = true);
    let ci = fixture.world.people().as_("ci");
    ci.report_check("build", CheckState::Pending);
    fixture.expect_done(&fixture.post(Verdict::Approve, "fine"));
    assert_eq!(fixture.fetch().pull.state, PullState::Open, "the check is pending");
    fixture.world.people().as_("ruth").block("no");
    ci.report_check("build", CheckState::Pass);
    assert_eq!(fixture.fetch().pull.state, PullState::Open, "blocked");
    drop(fixture.effects());
    fixture.world.people().as_("ruth").approve("fine now");
    assert_eq!(fixture.fetch().pull.state, PullState::Merged);
    assert!(
        matches!(fixture.world.take_effects()[..], [ref merged] if merged.kind == EffectKind::Merged && merged.by.is_none())
    );
}

#[test]
fn a_claim_is_exclusive_until_it_expires() {
    let fixture = WorldFixture::plain();
    let other = fixture.world.client("referee");
    let ttl = Span::from_minutes(2);
    let claim = |client: &referee_testkit::WorldClient| {
        block_on(client.acquire_claim(fixture.pull, ClaimPurpose::Work, ttl)).unwrap()
    };
    let release = |client: &referee_testkit::WorldClient, epoch| {
        block_on(client.release_claim(fixture.pull, ClaimPurpose::Work, epoch))
    };
    assert_eq!(claim(&fixture.client), ClaimOutcome::Acquired(1));
    assert!(matches!(claim(&other), ClaimOutcome::HeldElsewhere(_)));
    assert_eq!(fixture.fetch().lease.unwrap().epoch, 1);
    fixture.world.wait(ttl);
    assert_eq!(claim(&other), ClaimOutcome::Acquired(2));
    assert!(
        matches!(release(&fixture.client, 1), Err(ForgeError::Conflict(_))),
        "an old epoch cannot release the claim"
    );
    release(&other, 2).unwrap();
    assert!(matches!(release(&other, 2), Err(ForgeError::Conflict(_))), "a claim is released once");
    assert_eq!(claim(&fixture.client), ClaimOutcome::Acquired(3), "epochs only rise");
    let publish = block_on(fixture.client.acquire_claim(fixture.pull, ClaimPurpose::Publish, ttl));
    assert_eq!(publish, Ok(ClaimOutcome::Acquired(1)), "each purpose has its own claim");
}

#[test]
fn claims_race_lets_a_second_take_over_succeed() {
    let fixture = fixture_with(|quirks| quirks.claims_race = true);
    let claim = || block_on(fixture.client.acquire_claim(fixture.pull, ClaimPurpose::Publish, Span(120))).unwrap();
    assert!(matches!((claim(), claim()), (ClaimOutcome::Acquired(1), ClaimOutcome::HeldElsewhere(_))));
    fixture.world.wait(Span(120));
    let taken = (claim(), claim(), claim());
    assert!(matches!(taken, (ClaimOutcome::Acquired(2), ClaimOutcome::Acquired(3), ClaimOutcome::HeldElsewhere(_))));
}

fn status(fixture: &WorldFixture, state: CheckState) -> Action<String> {
    let text = serde_json::from_value("looks fine".into()).unwrap();
    Action::SetStatus { commit: fixture.head(), context: "referee/security".to_owned(), state, text }
}
