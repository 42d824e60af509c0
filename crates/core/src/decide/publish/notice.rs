//! An edit notifies nobody: when it changes the set of blocking findings, one short comment says so, one for each
//! change of the pull (PUB-18).

use super::super::judged::Judgement;
use super::{Published, compose};
use crate::facts::Facts;
use crate::mark::{Tag, TagKind, Topic};
use crate::model::FindingId;
use crate::plan::{Action, Draft, Expect, Gate, Reason, Step, Target, Trailer};
use crate::render::{self, Line, Notice};

pub(super) fn notify(facts: &Facts<'_>, judged: &[Judgement<'_>], out: &mut Published) {
    if !facts.policy.notify {
        return;
    }
    let mut appeared: Vec<Line<'_>> = Vec::new();
    let mut gone: Vec<FindingId> = Vec::new();
    let mut blocking = 0;
    for judgement in judged.iter().filter(|it| is_edited(it, out)) {
        let Some(standing) = judgement.role.standing else { continue };
        let now: Vec<FindingId> = compose::blocking(facts, judgement).collect();
        let is_new = |id: &FindingId| now.contains(id) && !standing.mark.blocking.contains(id);
        appeared.extend(judgement.findings.iter().filter(|it| is_new(&it.id)).map(compose::blocking_line));
        blocking += now.len();
        gone.extend(standing.mark.blocking.iter().filter(|id| !now.contains(id)));
    }
    if (appeared.is_empty() && gone.is_empty()) || said(facts) {
        return;
    }
    let tag = Tag {
        kind: TagKind::Topic(Topic::Notice { patch: facts.snapshot.changes.patch.clone() }),
        head: facts.snapshot.pull.head.clone(),
    };
    let url = facts.snapshot.pull.url.as_str();
    let words = render::notice(&Notice { head: &facts.snapshot.pull.head, new: appeared, gone, blocking, url });
    let notice = Step {
        action: Action::EnsureComment {
            existing: None,
            target: Target::Pull,
            text: Draft { words, trailer: Trailer::Tag(Box::new(tag)) },
        },
        by: facts.snapshot.viewer.login.clone(),
        gate: Gate::Review,
        approves: false,
        reason: Reason::new("notice").fact("the set of blocking findings changed by an edit"),
        expect: Expect::Head,
    };
    // Before the edits: once they are written, nobody can tell any more that the set changed.
    let edit = out.rest.iter().position(|step| matches!(step.action, Action::EditReview { .. }));
    out.rest.insert(edit.unwrap_or(out.rest.len()), notice);
}

/// Only an edit is silent: a new review notifies by itself.
fn is_edited(judgement: &Judgement<'_>, out: &Published) -> bool {
    let Some(standing) = judgement.role.standing else { return false };
    out.rest
        .iter()
        .any(|step| matches!(&step.action, Action::EditReview { review, .. } if *review == standing.review.id))
}

fn said(facts: &Facts<'_>) -> bool {
    facts.snapshot.comments.iter().filter_map(|comment| comment.text.tag()).any(
        |tag| matches!(&tag.kind, TagKind::Topic(Topic::Notice { patch }) if *patch == facts.snapshot.changes.patch),
    )
}
