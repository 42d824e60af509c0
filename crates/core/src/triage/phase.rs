//! Where a pull is in its life, as far as threads tell (TRI-8, FIX-10). There is no phase for a final report: a
//! program does not say that it is over.
//!
//! | # | when | phase |
//! |---|---|---|
//! | 1 | not everything was read | blocked |
//! | 2 | an open thread asks a person, by class, by flag, or as a guess about what a person wrote | blocked |
//! | 3 | an open thread is `valid` | fixing_review_findings |
//! | 4 | a thread is open | review_triage |
//! | 5 | nothing passed at this head | unverified |
//! | 6 | else | verified |
//!
//! A filter changes no row: an open thread that it leaves out is still open, so such a scan never ends verified.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Opener, OwnIdentities, ThreadFilter, evaluate_checks_without_payload};
use crate::model::{Class, Completeness, Login, Snapshot, Thread, ThreadId, TriageItem};
use crate::plan::Reason;
use crate::policy::Policy;
use crate::sanitise::SafeText;

/// Where a pull is; the first that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Something or somebody is needed.
    Blocked,
    /// There is work to do.
    FixingReviewFindings,
    /// Threads are open.
    ReviewTriage,
    /// No thread is open, and nothing proves the head.
    Unverified,
    /// No thread is open, and checks passed at the head.
    Verified,
}

/// Where a pull is, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseNow {
    /// Where.
    pub phase: Phase,
    /// By which row.
    pub why: Reason,
    /// Who must decide what.
    pub questions: Vec<Question>,
}

/// A decision that a person is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// On which thread.
    pub thread: ThreadId,
    /// Its page.
    pub url: String,
    /// What to decide.
    pub question: String,
    /// Who is asked.
    pub who: String,
}

/// How an attempt to answer threads ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettleOutcome {
    /// Nothing was sent.
    Preview,
    /// Everything that was allowed was done. What the forge does not permit is no failure (FIX-12).
    Done,
    /// Something could not be done.
    Failed {
        /// What, without anybody's words.
        what: String,
    },
}

/// The table above.
pub fn compute_phase(snapshot: &Snapshot, policy: &Policy, filter: &ThreadFilter) -> PhaseNow {
    let own = OwnIdentities::new(snapshot, policy);
    if let Completeness::Truncated { what } = &snapshot.complete {
        return without_questions(
            Phase::Blocked,
            Reason::new("incomplete").with_fact(format!("not everything was read: {what}")),
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
        let facts = questions.iter().map(|asked| format!("{} is asked about `{}`", asked.who, asked.thread)).collect();
        return PhaseNow {
            questions,
            ..without_questions(Phase::Blocked, Reason { rule: "human_decision".to_owned(), facts })
        };
    }
    let valid =
        |thread: &&&Thread| own.find_triage_item(thread).is_some_and(|item| item.classification == Class::Valid);
    let to_fix = open.iter().filter(valid).count();
    if to_fix > 0 {
        return without_questions(
            Phase::FixingReviewFindings,
            Reason::new("valid").with_fact(format!("{to_fix} valid")),
        );
    }
    if !open.is_empty() {
        let left_out = open.iter().filter(|thread| !filter.matches(thread, &own)).count();
        let why = Reason::new("unresolved").with_fact(format!("{} unresolved", open.len()));
        let why = if left_out > 0 { why.with_fact(format!("{left_out} of them left out of this scan")) } else { why };
        return without_questions(Phase::ReviewTriage, why);
    }
    let checked = evaluate_checks_without_payload(snapshot, policy);
    let (phase, rule) = if checked.passed { (Phase::Verified, "verified") } else { (Phase::Unverified, "unverified") };
    without_questions(phase, Reason { rule: rule.to_owned(), facts: checked.facts })
}

/// Where a pull is after an attempt to answer threads: a preview moves nothing, a failure blocks, and success is
/// whatever the forge shows afterwards (FIX-10).
pub fn update_phase_after_settling(before: PhaseNow, applied: &SettleOutcome, fresh: PhaseNow) -> PhaseNow {
    match applied {
        SettleOutcome::Preview => before,
        SettleOutcome::Failed { what } => {
            without_questions(Phase::Blocked, Reason::new("failed").with_fact(what.clone()))
        }
        SettleOutcome::Done => fresh,
    }
}

fn build_question(
    thread: &Thread,
    item: &TriageItem,
    own: &OwnIdentities<'_>,
    policy: &Policy,
    snapshot: &Snapshot,
) -> Question {
    // The operator decides; without one, the person who opened the thread, or who opened the pull.
    let opener = thread.root().filter(|_| own.opener(thread) == Opener::Person).map(|root| root.author.display_name());
    let who = policy.operator.as_ref().map(Login::as_str).or(opener).unwrap_or(snapshot.pull.author.display_name());
    let words = if item.recommended_action.trim().is_empty() { &item.reason } else { &item.recommended_action };
    Question {
        thread: thread.id.clone(),
        url: thread.url.clone(),
        question: SafeText::sanitise_line(words, 300).as_str().to_owned(),
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
