//! Pulls that could not be read whole (D16, D43).

use referee_core::decide::{PlanScope, decide};
use referee_core::facts::judge_completeness;
use referee_core::model::*;
use referee_core::plan::{Action, BlockedCause, Next};

use crate::support::*;

/// A pull whose timeline is truncated, with an approval at some head and change.
fn truncated(own_reviews_read: bool, head: Sha, change: &str) -> Stage {
    let mut stage = Stage::with_workers();
    stage.verdict_at("static", Verdict::Approve, head, patch(change));
    stage.snapshot.complete = Completeness::Truncated { what: "the timeline".to_owned(), own_reviews_read };
    stage
}

// spec: PUB-6 @core
#[test]
fn only_an_approval_of_another_change_is_withdrawn_and_only_if_the_own_reviews_were_read() {
    let rows: [(bool, Sha, &str, &[&str]); 4] = [
        (true, sha('b'), "p0", &["set_status", "post_review", "supersede"]),
        (false, sha('b'), "p0", &[]),
        (true, sha('a'), "p0", &[]),
        (true, sha('b'), "p1", &[]),
    ];
    for (read, head, change, expected) in rows {
        let label = format!("own reviews read: {read}, {head}, {change}");
        let mut stage = truncated(read, head, change);
        let plan = decide(&stage.snapshot, &stage.policy, &PlanScope::Everything);
        let names: Vec<&str> = plan.steps.iter().map(|step| step.action.name()).collect();
        assert_eq!(names, expected, "{label}");
        assert_eq!(plan.next, Next::Blocked(BlockedCause::Incomplete), "{label}");
        assert_eq!(plan.why.facts, ["the timeline could not be read whole"], "{label}");
        assert!(plan.reviews.is_empty(), "{label}: nobody reviews what cannot be read");
        for step in &plan.steps {
            if let Action::PostReview { verdict, threads, .. } = &step.action {
                assert_eq!((*verdict, threads.len()), (Verdict::RequestChanges, 0), "{label}");
            }
            if let Action::SetStatus { state, .. } = &step.action {
                assert_eq!(*state, CheckState::Fail, "{label}");
            }
        }
        let pass = decide(&stage.snapshot, &stage.policy, &PlanScope::Pass);
        assert!(pass.steps.is_empty(), "{label}: a pass posts no reviews");
        // An approval that was posted as a comment needs no block, but the head is red.
        let review = stage.snapshot.reviews.last_mut().expect("a review");
        review.row = ReviewKind::Verdict(Verdict::Comment);
        let plan = decide(&stage.snapshot, &stage.policy, &PlanScope::Everything);
        let names: Vec<&str> = plan.steps.iter().map(|step| step.action.name()).collect();
        assert_eq!(names, expected.get(..1).unwrap_or_default(), "{label}: posted as a comment");
    }
}

// spec: LOOP-6 @core
#[test]
fn a_cut_text_is_noise_unless_its_author_counts() {
    let long = "x".repeat(MAX_READ_TEXT_BYTES + 1);
    let short = "x".repeat(MAX_READ_TEXT_BYTES);
    assert!(Text::from_untrusted_body(&long).is_cut && !Text::from_untrusted_body(&short).is_cut);
    let own = [Login::from("referee")];
    let rows = [
        (outsider("eve"), &long, None),
        (person("bob"), &short, None),
        (person("bob"), &long, Some("a comment of bob, which is longer than 128 KiB,")),
        (program("referee"), &long, Some("a comment of referee, which is longer than 128 KiB,")),
    ];
    for (author, body, expected) in rows {
        let mut stage = Stage::new();
        stage.comment(author, 1).text = Text::from_untrusted_body(body);
        let what = match judge_completeness(&stage.snapshot, &own) {
            Completeness::Complete => None,
            Completeness::Truncated { what, own_reviews_read } => {
                assert!(own_reviews_read, "the reviews are whole");
                Some(what)
            }
        };
        assert_eq!(what.as_deref(), expected);
    }
    // The text of an own review says what it stands for.
    let mut stage = Stage::new();
    stage.verdict("static", Verdict::Approve);
    stage.snapshot.reviews[0].text.is_cut = true;
    let complete = judge_completeness(&stage.snapshot, &own);
    assert!(matches!(complete, Completeness::Truncated { own_reviews_read: false, .. }), "{complete:?}");
}
