//! The class table (FIX-5, FIX-6, FIX-8, FIX-12, FIX-13). Rows of a column are asked from top to bottom.
//!
//! | # | reply | resolve |
//! |---|---|---|
//! | 1 | a thread without notes: no | a stored triage asks a person (D26): no |
//! | 2 | the latest note has our answer: already | `needs_human`: no |
//! | 3 | what the class needs is missing: no | `invalid` on a person's thread: no |
//! | 4 | the forge or token cannot: not permitted | somebody wrote after the triage: no |
//! | 5 | else yes | what the class needs is missing: no |
//! | 6 | | checks are missing (FIX-6): no |
//! | 7 | | the forge resolves: yes |
//! | 8 | | it cannot, the root is ours and the last word is or will be: yes, in the root's text |
//! | 9 | | else not permitted |
//!
//! | class | a reply needs | a resolution needs |
//! |---|---|---|
//! | valid | fixSummary, a passed verification | a commit that the head has, verification at the head |
//! | already_fixed | evidence, a passed verification | `auto_resolve`, evidence, verification at the head |
//! | stale | evidence, a passed verification | `auto_resolve`, evidence or outdated, verification at the head |
//! | invalid | a rationale | `resolve_invalid`, a rationale |
//! | needs_human | `reply_needs_human`, something to say | – |

use super::case::Case;
use super::outcome::Fate;
use crate::model::{CheckOutcome, Class, Support};
use crate::plan::Reason;
use crate::sanitise::SafeText;
use crate::triage::{Checked, Opener, checked, proven};

/// What the table says.
pub(super) enum Ruling {
    /// Do it.
    Yes(Reason),
    /// It was so before.
    Already,
    /// It cannot be done here, which is no failure.
    NotPermitted(Reason),
    /// A person decides.
    Person(Reason),
    /// No.
    No(Reason),
}

/// How a resolution is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// By the forge.
    Natively,
    /// By a line in the own root.
    InText,
}

pub(super) fn reply(case: &Case<'_>) -> Ruling {
    let Some(latest) = case.latest else {
        return Ruling::No(case.reason("empty_thread").fact("the thread has no note"));
    };
    if case.own.answered(case.thread) {
        return Ruling::Already;
    }
    let lacks = reply_lacks(case);
    if !lacks.is_empty() {
        return Ruling::No(facts(case.reason("reply_needs"), lacks));
    }
    if !case.thread.can_reply || case.snapshot.capabilities.reply == Support::Unsupported {
        return Ruling::NotPermitted(case.reason("cannot_reply").fact("this token cannot reply here"));
    }
    Ruling::Yes(case.reason("reply").fact(format!("answers note `{}`", latest.id)))
}

fn reply_lacks(case: &Case<'_>) -> Vec<String> {
    let verified = case.answer.verification.iter().any(|line| line.status == CheckOutcome::Passed);
    let verified = (verified, "no passed verification");
    let evidence = (case.said.evidence.is_some(), "no evidence");
    let mut lacks = match case.class {
        Class::Valid => missing(&[(case.said.fix_summary.is_some(), "no fixSummary"), verified]),
        Class::AlreadyFixed | Class::Stale => missing(&[evidence, verified]),
        Class::Invalid => missing(&[(case.rationale(), "no rationale")]),
        Class::NeedsHuman => missing(&[
            (case.policy.threads.reply_needs_human, "`threads.reply_needs_human` is false"),
            (case.rationale(), "nothing to say"),
        ]),
    };
    if !lacks.is_empty() {
        lacks.extend(case.said.unsaid.iter().map(|field| format!("{field} says that the thread is resolved")));
    }
    lacks
}

/// `reply` is what the other column says: a planned one will be the last word.
pub(super) fn resolve(case: &Case<'_>, reply: &Ruling) -> (Ruling, How) {
    if let Some(ruling) = ruled_out(case) {
        return (ruling, How::Natively);
    }
    let why = facts(case.reason("resolve"), proof(case));
    let support = case.snapshot.capabilities.resolve;
    if support == Support::Native && case.thread.can_resolve {
        return (Ruling::Yes(why), How::Natively);
    }
    if support == Support::Unsupported || case.markable().is_none() {
        let why = case.reason("cannot_resolve").fact("this forge or token cannot resolve this thread");
        return (Ruling::NotPermitted(why), How::Natively);
    }
    if !case.own.has_last_word(case.thread) && !matches!(reply, Ruling::Yes(_)) {
        let why = case.reason("last_word").fact("a line in the own root holds only while the last word is ours");
        return (Ruling::No(why), How::InText);
    }
    (Ruling::Yes(why.fact("the forge cannot resolve it: the own root says so")), How::InText)
}

