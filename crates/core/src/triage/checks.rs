//! Evaluates the checks that must pass before a thread is resolved (FIX-6) or a pull is verified (TRI-8).
//!
//! | local checks | pass if |
//! |---|---|
//! | `referee check` ran | it passed at the head |
//! | `referee check` never ran | the payload has verifications at the head, and all passed |
//!
//! | forge's checks | pass if |
//! |---|---|
//! | `referee watch` saw them end at the head | they passed, and none fails now |
//! | otherwise | they pass now, or there are none and the policy requires none (D15) |

use crate::model::{CheckOutcome, CheckState, LocalCheck, Snapshot, Verification};
use crate::policy::Policy;
use crate::sanitise::SafeText;

/// Whether checks passed, and the evidence for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckEvidence {
    pub passed: bool,
    /// Sentences for people.
    pub facts: Vec<String>,
}

/// Evaluates both tables. Passes if the policy requires no checks.
pub fn evaluate_checks(snapshot: &Snapshot, policy: &Policy, verifications: &[Verification]) -> CheckEvidence {
    if !policy.threads.require_checks {
        return CheckEvidence { passed: true, facts: vec!["the policy requires no checks".to_owned()] };
    }
    evaluate_own_checks(snapshot, verifications).and(evaluate_forge_checks(snapshot, policy))
}

/// Evaluates both tables without a payload, whatever the policy requires, because `verified` needs evidence. If
/// `referee check` never ran, the checks that `referee watch` saw count instead.
pub fn evaluate_checks_without_payload(snapshot: &Snapshot, policy: &Policy) -> CheckEvidence {
    let evidence = &snapshot.evidence;
    let own = match (&evidence.check, &evidence.watched) {
        (Some(check), _) => evaluate_run("`referee check`", check, snapshot),
        (None, Some(watched)) => evaluate_run("`referee watch`", watched, snapshot),
        (None, None) => CheckEvidence::fail("neither `referee check` nor `referee watch` ran"),
    };
    own.and(evaluate_forge_checks(snapshot, policy))
}

/// Passes if there are verifications at the head and all passed. Ignores verifications of other heads.
pub(crate) fn evaluate_verifications(snapshot: &Snapshot, verifications: &[Verification]) -> CheckEvidence {
    let head = &snapshot.pull.head;
    let mut at_head = verifications.iter().filter(|verification| verification.head_sha == *head).peekable();
    if at_head.peek().is_none() {
        return CheckEvidence::fail(format!("no verification at {}", head.short()));
    }
    match at_head.find(|verification| verification.status != CheckOutcome::Passed) {
        Some(failed) => {
            let command = SafeText::sanitise_line(&failed.command, 80);
            let outcome = describe_outcome(failed.status);
            CheckEvidence::fail(format!("`{}` {outcome} at {}", command.as_str(), head.short()))
        }
        None => CheckEvidence::pass(format!("verified at {}", head.short())),
    }
}

fn evaluate_own_checks(snapshot: &Snapshot, verifications: &[Verification]) -> CheckEvidence {
    match &snapshot.evidence.check {
        Some(check) => evaluate_run("`referee check`", check, snapshot),
        None => evaluate_verifications(snapshot, verifications),
    }
}

fn evaluate_forge_checks(snapshot: &Snapshot, policy: &Policy) -> CheckEvidence {
    let now = snapshot.checks.combined_state();
    if now == CheckState::Fail {
        let names = SafeText::sanitise_line(&snapshot.checks.names_in_state(CheckState::Fail).join(", "), 200);
        return CheckEvidence::fail(format!("checks fail: {}", names.as_str()));
    }
    if let Some(watched) = snapshot.evidence.watched.as_ref().filter(|watched| watched.head == snapshot.pull.head) {
        return evaluate_run("`referee watch`", watched, snapshot);
    }
    match now {
        CheckState::Pass => CheckEvidence::pass("checks passed"),
        CheckState::None if !policy.ci_required => CheckEvidence::pass("no checks, and the policy requires none"),
        CheckState::None => CheckEvidence::fail("no checks, and the policy requires them"),
        CheckState::Pending | CheckState::Fail => CheckEvidence::fail("checks are pending"),
    }
}

fn evaluate_run(command: &str, check: &LocalCheck, snapshot: &Snapshot) -> CheckEvidence {
    let head = &snapshot.pull.head;
    if check.head != *head {
        return CheckEvidence::fail(format!("{command} ran at {}, the head is {}", check.head.short(), head.short()));
    }
    let fact = format!("{command} {} at {}", describe_outcome(check.outcome), head.short());
    if check.outcome == CheckOutcome::Passed { CheckEvidence::pass(fact) } else { CheckEvidence::fail(fact) }
}

pub(crate) fn describe_outcome(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Passed => "passed",
        CheckOutcome::Failed => "failed",
        CheckOutcome::Skipped => "was skipped",
        CheckOutcome::TimedOut => "timed out",
        CheckOutcome::Unknown => "has an unknown result",
    }
}

impl CheckEvidence {
    fn pass(fact: impl Into<String>) -> Self {
        Self { passed: true, facts: vec![fact.into()] }
    }

    fn fail(fact: impl Into<String>) -> Self {
        Self { passed: false, facts: vec![fact.into()] }
    }

    fn and(mut self, other: Self) -> Self {
        self.passed &= other.passed;
        self.facts.extend(other.facts);
        self
    }
}
