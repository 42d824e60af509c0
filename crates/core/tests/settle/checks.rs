//! The checks that a resolution needs: every combination, compared with the sentence of the specification.

use referee_core::decide::settle::settle;
use referee_core::model::{Check, CheckOutcome, CheckState, Checks, Class, LocalCheck};
use referee_core::plan::Gate;
use referee_core::policy::Policy;

use crate::support::{HEAD, OLD, answer, bot, sha, snapshot, thread, verification};

const OUTCOMES: [CheckOutcome; 5] =
    [CheckOutcome::Passed, CheckOutcome::Failed, CheckOutcome::Skipped, CheckOutcome::TimedOut, CheckOutcome::Unknown];

/// Nothing, or each outcome at each head.
fn runs() -> Vec<Option<LocalCheck>> {
    let each = OUTCOMES
        .iter()
        .flat_map(|outcome| [HEAD, OLD].map(|head| Some(LocalCheck { outcome: *outcome, head: sha(head) })));
    std::iter::once(None).chain(each).collect()
}

// spec: FIX-6 @core
#[test]
fn exactly_passed_checks_of_the_head_let_a_thread_be_resolved() {
    let mut snapshot = snapshot(vec![thread("T", bot("lint"))]);
    let mut policy = Policy::default();
    let live = [CheckState::Pass, CheckState::Fail, CheckState::Pending, CheckState::None];
    let (mut cases, mut resolved) = (0, 0);
    for check in runs() {
        for watched in runs() {
            for (now, ci_required) in live.into_iter().flat_map(|now| [(now, true), (now, false)]) {
                // An invalid answer needs no verification, so only FIX-6 applies to these lines.
                for lines in runs() {
                    let mut said = answer("T", Class::Invalid);
                    said.verification = lines.iter().map(|run| verification(run.outcome, run.head.as_str())).collect();
                    snapshot.evidence.answers = vec![said];
                    snapshot.evidence.check = check.clone();
                    snapshot.evidence.watched = watched.clone();
                    let all =
                        Vec::from_iter((now != CheckState::None).then(|| Check { name: "ci".into(), state: now }));
                    snapshot.checks = Checks { all, own: Vec::new() };
                    policy.ci_required = ci_required;
                    policy.threads.resolve_invalid = true;

                    let passed = |run: &LocalCheck| run.outcome == CheckOutcome::Passed && run.head == sha(HEAD);
                    let own = check.as_ref().or(lines.as_ref()).is_some_and(passed);
                    let stored = watched.as_ref().filter(|run| run.head == sha(HEAD));
                    let forge = now != CheckState::Fail
                        && stored.map_or(now == CheckState::Pass || (now == CheckState::None && !ci_required), passed);

                    let plan = settle(&snapshot, &policy);
                    let resolves = plan.steps.iter().any(|step| step.gate == Gate::Resolve);
                    assert_eq!(resolves, own && forge, "{check:?} {watched:?} {now:?} {ci_required} {lines:?}");
                    assert!(plan.steps.iter().any(|step| step.gate == Gate::Reply), "a reply waits for no check");
                    policy.threads.require_checks = false;
                    assert_eq!(settle(&snapshot, &policy).steps.len(), 2, "the policy may ask for none");
                    policy.threads.require_checks = true;
                    cases += 1;
                    resolved += usize::from(resolves);
                }
            }
        }
    }
    println!("FIX-6: {cases} cases, {resolved} of them resolve");
    assert!(resolved > 0 && resolved < cases);
}

// spec: FIX-6 @core
#[test]
fn a_failed_run_at_an_older_head_is_history() {
    let mut snapshot = snapshot(vec![thread("T", bot("lint"))]);
    let mut said = answer("T", Class::Valid);
    said.verification.insert(0, verification(CheckOutcome::Failed, OLD));
    snapshot.evidence.answers = vec![said];
    assert_eq!(settle(&snapshot, &Policy::default()).steps.len(), 2);
    snapshot.evidence.answers[0].verification.push(verification(CheckOutcome::Skipped, HEAD));
    assert_eq!(settle(&snapshot, &Policy::default()).steps.len(), 1, "one line at the head that did not pass");
}
