//! Faults strike one call, and what they leave behind is what a real one would leave.

use referee_core::model::{Completeness, Span, Verdict};
use referee_core::plan::Precondition;
use referee_forge::{ClaimOutcome, ClaimPurpose, Forge, ForgeError, PerformOutcome, Reader};
use referee_testkit::{CallFault, FaultAt, Quirks, SentPart, WorldClient, block_on, interleave};

use super::{FILE, Stage, login};

#[test]
fn a_lost_reply_is_unknown_and_done_a_lost_request_is_unknown_and_not_done() {
    for (fault, stored) in [(CallFault::LoseReply, 1), (CallFault::FailAfter500, 1), (CallFault::FailBefore, 0)] {
        let stage = Stage::plain();
        stage.world.inject_fault(FaultAt::Write(1), fault);
        let post = stage.post(Verdict::Comment, "words");
        assert_eq!(stage.act(&post), Err(ForgeError::OutcomeUnknown));
        assert_eq!(stage.reviews().len(), stored);
        stage.act(&post).unwrap();
        assert_eq!(stage.reviews().len(), 1, "sending it again leaves one review");
        assert_eq!(stage.world.fired_faults(), [fault]);
    }
}

#[test]
fn later_does_nothing() {
    let stage = Stage::plain();
    stage.world.inject_fault(FaultAt::Call(1), CallFault::RetryLater);
    assert_eq!(stage.act(&stage.post(Verdict::Comment, "words")), Err(ForgeError::RetryLater));
    assert_eq!(stage.world.calls().changes, 0);
}

#[test]
fn a_crashed_seat_refuses_everything_until_it_is_restarted() {
    for (sent, stored) in [(SentPart::Nothing, 0), (SentPart::Half, 0), (SentPart::All, 1)] {
        let stage = Stage::plain();
        stage.world.inject_fault(FaultAt::Write(1), CallFault::Crash(sent));
        stage.act(&stage.post_with(Verdict::Comment, "words", &[(1, "first"), (2, "second")])).unwrap_err();
        assert!(stage.seat.has_crashed());
        block_on(stage.seat.fetch_head(stage.pull)).unwrap_err();
        let other = stage.world.client("referee");
        block_on(other.fetch_head(stage.pull)).unwrap();
        stage.world.restart_client(&stage.seat);
        assert_eq!(stage.reviews().len(), stored);
    }
}

#[test]
fn a_crash_half_way_leaves_a_draft_where_comments_are_stored_one_by_one() {
    let stage = Stage::new(Quirks::gitea_like());
    let post = stage.post_with(Verdict::Comment, "words", &[(1, "first"), (2, "second")]);
    stage.world.inject_fault(FaultAt::Write(1), CallFault::Crash(SentPart::Half));
    stage.act(&post).unwrap_err();
    stage.world.restart_client(&stage.seat);
    assert_eq!(stage.effects(), ["referee leaves draft 1 on #1"]);
    stage.made(&post);
    assert_eq!((stage.reviews().len(), stage.fetch().threads.len()), (1, 2));
    stage.world.inject_fault(FaultAt::Write(1), CallFault::Crash(SentPart::Half));
    block_on(stage.seat.acquire_claim(stage.pull, ClaimPurpose::Work, Span(60))).unwrap_err();
    stage.world.restart_client(&stage.seat);
    assert_eq!(stage.fetch().lease, None, "a claim has no half");
}

#[test]
fn a_cut_off_read_says_so() {
    let stage = Stage::plain();
    stage.made(&stage.post(Verdict::Comment, "words"));
    stage.world.inject_fault(FaultAt::Call(1), CallFault::Truncate);
    let cut = stage.fetch();
    assert!(matches!(cut.complete, Completeness::Truncated { .. }));
    assert_eq!(cut.reviews, []);
    assert_eq!(stage.fetch().complete, Completeness::Complete, "only once");
}

#[test]
fn a_stale_read_sees_the_world_one_write_ago() {
    let stage = Stage::plain();
    stage.world.inject_fault(FaultAt::Call(3), CallFault::StaleRead);
    stage.made(&stage.post(Verdict::Comment, "one"));
    stage.made(&stage.post(Verdict::Comment, "two"));
    assert_eq!(stage.reviews().len(), 1);
    assert_eq!(stage.reviews().len(), 2);
}

#[test]
fn a_stale_look_before_a_write_doubles_it() {
    let stage = Stage::plain();
    stage.world.inject_fault(FaultAt::Write(2), CallFault::StaleRead);
    let post = stage.post(Verdict::Comment, "words");
    stage.made(&post);
    stage.made(&post);
    assert_eq!(stage.reviews().len(), 2);
    assert_eq!(stage.act(&post), Ok(PerformOutcome::AlreadySo));
}

#[test]
fn failed_reads_are_errors() {
    for fault in [CallFault::FailBefore, CallFault::FailAfter500, CallFault::LoseReply, CallFault::RetryLater] {
        let stage = Stage::plain();
        stage.world.inject_fault(FaultAt::Call(1), fault);
        block_on(stage.seat.fetch_board()).unwrap_err();
        block_on(stage.seat.fetch_board()).unwrap();
    }
}

#[test]
fn calls_and_writes_are_counted_apart() {
    let stage = Stage::plain();
    stage.world.inject_fault(FaultAt::Write(2), CallFault::RetryLater);
    stage.made(&stage.post(Verdict::Comment, "one"));
    stage.fetch();
    stage.fetch();
    assert_eq!(stage.act(&stage.post(Verdict::Comment, "two")), Err(ForgeError::RetryLater));
    let calls = stage.world.calls();
    assert_eq!((calls.reads, calls.writes, calls.changes), (2, 2, 1));
}

#[test]
fn a_moved_head_is_told_before_anything_is_posted() {
    let stage = Stage::plain();
    let post = stage.post(Verdict::Approve, "fine");
    stage.world.people().as_("alice").push(FILE, |text| text.replace("one", "uno"));
    let moved = stage.seat.perform_unsealed(stage.pull, &login("referee"), &post, &Precondition::Head);
    assert!(matches!(moved, Err(ForgeError::Conflict(_))));
    assert_eq!(stage.world.calls().changes, 0);
}

#[test]
fn processes_are_interleaved_call_by_call_in_the_order_a_test_picks() {
    async fn look_and_claim(seat: WorldClient, pull: referee_core::model::PullNumber) -> (bool, ClaimOutcome) {
        let free = seat.fetch(pull).await.unwrap().lease.is_none();
        (free, seat.acquire_claim(pull, ClaimPurpose::Work, Span(60)).await.unwrap())
    }
    // Each process takes three polls: to its first call, to its second, to its end.
    for (order, second_saw_it_free) in [([0, 0, 0, 1, 1, 1], false), ([0, 1, 0, 1, 0, 1], true)] {
        let stage = Stage::plain();
        let process = || look_and_claim(stage.world.client("referee").stepwise(), stage.pull);
        let mut order = order.into_iter();
        let ended = interleave(vec![Box::pin(process()), Box::pin(process())], |running| {
            let wanted = order.next().unwrap();
            running.iter().position(|name| *name == wanted).unwrap()
        });
        assert_eq!(ended, [(true, ClaimOutcome::Acquired(1)), (second_saw_it_free, ClaimOutcome::HeldElsewhere)]);
    }
}
