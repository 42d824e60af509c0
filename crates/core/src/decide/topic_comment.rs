//! One comment per topic (D13). It is found by its Tag; it is created, edited in place, or left as it is.
//!
//! | existing comment of the topic | step |
//! |---|---|
//! | none | create, as the given identity |
//! | by an identity without a token in this process | none: only the author may edit a comment (PUB-9) |
//! | same Tag and text | none (PUB-2) |
//! | another Tag or text | edit, as its author |

use super::step::{holds_token, plan_comment};
use crate::facts::Facts;
use crate::hash::Hash;
use crate::mark::{Tag, TagKind, Topic};
use crate::model::{Comment, Login};
use crate::plan::{CommentTarget, Reason, Step};
use crate::sanitise::SafeText;

/// Plans the step after which the topic's comment has this text; `None` if it already has.
pub(super) fn ensure(facts: &Facts<'_>, by: &Login, topic: Topic, words: SafeText, reason: Reason) -> Option<Step> {
    let existing = find(facts, &topic);
    let by = match existing {
        Some(comment) => comment.author.login.as_ref().filter(|login| holds_token(facts, login))?,
        None => by,
    };
    let is_unchanged = |comment: &Comment| {
        comment.text.hash == Hash::digest_visible_text(words.as_str())
            && comment.text.trusted_tag().is_some_and(|tag| tag.kind == TagKind::Topic(topic.clone()))
    };
    if existing.is_some_and(is_unchanged) {
        return None;
    }
    let head = facts.snapshot.pull.head.clone();
    Some(plan_comment(existing, CommentTarget::Pull, by, Tag { kind: TagKind::Topic(topic), head }, words, reason))
}

/// Finds the newest comment of a topic.
pub(super) fn find<'a>(facts: &Facts<'a>, topic: &Topic) -> Option<&'a Comment> {
    let head = &facts.snapshot.pull.head;
    let same = |comment: &&Comment| match (facts.own_topic(comment), topic) {
        (Some((Topic::SelfReview { .. }, at)), Topic::SelfReview { .. })
        | (Some((Topic::FixPlan, at)), Topic::FixPlan) => at == head,
        (Some((found, _)), topic) => is_same_topic(found, topic),
        (None, _) => false,
    };
    facts.snapshot.comments.iter().rev().find(same)
}

/// Compares two topics. Two topics of one job are equal whatever its outcome: the outcome is written into its record.
/// A command has one answer, whatever it records.
fn is_same_topic(a: &Topic, b: &Topic) -> bool {
    match (a, b) {
        (
            Topic::Job { kind, cause, patch, epoch, .. },
            Topic::Job { kind: kind_b, cause: cause_b, patch: patch_b, epoch: epoch_b, .. },
        ) => (kind, cause, patch, epoch) == (kind_b, cause_b, patch_b, epoch_b),
        (
            Topic::Said { to: a } | Topic::PauseSet { to: a, .. },
            Topic::Said { to: b } | Topic::PauseSet { to: b, .. },
        ) => a == b,
        _ => a == b,
    }
}
