//! Several reviewers of one role hand in several reports; the role speaks with one voice (INC-18).
//!
//! | what | several reports say | the one report says |
//! |---|---|---|
//! | outcome | all failed | failed |
//! | outcome | some failed | incomplete: it names the failure and approves nothing |
//! | coverage | read by one of them | read |
//! | findings | the same twice | once, as grave as the gravest, in the words of the fullest |
//! | pre-existing | the same twice | once |
//! | position on a prior finding | different things | the gravest: one `fixed` does not outweigh one `still_there` |
//! | head | different heads | the last one's; reports of other heads are left out |

use crate::hash::Hash;
use crate::model::{Coverage, FindingPosition, Position, RaisedFinding, Report, ReportOutcome, RunCost, SkippedFile};
use crate::track::title_similarity;

/// One report for each role, in the order in which roles first spoke.
pub fn merge_reports(reports: Vec<Report>) -> Vec<Report> {
    let mut by_role: Vec<Vec<Report>> = Vec::new();
    for report in reports {
        match by_role.iter_mut().find(|group| group.iter().any(|it| it.role == report.role)) {
            Some(group) => group.push(report),
            None => by_role.push(vec![report]),
        }
    }
    by_role.into_iter().filter_map(merge_role_reports).collect()
}

fn merge_role_reports(mut group: Vec<Report>) -> Option<Report> {
    let head = group.last()?.head.clone();
    group.retain(|report| report.head == head);
    if group.len() < 2 {
        return group.pop();
    }
    let outcome = merge_outcomes(&group);
    let digest = Hash::digest_parts(group.iter().map(|report| report.digest.0.as_str()));
    let mut merged = group.remove(0);
    for report in group {
        report.findings.into_iter().for_each(|raised| merge_finding(&mut merged.findings, raised));
        report.positions.into_iter().for_each(|said| merge_position(&mut merged.positions, said));
        for it in report.pre_existing {
            if !merged.pre_existing.contains(&it) {
                merged.pre_existing.push(it);
            }
        }
        merged.deterministic &= report.deterministic;
        merged.figures = RunCost::saturating_add(merged.figures, report.figures);
    }
    Some(Report { outcome, digest, ..merged })
}

fn merge_outcomes(group: &[Report]) -> ReportOutcome {
    let mut coverage = Coverage::default();
    for read in group.iter().filter_map(Report::coverage).flat_map(|it| &it.read) {
        if !coverage.read.contains(read) {
            coverage.read.push(read.clone());
        }
    }
    for skipped in group.iter().filter_map(Report::coverage).flat_map(|it| &it.skipped) {
        let known = coverage.read.contains(&skipped.path) || coverage.skipped.contains(skipped);
        if !known {
            coverage.skipped.push(skipped.clone());
        }
    }
    let failures: Vec<&String> = group
        .iter()
        .filter_map(|report| match &report.outcome {
            ReportOutcome::Failed { reason } => Some(reason),
            _ => None,
        })
        .collect();
    if failures.len() == group.len() {
        return ReportOutcome::Failed { reason: failures.last().map(|reason| (*reason).clone()).unwrap_or_default() };
    }
    coverage.skipped.extend(
        failures
            .iter()
            .map(|reason| SkippedFile { path: "what another reviewer was to read".to_owned(), why: (*reason).clone() }),
    );
    if group.iter().all(|report| report.findings.is_empty()) {
        ReportOutcome::Clean(coverage)
    } else {
        ReportOutcome::Findings(coverage)
    }
}

fn merge_finding(findings: &mut Vec<RaisedFinding>, raised: RaisedFinding) {
    let Some(same) = findings.iter_mut().find(|it| is_same_finding(it, &raised)) else {
        findings.push(raised);
        return;
    };
    same.severity = same.severity.max(raised.severity);
    same.same_as = same.same_as.or(raised.same_as);
    same.in_delta |= raised.in_delta;
    if same.body.len() < raised.body.len() {
        same.body = raised.body;
        same.suggestion = raised.suggestion.or(same.suggestion.take());
    }
}

/// Half of the words in common, in thousandths, is the same concern on the same line.
const SAME_CONCERN_PERMILLE: u32 = 500;

fn is_same_finding(one: &RaisedFinding, other: &RaisedFinding) -> bool {
    let same_prior = one.same_as.is_some() && one.same_as == other.same_as;
    let same_place = one.path == other.path && one.line == other.line && one.side == other.side;
    let rules = one.rule.as_ref().zip(other.rule.as_ref()).is_none_or(|(one, other)| one == other);
    let same_concern =
        one.fingerprint == other.fingerprint || SAME_CONCERN_PERMILLE <= title_similarity(&one.title, &other.title);
    same_prior || (same_place && rules && same_concern)
}

fn merge_position(positions: &mut Vec<FindingPosition>, said: FindingPosition) {
    match positions.iter_mut().find(|it| it.finding == said.finding) {
        Some(before) if rank_position(before.position) < rank_position(said.position) => *before = said,
        Some(_) => {}
        None => positions.push(said),
    }
}

fn rank_position(position: Position) -> u8 {
    match position {
        Position::Fixed => 0,
        Position::Conceded => 1,
        Position::StillThere => 2,
        Position::Stands => 3,
        Position::Worsened => 4,
    }
}

#[cfg(test)]
mod tests;
