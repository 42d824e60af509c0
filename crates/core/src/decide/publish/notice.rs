//! The notice about an edit that changes the set of blocking findings (PUB-18). Forges send no notification for an
//! edit, so referee posts one short comment per change.

use super::super::judgement::RoleJudgement;
use super::{PublishPlan, compose};
use crate::facts::Facts;
use crate::mark::{Tag, TagKind, Topic};
use crate::model::FindingId;
use crate::plan::{Action, CommentTarget, Gate, Precondition, Reason, Step, TextDraft, Trailer};
use crate::render::{self, BlockingNotice, SummaryFinding};
use crate::rule::Rule;

pub(super) fn add_notice(facts: &Facts<'_>, judged: &[RoleJudgement<'_>], out: &mut PublishPlan) {
    if !facts.policy.notify {
        return;
    }
    let mut appeared: Vec<SummaryFinding<'_>> = Vec::new();
    let mut gone: Vec<FindingId> = Vec::new();
    let mut blocking = 0;
    for judgement in judged.iter().filter(|it| is_edited(it, out)) {
        let Some(standing) = judgement.role.standing else { continue };
        let now: Vec<FindingId> = compose::blocking_finding_ids(facts, judgement).collect();
        let is_new = |id: &FindingId| now.contains(id) && !standing.mark.blocking.contains(id);
        appeared.extend(judgement.findings.iter().filter(|it| is_new(&it.id)).map(compose::build_blocking_line));
        blocking += now.len();
        gone.extend(standing.mark.blocking.iter().filter(|id| !now.contains(id)));
    }
    if (appeared.is_empty() && gone.is_empty()) || is_notice_posted(facts) {
        return;
    }
    let tag = Tag {
        kind: TagKind::Topic(Topic::Notice { patch: facts.snapshot.changes.patch.clone() }),
        head: facts.snapshot.pull.head.clone(),
    };
    let url = facts.snapshot.pull.url.as_str();
    let words = render::render_notice(&BlockingNotice {
        head: &facts.snapshot.pull.head,
        newly_blocking: appeared,
        no_longer_blocking: gone,
        blocking_count: blocking,
        review_url: url,
    });
    let notice = Step {
        action: Action::EnsureComment {
            existing: None,
            target: CommentTarget::Pull,
            text: TextDraft { words, trailer: Trailer::Tag(Box::new(tag)) },
        },
        by: facts.snapshot.viewer.login.clone(),
        gate: Gate::Review,
        approves: false,
        reason: Reason::new(Rule::Notice).with_fact("the set of blocking findings changed by an edit"),
        expect: Precondition::Head,
    };
    // Before the edits: afterwards the standing Mark would already contain the new set.
    let edit = out.follow_ups.iter().position(|step| matches!(step.action, Action::EditReview { .. }));
    out.follow_ups.insert(edit.unwrap_or(out.follow_ups.len()), notice);
}

/// Returns whether the role's standing review is edited. A new review notifies by itself.
fn is_edited(judgement: &RoleJudgement<'_>, out: &PublishPlan) -> bool {
    let Some(standing) = judgement.role.standing else { return false };
    out.follow_ups
        .iter()
        .any(|step| matches!(&step.action, Action::EditReview { review, .. } if *review == standing.review.id))
}

fn is_notice_posted(facts: &Facts<'_>) -> bool {
    facts.snapshot.comments.iter().filter_map(|comment| comment.text.trusted_tag()).any(
        |tag| matches!(&tag.kind, TagKind::Topic(Topic::Notice { patch }) if *patch == facts.snapshot.changes.patch),
    )
}
