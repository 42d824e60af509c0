//! The class table (FIX-5, FIX-6, FIX-8, FIX-12, FIX-13): first the reply, then the resolution, first match each.
//!
//! | rule | when | reply |
//! |---|---|---|
//! | `empty_thread` | the thread has no notes | refused |
//! | – | the latest note has referee's answer | already done |
//! | `reply_needs` | what the class needs for a reply is missing | refused |
//! | `cannot_reply` | the forge or token cannot reply | not permitted |
//! | `reply` | none of these | sent |
//!
//! | rule | when | resolution |
//! |---|---|---|
//! | `human_decision` | a stored triage asks a person (D26) | a person decides |
//! | `needs_human` | the class is `needs_human` | a person decides |
//! | `persons_thread` | the class is `invalid`, and a person opened the thread | refused |
//! | `unseen_note` | somebody wrote after the triage | refused |
//! | `resolve_needs` | what the class needs for a resolution is missing | refused |
//! | `checks` | checks are missing (FIX-6) | refused |
//! | `resolve` | the forge can resolve, or the own root can say so | done |
//! | `cannot_resolve` | the forge or token cannot resolve, and the root is not referee's | not permitted |
//! | `last_word` | only the own root can say so, somebody else wrote last, and no reply is planned | refused |
//!
//! | class | a reply needs | a resolution needs |
//! |---|---|---|
//! | valid | fixSummary, a passed verification | a commit that the head has, verification at the head |
//! | already_fixed | evidence, a passed verification | `auto_resolve`, evidence, verification at the head |
//! | stale | evidence, a passed verification | `auto_resolve`, evidence or outdated, verification at the head |
//! | invalid | a rationale | `resolve_invalid`, a rationale |
//! | needs_human | `reply_needs_human`, something to say | – |

use super::answer_context::AnswerContext;
use super::outcome::AnswerResult;
use crate::model::{CheckOutcome, Class, Support};
use crate::plan::Reason;
use crate::rule::Rule;
use crate::sanitise::SafeText;
use crate::triage::{CheckEvidence, Opener, evaluate_checks, evaluate_verifications};

/// What the table says.
pub(super) enum AnswerRuling {
    /// Do it.
    Allowed(Reason),
    /// It was so before.
    AlreadyDone,
    /// It cannot be done here, which is no failure.
    NotPermitted(Reason),
    /// A person decides.
    NeedsPerson(Reason),
    /// No.
    Refused(Reason),
}

/// How a resolution is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResolveMethod {
    /// By the forge.
    Native,
    /// By a line in the own root.
    RootText,
}

pub(super) fn rule_on_reply(case: &AnswerContext<'_>) -> AnswerRuling {
    let Some(latest) = case.latest_note else {
        return AnswerRuling::Refused(case.build_reason(Rule::EmptyThread).with_fact("the thread has no note"));
    };
    if case.own.has_answered_latest(case.thread) {
        return AnswerRuling::AlreadyDone;
    }
    let lacks = list_reply_gaps(case);
    if !lacks.is_empty() {
        return AnswerRuling::Refused(add_facts(case.build_reason(Rule::ReplyNeeds), lacks));
    }
    if !case.thread.can_reply || case.snapshot.capabilities.reply == Support::Unsupported {
        return AnswerRuling::NotPermitted(
            case.build_reason(Rule::CannotReply).with_fact("this token cannot reply here"),
        );
    }
    AnswerRuling::Allowed(case.build_reason(Rule::Reply).with_fact(format!("answers note `{}`", latest.id)))
}

fn list_reply_gaps(case: &AnswerContext<'_>) -> Vec<String> {
    let verified = case.answer.verification.iter().any(|line| line.status == CheckOutcome::Passed);
    let verified = (verified, "no passed verification");
    let evidence = (case.text.evidence.is_some(), "no evidence");
    let mut lacks = match case.class {
        Class::Valid => list_missing(&[(case.text.fix_summary.is_some(), "no fixSummary"), verified]),
        Class::AlreadyFixed | Class::Stale => list_missing(&[evidence, verified]),
        Class::Invalid => list_missing(&[(case.has_rationale(), "no rationale")]),
        Class::NeedsHuman => list_missing(&[
            (case.policy.threads.reply_needs_human, "`threads.reply_needs_human` is false"),
            (case.has_rationale(), "nothing to say"),
        ]),
    };
    if !lacks.is_empty() {
        lacks.extend(case.text.dropped_fields.iter().map(|field| format!("{field} says that the thread is resolved")));
    }
    lacks
}

