//! How referee speaks in its own threads: one reply with a Tag, and resolving, both behind the review gate.

use super::{Judged, Reconciled, refuse};
use crate::facts::{Facts, RoleFacts};
use crate::mark::{ReplyKind, Tag, TagKind};
use crate::model::{FindingState, Login, Severity, Sha, Support, Thread};
use crate::plan::{Action, Draft, Expect, Gate, Reason, Step, Trailer};
use crate::render::{self, Settled};
use crate::sanitise::SafeText;

/// What is said in a thread.
#[derive(Clone, Copy, Debug)]
pub(super) enum Speech<'a> {
    Fixed { commit: &'a Sha },
    Conceded,
    Rebuttal { words: &'a str },
    Contest { path: &'a str, line: Option<u32>, words: &'a str },
    Worsened { severity: Severity, words: &'a str },
    Accepted { by: &'a Login },
}

/// Replies once: not where this was said at this head already and nobody answered since.
pub(super) fn say<'a>(
    facts: &Facts<'a>,
    role: &RoleFacts<'a>,
    thread: &Thread,
    speech: Speech<'_>,
    rule: &'static str,
    steps: &mut Vec<Step>,
) {
    let Some(last) = thread.last() else { return };
    let what = speech.kind();
    let said = last.author.is(role.identity)
        && last.text.tag().is_some_and(|tag| {
            tag.head == facts.snapshot.pull.head
                && matches!(&tag.kind, TagKind::Reply { what: before, .. } if *before == what)
        });
    if said || !role.held || !thread.can_reply || facts.snapshot.capabilities.reply == Support::Unsupported {
        return;
    }
    let tag = Tag { kind: TagKind::Reply { what, answers: last.id.clone() }, head: facts.snapshot.pull.head.clone() };
    steps.push(Step {
        action: Action::Reply {
            thread: thread.id.clone(),
            text: Draft { words: speech.words(), trailer: Trailer::Tag(Box::new(tag)) },
        },
        by: role.identity.clone(),
        gate: Gate::Review,
        approves: false,
        reason: Reason::new(rule).fact(format!("thread {}", thread.id)),
        expect: Expect::Head,
    });
}

/// Resolves an own thread. Where the forge cannot, the own root says so (FIX-12).
pub(super) fn resolve<'a>(
    facts: &Facts<'a>,
    role: &RoleFacts<'a>,
    thread: &Thread,
    it: &Judged<'a>,
    rule: &'static str,
    steps: &mut Vec<Step>,
) {
    if !role.held {
        return;
    }
    let mark = match facts.snapshot.capabilities.resolve {
        Support::Native if thread.can_resolve => None,
        Support::Emulated => {
            let Some(mark) = settled_root(role, thread, it) else { return };
            Some(mark)
        }
        Support::Native | Support::Unsupported => return,
    };
    steps.push(Step {
        action: Action::Resolve { thread: thread.id.clone(), mark },
        by: role.identity.clone(),
        gate: Gate::Review,
        approves: false,
        reason: Reason::new(rule).fact(it.id.to_string()).fact(format!("thread {}", thread.id)),
        expect: Expect::Head,
    });
}

fn settled_root(role: &RoleFacts<'_>, thread: &Thread, it: &Judged<'_>) -> Option<(crate::model::NoteId, Draft)> {
    let root = thread.root().filter(|root| root.author.is(role.identity))?;
    let mut tag = root.text.tag()?.clone();
    let TagKind::Root { settled, .. } = &mut tag.kind else { return None };
    *settled = Some(it.state);
    let words = render::settled(root.text.body.as_deref()?, how(it));
    Some((root.id.clone(), Draft { words, trailer: Trailer::Tag(Box::new(tag)) }))
}

fn how<'a>(it: &Judged<'a>) -> Settled<'a> {
    match (it.state, it.by) {
        (FindingState::Accepted, Some(by)) => Settled::Accepted(by),
        (FindingState::Fixed, _) => Settled::AlreadyFixed,
        _ => Settled::Withdrawn,
    }
}

/// More than `max_resolve` resolutions in one run are a person's decision (D9); what is left of them is for `settle`.
pub(super) fn cap_resolutions(facts: &Facts<'_>, out: &mut Reconciled<'_>) {
    let resolutions = out.resolutions();
    if resolutions <= facts.policy.threads.max_resolve {
        return;
    }
    out.steps.retain(|step| !matches!(step.action, Action::Resolve { .. } | Action::Reply { .. }));
    refuse(
        &mut out.refused,
        format!("resolve {resolutions} threads"),
        Reason::new("max-resolve").fact(format!("more than {} in one run", facts.policy.threads.max_resolve)),
    );
    for it in out.judged.iter_mut().flat_map(|judgement| &mut judgement.findings) {
        if it.moved == crate::decide::judged::Moved::Fixed {
            it.needs_human = Some("more threads would be resolved in one run than may be");
            it.counts = true;
            it.state = FindingState::Open;
        }
    }
}

impl<'a> Speech<'a> {
    /// What is said of a finding that is settled.
    pub(super) fn settling(it: &Judged<'a>, head: &'a Sha, us: &'a Login) -> Self {
        match it.state {
            FindingState::Fixed => Self::Fixed { commit: head },
            FindingState::Refuted => Self::Conceded,
            _ => Self::Accepted { by: it.by.unwrap_or(us) },
        }
    }

    fn kind(&self) -> ReplyKind {
        match self {
            Self::Fixed { .. } => ReplyKind::Fixed,
            Self::Conceded => ReplyKind::Conceded,
            Self::Rebuttal { .. } => ReplyKind::Rebuttal,
            Self::Contest { .. } => ReplyKind::Contest,
            Self::Worsened { .. } => ReplyKind::Worsened,
            Self::Accepted { .. } => ReplyKind::Accepted,
        }
    }

    fn words(&self) -> SafeText {
        match *self {
            Self::Fixed { commit } => render::fixed(commit),
            Self::Conceded => render::conceded(""),
            Self::Rebuttal { words } => render::rebuttal(words),
            Self::Contest { path, line, words } => render::contest(path, line, words),
            Self::Worsened { severity, words } => render::worsened(severity, words),
            Self::Accepted { by } => render::accepted(by),
        }
    }
}