fn ruled_out(case: &Case<'_>) -> Option<Ruling> {
    if let Some(item) = case.own.asks_person(case.thread) {
        let question = SafeText::line(&item.reason, 200);
        let why = case.reason("human_decision").fact(format!("the triage asks a person: {}", question.as_str()));
        return Some(Ruling::Person(why));
    }
    if case.class == Class::NeedsHuman {
        return Some(Ruling::Person(case.reason("needs_human").fact("a person decides")));
    }
    if case.class == Class::Invalid && case.opener == Opener::Person {
        return Some(Ruling::No(case.reason("persons_thread").fact("a person opened it")));
    }
    let seen = case.triaged.and_then(|item| item.latest_note.as_ref());
    if let Some(seen) = seen.filter(|seen| case.own.unseen(case.thread, seen)) {
        let why = case.reason("unseen_note").fact(format!("somebody wrote after note `{seen}`, the last one seen"));
        return Some(Ruling::No(why));
    }
    let lacks = resolve_lacks(case);
    if !lacks.is_empty() {
        return Some(Ruling::No(facts(case.reason("resolve_needs"), lacks)));
    }
    let checks = case.checked();
    (!checks.passed).then(|| Ruling::No(facts(case.reason("checks"), checks.facts)))
}

fn resolve_lacks(case: &Case<'_>) -> Vec<String> {
    let threads = &case.policy.threads;
    let allowed = (threads.auto_resolve.contains(&case.class), "the class is not in `threads.auto_resolve`");
    let evidence = case.said.evidence.is_some();
    let mut lacks = match case.class {
        Class::Valid => missing(&[(case.commit().is_some(), "no commit that the head has")]),
        Class::AlreadyFixed => missing(&[allowed, (evidence, "no evidence")]),
        Class::Stale => missing(&[allowed, (evidence || case.thread.outdated, "no evidence, and not outdated")]),
        Class::Invalid => missing(&[
            (threads.resolve_invalid, "`threads.resolve_invalid` is false"),
            (case.rationale(), "no rationale"),
        ]),
        Class::NeedsHuman => missing(&[(false, "a person decides")]),
    };
    // What was wrong from the start has nothing that a run could verify; FIX-6 holds for it all the same.
    if case.class != Class::Invalid {
        let proven = proven(case.snapshot, &case.answer.verification);
        lacks.extend(proven.facts.into_iter().filter(|_| !proven.passed));
    }
    lacks
}

/// The evidence record of a resolution: what was looked at and held.
fn proof(case: &Case<'_>) -> Vec<String> {
    let mut facts = Vec::from_iter(case.commit().map(|commit| format!("the head has {}", commit.short())));
    if case.class == Class::Stale && case.thread.outdated {
        facts.push("outdated".to_owned());
    }
    facts.extend(case.checked().facts);
    facts
}

impl Ruling {
    /// What becomes of the step, as far as deciding goes.
    pub(super) fn fate(&self) -> Fate {
        match self {
            Self::Yes(_) => Fate::Planned,
            Self::Already => Fate::Already,
            Self::NotPermitted(_) => Fate::NotPermitted,
            Self::Person(_) | Self::No(_) => Fate::Refused,
        }
    }
}

impl Case<'_> {
    fn checked(&self) -> Checked {
        checked(self.snapshot, self.policy, &self.answer.verification)
    }

    fn rationale(&self) -> bool {
        self.said.evidence.is_some() || self.said.reply_body.is_some()
    }
}

/// What is not there, all of it.
fn missing(needs: &[(bool, &str)]) -> Vec<String> {
    needs.iter().filter(|(there, _)| !there).map(|(_, lack)| (*lack).to_owned()).collect()
}

fn facts(reason: Reason, facts: Vec<String>) -> Reason {
    facts.into_iter().fold(reason, Reason::fact)
}