/// `reply` is what the other column says: a planned one will be the last word.
pub(super) fn rule_on_resolve(case: &AnswerContext<'_>, reply: &AnswerRuling) -> (AnswerRuling, ResolveMethod) {
    if let Some(ruling) = find_resolve_obstacle(case) {
        return (ruling, ResolveMethod::Native);
    }
    let why = add_facts(case.build_reason(Rule::Resolve), collect_proof(case));
    let support = case.snapshot.capabilities.resolve;
    if support == Support::Native && case.thread.can_resolve {
        return (AnswerRuling::Allowed(why), ResolveMethod::Native);
    }
    if support == Support::Unsupported || case.editable_root().is_none() {
        let why = case.build_reason(Rule::CannotResolve).with_fact("this forge or token cannot resolve this thread");
        return (AnswerRuling::NotPermitted(why), ResolveMethod::Native);
    }
    if !case.own.has_last_word(case.thread) && !matches!(reply, AnswerRuling::Allowed(_)) {
        let why = case
            .build_reason(Rule::LastWord)
            .with_fact("a line in the own root holds only while the last word is ours");
        return (AnswerRuling::Refused(why), ResolveMethod::RootText);
    }
    (AnswerRuling::Allowed(why.with_fact("the forge cannot resolve it: the own root says so")), ResolveMethod::RootText)
}

fn find_resolve_obstacle(case: &AnswerContext<'_>) -> Option<AnswerRuling> {
    if let Some(item) = case.own.find_item_for_person(case.thread) {
        let question = SafeText::sanitise_line(&item.reason, 200);
        let why = case
            .build_reason(Rule::HumanDecision)
            .with_fact(format!("the triage asks a person: {}", question.as_str()));
        return Some(AnswerRuling::NeedsPerson(why));
    }
    if case.class == Class::NeedsHuman {
        return Some(AnswerRuling::NeedsPerson(
            case.build_reason(Rule::AnswerNeedsHuman).with_fact("a person decides"),
        ));
    }
    if case.class == Class::Invalid && case.opener == Opener::Person {
        return Some(AnswerRuling::Refused(case.build_reason(Rule::PersonsThread).with_fact("a person opened it")));
    }
    let seen = case.triage_item.and_then(|item| item.latest_note.as_ref());
    if let Some(seen) = seen.filter(|seen| case.own.has_unseen_notes(case.thread, seen)) {
        let why = case
            .build_reason(Rule::UnseenNote)
            .with_fact(format!("somebody wrote after note `{seen}`, the last one seen"));
        return Some(AnswerRuling::Refused(why));
    }
    let lacks = list_resolve_gaps(case);
    if !lacks.is_empty() {
        return Some(AnswerRuling::Refused(add_facts(case.build_reason(Rule::ResolveNeeds), lacks)));
    }
    let checks = case.check_verification();
    (!checks.passed).then(|| AnswerRuling::Refused(add_facts(case.build_reason(Rule::AnswerChecks), checks.facts)))
}

fn list_resolve_gaps(case: &AnswerContext<'_>) -> Vec<String> {
    let threads = &case.policy.threads;
    let allowed = (threads.auto_resolve.contains(&case.class), "the class is not in `threads.auto_resolve`");
    let evidence = case.text.evidence.is_some();
    let mut lacks = match case.class {
        Class::Valid => list_missing(&[(case.reachable_commit().is_some(), "no commit that the head has")]),
        Class::AlreadyFixed => list_missing(&[allowed, (evidence, "no evidence")]),
        Class::Stale => list_missing(&[allowed, (evidence || case.thread.outdated, "no evidence, and not outdated")]),
        Class::Invalid => list_missing(&[
            (threads.resolve_invalid, "`threads.resolve_invalid` is false"),
            (case.has_rationale(), "no rationale"),
        ]),
        Class::NeedsHuman => list_missing(&[(false, "a person decides")]),
    };
    // What was wrong from the start has nothing that a run could verify; FIX-6 holds for it all the same.
    if case.class != Class::Invalid {
        let proven = evaluate_verifications(case.snapshot, &case.answer.verification);
        lacks.extend(proven.facts.into_iter().filter(|_| !proven.passed));
    }
    lacks
}

/// The evidence record of a resolution: what was looked at and held.
fn collect_proof(case: &AnswerContext<'_>) -> Vec<String> {
    let mut facts = Vec::from_iter(case.reachable_commit().map(|commit| format!("the head has {}", commit.short())));
    if case.class == Class::Stale && case.thread.outdated {
        facts.push("outdated".to_owned());
    }
    facts.extend(case.check_verification().facts);
    facts
}

impl AnswerRuling {
    /// What becomes of the step, as far as deciding goes.
    pub(super) fn fate(&self) -> AnswerResult {
        match self {
            Self::Allowed(_) => AnswerResult::Planned,
            Self::AlreadyDone => AnswerResult::Already,
            Self::NotPermitted(_) => AnswerResult::NotPermitted,
            Self::NeedsPerson(_) | Self::Refused(_) => AnswerResult::Refused,
        }
    }
}

impl AnswerContext<'_> {
    fn check_verification(&self) -> CheckEvidence {
        evaluate_checks(self.snapshot, self.policy, &self.answer.verification)
    }

    fn has_rationale(&self) -> bool {
        self.text.evidence.is_some() || self.text.reply_body.is_some()
    }
}

/// What is not there, all of it.
fn list_missing(needs: &[(bool, &str)]) -> Vec<String> {
    needs.iter().filter(|(there, _)| !there).map(|(_, lack)| (*lack).to_owned()).collect()
}

fn add_facts(reason: Reason, facts: Vec<String>) -> Reason {
    facts.into_iter().fold(reason, Reason::with_fact)
}
