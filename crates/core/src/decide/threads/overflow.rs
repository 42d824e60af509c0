//! Findings that fit nowhere on the pull (D33). A forge limits the size of a text, so a Block holds about a hundred
//! findings. An open finding that fits into neither thread nor Block has no id; the Mark counts it by severity.
//!
//! | report | overflow |
//! |---|---|
//! | the same report again | the count before, unless a person dismissed it |
//! | complete, of a deterministic role: it read everything | what does not fit now |
//! | any other | for each severity the larger of the count before and what does not fit now |
//! | none | the count before, unless a person dismissed it, and what does not fit now |

use super::{JudgedFinding, ReportStatus};
use crate::decide::publish::build_entry;
use crate::facts::{Facts, RoleFacts};
use crate::mark::Block;
use crate::model::{FindingId, Overflow};
use std::collections::BTreeSet;

/// Removes the findings that fit nowhere, and returns the role's overflow.
pub(super) fn take_overflow(
    facts: &Facts<'_>,
    role: &RoleFacts<'_>,
    status: ReportStatus<'_>,
    findings: &mut Vec<JudgedFinding<'_>>,
) -> Overflow {
    let now = remove_unfitting(facts, role, findings);
    let before = role.standing.map(|standing| standing.mark.overflow).unwrap_or_default();
    let before = if facts.is_overflow_dismissed() { Overflow::default() } else { before };
    let repeated = role.repeats_overflowing_report(&facts.snapshot.changes.patch);
    match role.report {
        Some(report) if report.deterministic && status == ReportStatus::Complete && !repeated => now,
        _ => before.max(now),
    }
}

fn remove_unfitting(facts: &Facts<'_>, role: &RoleFacts<'_>, findings: &mut Vec<JudgedFinding<'_>>) -> Overflow {
    let mut overflow = Overflow::default();
    let Some(max_bytes) = facts.snapshot.capabilities.max_block.filter(|max| *max < estimate_bytes(findings)) else {
        return overflow;
    };
    // Every entry gets the round that the Mark will have if the role blocks, so an entry of the real Block is never longer.
    // The next turn computes the same round: a finding that fits in one turn fits in the next.
    let is_new_round = role.report.is_some() && !role.round_patches.contains(&&facts.snapshot.changes.patch);
    let round = Some(role.rounds_used.saturating_add(is_new_round.into())).filter(|round| 0 < *round);
    let entries = findings.iter().map(|it| build_entry(it, round)).collect();
    let block = Block { entries, ..Block::default() }.truncate_to_limits(Some(max_bytes));
    let kept: BTreeSet<FindingId> = block.entries.iter().map(|entry| entry.id).collect();
    findings.retain(|it| {
        let has_thread = it.thread.is_some() || it.opens_thread;
        let is_lost = !kept.contains(&it.id) && !has_thread && !it.state.is_settled();
        if is_lost && it.counts {
            overflow.add(it.severity);
        }
        !is_lost
    });
    overflow
}

/// Returns more than the encoded findings take: most characters take one byte, some take nine.
fn estimate_bytes(findings: &[JudgedFinding<'_>]) -> usize {
    let text = |it: &JudgedFinding<'_>| {
        it.title.len()
            + it.detail.body.len()
            + it.path.len()
            + it.rule.map_or(0, str::len)
            + it.detail.help.map_or(0, str::len)
    };
    findings.iter().map(|it| 3 * text(it) + ENTRY_BYTES).sum()
}

/// Upper bound of an entry without its texts: id, states, lines, hashes, rounds, names.
const ENTRY_BYTES: usize = 320;
