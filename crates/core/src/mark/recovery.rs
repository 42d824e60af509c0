//! Finds summaries of referee that lost their Mark through another person's edit. A forged or broken Mark is
//! not recovered: such a text does not count and is never edited (PUB-12).
//!
//! Such a review still belongs to its role. Without this, the role would post a second review beside it, and its rounds
//! would start from zero (LOOP-2).
//!
//! | a review of the role's identity belongs to the role if | kinds |
//! |---|---|
//! | one of the threads that it opened has a Tag of the role | approval, block |
//! | a headline and `Evaluated against <sha> by <role>` are in its text | any |
//!
//! The recovered Mark is incomplete: the Block is lost with it, so the role reads everything again. It never approves.

use std::collections::BTreeSet;

use super::data::{Mark, TagKind, Trust, UnsealedMark};
use super::limits::placeholder_round;
use super::mark_codec::placeholder_mark;
use crate::model::{Review, RoleName, Severity, Sha, Snapshot, Thread, Verdict};
use crate::policy::Policy;
use crate::render::{SummaryWords, split_summary};
use crate::track::PatchId;

/// Fills in a Mark for every review of a role that lost its own.
pub fn recover_lost_marks(snapshot: &mut Snapshot, policy: &Policy) {
    let lost = |review: &Review| {
        let reading = &review.text.reading;
        let is_bot_of_others = reading.bot.as_ref().is_some_and(|bot| bot.sentinel.is_some());
        let has_none = reading.mark.is_none() && !reading.forged;
        review.verdict().is_some() && has_none && !is_bot_of_others
    };
    let recovered: Vec<(usize, Mark)> = snapshot
        .reviews
        .iter()
        .enumerate()
        .filter(|(_, review)| lost(review))
        .filter_map(|(index, review)| Some((index, recover_mark(snapshot, policy, review)?)))
        .collect();
    for (index, data) in recovered {
        if let Some(review) = snapshot.reviews.get_mut(index) {
            review.text.reading.mark = Some(Box::new(UnsealedMark { data, trust: Trust::Recovered }));
        }
    }
}

fn recover_mark(snapshot: &Snapshot, policy: &Policy, review: &Review) -> Option<Mark> {
    let body = review.text.body.as_deref()?;
    let posted = review.verdict()?;
    if body.trim_start().starts_with("Superseded by ") {
        return None;
    }
    let words = split_summary(body);
    let author = review.author.login.as_ref()?;
    let is_own = |name: &RoleName| {
        policy.role(name).is_some_and(|role| policy.may_post_for(role, &snapshot.viewer.login, author))
    };
    let by_thread = find_tagged_role(snapshot, review).filter(|_| posted != Verdict::Comment);
    let by_words = words.as_ref().map(|words| RoleName::from(words.role));
    let role = by_thread.cloned().or(by_words).filter(is_own)?;
    let head = find_evaluated_head(snapshot, review, &role, words.as_ref());
    let patch = find_patch(snapshot, &head);
    // A role that only follows another role's block uses no round.
    let blocked = posted == Verdict::RequestChanges && words.as_ref().is_none_or(|words| !words.held);
    let reopened = snapshot.pull.reopened_at().filter(|at| *at <= review.at);
    Some(Mark {
        own: if blocked { Verdict::RequestChanges } else { Verdict::Comment },
        enforced: posted,
        rounds: if blocked { recover_rounds(snapshot, &role, words.as_ref(), &patch) } else { Vec::new() },
        role,
        head,
        patch,
        reopened,
        ..placeholder_mark()
    })
}

/// Returns the role in the Tags of the threads that a review opened.
fn find_tagged_role<'a>(snapshot: &'a Snapshot, review: &Review) -> Option<&'a RoleName> {
    let opened = snapshot.threads.iter().filter(|thread| thread.review.as_ref() == Some(&review.id));
    opened.filter(|thread| thread.root().is_some_and(|root| root.author == review.author)).find_map(|thread| {
        let (role, ..) = read_root_tag(thread)?;
        Some(role)
    })
}

fn read_root_tag(thread: &Thread) -> Option<(&RoleName, &Sha, Severity)> {
    let tag = thread.root()?.text.trusted_tag()?;
    match &tag.kind {
        TagKind::Root { role, severity, .. } => Some((role, &tag.head, *severity)),
        TagKind::Reply { .. } | TagKind::Topic(_) => None,
    }
}

/// Returns the head that the text names, in full where a known commit begins with it; otherwise the commit that the forge
/// ties the review to.
fn find_evaluated_head(snapshot: &Snapshot, review: &Review, role: &RoleName, words: Option<&SummaryWords<'_>>) -> Sha {
    let tagged =
        snapshot.threads.iter().filter_map(read_root_tag).filter(|(of, ..)| *of == role).map(|(_, head, _)| head);
    let mut known = std::iter::once(&snapshot.pull.head).chain(&review.commit).chain(tagged);
    match words {
        Some(words) => known.find(|sha| sha.as_str().starts_with(words.head)).cloned().unwrap_or(Sha::from(words.head)),
        None => review.commit.clone().unwrap_or_else(|| snapshot.pull.head.clone()),
    }
}

/// Returns the change at a head: from this snapshot, or from a Mark. For an unknown head, a value that stands for it.
pub(crate) fn find_patch(snapshot: &Snapshot, head: &Sha) -> PatchId {
    if *head == snapshot.pull.head {
        return snapshot.changes.patch.clone();
    }
    let marks = snapshot.reviews.iter().filter_map(|review| review.text.trusted_mark());
    let marked = marks.filter(|mark| mark.complete).find(|mark| mark.head == *head);
    marked.map_or_else(|| PatchId(format!("head-{}", head.short())), |mark| mark.patch.clone())
}

/// Returns as many rounds as the headline says, or as there are heads at which the role raised a critical finding. The
/// last one is the change of the review.
fn recover_rounds(
    snapshot: &Snapshot,
    role: &RoleName,
    words: Option<&SummaryWords<'_>>,
    patch: &PatchId,
) -> Vec<PatchId> {
    let reopened = snapshot.pull.reopened_at();
    let is_recent =
        |thread: &&Thread| thread.root().is_some_and(|root| reopened.is_none_or(|reopened| reopened <= root.at));
    let critical = snapshot.threads.iter().filter(is_recent).filter_map(read_root_tag);
    let raised: BTreeSet<PatchId> = critical
        .filter(|(of, _, severity)| *of == role && *severity == Severity::Critical)
        .map(|(_, head, _)| find_patch(snapshot, head))
        .collect();
    let named = words.and_then(|words| words.round).unwrap_or(1);
    let count = raised.len().max(named).clamp(1, MAX_RECOVERED_ROUNDS);
    (1..count).map(placeholder_round).chain([patch.clone()]).collect()
}

/// An edited headline may name any round; more than this many are not believed.
const MAX_RECOVERED_ROUNDS: usize = 20;
