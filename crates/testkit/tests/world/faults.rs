//! A fault affects one call and leaves behind what a real one would.

use referee_core::model::{Completeness, Span, Verdict};
use referee_core::plan::Precondition;
use referee_forge::{ClaimOutcome, ClaimPurpose, Forge, ForgeError, PerformOutcome, Reader};
use referee_testkit::{CallFault, FaultAt, Quirks, SentPart, WorldClient, block_on, interleave};

use super::{FILE, WorldFixture, login};

#[test]
fn a_lost_response_and_a_lost_request_are_both_unknown_to_the_client() {
    for (fault, stored) in [(CallFault::LoseReply, 1), (CallFault::FailAfter500, 1), (CallFault::FailBefore, 0)] {
        let fixture = WorldFixture::plain();
        fixture.world.inject_fault(FaultAt::Write(1), fault);
        let post = fixture.post(Verdict::Comment, "words");
        assert_eq!(fixture.perform(&post), Err(ForgeError::OutcomeUnknown));
        assert_eq!(fixture.reviews().len(), stored);
        fixture.perform(&post).unwrap();
        assert_eq!(fixture.reviews().len(), 1, "sending it again leaves one review");
        assert_eq!(fixture.world.fired_faults(), [fault]);
    }
}

#[test]
fn retry_later_changes_nothing() {
    let fixture = WorldFixture::plain();
    fixture.world.inject_fault(FaultAt::Call(1), CallFault::RetryLater);
    assert_eq!(fixture.perform(&fixture.post(Verdict::Comment, "words")), Err(ForgeError::RetryLater));
    assert_eq!(fixture.world.calls().changes, 0);
}

#[test]
fn a_crashed_client_fails_until_it_is_restarted() {
    for (sent, stored) in [(SentPart::Nothing, 0), (SentPart::Half, 0), (SentPart::All, 1)] {
        let fixture = WorldFixture::plain();
        fixture.world.inject_fault(FaultAt::Write(1), CallFault::Crash(sent));
        fixture.perform(&fixture.post_with(Verdict::Comment, "words", &[(1, "first"), (2, "second")])).unwrap_err();
        assert!(fixture.client.has_crashed());
        block_on(fixture.client.fetch_head(fixture.pull)).unwrap_err();
        let other = fixture.world.client("referee");
        block_on(other.fetch_head(fixture.pull)).unwrap();
        fixture.world.restart_client(&fixture.client);
        assert_eq!(fixture.reviews().len(), stored);
    }
}

#[test]
fn a_crash_during_a_post_leaves_a_draft_where_comments_are_stored_one_by_one() {
    let fixture = WorldFixture::new(Quirks::gitea_like());
    let post = fixture.post_with(Verdict::Comment, "words", &[(1, "first"), (2, "second")]);
    fixture.world.inject_fault(FaultAt::Write(1), CallFault::Crash(SentPart::Half));
    fixture.perform(&post).unwrap_err();
    fixture.world.restart_client(&fixture.client);
    assert_eq!(fixture.effects(), ["referee leaves draft 1 on #1"]);
    fixture.expect_done(&post);
    assert_eq!((fixture.reviews().len(), fixture.fetch().threads.len()), (1, 2));
    fixture.world.inject_fault(FaultAt::Write(1), CallFault::Crash(SentPart::Half));
    block_on(fixture.client.acquire_claim(fixture.pull, ClaimPurpose::Work, Span(60))).unwrap_err();
    fixture.world.restart_client(&fixture.client);
    assert_eq!(fixture.fetch().lease, None, "a claim is atomic");
}

#[test]
fn a_truncated_read_is_reported() {
    let fixture = WorldFixture::plain();
    fixture.expect_done(&fixture.post(Verdict::Comment, "words"));
    fixture.world.inject_fault(FaultAt::Call(1), CallFault::Truncate);
    let truncated = fixture.fetch();
    assert!(matches!(truncated.complete, Completeness::Truncated { .. }));
    assert_eq!(truncated.reviews, []);
    assert_eq!(fixture.fetch().complete, Completeness::Complete, "the fault applies once");
}

