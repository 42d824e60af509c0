//! The phase of a pull, according to its threads and checks (TRI-8, FIX-10). There is no final phase: a program does
//! not decide that a review is over.
//!
//! | # | condition | phase |
//! |---|---|---|
//! | 1 | the snapshot is incomplete | blocked |
//! | 2 | an open thread needs a person: by class, by flag, or low confidence about a person's thread | blocked |
//! | 3 | an open thread is `valid` | fixing_review_findings |
//! | 4 | a thread is open, or a finding without a thread | review_triage |
//! | 5 | no check passed at this head | unverified |
//! | 6 | otherwise | verified |
//!
//! A filter does not change the phase: an open thread that it excludes is still open.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Opener, OwnIdentities, ThreadFilter, evaluate_checks_without_payload};
use crate::model::{Class, Completeness, Login, Snapshot, Thread, ThreadId, TriageItem};
use crate::plan::Reason;
use crate::policy::Policy;
use crate::rule::Rule;
use crate::sanitise::SafeText;

/// The phase of a pull. The first that applies counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Data or a person's decision is missing.
    Blocked,
    /// There are valid findings to fix.
    FixingReviewFindings,
    /// Threads are open and not triaged as valid.
    ReviewTriage,
    /// No thread is open, but no check passed at the head.
    Unverified,
    /// No thread is open, and checks passed at the head.
    Verified,
}

/// The phase of a pull and its reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseNow {
    pub phase: Phase,
    /// The row of the table that applies.
    pub why: Reason,
    /// The decisions that people must make.
    pub questions: Vec<Question>,
}

/// A decision that a person must make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    pub thread: ThreadId,
    /// Web page of the thread.
    pub url: String,
    pub question: String,
    /// The person to ask.
    pub who: String,
}

/// How an attempt to answer threads ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettleOutcome {
    /// Nothing was posted.
    Preview,
    /// All allowed steps were done. A step that the forge does not permit is not a failure (FIX-12).
    Done,
    /// A step failed.
    Failed {
        /// The failed step, without text of people.
        what: String,
    },
}

/// Returns the phase according to the table above.
pub fn compute_phase(snapshot: &Snapshot, policy: &Policy, filter: &ThreadFilter) -> PhaseNow {
    let own = OwnIdentities::new(snapshot, policy);
    if let Completeness::Truncated { what, .. } = &snapshot.complete {
        return without_questions(
            Phase::Blocked,
            Reason::new(Rule::Incomplete).with_fact(format!("not everything was read: {what}")),
        );
    }
    let open: Vec<&Thread> = snapshot.threads.iter().filter(|thread| own.thread_closure(thread).is_none()).collect();
    let questions: Vec<_> = open
        .iter()
        .filter_map(|thread| {
            own.find_item_for_person(thread).or(own.find_uncertain_item(thread)).map(|item| (thread, item))
        })
        .map(|(thread, item)| build_question(thread, item, &own, policy, snapshot))
        .collect();
    if !questions.is_empty() {
        let facts = questions
            .iter()
            .map(|question| format!("{} must decide about `{}`", question.who, question.thread))
            .collect();
        return PhaseNow {
            questions,
            ..without_questions(Phase::Blocked, Reason { rule: Rule::HumanDecision, facts })
        };
    }
    let is_valid =
        |thread: &&&Thread| own.find_triage_item(thread).is_some_and(|item| item.classification == Class::Valid);
    let valid_count = open.iter().filter(is_valid).count();
    if valid_count > 0 {
        return without_questions(
            Phase::FixingReviewFindings,
            Reason::new(Rule::ValidThreads).with_fact(format!("{valid_count} valid")),
        );
    }
    if !open.is_empty() {
        let excluded = open.iter().filter(|thread| !filter.matches(thread, &own)).count();
        let why = Reason::new(Rule::UnresolvedThreads).with_fact(format!("{} unresolved", open.len()));
        let why = if excluded > 0 { why.with_fact(format!("{excluded} of them excluded from this scan")) } else { why };
        return without_questions(Phase::ReviewTriage, why);
    }
    let checks = evaluate_checks_without_payload(snapshot, policy);
    let (phase, rule) =
        if checks.passed { (Phase::Verified, Rule::Verified) } else { (Phase::Unverified, Rule::Unverified) };
    without_questions(phase, Reason { rule, facts: checks.facts })
}

/// Returns the phase after an attempt to answer threads: a preview changes nothing, a failure blocks, and after success
/// the forge's new state counts (FIX-10).
pub fn update_phase_after_settling(before: PhaseNow, outcome: &SettleOutcome, after: PhaseNow) -> PhaseNow {
    match outcome {
        SettleOutcome::Preview => before,
        SettleOutcome::Failed { what } => {
            without_questions(Phase::Blocked, Reason::new(Rule::SettleFailed).with_fact(what.clone()))
        }
        SettleOutcome::Done => after,
    }
}

fn build_question(
    thread: &Thread,
    item: &TriageItem,
    own: &OwnIdentities<'_>,
    policy: &Policy,
    snapshot: &Snapshot,
) -> Question {
    // The operator decides. Without one: the person who opened the thread, or the author of the pull.
    let opener = thread.root().filter(|_| own.opener(thread) == Opener::Person).map(|root| root.author.display_name());
    let who = policy.operator.as_ref().map(Login::as_str).or(opener).unwrap_or(snapshot.pull.author.display_name());
    let question = if item.recommended_action.trim().is_empty() { &item.reason } else { &item.recommended_action };
    Question {
        thread: thread.id.clone(),
        url: thread.url.clone(),
        question: SafeText::sanitise_line(question, 300).as_str().to_owned(),
        who: who.to_owned(),
    }
}

fn without_questions(phase: Phase, why: Reason) -> PhaseNow {
    PhaseNow { phase, why, questions: Vec::new() }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blocked => "blocked",
            Self::FixingReviewFindings => "fixing_review_findings",
            Self::ReviewTriage => "review_triage",
            Self::Unverified => "unverified",
            Self::Verified => "verified",
        })
    }
}
