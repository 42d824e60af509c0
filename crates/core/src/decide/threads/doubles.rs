//! Threads that two processes opened for one finding at the same moment (D42). `max_resolve` does not apply: the finding
//! keeps its other thread.
//!
//! | rule | when | then |
//! |---|---|---|
//! | `double` | two processes opened a thread for it at the same moment (D42) | the one that nobody answered is resolved |

use super::thread_reply::{ThreadClosing, plan_resolution};
use crate::facts::known_finding::{has_replies, is_double, is_preferred_double};
use crate::facts::{Facts, RoleFacts};
use crate::mark::TagKind;
use crate::model::{FindingId, FindingState, Thread};
use crate::plan::Step;
use crate::render::SettlementReason;
use crate::rule::Rule;

/// Plans to resolve every thread of the role that repeats another one and has no replies.
pub(super) fn resolve_doubles(facts: &Facts<'_>, role: &RoleFacts<'_>) -> Vec<Step> {
    let threads = &facts.snapshot.threads;
    let is_open = |thread: &&Thread| thread.resolved.is_none();
    let mut own: Vec<(&Thread, FindingId)> =
        threads.iter().filter(is_open).filter_map(|thread| Some((thread, find_raised(role, thread)?))).collect();
    own.sort_unstable_by_key(|(thread, _)| (thread.line, thread.path.as_deref()));
    let mut steps = Vec::new();
    for on_one_line in own.chunk_by(|(a, _), (b, _)| a.line == b.line && a.path == b.path) {
        for (thread, finding) in on_one_line {
            let is_kept = |other: &Thread| is_double(thread, other) && is_preferred_double(other, thread);
            if !has_replies(thread) && on_one_line.iter().any(|(other, _)| is_kept(other)) {
                let reason = SettlementReason::PostedTwice;
                let closing = ThreadClosing { finding: *finding, state: FindingState::Refuted, reason };
                steps.extend(plan_resolution(facts, role, thread, &closing, Rule::Double));
            }
        }
    }
    steps
}

/// Returns the finding that the role raised with this thread.
fn find_raised(role: &RoleFacts<'_>, thread: &Thread) -> Option<FindingId> {
    let root = thread.root().filter(|root| root.author.has_login(role.identity))?;
    match &root.text.trusted_tag()?.kind {
        TagKind::Root { role: owner, finding, .. } if *owner == role.role.name => Some(*finding),
        _ => None,
    }
}