#[test]
fn a_stale_read_misses_the_last_write() {
    let fixture = WorldFixture::plain();
    fixture.world.inject_fault(FaultAt::Call(3), CallFault::StaleRead);
    fixture.expect_done(&fixture.post(Verdict::Comment, "one"));
    fixture.expect_done(&fixture.post(Verdict::Comment, "two"));
    assert_eq!(fixture.reviews().len(), 1);
    assert_eq!(fixture.reviews().len(), 2);
}

#[test]
fn a_stale_check_before_a_write_duplicates_the_review() {
    let fixture = WorldFixture::plain();
    fixture.world.inject_fault(FaultAt::Write(2), CallFault::StaleRead);
    let post = fixture.post(Verdict::Comment, "words");
    fixture.expect_done(&post);
    fixture.expect_done(&post);
    assert_eq!(fixture.reviews().len(), 2);
    assert_eq!(fixture.perform(&post), Ok(PerformOutcome::AlreadySo));
}

#[test]
fn failed_reads_are_errors() {
    for fault in [CallFault::FailBefore, CallFault::FailAfter500, CallFault::LoseReply, CallFault::RetryLater] {
        let fixture = WorldFixture::plain();
        fixture.world.inject_fault(FaultAt::Call(1), fault);
        block_on(fixture.client.fetch_board()).unwrap_err();
        block_on(fixture.client.fetch_board()).unwrap();
    }
}

#[test]
fn reads_and_writes_are_counted_separately() {
    let fixture = WorldFixture::plain();
    fixture.world.inject_fault(FaultAt::Write(2), CallFault::RetryLater);
    fixture.expect_done(&fixture.post(Verdict::Comment, "one"));
    fixture.fetch();
    fixture.fetch();
    assert_eq!(fixture.perform(&fixture.post(Verdict::Comment, "two")), Err(ForgeError::RetryLater));
    let calls = fixture.world.calls();
    assert_eq!((calls.reads, calls.writes, calls.changes), (2, 2, 1));
}

#[test]
fn a_moved_head_is_a_conflict_and_nothing_is_posted() {
    let fixture = WorldFixture::plain();
    let post = fixture.post(Verdict::Approve, "fine");
    fixture.world.people().as_("alice").push(FILE, |text| text.replace("one", "uno"));
    let moved = fixture.client.perform_unsealed(fixture.pull, &login("referee"), &post, &Precondition::Head);
    assert!(matches!(moved, Err(ForgeError::Conflict(_))));
    assert_eq!(fixture.world.calls().changes, 0);
}

#[test]
fn processes_are_interleaved_call_by_call() {
    async fn fetch_and_claim(client: WorldClient, pull: referee_core::model::PullNumber) -> (bool, ClaimOutcome) {
        let free = client.fetch(pull).await.unwrap().lease.is_none();
        (free, client.acquire_claim(pull, ClaimPurpose::Work, Span(60)).await.unwrap())
    }
    // Each process takes three polls: up to its first call, up to its second, and to its end.
    for (order, free_for_second) in [([0, 0, 0, 1, 1, 1], false), ([0, 1, 0, 1, 0, 1], true)] {
        let fixture = WorldFixture::plain();
        let process = || fetch_and_claim(fixture.world.client("referee").stepwise(), fixture.pull);
        let mut order = order.into_iter();
        let results = interleave(vec![Box::pin(process()), Box::pin(process())], |running| {
            let wanted = order.next().unwrap();
            running.iter().position(|index| *index == wanted).unwrap()
        });
        let [(first_is_free, first), (second_is_free, second)] = &results[..] else { panic!("{results:?}") };
        assert_eq!((*first_is_free, *second_is_free), (true, free_for_second));
        assert!(matches!((first, second), (ClaimOutcome::Acquired(1), ClaimOutcome::HeldElsewhere(_))));
    }
}
