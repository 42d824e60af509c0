//! What must have passed before anything is resolved (FIX-6), or called verified (TRI-8).
//!
//! | own checks | count |
//! |---|---|
//! | `referee check` ran | if it passed, at the head |
//! | it never ran | the payload's lines at the head: at least one, each passed |
//!
//! | the forge's checks | count |
//! |---|---|
//! | `referee watch` saw them end at the head | if they passed, and none fails now |
//! | it did not | as they are now: passed, or none at all where the policy asks for none (D15) |

use crate::model::{CheckOutcome, CheckState, LocalCheck, Snapshot, Verification};
use crate::policy::Policy;
use crate::sanitise::SafeText;

/// Whether checks passed, and by which facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckEvidence {
    /// Nothing is missing.
    pub passed: bool,
    /// What was looked at.
    pub facts: Vec<String>,
}

/// Both tables; nothing is asked where the policy requires no checks.
pub fn evaluate_checks(snapshot: &Snapshot, policy: &Policy, lines: &[Verification]) -> CheckEvidence {
    if !policy.threads.require_checks {
        return CheckEvidence { passed: true, facts: vec!["the policy requires no checks".to_owned()] };
    }
    evaluate_own_checks(snapshot, lines).and(evaluate_forge_checks(snapshot, policy))
}

/// Both tables without a payload, whatever the policy requires: `verified` is a claim, and it needs its evidence.
/// Where `referee check` never ran, checks that `referee watch` saw pass will do.
pub fn evaluate_checks_without_payload(snapshot: &Snapshot, policy: &Policy) -> CheckEvidence {
    let evidence = &snapshot.evidence;
    let own = match (&evidence.check, &evidence.watched) {
        (Some(check), _) => evaluate_run("`referee check`", check, snapshot),
        (None, Some(watched)) => evaluate_run("`referee watch`", watched, snapshot),
        (None, None) => CheckEvidence::fail("nothing was checked before"),
    };
    own.and(evaluate_forge_checks(snapshot, policy))
}

/// Whether the lines at the head prove anything: at least one, each passed. Lines at other heads are history.
pub(crate) fn evaluate_verifications(snapshot: &Snapshot, lines: &[Verification]) -> CheckEvidence {
    let head = &snapshot.pull.head;
    let mut at_head = lines.iter().filter(|line| line.head_sha == *head).peekable();
    if at_head.peek().is_none() {
        return CheckEvidence::fail(format!("no verification at {}", head.short()));
    }
    match at_head.find(|line| line.status != CheckOutcome::Passed) {
        Some(line) => {
            let command = SafeText::sanitise_line(&line.command, 80);
            CheckEvidence::fail(format!("`{}` {} at {}", command.as_str(), describe_outcome(line.status), head.short()))
        }
        None => CheckEvidence::pass(format!("verified at {}", head.short())),
    }
}

fn evaluate_own_checks(snapshot: &Snapshot, lines: &[Verification]) -> CheckEvidence {
    match &snapshot.evidence.check {
        Some(check) => evaluate_run("`referee check`", check, snapshot),
        None => evaluate_verifications(snapshot, lines),
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

fn evaluate_run(what: &str, check: &LocalCheck, snapshot: &Snapshot) -> CheckEvidence {
    let head = &snapshot.pull.head;
    if check.head != *head {
        return CheckEvidence::fail(format!("{what} ran at {}, the head is {}", check.head.short(), head.short()));
    }
    let fact = format!("{what} {} at {}", describe_outcome(check.outcome), head.short());
    if check.outcome == CheckOutcome::Passed { CheckEvidence::pass(fact) } else { CheckEvidence::fail(fact) }
}

/// How a check ended, in a word.
pub(crate) fn describe_outcome(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Passed => "passed",
        CheckOutcome::Failed => "failed",
        CheckOutcome::Skipped => "was skipped",
        CheckOutcome::TimedOut => "timed out",
        CheckOutcome::Unknown => "ended in a way nobody knows",
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
