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
pub struct Checked {
    /// Nothing is missing.
    pub passed: bool,
    /// What was looked at.
    pub facts: Vec<String>,
}

/// Both tables; nothing is asked where the policy requires no checks.
pub fn checked(snapshot: &Snapshot, policy: &Policy, lines: &[Verification]) -> Checked {
    if !policy.threads.require_checks {
        return Checked { passed: true, facts: vec!["the policy requires no checks".to_owned()] };
    }
    own(snapshot, lines).and(forge(snapshot, policy))
}

/// Both tables without a payload, whatever the policy requires: `verified` is a claim, and it needs its evidence.
/// Where `referee check` never ran, checks that `referee watch` saw pass will do.
pub fn checked_before(snapshot: &Snapshot, policy: &Policy) -> Checked {
    let evidence = &snapshot.evidence;
    let own = match (&evidence.check, &evidence.watched) {
        (Some(check), _) => ran("`referee check`", check, snapshot),
        (None, Some(watched)) => ran("`referee watch`", watched, snapshot),
        (None, None) => Checked::no("nothing was checked before"),
    };
    own.and(forge(snapshot, policy))
}

/// Whether the lines at the head prove anything: at least one, each passed. Lines at other heads are history.
pub(crate) fn proven(snapshot: &Snapshot, lines: &[Verification]) -> Checked {
    let head = &snapshot.pull.head;
    let mut at_head = lines.iter().filter(|line| line.head_sha == *head).peekable();
    if at_head.peek().is_none() {
        return Checked::no(format!("no verification at {}", head.short()));
    }
    match at_head.find(|line| line.status != CheckOutcome::Passed) {
        Some(line) => {
            let command = SafeText::line(&line.command, 80);
            Checked::no(format!("`{}` {} at {}", command.as_str(), word(line.status), head.short()))
        }
        None => Checked::yes(format!("verified at {}", head.short())),
    }
}

fn own(snapshot: &Snapshot, lines: &[Verification]) -> Checked {
    match &snapshot.evidence.check {
        Some(check) => ran("`referee check`", check, snapshot),
        None => proven(snapshot, lines),
    }
}

fn forge(snapshot: &Snapshot, policy: &Policy) -> Checked {
    let now = snapshot.checks.state();
    if now == CheckState::Fail {
        let names = SafeText::line(&snapshot.checks.named(CheckState::Fail).join(", "), 200);
        return Checked::no(format!("checks fail: {}", names.as_str()));
    }
    if let Some(watched) = snapshot.evidence.watched.as_ref().filter(|watched| watched.head == snapshot.pull.head) {
        return ran("`referee watch`", watched, snapshot);
    }
    match now {
        CheckState::Pass => Checked::yes("checks passed"),
        CheckState::None if !policy.ci_required => Checked::yes("no checks, and the policy requires none"),
        CheckState::None => Checked::no("no checks, and the policy requires them"),
        CheckState::Pending | CheckState::Fail => Checked::no("checks are pending"),
    }
}

fn ran(what: &str, check: &LocalCheck, snapshot: &Snapshot) -> Checked {
    let head = &snapshot.pull.head;
    if check.head != *head {
        return Checked::no(format!("{what} ran at {}, the head is {}", check.head.short(), head.short()));
    }
    let fact = format!("{what} {} at {}", word(check.outcome), head.short());
    if check.outcome == CheckOutcome::Passed { Checked::yes(fact) } else { Checked::no(fact) }
}

/// How a check ended, in a word.
pub(crate) fn word(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Passed => "passed",
        CheckOutcome::Failed => "failed",
        CheckOutcome::Skipped => "was skipped",
        CheckOutcome::TimedOut => "timed out",
        CheckOutcome::Unknown => "ended in a way nobody knows",
    }
}

impl Checked {
    fn yes(fact: impl Into<String>) -> Self {
        Self { passed: true, facts: vec![fact.into()] }
    }

    fn no(fact: impl Into<String>) -> Self {
        Self { passed: false, facts: vec![fact.into()] }
    }

    fn and(mut self, other: Self) -> Self {
        self.passed &= other.passed;
        self.facts.extend(other.facts);
        self
    }
}
