//! What the tracker and two known keys make of a case, held against the truth.

use std::collections::BTreeMap;

use referee_core::model::Sha;
use referee_core::track::ChangeKind;
use referee_core::track::{
    AnchorHash, CodeLocation, FileChange, FileDiff, Fingerprint, ObservedFinding, PriorFinding, extract_lines,
    follow_spots, match_findings,
};
use referee_git::{Git, parse_diff};

use crate::cases::{Case, Said};
use crate::repo::Files;

/// What one way of matching did.
#[derive(Default, Clone)]
pub(crate) struct Tally {
    /// Findings of the kind that were raised again.
    pub(crate) again: usize,
    /// Those that kept their identity.
    pub(crate) kept: usize,
    /// Everything raised.
    pub(crate) raised: usize,
    /// Those that got another finding's identity.
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

/// The tracker, reviewdog's key, PR-Agent's key.
#[derive(Default, Clone)]
pub(crate) struct Verdicts(pub(crate) [Tally; 3]);

impl Verdicts {
    pub(crate) fn add(&mut self, other: &Verdicts) {
        self.0.iter_mut().zip(&other.0).for_each(|(one, other)| one.add(other));
    }
}

pub(crate) fn judge(case: &Case, git: &Git, old: &Sha, new: &Sha) -> Verdicts {
    let diff = git.diff(old, new).expect("git diff");
    let files = parse_diff(&diff).expect("a diff of git is read");
    let by_tracker = by_tracker(case, &files);
    let by_reviewdog = by_key(case, |said| (said.spot.path.clone(), said.spot.line, said.title));
    let by_pr_agent = by_key(case, |said| (said.spot.path.clone(), said.spot.line));
    if std::env::var_os("REFEREE_BENCH_SHOW").is_some() {
        show(case, &files, &by_tracker);
    }
    Verdicts([tally(case, &by_tracker), tally(case, &by_reviewdog), tally(case, &by_pr_agent)])
}

fn by_tracker(case: &Case, files: &[FileDiff<'_>]) -> Vec<Option<usize>> {
    let delta = delta(files, &case.old, &case.new);
    let spots: Vec<CodeLocation> = case.priors.iter().map(|prior| prior.spot.clone()).collect();
    let tracks = follow_spots(&spots, &delta);
    let priors: Vec<PriorFinding> = case
        .priors
        .iter()
        .zip(tracks)
        .map(|(said, track)| PriorFinding { observed: sighting(said, &case.old), track: Some(track) })
        .collect();
    let raised: Vec<ObservedFinding> = case.raised.iter().map(|(said, _, _)| sighting(said, &case.new)).collect();
    match_findings(&priors, &raised)
}

fn delta<'a>(files: &'a [FileDiff<'_>], old: &'a Files, new: &'a Files) -> Vec<FileChange<'a>> {
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

fn sighting(said: &Said, files: &Files) -> ObservedFinding {
    let text = files.get(&said.spot.path).map_or("", String::as_str);
    let code = extract_lines(text, said.spot.line, said.spot.end_line);
    ObservedFinding {
        role: "quality".to_owned(),
        rule: said.rule.map(str::to_owned),
        title: said.title.to_owned(),
        spot: said.spot.clone(),
        fingerprint: Fingerprint::from_finding("quality", said.rule, said.title, code),
        anchor: Some(AnchorHash::from_code(code)),
    }
}

/// The first prior finding with the same key that is still free.
fn by_key<K: Ord>(case: &Case, key: impl Fn(&Said) -> K) -> Vec<Option<usize>> {
    let mut by_key: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (number, prior) in case.priors.iter().enumerate().rev() {
        by_key.entry(key(prior)).or_default().push(number);
    }
    case.raised.iter().map(|(said, _, _)| by_key.get_mut(&key(said)).and_then(Vec::pop)).collect()
}

fn tally(case: &Case, assigned: &[Option<usize>]) -> Tally {
    let mut tally = Tally::default();
    for ((_, truth, concerned), assigned) in case.raised.iter().zip(assigned) {
        tally.raised += 1;
        if truth.is_some() && *concerned {
            tally.again += 1;
            tally.kept += usize::from(assigned == truth);
        }
        tally.merged += usize::from(assigned.is_some() && assigned != truth);
    }
    tally
}

/// What went wrong, for whoever improves the tracker.
fn show(case: &Case, files: &[FileDiff<'_>], assigned: &[Option<usize>]) {
    let spots: Vec<CodeLocation> = case.priors.iter().map(|prior| prior.spot.clone()).collect();
    let tracks = follow_spots(&spots, &delta(files, &case.old, &case.new));
    for ((said, truth, concerned), assigned) in case.raised.iter().zip(assigned) {
        if assigned == truth || (!concerned && assigned.is_none()) {
            continue;
        }
        let code = |said: &Said, files: &Files| {
            extract_lines(&files[&said.spot.path], said.spot.line, said.spot.end_line).to_owned()
        };
        println!("---- raised {:?} {:?} {:?}\n{}", said.spot, said.title, said.rule, code(said, &case.new));
        for (name, number) in [("truth", truth), ("assigned", assigned)] {
            if let Some(number) = number {
                let prior = &case.priors[*number];
                println!(
                    "  {name}: {:?} {:?} -> {:?}\n{}",
                    prior.spot,
                    prior.title,
                    tracks[*number],
                    code(prior, &case.old)
                );
            }
        }
    }
}
