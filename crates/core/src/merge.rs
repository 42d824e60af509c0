//! Merges the reports of several reviewers of one role into one (INC-18).
//!
//! | part | reports | merged report |
//! |---|---|---|
//! | head | different heads | the last one's; reports of other heads are dropped |
//! | outcome | all failed | failed |
//! | outcome | some failed | incomplete: names the failure and approves nothing |
//! | coverage | reviewed by one of them | reviewed |
//! | finding | in several reports | once, with the highest severity and the longest body |
//! | position on a prior finding | different | the most severe: a `still_there` outweighs a `fixed` |
//! | pre-existing | in several reports | once |

use crate::hash::Hash;
use crate::model::{Coverage, FindingPosition, Position, RaisedFinding, Report, ReportOutcome, RunCost, SkippedFile};
use crate::track::title_similarity;

/// Returns one report per role, in the order of the roles' first reports.
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
        report.positions.into_iter().for_each(|position| merge_position(&mut merged.positions, position));
        for finding in report.pre_existing {
            if !merged.pre_existing.contains(&finding) {
                merged.pre_existing.push(finding);
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
        let is_known = coverage.read.contains(&skipped.path) || coverage.skipped.contains(skipped);
        if !is_known {
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
            .map(|reason| SkippedFile { path: "the part of a failed reviewer".to_owned(), why: (*reason).clone() }),
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

/// Title similarity, in thousandths, from which two findings on the same line are the same problem.
const SAME_CONCERN_PERMILLE: u32 = 500;

fn is_same_finding(a: &RaisedFinding, b: &RaisedFinding) -> bool {
    let same_prior = a.same_as.is_some() && a.same_as == b.same_as;
    let same_line = a.path == b.path && a.line == b.line && a.side == b.side;
    let compatible_rules = a.rule.as_ref().zip(b.rule.as_ref()).is_none_or(|(a, b)| a == b);
    let same_concern = a.fingerprint == b.fingerprint || SAME_CONCERN_PERMILLE <= title_similarity(&a.title, &b.title);
    same_prior || (same_line && compatible_rules && same_concern)
}

fn merge_position(positions: &mut Vec<FindingPosition>, position: FindingPosition) {
    match positions.iter_mut().find(|known| known.finding == position.finding) {
        Some(known) if rank_position(known.position) < rank_position(position.position) => *known = position,
        Some(_) => {}
        None => positions.push(position),
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
