//! Merges equal results of one report (D38), and the reports of several reviewers of one role (INC-18).
//!
//! Two results of one report are one finding exactly if path, place, rule and normalised text agree.
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
//! | summary | different | all of them, in the order of the reports |

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::hash::Hash;
use crate::model::{
    Accounting, Coverage, FindingId, FindingPosition, Position, RaisedFinding, Report, ReportOutcome, RunCost,
    SkippedFile,
};
use crate::track::{normalise_title, title_similarity};

/// Returns one report per role, in the order of the roles' first reports.
pub fn merge_reports(reports: Vec<Report>) -> Vec<Report> {
    let mut by_role: Vec<Vec<Report>> = Vec::new();
    for report in reports {
        match by_role.iter_mut().find(|group| group.iter().any(|it| it.role == report.role)) {
            // The same report, saved by an earlier run and handed in again.
            Some(group) if group.iter().any(|it| it.digest == report.digest && it.head == report.head) => {}
            Some(group) => match group.iter_mut().find(|it| is_same_run_of_tool(it, &report)) {
                Some(same) => *same = Report { figures: same.figures.saturating_add(report.figures), ..report },
                None => group.push(report),
            },
            None => by_role.push(vec![report]),
        }
    }
    by_role.into_iter().filter_map(merge_role_reports).collect()
}

/// Returns whether a deterministic program reported the same twice, such as a linter that ran here and whose report is also
/// handed in: its results count once. A failure counts each time (LOOP-11).
fn is_same_run_of_tool(one: &Report, other: &Report) -> bool {
    let is_tool = |report: &Report| report.deterministic && !matches!(report.outcome, ReportOutcome::Failed { .. });
    is_tool(one)
        && is_tool(other)
        && (&one.head, &one.outcome, &one.findings, &one.pre_existing, one.intake)
            == (&other.head, &other.outcome, &other.findings, &other.pre_existing, other.intake)
}

/// Merges equal results of a report. The first one is kept, with the highest severity.
fn merge_equal_results(mut report: Report) -> Report {
    let mut places = BTreeMap::new();
    let mut kept: Vec<RaisedFinding> = Vec::with_capacity(report.findings.len());
    for raised in report.findings {
        match places.entry(identify_result(&raised)) {
            Entry::Vacant(entry) => {
                entry.insert(kept.len());
                kept.push(raised);
            }
            Entry::Occupied(entry) => {
                report.intake.merged = report.intake.merged.saturating_add(1);
                if let Some(same) = kept.get_mut(*entry.get()) {
                    same.severity = same.severity.max(raised.severity);
                    same.same_as = same.same_as.or(raised.same_as);
                }
            }
        }
    }
    Report { findings: kept, ..report }
}

fn identify_result(raised: &RaisedFinding) -> impl Ord + use<> {
    let RaisedFinding { title, body, path, line, end_line, column, side, rule, .. } = raised;
    (path.clone(), (*line, *end_line, *column, *side), rule.clone(), (normalise_title(title), normalise_title(body)))
}

/// Counts the results of a report that is not used.
fn add_unused(intake: &mut Accounting, report: &Report) {
    let mut unused = report.intake;
    let results = u32::try_from(report.findings.len()).unwrap_or(u32::MAX);
    unused.held_back.unused = unused.held_back.unused.saturating_add(results);
    *intake = intake.saturating_add(unused);
}

fn merge_role_reports(group: Vec<Report>) -> Option<Report> {
    let head = group.last()?.head.clone();
    let (group, replaced): (Vec<Report>, Vec<Report>) =
        group.into_iter().map(merge_equal_results).partition(|report| report.head == head);
    let mut group = group;
    if let Some(first) = group.first_mut() {
        replaced.into_iter().for_each(|report| add_unused(&mut first.intake, &report));
    }
    if group.len() < 2 {
        return group.pop();
    }
    let outcome = merge_outcomes(&group);
    let digest = Hash::digest_parts(group.iter().map(|report| report.digest.0.as_str()));
    let mut merged = group.remove(0);
    for report in group {
        merged.intake = merged.intake.saturating_add(report.intake);
        let index = FindingIndex::new(&merged.findings);
        for raised in report.findings {
            merge_finding(&mut merged.findings, &index, &mut merged.intake, raised);
        }
        report.positions.into_iter().for_each(|position| merge_position(&mut merged.positions, position));
        for finding in report.pre_existing {
            if merged.pre_existing.contains(&finding) {
                merged.intake.pre_existing = merged.intake.pre_existing.saturating_sub(1);
                merged.intake.merged = merged.intake.merged.saturating_add(1);
            } else {
                merged.pre_existing.push(finding);
            }
        }
        if !merged.summary.contains(&report.summary) {
            merged.summary = [merged.summary.as_str(), &report.summary].join("\n\n").trim_start().to_owned();
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

/// The findings of a report by line and by prior finding, so that a merge compares only findings that may be equal.
struct FindingIndex {
    by_line: BTreeMap<(String, Option<u32>), Vec<usize>>,
    by_prior: BTreeMap<FindingId, usize>,
}

impl FindingIndex {
    fn new(findings: &[RaisedFinding]) -> Self {
        let mut index = Self { by_line: BTreeMap::new(), by_prior: BTreeMap::new() };
        for (at, raised) in findings.iter().enumerate() {
            index.by_line.entry((raised.path.clone(), raised.line)).or_default().push(at);
            if let Some(prior) = raised.same_as {
                index.by_prior.insert(prior, at);
            }
        }
        index
    }

    fn candidates(&self, raised: &RaisedFinding) -> impl Iterator<Item = usize> {
        let same_prior = raised.same_as.and_then(|prior| self.by_prior.get(&prior).copied());
        let same_line = self.by_line.get(&(raised.path.clone(), raised.line));
        same_prior.into_iter().chain(same_line.into_iter().flatten().copied())
    }
}

fn merge_finding(
    findings: &mut Vec<RaisedFinding>,
    index: &FindingIndex,
    intake: &mut Accounting,
    raised: RaisedFinding,
) {
    let same = index.candidates(&raised).find(|at| findings.get(*at).is_some_and(|it| is_same_finding(it, &raised)));
    let Some(same) = same.and_then(|at| findings.get_mut(at)) else {
        findings.push(raised);
        return;
    };
    intake.merged = intake.merged.saturating_add(1);
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
