//! Compares the tracker and two known keys with the ground truth of a case.

use std::collections::BTreeMap;

use referee_core::model::Sha;
use referee_core::track::ChangeKind;
use referee_core::track::{
    AnchorHash, CodeLocation, FileChange, FileDiff, Fingerprint, ObservedFinding, PriorFinding, extract_lines,
    follow_locations, match_findings,
};
use referee_git::{Git, parse_diff};

use crate::cases::{ReportedFinding, TrackingCase};
use crate::repo::Files;

/// The results of one matcher.
#[derive(Default, Clone)]
pub(crate) struct Tally {
    /// Target findings that were reported again.
    pub(crate) again: usize,
    /// Target findings that kept their identity.
    pub(crate) kept: usize,
    /// All reported findings.
    pub(crate) raised: usize,
    /// Reported findings that got the identity of another one.
    pub(crate) merged: usize,
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Tally) {
        self.again += other.again;
        self.kept += other.kept;
        self.raised += other.raised;
        self.merged += other.merged;
    }

    pub(crate) fn kept_percent(&self) -> f64 {
        100.0 * self.kept as f64 / self.again.max(1) as f64
    }

    pub(crate) fn merged_percent(&self) -> f64 {
        100.0 * self.merged as f64 / self.raised.max(1) as f64
    }
}

/// The results of the tracker, reviewdog's key and PR-Agent's key.
#[derive(Default, Clone)]
pub(crate) struct MatcherTallies(pub(crate) [Tally; 3]);

impl MatcherTallies {
    pub(crate) fn add(&mut self, other: &MatcherTallies) {
        self.0.iter_mut().zip(&other.0).for_each(|(one, other)| one.add(other));
    }
}

pub(crate) fn compare_matchers(case: &TrackingCase, git: &Git, old: &Sha, new: &Sha) -> MatcherTallies {
    let diff = git.diff(old, new).expect("git diff");
    let files = parse_diff(&diff).expect("parse the diff of git");
    let from_tracker = match_by_tracker(case, &files);
    let from_reviewdog =
        match_by_key(case, |finding| (finding.location.path.clone(), finding.location.line, finding.title));
    let from_pr_agent = match_by_key(case, |finding| (finding.location.path.clone(), finding.location.line));
    if std::env::var_os("REFEREE_BENCH_SHOW").is_some() {
        print_mismatches(case, &files, &from_tracker);
    }
    MatcherTallies([
        count_matches(case, &from_tracker),
        count_matches(case, &from_reviewdog),
        count_matches(case, &from_pr_agent),
    ])
}

fn match_by_tracker(case: &TrackingCase, files: &[FileDiff<'_>]) -> Vec<Option<usize>> {
    let delta = build_delta(files, &case.old, &case.new);
    let locations: Vec<CodeLocation> = case.priors.iter().map(|prior| prior.location.clone()).collect();
    let tracks = follow_locations(&locations, &delta);
    let priors: Vec<PriorFinding> = case
        .priors
        .iter()
        .zip(tracks)
        .map(|(finding, track)| PriorFinding { observed: observe(finding, &case.old), track: Some(track) })
        .collect();
    let raised: Vec<ObservedFinding> = case.raised.iter().map(|(finding, _, _)| observe(finding, &case.new)).collect();
    match_findings(&priors, &raised)
}

fn build_delta<'a>(files: &'a [FileDiff<'_>], old: &'a Files, new: &'a Files) -> Vec<FileChange<'a>> {
    files
        .iter()
        .map(|file| {
            let before = file.old_path.as_ref().unwrap_or(&file.path);
            let old_path = (file.kind != ChangeKind::Added).then_some(before.as_str());
            let new_path = (file.kind != ChangeKind::Deleted).then_some(file.path.as_str());
            FileChange {
                old_path,
                new_path,
                old_text: old_path.and_then(|path| old.get(path)).map(String::as_str),
                new_text: new_path.and_then(|path| new.get(path)).map(String::as_str),
            }
        })
        .collect()
}

fn observe(finding: &ReportedFinding, files: &Files) -> ObservedFinding {
    let text = files.get(&finding.location.path).map_or("", String::as_str);
    let code = extract_lines(text, finding.location.line, finding.location.end_line);
    ObservedFinding {
        role: "quality".to_owned(),
        rule: finding.rule.map(str::to_owned),
        title: finding.title.to_owned(),
        location: finding.location.clone(),
        fingerprint: Fingerprint::from_finding("quality", finding.rule, finding.title, code),
        anchor: Some(AnchorHash::from_code(code)),
    }
}

/// Matches each finding with the first unmatched prior finding of the same key.
fn match_by_key<K: Ord>(case: &TrackingCase, key: impl Fn(&ReportedFinding) -> K) -> Vec<Option<usize>> {
    let mut unmatched: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (number, prior) in case.priors.iter().enumerate().rev() {
        unmatched.entry(key(prior)).or_default().push(number);
    }
    case.raised.iter().map(|(finding, _, _)| unmatched.get_mut(&key(finding)).and_then(Vec::pop)).collect()
}

fn count_matches(case: &TrackingCase, assigned: &[Option<usize>]) -> Tally {
    let mut tally = Tally::default();
    for ((_, truth, is_target), assigned) in case.raised.iter().zip(assigned) {
        tally.raised += 1;
        if truth.is_some() && *is_target {
            tally.again += 1;
            tally.kept += usize::from(assigned == truth);
        }
        tally.merged += usize::from(assigned.is_some() && assigned != truth);
    }
    tally
}

/// Prints the wrong matches, to help improve the tracker.
fn print_mismatches(case: &TrackingCase, files: &[FileDiff<'_>], assigned: &[Option<usize>]) {
    let locations: Vec<CodeLocation> = case.priors.iter().map(|prior| prior.location.clone()).collect();
    let tracks = follow_locations(&locations, &build_delta(files, &case.old, &case.new));
    for ((finding, truth, is_target), assigned) in case.raised.iter().zip(assigned) {
        if assigned == truth || (!is_target && assigned.is_none()) {
            continue;
        }
        let code = |finding: &ReportedFinding, files: &Files| {
            extract_lines(&files[&finding.location.path], finding.location.line, finding.location.end_line).to_owned()
        };
        println!(
            "---- raised {:?} {:?} {:?}\n{}",
            finding.location,
            finding.title,
            finding.rule,
            code(finding, &case.new)
        );
        for (name, number) in [("truth", truth), ("assigned", assigned)] {
            if let Some(number) = number {
                let prior = &case.priors[*number];
                println!(
                    "  {name}: {:?} {:?} -> {:?}\n{}",
                    prior.location,
                    prior.title,
                    tracks[*number],
                    code(prior, &case.old)
                );
            }
        }
    }
}
