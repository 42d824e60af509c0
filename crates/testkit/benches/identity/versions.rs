//! Successive published versions. The ground truth is every line that occurs exactly once in each of the two.

use std::collections::{BTreeMap, BTreeSet};

use referee_core::track::CodeLocation;

use crate::cases::{ReportedFinding, TrackingCase};
use crate::concerns::{CONCERNS, Concern};
use crate::corpus::Package;
use crate::random::Random;

const FINDINGS: usize = 60;
const NEW_FINDINGS: usize = 20;

pub(crate) fn case(older: &Package, newer: &Package, random: &mut Random) -> TrackingCase {
    let (before, after) = (line_locations(older), line_locations(newer));
    let changed = |path: &str| older.files.get(path) != newer.files.get(path);
    let mut survivors: Vec<(&CodeLocation, &CodeLocation)> = before
        .iter()
        .filter_map(|(line, locations)| match (locations.as_slice(), after.get(line).map(Vec::as_slice)) {
            ([old], Some([new])) if changed(&old.path) => Some((old, new)),
            _ => None,
        })
        .collect();
    let mut new_lines: Vec<&CodeLocation> = after
        .iter()
        .filter(|(line, _)| !before.contains_key(*line))
        .map(|(_, line_locations)| &line_locations[0])
        .collect();
    random.shuffle(&mut survivors);
    random.shuffle(&mut new_lines);
    let mut priors = Vec::new();
    let mut raised = Vec::new();
    let mut used = BTreeSet::new();
    for (old, new) in survivors.into_iter().take(FINDINGS) {
        let concern = random.pick(CONCERNS);
        let rule = random.chance(50).then_some(concern.rule);
        priors.push(ReportedFinding { location: old.clone(), title: concern.title, rule });
        used.insert((&new.path, new.line));
        if random.chance(85) {
            let title = if rule.is_some() { concern.title } else { wording(concern, random) };
            raised.push((ReportedFinding { location: new.clone(), title, rule }, Some(priors.len() - 1), true));
        }
    }
    for location in
        new_lines.into_iter().filter(|location| !used.contains(&(&location.path, location.line))).take(NEW_FINDINGS)
    {
        let concern = random.pick(CONCERNS);
        let rule = random.chance(50).then_some(concern.rule);
        raised.push((ReportedFinding { location: location.clone(), title: concern.title, rule }, None, false));
    }
    random.shuffle(&mut raised);
    TrackingCase { old: older.files.clone(), new: newer.files.clone(), priors, raised }
}

fn wording(concern: &Concern, random: &mut Random) -> &'static str {
    match random.below(4) {
        0 => concern.reworded,
        1 => concern.close,
        _ => concern.title,
    }
}

/// Returns the locations of each line that is long enough to be distinctive.
fn line_locations(package: &Package) -> BTreeMap<&str, Vec<CodeLocation>> {
    let mut locations: BTreeMap<&str, Vec<CodeLocation>> = BTreeMap::new();
    for (path, text) in &package.files {
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.chars().filter(|letter| letter.is_alphanumeric()).count() >= 10 {
                let number = number as u32 + 1;
                locations.entry(line).or_default().push(CodeLocation::new(path, number, number));
            }
        }
    }
    locations
}
