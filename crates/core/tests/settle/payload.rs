//! Errors in a triage payload.

use referee_core::model::{Class, PullNumber, ThreadId};
use referee_core::triage::{TriagePayload, validate_triage};

use crate::support::item;

fn faults(payload: &TriagePayload, selected: &[&str]) -> Vec<String> {
    let selected: Vec<_> = selected.iter().map(|id| ThreadId::from(*id)).collect();
    validate_triage(payload, PullNumber(7), &selected).iter().map(ToString::to_string).collect()
}

// spec: TRI-11 @core
#[test]
fn a_draft_for_a_valid_thread_claims_nothing() {
    for (class, draft, refused) in [
        (Class::Valid, Some("Fixed in 9c1f2ab"), true),
        (Class::Valid, Some("Done!"), true),
        (Class::Valid, Some("this has been resolved"), true),
        (Class::Valid, Some("Good catch: I will mask the token first"), false),
        (Class::Valid, None, false),
        (Class::AlreadyFixed, Some("Fixed in 9c1f2ab"), false),
        (Class::Stale, Some("resolved by the rename"), false),
    ] {
        let mut said = item("T", class);
        said.reply_body = draft.map(ToOwned::to_owned);
        let found = faults(&TriagePayload { pr_number: 7, threads: vec![said] }, &["T"]);
        assert_eq!(found.len(), usize::from(refused), "{class:?} {draft:?} {found:?}");
        assert!(found.iter().all(|fault| fault.starts_with("/threads/0/replyBody: thread `T` claims completion")));
    }
}

// spec: TRI-11 @core
#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let mut human = item("A", Class::Invalid);
    (human.requires_human_decision, human.can_resolve_after_checks) = (true, true);
    let mut claims = item("A", Class::Valid);
    claims.reply_body = Some("done".to_owned());
    let payload = TriagePayload { pr_number: 8, threads: vec![human, claims, item("X", Class::Stale)] };
    assert_eq!(
        faults(&payload, &["A", "B", "C"]),
        [
            "/prNumber: is #8, but the scan is of #7",
            "/threads/0/canResolveAfterChecks: thread `A` requires a person's decision, so `canResolveAfterChecks` must be false",
            "/threads/1/threadId: thread `A` is listed twice",
            "/threads/1/replyBody: thread `A` claims completion (`done`) before anything was changed",
            "/threads/2/threadId: thread `X` is not among the selected threads",
            "/threads: thread `B` is selected but missing",
            "/threads: thread `C` is selected but missing",
        ]
    );
    let right = TriagePayload { pr_number: 7, threads: vec![item("B", Class::Valid), item("A", Class::Valid)] };
    assert_eq!(faults(&right, &["A", "B"]), [""; 0]);
}
