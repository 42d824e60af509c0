//! The class table (FIX-5, FIX-6, FIX-8, FIX-12, FIX-13): for the reply, then for the resolution; the first match wins.
//!
//! | rule | when | reply |
//! |---|---|---|
//! | `empty_thread` | the thread has no notes | refused |
//! | – | referee has already answered the latest note | already done |
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
//! | `resolve` | the forge can resolve, or referee's root note can be marked | done |
//! | `cannot_resolve` | the forge or token cannot resolve, and the root is not referee's | not permitted |
//! | `last_word` | only the root note can be marked, somebody else wrote last, and no reply is planned | refused |
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

/// The decision about a reply or a resolution.
pub(super) enum AnswerRuling {
    Allowed(Reason),
    /// It is done already.
    AlreadyDone,
    /// The forge or the token cannot do it. Not a failure.
    NotPermitted(Reason),
    NeedsPerson(Reason),
    Refused(Reason),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResolveMethod {
    /// The forge resolves the thread.
    Native,
    /// A line in referee's root note says so.
    RootText,
}

pub(super) fn rule_on_reply(context: &AnswerContext<'_>) -> AnswerRuling {
    let Some(latest) = context.latest_note else {
        return AnswerRuling::Refused(context.build_reason(Rule::EmptyThread).with_fact("the thread has no note"));
    };
    if context.own.has_answered_latest(context.thread) {
        return AnswerRuling::AlreadyDone;
    }
    let gaps = list_reply_gaps(context);
    if !gaps.is_empty() {
        return AnswerRuling::Refused(add_facts(context.build_reason(Rule::ReplyNeeds), gaps));
    }
    if !context.thread.can_reply || context.snapshot.capabilities.reply == Support::Unsupported {
        return AnswerRuling::NotPermitted(
            context.build_reason(Rule::CannotReply).with_fact("this token cannot reply here"),
        );
    }
    AnswerRuling::Allowed(context.build_reason(Rule::Reply).with_fact(format!("answers note `{}`", latest.id)))
}

fn list_reply_gaps(context: &AnswerContext<'_>) -> Vec<String> {
    let verified = context.answer.verification.iter().any(|line| line.status == CheckOutcome::Passed);
    let verified = (verified, "no passed verification");
    let evidence = (context.text.evidence.is_some(), "no evidence");
    let mut gaps = match context.class {
        Class::Valid => list_missing(&[(context.text.fix_summary.is_some(), "no fixSummary"), verified]),
        Class::AlreadyFixed | Class::Stale => list_missing(&[evidence, verified]),
        Class::Invalid => list_missing(&[(context.has_rationale(), "no rationale")]),
        Class::NeedsHuman => list_missing(&[
            (context.policy.threads.reply_needs_human, "`threads.reply_needs_human` is false"),
            (context.has_rationale(), "nothing to say"),
        ]),
    };
    if !gaps.is_empty() {
        gaps.extend(
            context.text.dropped_fields.iter().map(|field| format!("{field} says that the thread is resolved")),
        );
    }
    gaps
}

/// Decides about the resolution. A planned `reply` will be the last note of the thread.
pub(super) fn rule_on_resolve(context: &AnswerContext<'_>, reply: &AnswerRuling) -> (AnswerRuling, ResolveMethod) {
    if let Some(ruling) = find_resolve_obstacle(context) {
        return (ruling, ResolveMethod::Native);
    }
    let why = add_facts(context.build_reason(Rule::Resolve), collect_proof(context));
    let support = context.snapshot.capabilities.resolve;
    if support == Support::Native && context.thread.can_resolve {
        return (AnswerRuling::Allowed(why), ResolveMethod::Native);
    }
    if support == Support::Unsupported || context.editable_root().is_none() {
        let why = context.build_reason(Rule::CannotResolve).with_fact("this forge or token cannot resolve this thread");
        return (AnswerRuling::NotPermitted(why), ResolveMethod::Native);
    }
    if !context.own.has_last_word(context.thread) && !matches!(reply, AnswerRuling::Allowed(_)) {
        let why = context
            .build_reason(Rule::LastWord)
            .with_fact("a mark in the root note is valid only while referee wrote last");
        return (AnswerRuling::Refused(why), ResolveMethod::RootText);
    }
    (
        AnswerRuling::Allowed(why.with_fact("the forge cannot resolve it: the root note is marked")),
        ResolveMethod::RootText,
    )
}

fn find_resolve_obstacle(context: &AnswerContext<'_>) -> Option<AnswerRuling> {
    if let Some(item) = context.own.find_item_for_person(context.thread) {
        let question = SafeText::sanitise_line(&item.reason, 200);
        let why = context
            .build_reason(Rule::HumanDecision)
            .with_fact(format!("the triage asks a person: {}", question.as_str()));
        return Some(AnswerRuling::NeedsPerson(why));
    }
    if context.class == Class::NeedsHuman {
        return Some(AnswerRuling::NeedsPerson(
            context.build_reason(Rule::AnswerNeedsHuman).with_fact("a person decides"),
        ));
    }
    if context.class == Class::Invalid && context.opener == Opener::Person {
        return Some(AnswerRuling::Refused(context.build_reason(Rule::PersonsThread).with_fact("a person opened it")));
    }
    let seen = context.triage_item.and_then(|item| item.latest_note.as_ref());
    if let Some(seen) = seen.filter(|seen| context.own.has_unseen_notes(context.thread, seen)) {
        let why = context
            .build_reason(Rule::UnseenNote)
            .with_fact(format!("somebody wrote after note `{seen}`, the last one seen"));
        return Some(AnswerRuling::Refused(why));
    }
    let gaps = list_resolve_gaps(context);
    if !gaps.is_empty() {
        return Some(AnswerRuling::Refused(add_facts(context.build_reason(Rule::ResolveNeeds), gaps)));
    }
    let checks = context.check_verification();
    (!checks.passed).then(|| AnswerRuling::Refused(add_facts(context.build_reason(Rule::AnswerChecks), checks.facts)))
}

fn list_resolve_gaps(context: &AnswerContext<'_>) -> Vec<String> {
    let threads = &context.policy.threads;
    let allowed = (threads.auto_resolve.contains(&context.class), "the class is not in `threads.auto_resolve`");
    let evidence = context.text.evidence.is_some();
    let mut gaps = match context.class {
        Class::Valid => list_missing(&[(context.reachable_commit().is_some(), "no commit that the head has")]),
        Class::AlreadyFixed => list_missing(&[allowed, (evidence, "no evidence")]),
        Class::Stale => {
            list_missing(&[allowed, (evidence || context.thread.outdated, "no evidence, and not outdated")])
        }
        Class::Invalid => list_missing(&[
            (threads.resolve_invalid, "`threads.resolve_invalid` is false"),
            (context.has_rationale(), "no rationale"),
        ]),
        Class::NeedsHuman => list_missing(&[(false, "a person decides")]),
    };
    // An invalid finding has nothing to verify; the checks of FIX-6 still apply.
    if context.class != Class::Invalid {
        let proven = evaluate_verifications(context.snapshot, &context.answer.verification);
        gaps.extend(proven.facts.into_iter().filter(|_| !proven.passed));
    }
    gaps
}

/// Collects the evidence for a resolution.
fn collect_proof(context: &AnswerContext<'_>) -> Vec<String> {
    let mut facts = Vec::from_iter(context.reachable_commit().map(|commit| format!("the head has {}", commit.short())));
    if context.class == Class::Stale && context.thread.outdated {
        facts.push("outdated".to_owned());
    }
    facts.extend(context.check_verification().facts);
    facts
}

impl AnswerRuling {
    /// Maps the ruling to the result before the plan is applied.
    pub(super) fn result(&self) -> AnswerResult {
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

/// Lists the needs that are not met.
fn list_missing(needs: &[(bool, &str)]) -> Vec<String> {
    needs.iter().filter(|(met, _)| !met).map(|(_, gap)| (*gap).to_owned()).collect()
}

fn add_facts(reason: Reason, facts: Vec<String>) -> Reason {
    facts.into_iter().fold(reason, Reason::with_fact)
}
