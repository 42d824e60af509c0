//! Replies and resolutions in referee's own threads, behind the review gate. A reply carries a Tag.
//!
//! | rule | when | then |
//! |---|---|---|
//! | `max-resolve` | more than `max_resolve` threads would be resolved | none is resolved; a person decides (D9) |

use super::{JudgedFinding, Reconciliation, add_refusal};
use crate::facts::{Facts, RoleFacts};
use crate::mark::{ReplyKind, Tag, TagKind};
use crate::model::{FindingId, FindingState, Login, Severity, Sha, Support, Thread};
use crate::plan::{Action, Gate, Precondition, Reason, Step, TextDraft, Trailer};
use crate::render::{self, HintReason, SettlementReason};
use crate::rule::Rule;
use crate::sanitise::SafeText;

/// The content of a reply.
#[derive(Clone, Copy, Debug)]
pub(super) enum ThreadReply<'a> {
    Fixed { commit: &'a Sha },
    Conceded,
    Rebuttal { words: &'a str },
    FromRule { path: &'a str, line: Option<u32>, words: &'a str },
    Contest { path: &'a str, line: Option<u32>, words: &'a str },
    Worsened { severity: Severity, words: &'a str },
    Accepted { by: &'a Login },
    Hint { finding: FindingId, reason: HintReason, bot: &'a Login },
}

/// Plans a reply, unless the last note is the same reply at this head.
pub(super) fn plan_reply<'a>(
    facts: &Facts<'a>,
    role: &RoleFacts<'a>,
    thread: &Thread,
    reply: ThreadReply<'_>,
    rule: Rule,
) -> Option<Step> {
    let last = thread.last()?;
    let what = reply.reply_kind();
    let already_sent = last.author.has_login(role.identity)
        && last.text.trusted_tag().is_some_and(|tag| {
            tag.head == facts.snapshot.pull.head
                && matches!(&tag.kind, TagKind::Reply { what: before, .. } if *before == what)
        });
    if already_sent || !role.has_token || !thread.can_reply || facts.snapshot.capabilities.reply == Support::Unsupported
    {
        return None;
    }
    let tag = Tag { kind: TagKind::Reply { what, answers: last.id.clone() }, head: facts.snapshot.pull.head.clone() };
    Some(Step {
        action: Action::Reply {
            thread: thread.id.clone(),
            text: TextDraft { words: reply.render_words(), trailer: Trailer::Tag(Box::new(tag)) },
        },
        by: role.identity.clone(),
        gate: Gate::Review,
        approves: false,
        reason: Reason::new(rule).with_fact(format!("thread {}", thread.id)),
        expect: Precondition::Head,
    })
}

/// How the thread of a finding is closed.
pub(super) struct ThreadClosing<'a> {
    pub(super) finding: FindingId,
    pub(super) state: FindingState,
    pub(super) reason: SettlementReason<'a>,
}

/// Plans the resolution of a thread. Where the forge cannot resolve, referee's root note is marked (FIX-12).
pub(super) fn plan_resolution(
    facts: &Facts<'_>,
    role: &RoleFacts<'_>,
    thread: &Thread,
    closing: &ThreadClosing<'_>,
    rule: Rule,
) -> Option<Step> {
    if !role.has_token {
        return None;
    }
    let mark = match facts.snapshot.capabilities.resolve {
        Support::Native if thread.can_resolve => None,
        Support::Emulated => Some(build_settled_root(role, thread, closing)?),
        Support::Native | Support::Unsupported => return None,
    };
    Some(Step {
        action: Action::Resolve { thread: thread.id.clone(), mark },
        by: role.identity.clone(),
        gate: Gate::Review,
        approves: false,
        reason: Reason::new(rule).with_fact(closing.finding.to_string()).with_fact(format!("thread {}", thread.id)),
        expect: Precondition::Head,
    })
}

fn build_settled_root(
    role: &RoleFacts<'_>,
    thread: &Thread,
    closing: &ThreadClosing<'_>,
) -> Option<(crate::model::NoteId, TextDraft)> {
    let root = thread.root().filter(|root| root.author.has_login(role.identity))?;
    let mut tag = root.text.trusted_tag()?.clone();
    let TagKind::Root { settled, .. } = &mut tag.kind else { return None };
    *settled = Some(closing.state);
    let words = render::render_settled_root(root.text.body.as_deref()?, closing.reason);
    Some((root.id.clone(), TextDraft { words, trailer: Trailer::Tag(Box::new(tag)) }))
}

impl<'a> ThreadClosing<'a> {
    pub(super) fn from_finding(it: &JudgedFinding<'a>) -> Self {
        let reason = match (it.state, it.accepted_by) {
            (FindingState::Accepted, Some(by)) => SettlementReason::Accepted(by),
            (FindingState::Fixed, _) => SettlementReason::AlreadyFixed,
            _ => SettlementReason::Withdrawn,
        };
        Self { finding: it.id, state: it.state, reason }
    }
}

/// Refuses all resolutions if there are more than `max_resolve` in one run: a person decides (D9). What remains of the
///  limit is for `settle`.
pub(super) fn cap_resolutions(facts: &Facts<'_>, out: &mut Reconciliation<'_>) {
    let resolutions = out.count_resolutions();
    if resolutions <= facts.policy.threads.max_resolve {
        return;
    }
    out.steps.retain(|step| !matches!(step.action, Action::Resolve { .. } | Action::Reply { .. }));
    add_refusal(
        &mut out.refused,
        format!("resolve {resolutions} threads"),
        Reason::new(Rule::MaxResolve).with_fact(format!("more than {} in one run", facts.policy.threads.max_resolve)),
    );
    for it in out.judgements.iter_mut().flat_map(|judgement| &mut judgement.findings) {
        if it.change == crate::decide::judgement::FindingChange::Fixed {
            it.needs_human_reason = Some("one run would resolve more threads than `max_resolve`");
            it.counts = true;
            it.state = FindingState::Open;
        }
    }
}

impl<'a> ThreadReply<'a> {
    /// Chooses the reply for a settled finding.
    pub(super) fn from_settled_finding(it: &JudgedFinding<'a>, head: &'a Sha, identity: &'a Login) -> Self {
        match it.state {
            FindingState::Fixed => Self::Fixed { commit: head },
            FindingState::Refuted => Self::Conceded,
            _ => Self::Accepted { by: it.accepted_by.unwrap_or(identity) },
        }
    }

    fn reply_kind(&self) -> ReplyKind {
        match self {
            Self::Fixed { .. } => ReplyKind::Fixed,
            Self::Conceded => ReplyKind::Conceded,
            Self::Rebuttal { .. } | Self::FromRule { .. } => ReplyKind::Rebuttal,
            Self::Contest { .. } => ReplyKind::Contest,
            Self::Worsened { .. } => ReplyKind::Worsened,
            Self::Accepted { .. } => ReplyKind::Accepted,
            Self::Hint { .. } => ReplyKind::Hint,
        }
    }

    fn render_words(&self) -> SafeText {
        match *self {
            Self::Fixed { commit } => render::render_fixed_reply(commit),
            Self::Conceded => render::render_concession(""),
            Self::Rebuttal { words } => render::render_rebuttal(words),
            Self::FromRule { path, line, words } => render::render_rule_reply(path, line, words),
            Self::Contest { path, line, words } => render::render_contest(path, line, words),
            Self::Worsened { severity, words } => render::render_worsened_reply(severity, words),
            Self::Accepted { by } => render::render_accepted_reply(by),
            Self::Hint { finding, reason, bot } => render::render_acceptance_hint(finding, reason, bot),
        }
    }
}
